"""The comparison of tests/test_received.py finds planted leaks; what sees all is marked, and kept apart (R30).

And what is said about play, in logs, reports and errors, names no card that somebody could still use.
"""

from __future__ import annotations

import importlib.util
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import received
import received_courses
from received import OF_VIEW
from received_courses import COURSES
from test_received import courses, leaks_at, leaks_in

from agents.base import AgentError
from agents.registry import ORACLES, load_agent
from spades_cli.main import main
from spades_cli.seated.session import Session
from spades_env.actions import action_text
from spades_env.engine.batch import IllegalActionError
from spades_env.engine.state import StateArray
from spades_env.envs.aec import SpadesAECEnv
from spades_env.envs.players import PlayerError
from spades_env.envs.single import SpadesEnv
from spades_env.envs.vector import SpadesVectorEnv
from spades_env.game import View
from spades_env.observation import ENCODERS, STATE_LAYOUT, encode_state
from spades_env.observation import state_encoder as state_kernels

# --- The tests can fail -------------------------------------------------------------------------------------------


def test_a_leaking_encoder_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that reads another's hand leaves no trace in a view, where that is blank: the truth put back finds it."""
    original = received.row

    def leaky(views: StateArray, encoder: str, dtype: str = "uint8") -> np.ndarray:
        found = original(views, encoder, dtype)
        found[0] += int(views["known"]["hands"][0, (int(views["seat"][0]) + 1) % 4]) >> 39 & 1
        return found

    things = {name: OF_VIEW[name] for name in OF_VIEW if name.startswith("encoder ")}
    assert leaks_at("classic", 10, 7, things)[1].total() == 0
    monkeypatch.setattr(received, "row", leaky)
    assert min(leaks_at("classic", 10, 7, things)[1][name] for name in things) > 0


def test_a_leaking_agent_is_caught() -> None:
    """She plays a low card while the next seat holds the ace of spades."""

    class Peeping:
        name = "peeping"

        def act(self, views: StateArray, keys: Any) -> np.ndarray:
            known = views["known"][0]
            legal = View(views).legal_actions()
            ace = int(known["hands"][(int(known["turn"]) + 1) % 4]) >> 51 & 1
            return np.array([legal[0 if ace else -1]], np.int16)

    made, differ = leaks_at("classic", 40, 8, {"peeping": lambda views: received.thoughts(Peeping(), views)})
    assert 0 < differ["peeping"] < made["peeping"]


class Loose(SpadesAECEnv):
    """Says in `info` how many hearts the seat after each holds."""

    def _show_mask(self, agent: str, mask: np.ndarray) -> None:
        super()._show_mask(agent, mask)
        hands = self.game.hands
        after = hands[(self.possible_agents.index(agent) + 1) % len(hands)]
        self.infos[agent]["hearts"] = sum(26 <= card < 39 for card in after)


def test_a_leaking_environment_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received_courses, "SpadesAECEnv", Loose)
    things = {name: COURSES[name] for name in ("SpadesAECEnv flat uint8", "parallel")}
    differ = leaks_in("table", 10, 9, things)[1]
    assert min(differ[name] for name in things) > 0


def test_an_opponent_that_is_handed_the_truth_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Gymnasium environment must make the view of the seat that acts, not give away the game."""

    def everything(states: StateArray, i: int, seat: int, views: StateArray, k: int) -> None:
        views["known"][k] = states[i]
        views["seat"][k] = seat

    monkeypatch.setattr("spades_env.envs.single.view_of", everything)
    assert leaks_in("classic", 10, 10, {"opponent": COURSES["opponent"]})[1].total() > 0


def test_a_leaking_screen_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """`spades play` that lets its hint see the person's partner's hand."""

    def loose(self: Session) -> None:
        hand = self.game.hands[(self._seat + 2) % self.game.players]
        self._talk.say(f"{self._hinter.name} would choose {action_text(hand[0])}" if hand else "nothing")

    things = {"spades play": COURSES["spades play"]}
    assert leaks_in("classic", 10, 11, things)[1].total() == 0
    monkeypatch.setattr(Session, "_hint", loose)
    assert leaks_in("classic", 10, 11, things)[1].total() > 0


# --- What is told about play ----------------------------------------------------------------------------------------

CARD = re.compile(r"(?<![\w.-])(?:[2-9TJQKA][CDHS]|[CDHS][2-9TJQKA]|[LB]J|(?:10|[2-9JQKA])[♠♥♦♣])(?![\w.-])")


def test_a_card_in_a_log_would_be_found() -> None:
    assert CARD.findall("West: AS, 10♥ and LJ; margin 2.5, seed 3C.") == ["AS", "10♥", "LJ"]


@pytest.mark.skipif(importlib.util.find_spec("sb3_contrib") is None, reason="needs the extra `train`")
def test_logs_progress_and_reports_of_training_and_evaluation_name_no_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    from test_cli_train import train

    caplog.set_level(logging.DEBUG)
    assert train("--runs", str(tmp_path)) == 0
    assert main(["evaluate", "easy", "random", "--deals", "8", "--json", str(tmp_path / "e.json")]) == 0
    texts = [*capsys.readouterr(), caplog.text]
    texts += [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.suffix in (".md", ".json", ".yaml")]
    assert len(texts) > 5
    assert [found for text in texts for found in CARD.findall(text)] == []


def test_an_agent_that_breaks_the_rules_ends_the_game_before_it_tells_a_card() -> None:
    """The error that names what an opponent might have done names her cards, so that nothing can be played after it."""

    class Foul:
        name = "foul"

        def act(self, views: StateArray, keys: Any) -> np.ndarray:
            return np.full(len(views), 72, np.int16)

    for make in (SpadesEnv, SpadesVectorEnv):
        env: Any = make(opponents=Foul(), partner=Foul())
        with pytest.raises(IllegalActionError, match="agent 'foul'"):
            env.reset(seed=1, options={"dealer": 0})
        for _ in range(2):
            with pytest.raises(ValueError, match=r"reset\(\)"):
                env.step(np.zeros(1, int) if make is SpadesVectorEnv else 0)


# --- Perfect information is marked, and apart ---------------------------------------------------------------------


def test_the_state_is_perfect_information_and_no_observation() -> None:
    """It moves with hidden cards; no environment gives it to a seat, under any name."""
    moved = 0
    for course, seat, other in courses("classic", 20, 12):
        rows = np.empty((2, STATE_LAYOUT.size), np.uint8)
        encode_state(course.game().states, 0, seat, rows[0])
        encode_state(other.game().states, 0, seat, rows[1])
        moved += (rows[0] != rows[1]).any()
    assert moved == 20
    assert "state" not in ENCODERS
    assert "perfect information" in str(state_kernels.__doc__).lower()
    assert "perfect information" in str(SpadesAECEnv.state.__doc__).lower()
    for make in (SpadesAECEnv, SpadesEnv, SpadesVectorEnv):
        with pytest.raises(ValueError, match="observation is 'state'"):
            make(observation="state")
    for kind in (SpadesEnv, SpadesVectorEnv):
        assert not hasattr(kind, "state")


@pytest.mark.parametrize("name", ORACLES)
def test_agents_that_see_all_are_let_in_nowhere_by_name(name: str) -> None:
    with pytest.raises(AgentError, match="sees the hidden cards"):
        load_agent(name)
    for make in (SpadesEnv, SpadesVectorEnv):
        with pytest.raises((AgentError, PlayerError), match="sees the hidden cards"):
            make(opponents=name)
        with pytest.raises(PlayerError, match="sees the hidden cards"):
            make(opponents=ORACLES[name]())
