"""One seed decides everything: the same bytes in other processes, batches, threads and without JIT; ties.

The promises, and which test of which file shows each, stand in docs/reliability.md under "Determinism".
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from light_agents import SPECS
from received import policy
from repeatable import RULE_BOTS, SECTIONS
from test_agents import ROOT, position, situations, views_of

from agents.base import Agent
from agents.registry import AGENTS, load_agent
from agents.rules.facts import cheapest, dearest, rank_of
from agents.search.agent import SearchAgent
from evaluation.duplicate import evaluate, evaluate_line_up
from spades_env.actions import parse_action
from spades_env.cards import cards_of, mask_of
from spades_env.engine.batch import SpadesBatch, legal_action_list
from spades_env.engine.state import StateArray
from spades_env.rules import PRESETS, Rules

HAS_TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("sb3_contrib") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="needs the extra `train`")
HAS_POLICIES = importlib.util.find_spec("safetensors") is not None
needs_policies = pytest.mark.skipif(not HAS_POLICIES, reason="needs the extra `train`")
LEARNED = ("learned",) if HAS_POLICIES else ()
PROGRAM = ROOT / "tests" / "repeatable.py"


def digests(sections: tuple[str, ...], **environment: str) -> dict[str, str]:
    """The hashes that a fresh process finds, in an environment of its own."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *sections],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


# --- Processes, hash seeds, JIT -----------------------------------------------------------------------------------


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "sections",
    [
        ("engine", "environments", "agents", "evaluations", *LEARNED),
        pytest.param(("training",), marks=needs_torch),
    ],
    ids=["play", "training"],
)
def test_two_processes_with_other_hash_seeds_come_to_the_same(sections: tuple[str, ...]) -> None:
    one, two = (digests(sections, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert one == two
    assert set(one) == set(sections)


def test_every_section_is_compared() -> None:
    assert set(SECTIONS) == {"engine", "environments", "agents", "evaluations", "learned", "training", "rule bots"}
    assert set(RULE_BOTS) == set(AGENTS) - {"hard", "expert", "champion", "champion+search"}


@pytest.mark.timeout(900)
def test_without_jit_the_engine_the_rule_bots_and_policies_do_the_same() -> None:
    """Searches: tests/test_search.py; evaluation: tests/test_evaluation.py; encoders: tests/test_encoders.py."""
    sections = ("engine", "rule bots", *LEARNED)
    assert digests(sections, NUMBA_DISABLE_JIT="1") == digests(sections)


@needs_torch
@pytest.mark.timeout(900)
def test_without_jit_a_training_comes_to_the_same() -> None:
    assert digests(("training",), NUMBA_DISABLE_JIT="1") == digests(("training",))


# --- Batches and threads ------------------------------------------------------------------------------------------


def in_parts(agent: Agent, states: StateArray, size: int) -> np.ndarray:
    """Moves asked for `size` positions at a time."""
    parts = [agent.act(*views_of(states[k : k + size])) for k in range(0, len(states), size)]
    return np.concatenate(parts)


@pytest.mark.parametrize("name", SPECS)
def test_moves_do_not_depend_on_the_batch_or_on_threads(name: str) -> None:
    """64 positions at once, in sevens, one by one, and by two threads, each with a copy of the agent."""
    agent = load_agent(SPECS[name])
    for preset in ("classic",) if name.startswith("champion") else PRESETS:
        states = np.concatenate(situations(PRESETS[preset], 8)[::7])[:64]
        whole = in_parts(agent, states, 64)
        for size in (7, 1):
            assert (in_parts(agent, states, size) == whole).all(), (preset, size)
        with ThreadPoolExecutor(2) as pool:
            halves = pool.map(in_parts, [copy.copy(agent), copy.copy(agent)], [states[:32], states[32:]], [8, 8])
            assert (np.concatenate(list(halves)) == whole).all(), preset


@needs_policies
@pytest.mark.parametrize("sample", [False, True])
def test_a_learned_policys_moves_do_not_depend_on_the_batch(sample: bool) -> None:
    states = np.concatenate(situations(PRESETS["classic"], 16)[::11])[:64]
    agent = policy(PRESETS["classic"], sample)
    whole = in_parts(agent, states, 64)
    for size in (7, 1):
        assert (in_parts(agent, states, size) == whole).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_games_do_not_depend_on_the_batch(preset: str) -> None:
    """Games 0 to 63 in one batch, in sevens, one by one: states and margins."""

    def played(size: int) -> bytes:
        found = []
        for first in range(0, 64, size):
            batch = SpadesBatch(min(size, 64 - first), preset, seed=9, first_game=first)
            for k in range(60):
                legal = [legal_action_list(batch.states, i) for i in range(len(batch))]
                batch.step(np.array([each[(first + i + 3 * k) % len(each)] for i, each in enumerate(legal)]))
            found.append(batch.states.copy())
        return np.concatenate(found).tobytes()

    assert played(64) == played(7) == played(1)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_an_evaluation_does_not_depend_on_the_batch(size: int) -> None:
    four = ["normal", "easy", "suit_odds", "random"]
    found = evaluate_line_up(four, deals=10, matches=0, seed=4, batch_size=size)
    assert found.log.tobytes() == evaluate_line_up(four, deals=10, matches=0, seed=4).log.tobytes()
    one = evaluate("easy", "lowest", "two_player", deals=10, matches=2, seed=4, batch_size=size)
    two = evaluate("easy", "lowest", "two_player", deals=10, matches=2, seed=4)
    assert (one.log.tobytes(), one.match_log.tobytes()) == (two.log.tobytes(), two.match_log.tobytes())


# --- Ties go to the lowest action id ------------------------------------------------------------------------------


def test_the_rule_bots_measure_of_a_card_breaks_ties_downwards() -> None:
    """`cheapest` and `dearest` choose for `easy`, `suit_odds` and `normal`, the lowest id among equal ranks."""
    rng = np.random.default_rng(1)
    tied = 0
    for _ in range(2_000):
        cards = sorted(rng.choice(39, int(rng.integers(1, 8)), replace=False).tolist())
        ranks = [rank_of(card) for card in cards]
        tied += len(set(ranks)) < len(ranks)
        assert cheapest(mask_of(cards)) == cards[ranks.index(min(ranks))]
        assert dearest(mask_of(cards)) == cards[ranks.index(max(ranks))]
    assert tied > 500


TWO_LOSERS = "2C 2D 3H 4H/AH KH QH JH/5H 6H 7H 8H/9H TH AS KS"
"""South leads from two cards of the same rank in other suits; the hearts about are no better."""
SMALL = Rules(suits=4, ranks=13, hand_size=4)
BIDS = "bid 1,bid 1,bid 1,bid 1"


@pytest.mark.parametrize("name", ["lowest", "easy:error=0", "normal:objective=points", "suit_odds"])
def test_a_rule_bot_leads_the_lower_of_two_equal_cards(name: str) -> None:
    """2C and 2D are alike, so that clubs, the lower ids, go first."""
    states = position(SMALL, TWO_LOSERS, 3, BIDS)
    states["tricks"][0, 0] = 1  # her bid is made: nothing asks for a trick
    assert int(load_agent(name).act(*views_of(states))[0]) == parse_action("2C")


def test_highest_leads_the_lower_of_two_equal_cards() -> None:
    states = position(SMALL, "AC AD 3H 4H/AH KH QH JH/5H 6H 7H 8H/9H TH AS KS", 3, BIDS)
    assert int(load_agent("highest").act(*views_of(states))[0]) == parse_action("AC")


@pytest.mark.parametrize("exact", [0, 4])
def test_a_search_takes_the_lowest_of_cards_worth_the_same(exact: int) -> None:
    """West holds the four spades and leads them: South's discards are worthless in every world, solved or not."""
    hands = "2C 2D 3D 4C/AS KS QS JS/5H 6H 7H 8H/9H TH JH QH"
    states = position(SMALL, hands, 0, f"{BIDS},AS,5H,9H")
    agent = SearchAgent(worlds=8, draws=2, reads=2, exact=exact, objective="points")
    views, keys = views_of(states)
    legal = legal_action_list(states, 0)
    assert [int(card) for card in legal] == cards_of(mask_of([0, 2, 13, 14]))
    for key in range(40):
        assert int(agent.act(views, keys + np.uint64(key))[0]) == legal[0]


@needs_policies
def test_a_learned_policy_takes_the_lowest_of_equal_logits() -> None:
    from agents.learned.policy import LearnedAgent
    from agents.learned.weights import input_size, tensor_forms

    forms = tensor_forms(input_size(PRESETS["classic"]), (8,))
    tensors = {name: np.zeros(form, np.float32) for name, form in forms.items()}
    agent = LearnedAgent(tensors, PRESETS["classic"])
    choices = 0
    for states in situations(PRESETS["classic"], 16)[::3]:
        moves = agent.act(*views_of(states))
        for i, move in enumerate(moves):
            legal = legal_action_list(states, i)
            assert int(move) == legal[0]
            choices += len(legal) > 1
    assert choices > 100


# --- Nothing that is not decided by the seed ----------------------------------------------------------------------

GLOBAL = re.compile(
    r"np\.random\.(?!default_rng|Generator|SeedSequence)\w+\(|^\s*(?:import|from) random\b|time\.time\(|\bhash\("
)
ALLOWED: dict[str, str] = {}
"""Files that may, and why."""


def test_no_module_draws_from_global_generators_or_hashes() -> None:
    """NumPy's and Python's global generators, `hash` of text (other in every process) and the time of day."""
    found: dict[str, Any] = {}
    for room in ("spades_env", "agents", "evaluation", "training"):
        for path in sorted((ROOT / room).rglob("*.py")):
            lines = [line for line in path.read_text(encoding="utf-8").splitlines() if GLOBAL.search(line)]
            name = str(Path(path).relative_to(ROOT))
            if lines and name not in ALLOWED:
                found[name] = lines
    assert not found
