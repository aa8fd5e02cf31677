"""The agents: legal everywhere, blind to what is hidden, repeatable, and each what its description says."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from light_agents import SPECS, specs_for
from random_rules import random_rules

from agents.base import Agent, AgentError, decision_keys
from agents.registry import AGENTS, load_agent
from agents.rules.easy import EasyAgent
from agents.rules.facts import trick_so_far, winning_cards
from evaluation.play import Players
from spades_env.actions import DONE, FIRST_BID, LOOK, NIL, parse_action
from spades_env.cards import card_text, cards_of, parse_hand
from spades_env.engine import front, step
from spades_env.engine.batch import SpadesBatch, legal_action_list
from spades_env.engine.kernel import kernel
from spades_env.engine.play import legal_cards
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DEAL_OVER,
    PHASE_EXCHANGE,
    PHASE_PLAY,
    STATE,
    StateArray,
    rules_to_record,
)
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

ROOT = Path(__file__).resolve().parent.parent


def deals(rules: Rules, n: int, seed: int = 0) -> StateArray:
    """`n` games at the start of a deal, with scores that open blind nil to some seats."""
    rng = np.random.default_rng(seed)
    states = np.zeros(n, STATE)
    step.new_games(states, rules_to_record(rules), seed, 0)
    states["scores"] = rng.integers(-150, 151, (n, 2))
    for i in range(n):
        front.begin_deal(states, i)
    return states


def views_of(states: StateArray) -> tuple[StateArray, np.ndarray]:
    """Views and keys of the seats to act."""
    views, keys = empty_views(len(states)), np.empty(len(states), np.uint64)
    views_to_act(states, views)
    decision_keys(states, keys)
    return views, keys


def situations(rules: Rules, n: int = 64, seed: int = 0, steps: int = 200) -> list[StateArray]:
    """Copies of `n` games before every decision of one deal of random play, deals that are over left out."""
    states = deals(rules, n, seed)
    found = []
    for k in range(steps):
        states = states[states["phase"] < PHASE_DEAL_OVER]
        if not len(states):
            break
        found.append(states.copy())
        views, keys = views_of(states)
        for i, action in enumerate(load_agent("random").act(views, keys + np.uint64(k))):
            step.apply(states, i, int(action))
    return found


def position(rules: Rules, hands: str, dealer: int, actions: str) -> StateArray:
    """One game with the given hands, separated by `/`, after some actions, separated by commas."""
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(rules), 0, 0)
    states["dealer"] = dealer
    front.begin_deal(states, 0)
    for seat, text in enumerate(hands.split("/")):
        states["hands"][0, seat] = parse_hand(text)
    for text in actions.split(","):
        action = parse_action(text)
        assert step.is_legal(states, 0, action), f"{text} is not legal"
        step.apply(states, 0, action)
    return states


def move(agent: Agent, states: StateArray) -> str:
    """Text of the card that `agent` plays in a position."""
    return card_text(int(agent.act(*views_of(states))[0]))


# --- Legal everywhere ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*PRESETS, *range(60)])
def test_all_agents_are_always_legal(case: str | int) -> None:
    rules = PRESETS[case] if isinstance(case, str) else random_rules(np.random.default_rng(case))
    agents = [load_agent(spec) for spec in specs_for(rules).values()]
    players = Players(agents, 48)
    rng = np.random.default_rng(1)
    for seed in range(3):
        states = deals(rules, 48, seed)
        players.play_deals(states, rng.integers(0, len(agents), (48, 4)).astype(np.int8))
        assert (states["phase"] >= PHASE_DEAL_OVER).all()
    assert [tally.illegal for tally in players.tallies] == [0] * len(agents)
    assert min(tally.decisions for tally in players.tallies) > 100


# --- Repeatable, and blind to what is hidden ----------------------------------------------------------------


@pytest.mark.parametrize("name", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("preset", PRESETS)
def test_same_view_and_key_give_the_same_move_in_any_batch(name: str, preset: str) -> None:
    agent = load_agent(name)
    for states in situations(PRESETS[preset], 16)[::7]:
        views, keys = views_of(states)
        moves = agent.act(views, keys)
        assert moves.dtype == np.int16
        order = np.random.default_rng(0).permutation(len(states))
        assert (agent.act(views[order], keys[order]) == moves[order]).all()
        assert (agent.act(views[3:4], keys[3:4]) == moves[3:4]).all()


def digest() -> str:
    """A hash of what every agent does in many situations of every preset."""
    total = hashlib.sha256()
    for name in SPECS.values():
        for rules in PRESETS.values():
            for states in situations(rules, 8)[::5]:
                total.update(load_agent(name).act(*views_of(states)).tobytes())
    return total.hexdigest()


def test_another_process_makes_the_same_moves() -> None:
    code = "import sys; sys.path[:0] = ['tests', '.']; import test_agents; print(test_agents.digest())"
    other = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest()


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("case", [*PRESETS, *range(12)])
def test_moves_do_not_depend_on_what_is_hidden(name: str, case: str | int) -> None:
    """A view with the truth put back into it makes no difference: nobody reads beyond her own cards."""
    rules = PRESETS[case] if isinstance(case, str) else random_rules(np.random.default_rng(case))
    if name not in specs_for(rules):
        pytest.skip(f"{name} was not trained for these rules")
    agent = load_agent(SPECS[name])
    compared = 0
    for states in situations(rules, 24):
        views, keys = views_of(states)
        cheating = views.copy()
        cheating["known"] = states
        assert (agent.act(views, keys) == agent.act(cheating, keys)).all()
        compared += len(states)
    assert compared > 200


def test_views_are_left_as_they_were() -> None:
    for states in situations(PRESETS["two_player"], 8)[::9]:
        views, keys = views_of(states)
        before = views.tobytes(), keys.tobytes()
        for name in SPECS.values():
            load_agent(name).act(views, keys)
        assert (views.tobytes(), keys.tobytes()) == before


def test_keys_name_seed_game_deal_seat_and_decision() -> None:
    keys: list[int] = []
    for seed in (0, 1):
        for states in situations(PRESETS["classic"], 8, seed):
            keys += views_of(states)[1].tolist()
    states = deals(PRESETS["classic"], 8)
    states["deal"] = 1
    keys += views_of(states)[1].tolist()
    states["match"] = 1
    keys += views_of(states)[1].tolist()
    assert len(set(keys)) == len(keys) > 500
    # What else is in the record does not matter: another history leaves the key as it is.
    states["scores"] += 10
    states["actions"] += 1
    assert views_of(states)[1].tolist() == keys[-8:]
    # The key is no key of the engine's own streams.
    assert not set(keys) & set(states["key"].tolist())


# --- random -------------------------------------------------------------------------------------------------


def test_random_is_uniform_over_bids_and_over_cards() -> None:
    n = 14_000
    states = SpadesBatch(n, "classic", seed=3).states
    bids = load_agent("random").act(*views_of(states)) - FIRST_BID
    counts = np.bincount(bids, minlength=14)
    # Chi-square with 13 degrees of freedom: 34.5 is passed once in a thousand seeds; this seed is fixed.
    assert ((counts - 1000) ** 2 / 1000).sum() < 34.5
    keys = np.arange(13_000, dtype=np.uint64)
    open_lead = position(PRESETS["classic"].replace(lead_spades="any"), ALL_SUITS, 3, "bid 3,bid 3,bid 3,bid 3")
    views = np.repeat(views_of(open_lead)[0], 13_000)
    cards, counts = np.unique(load_agent("random").act(views, keys), return_counts=True)
    assert sorted(cards) == cards_of(parse_hand(ALL_SUITS.split("/")[0]))
    assert ((counts - 1000) ** 2 / 1000).sum() < 32.9  # 12 degrees of freedom


# --- conservative -------------------------------------------------------------------------------------------


def described_bid(hand: int) -> int:
    """The description to the letter: max(1, cards Q or higher // 2 + spades // 3); jokers are high spades."""
    texts = [card_text(card) for card in cards_of(hand)]
    honours = sum(text[0] in "QKA" or text in ("LJ", "BJ") for text in texts)
    spades = sum(text[1] == "S" or text in ("LJ", "BJ") for text in texts)
    return max(1, honours // 2 + spades // 3)


@pytest.mark.parametrize(
    "rules",
    [
        *PRESETS.values(),
        Rules(jokers=True),
        Rules(min_bid=3),
        Rules(max_team_bid=4),
        Rules(max_team_bid=6, min_bid=3),
        Rules(suits=2, ranks=8, hand_size=3),
    ],
)
def test_conservative_bids_as_described(rules: Rules) -> None:
    agent, seen = load_agent("conservative"), set()
    for states in situations(rules, 100):
        actions = agent.act(*views_of(states))
        for i in np.flatnonzero(states["phase"] == PHASE_BID):
            wish = described_bid(int(states["hands"][i, states["turn"][i]]))
            legal = [action - FIRST_BID for action in legal_action_list(states, int(i)) if action > NIL]
            expected = min(legal, key=lambda bid: (abs(bid - wish), bid))
            assert actions[i] == FIRST_BID + expected
            seen.add((wish, expected))
        assert (actions[states["phase"] == PHASE_BLIND] == LOOK).all()
    assert len({wish for wish, _ in seen}) >= 2
    if rules.min_bid > 1 or rules.max_team_bid:
        assert any(wish != expected for wish, expected in seen)


def test_conservative_plays_any_legal_card() -> None:
    states = position(PRESETS["classic"], ALL_SUITS, 3, "bid 3,bid 3,bid 3,bid 3")
    views = np.repeat(views_of(states)[0], 200)
    cards = load_agent("conservative").act(views, np.arange(200, dtype=np.uint64))
    assert sorted(set(cards.tolist())) == legal_action_list(states, 0)


# --- easy ---------------------------------------------------------------------------------------------------

ALL_SUITS = "AS 9S 2S KH 8H 5H AD QD 7D 3D TC 6C 2C/" + "/".join(
    (
        "KS JS 3S QH 9H 4H KD JD 6D AC 9C 7C 3C",
        "QS TS 4S AH TH 3H 2H TD 8D 2D KC JC 8C",
        "8S 7S 6S 5S JH 7H 6H 9D 5D 4D QC 5C 4C",
    )
)


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_beginners_never_bid_nil(name: str) -> None:
    agent, bids = load_agent(name), 0
    for case in [*PRESETS, *range(10)]:
        rules = PRESETS[case] if isinstance(case, str) else random_rules(np.random.default_rng(case))
        for states in situations(rules, 50):
            actions = agent.act(*views_of(states))
            bidding = states["phase"] == PHASE_BID
            bids += int(bidding.sum())
            assert (actions[bidding] > NIL).all()
            assert (actions[bidding] < LOOK - 1).all()
            assert (actions[states["phase"] == PHASE_BLIND] == LOOK).all()
            assert (actions[states["phase"] == PHASE_EXCHANGE] == DONE).all()
    assert bids > 2000


@pytest.mark.parametrize(
    ("hand", "bid"),
    [
        ("AS KS QS AH KH 2H AD KD 2D AC KC 3C 2C", 8),  # 3.00 in spades, 3 aces, 2.10 for three guarded kings
        ("5S 4S 3S 5H 4H 3H 2H 5D 4D 3D 5C 4C 3C", 1),  # nothing: the lowest bid
        ("TS 9S 8S 7S 6S 5S 4S 4H 3H 2H 4D 3D 3C", 4),  # long spades, a singleton
        ("AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S", 13),
    ],
)
def test_easy_counts_her_own_hand(hand: str, bid: int) -> None:
    states = position(PRESETS["classic"], "/".join([hand] * 4), 3, "bid 3")
    assert load_agent("easy").act(*views_of(states))[0] == FIRST_BID + bid


NEVER_SLIPS = EasyAgent(error=0.0)
BIDS = "bid 4,bid 4,bid 4,bid 4"


@pytest.mark.parametrize(
    ("bids", "plays", "card"),
    [
        (BIDS, "", "AD"),  # leads her master
        (BIDS, "TC,AC,KC", "4C"),  # cannot beat the ace: the lowest
        (BIDS, "3D,JD,TD", "4D"),  # last, cannot win
        (BIDS, "3D,6D,TD,9D,KC,4C,TC", "AC"),  # last, wins as cheaply as she can
        (BIDS, "3D,6D", "TD"),  # third hand high
        (BIDS, "3D", "6D"),  # second hand low, the king not being master
        (BIDS, "8H", "4H"),  # second hand low
        (BIDS, "TC,9C,KC,QC,AH,6H,8H", "4H"),  # partner's trick, not hers to win: the lowest
    ],
)
def test_easy_follows_simple_rules(bids: str, plays: str, card: str) -> None:
    states = position(PRESETS["classic"], ALL_SUITS, 3, bids + ("," + plays if plays else ""))
    assert move(NEVER_SLIPS, states) == card


def test_easy_keeps_out_of_the_way_once_her_bid_is_reached() -> None:
    taken = "bid 1,bid 4,bid 4,bid 4,AD,JD,TD,9D"
    states = position(PRESETS["classic"], ALL_SUITS, 3, taken)
    assert move(NEVER_SLIPS, states) == "2C"  # leads her lowest
    states = position(PRESETS["classic"], ALL_SUITS, 3, taken + ",2C,3C,KC,QC,2H,6H")
    assert move(NEVER_SLIPS, states) == "5H"  # the dearest card below the six


def test_easy_slips_as_often_as_she_is_told() -> None:
    states = position(PRESETS["classic"], ALL_SUITS, 3, BIDS)
    n, legal = 20_000, legal_action_list(position(PRESETS["classic"], ALL_SUITS, 3, BIDS), 0)
    views, keys = np.repeat(views_of(states)[0], n), np.arange(n, dtype=np.uint64)
    best = NEVER_SLIPS.act(views, keys)
    assert set(best.tolist()) == {parse_action("AD")}
    for error in (0.05, 0.5, 1.0):
        moves = EasyAgent(error).act(views, keys)
        expected = error * (1 - 1 / len(legal))
        assert abs((moves != best).mean() - expected) < 4 * (expected * (1 - expected) / n) ** 0.5
        assert sorted(set(moves.tolist())) == legal


# --- facts --------------------------------------------------------------------------------------------------


@kernel
def winners_of(states: StateArray, i: int) -> int:
    """Legal cards that win the trick in progress so far."""
    best, _, led = trick_so_far(states[i])
    return winning_cards(states[i], legal_cards(states[i]), best, led)


@pytest.mark.parametrize("case", ["classic", "two_player", *range(20)])
def test_winning_cards_are_those_with_which_the_engine_gives_the_trick(case: str | int) -> None:
    rules = PRESETS[case] if isinstance(case, str) else random_rules(np.random.default_rng(case))
    checked = 0
    for states in situations(rules, 12):
        last = (states["phase"] == PHASE_PLAY) & (states["trick_len"] == rules.players - 1)
        for i in np.flatnonzero(last):
            seat = int(states["turn"][i])
            winners = winners_of(states, int(i))
            for card in legal_action_list(states, int(i)):
                after = states[i : i + 1].copy()
                step.apply(after, 0, card)
                won = after["tricks"][0, seat] > states["tricks"][i, seat]
                assert won == bool(winners >> card & 1)
                checked += 1
    assert checked > 30


# --- registry -----------------------------------------------------------------------------------------------


class Outside:
    """An agent of someone else's."""

    name = "outside"

    def act(self, views: Any, keys: Any) -> Any:
        """Always the same, legal or not."""
        return np.full(len(keys), 60, np.int16)


class Oracle(Outside):
    """Sees the states."""

    def act_on_states(self, states: Any, keys: Any) -> Any:
        """Never called."""
        raise AssertionError


def make_outside() -> Outside:
    """A factory."""
    return Outside()


OUTSIDE = Outside()


def test_names_options_and_outside_agents_are_loaded() -> None:
    for name in AGENTS:
        agent = load_agent(name)
        assert isinstance(agent, Agent)
        assert agent.name == name
    assert load_agent("easy:error=0.25") == EasyAgent(0.25)
    assert load_agent("easy:error=0.25").name == "easy:error=0.25"
    assert load_agent(OUTSIDE) is OUTSIDE
    for attribute in ("OUTSIDE", "Outside", "make_outside"):
        assert load_agent(f"{__name__}:{attribute}").name == "outside"


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("eazy", ("'eazy'", "did you mean 'easy'?")),
        ("qqqq", ("'qqqq'", "random, conservative, easy", ".safetensors", "module:attribute")),
        ("", ("''", "random, conservative, easy")),
        ("random:x=1", ("'x'", "it has no options")),
        ("easy:eror=1", ("'eror'", "one of error")),
        ("easy:error", ("'error'", "key=value")),
        ("easy:", ("key=value",)),
        ("easy:error=lots", ("error='lots'", "0..1")),
        ("easy:error=2", ("error=2.0", "0..1")),
        ("easy:error=nan", ("error=nan", "0..1")),
        ("easy:error=0,error=1", ("'error'", "twice")),
        ("missing.safetensors", ("'missing.safetensors'", "no such file")),
        ("no_such_module:agent", ("no_such_module",)),
        (f"{__name__}:nothing", ("'nothing'",)),
        (f"{__name__}:ROOT", ("is no agent", "act(views, keys)")),
        (f"{__name__}:Oracle", ("OracleAgent",)),
        (Outside, ("is a class",)),
        (3, ("is no agent",)),
    ],
)
def test_what_is_no_agent_is_refused_with_a_reason(spec: Any, parts: tuple[str, ...]) -> None:
    with pytest.raises(AgentError) as caught:
        load_agent(spec)
    for part in parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_checkpoint_without_the_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policy.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "agents.learned.policy", None)
    for path in (tmp_path, tmp_path / "policy.safetensors", str(tmp_path)):
        with pytest.raises(AgentError, match=r"spades-env\[train\]"):
            load_agent(path)


def test_an_agent_in_the_current_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent_of_mine.py").write_text(
        "class Mine:\n    name = 'mine'\n\n    def act(self, views, keys):\n        raise RuntimeError\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert load_agent("agent_of_mine:Mine").name == "mine"
    (tmp_path / "broken_factory.py").write_text("def make():\n    raise RuntimeError('no luck')\n")
    with pytest.raises(AgentError, match="calling 'make' without arguments failed: RuntimeError: no luck"):
        load_agent("broken_factory:make")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(:\n", "SyntaxError: invalid syntax (odd_module.py, line 1)"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("raise RuntimeError('one\\ntwo')\n", "RuntimeError: one two"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("import no_such_module_at_all\n", "No module named 'no_such_module_at_all'"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line(
    source: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd_module.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    importlib.invalidate_caches()
    with pytest.raises(AgentError) as caught:
        load_agent("odd_module:f")
    assert str(caught.value) == f"agent 'odd_module:f': cannot import module 'odd_module': {said}"


def test_a_factory_that_ends_the_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaving.py").write_text("def make():\n    raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(AgentError, match="calling 'make' without arguments failed: SystemExit: 0"):
        load_agent("leaving:make")
