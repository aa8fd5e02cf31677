"""`benchmarks.nil_forecasts`: which nils are asked about, at which position, and what is counted as made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner

from agents.base import ActionArray, FloatArray, KeyArray, NilForecaster
from agents.rules.normal.agent import NormalAgent
from benchmarks.nil_forecasts import forecasts, main
from spades_env.engine.state import PHASE_BID, STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import PRESETS


class Counting:
    """`normal`, who numbers the nils that she is asked about."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0
        self._normal = NormalAgent()

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Choose as `normal`."""
        return self._normal.act(views, keys)

    def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """The number of the nil, / 1000."""
        assert (views["known"]["phase"] == PHASE_BID).all()
        self.asked += len(views)
        return np.arange(self.asked - len(views), self.asked) / 1000.0


def test_every_nil_of_the_agent_is_asked_about_once_at_its_bid() -> None:
    states = np.zeros(300, STATE)
    new_games(states, rules_to_record(PRESETS["classic"]), 3, 0)
    asked = Counting()
    assert isinstance(asked, NilForecaster)
    said, made = forecasts(asked, NormalAgent(), states)
    own = states["bids"][:, [0, 2]] == 0
    assert len(said) == len(made) == own.sum() > 10
    assert sorted(said.tolist()) == [k / 1000 for k in range(len(said))]
    # In the order of games and seats, as `said` and `made` come.
    expected = [float(game["tricks"][seat] == 0) for game in states for seat in (0, 2) if game["bids"][seat] == 0]
    assert made.tolist() == expected
    assert 0 < made.mean() < 1


def test_the_command_prints_and_draws(tmp_path: Path) -> None:
    plot = tmp_path / "nils.png"
    done = CliRunner().invoke(main, ["normal", "random", "--deals", "60", "--png", str(plot)])
    assert done.exit_code == 0, done.output
    assert "Brier score" in done.output
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_command_refuses_who_cannot_say() -> None:
    for arguments, message in (
        (["easy", "normal"], "AGENT is 'easy'; allowed: one that offers nil_chances"),
        (["normal", "easy", "--rules", "two_player"], "allowed: rules for four players"),
    ):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 2
        assert message in " ".join(done.output.replace("│", " ").split())
