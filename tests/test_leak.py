"""No hidden fact reaches a seat (R30): what she cannot know is permuted, and her view, rows and mask must not move.

The permuter is written from R30 alone and knows nothing of view.py. Encoders that leak on purpose must be caught.
"""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from spades_env.cards import NUM_CARDS
from spades_env.engine import step
from spades_env.engine.batch import legal_action_list, sample_actions
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DEAL_OVER,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_MATCH_OVER,
    PHASE_PLAY,
    STATE,
    StateArray,
    rules_to_record,
)
from spades_env.envs.aec import SpadesAECEnv
from spades_env.game import Game
from spades_env.observation import ENCODERS as BY_NAME
from spades_env.observation import FLAT_SIZE, observe_seat, observe_seat_float32
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, view_of

Encoder = Callable[[StateArray, int, int], bytes]
Cards = npt.NDArray[np.int64]

IDS: Cards = np.arange(NUM_CARDS)

DEALT = (PHASE_BID, PHASE_PLAY, PHASE_DEAL_OVER, PHASE_MATCH_OVER)
DRAFTED = (PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE, *DEALT)
CASES: dict[str, tuple[Rules, tuple[int, ...]]] = {
    # Short matches, so that their ends are met often; what is hidden does not depend on that.
    "classic": (PRESETS["classic"].replace(max_deals=3), DEALT),
    "table": (PRESETS["table"].replace(max_deals=3), DEALT),
    "modern": (PRESETS["modern"].replace(max_deals=3), (PHASE_BLIND, *DEALT)),
    "two_player": (PRESETS["two_player"].replace(max_deals=3), DRAFTED),
    "draft options": (
        PRESETS["two_player"].replace(
            max_deals=3, jokers=True, draft_second_card_seen=True, blind_nil_exchange=13, lead_spades="any"
        ),
        DRAFTED,
    ),
    "small deck": (
        Rules(ranks=7, hand_size=4, max_deals=3, blind_nil=True, blind_nil_deficit=0),
        (PHASE_BLIND, *DEALT),
    ),
    "two dealt": (
        Rules(players=2, max_deals=3, blind_nil=True, blind_nil_deficit=None),
        (PHASE_BLIND, *DEALT),
    ),
}


def collect(rules: Rules, phases: tuple[int, ...], count: int, seed: int) -> StateArray:
    """`count` positions of every phase in `phases`, met in random play; shape (count * len(phases),)."""
    games, rng = 64, np.random.default_rng(seed)
    states, actions = np.zeros(games, STATE), np.zeros(games, np.int64)
    step.new_games(states, rules_to_record(rules), seed, 0)
    found = np.zeros(count * len(phases), STATE)
    have = dict.fromkeys(phases, 0)
    for n in itertools.count():
        if min(have.values()) == count:
            return found
        sample_actions(states, np.uint64(seed), n, actions)
        for i in range(games):
            phase = int(states["phase"][i])
            if phase in have and have[phase] < count and rng.random() < 0.3:
                found[phases.index(phase) * count + have[phase]] = states[i]
                have[phase] += 1
            if step.is_over(states, i):
                step.advance(states, i)
            else:
                step.apply(states, i, actions[i])
    raise AssertionError("unreachable")


# What a seat cannot know


def known_places(state: np.void, seat: int) -> int:
    """Mask of the cards of which `seat` knows where they are (R10, R27, R29, R30).

    A card she rejected is not among them: an exchange may have taken it to the other hand since (R28).
    """
    known = int(state["hands"][seat]) if int(state["looked"][seat]) else 0
    for other in range(4):
        known |= int(state["played"][other])
    if int(state["rules"]["draft"]):
        known |= int(state["thrown"][seat])
        if int(state["phase"]) == PHASE_DRAFT and int(state["turn"]) == seat:
            known |= 1 << int(state["pile"][int(state["pile_pos"])])
    return known


def moved(mask: int, to: Cards) -> int:
    """`mask` with every card c replaced by to[c]."""
    cards = to[np.flatnonzero((mask >> IDS) & 1)]
    return int(np.bitwise_or.reduce(1 << cards)) if len(cards) else 0


def scrambled(states: StateArray, i: int, seat: int, rng: np.random.Generator) -> StateArray:
    """Game `i` as it might be in another world that looks the same to `seat`: shape (1,).

    All cards whose place she does not know change places among themselves, wherever they lie: other hands, cards
    out of play, the pile, face-down discards, what the other rejected and gave up; so do future random numbers.
    """
    other_world = states[i : i + 1].copy()
    state = other_world[0]
    hidden = np.flatnonzero((pack(state) & ~known_places(state, seat)) >> IDS & 1)
    to = IDS.copy()
    to[hidden] = rng.permutation(hidden)
    state["key"] = rng.integers(2**63)
    for other in range(4):
        if other != seat or not int(state["looked"][seat]):
            state["hands"][other] = moved(int(state["hands"][other]), to)
    state["pile"] = to[state["pile"]]
    if int(state["rules"]["draft"]):
        state["discards"] = moved(int(state["discards"]), to)
        state["rejected"][1 - seat] = moved(int(state["rejected"][1 - seat]), to)
        change_exchange(state, 1 - seat, to)
    return other_world


def pack(state: np.void) -> int:
    """Mask of the cards in the pack (R2, small deck)."""
    rules = state["rules"]
    if int(rules["jokers"]):
        return sum(1 << card for card in range(NUM_CARDS) if card not in (13, 26))
    suits, ranks = int(rules["suits"]), int(rules["ranks"])
    return sum(1 << card for card in range(52) if card // 13 >= 4 - suits and card % 13 >= 13 - ranks)


def change_exchange(state: np.void, other: int, to: Cards) -> None:
    """Let `other` have given up other cards: in her `thrown` and where the history names them (R29)."""
    thrown = int(state["thrown"][other])
    state["thrown"][other] = moved(thrown, to)
    end = int(state["first_play"]) or int(state["n_actions"])
    for k in range(end):
        action = int(state["actions"][k])
        if action < NUM_CARDS and thrown >> action & 1:
            state["actions"][k] = to[action]


# What she sees


def view_bytes(states: StateArray, i: int, seat: int) -> bytes:
    views = empty_views(1)
    view_of(states, i, seat, views, 0)
    return views.tobytes()


def flat_bytes(states: StateArray, i: int, seat: int) -> bytes:
    row = np.empty(FLAT_SIZE, np.uint8)
    observe_seat(states, i, seat, row)
    return row.tobytes()


def float_bytes(states: StateArray, i: int, seat: int) -> bytes:
    row = np.empty(FLAT_SIZE, np.float32)
    observe_seat_float32(states, i, seat, row)
    return row.tobytes()


def other_rows(states: StateArray, i: int, seat: int) -> bytes:
    """Rows of the encoders but the flat one."""
    views = empty_views(1)
    view_of(states, i, seat, views, 0)
    seen = b""
    for name in ("sequence", "features"):
        row = np.empty((1, BY_NAME[name].layout.size), np.uint8)
        BY_NAME[name].write(views, row)
        seen += row.tobytes()
    return seen


def mask_bytes(states: StateArray, i: int, seat: int) -> bytes:
    """The action mask that `seat` is given: all zeros when she is not to act."""
    mask = np.zeros(73, np.int8)
    if int(states["turn"][i]) == seat:
        mask[legal_action_list(states, i)] = 1
    return mask.tobytes()


def leaks(encode: Encoder, states: StateArray, rng: np.random.Generator) -> Counter[int]:
    """Positions, by phase, in which what some seat gets from `encode` depends on what she cannot know."""
    found = Counter[int]()
    for i in range(len(states)):
        for seat in range(int(states[i]["rules"]["players"])):
            other_world = scrambled(states, i, seat, rng)
            found[int(states["phase"][i])] += encode(states, i, seat) != encode(other_world, 0, seat)
    return found


ENCODERS: tuple[Encoder, ...] = (view_bytes, flat_bytes, float_bytes, other_rows, mask_bytes)


def everything(states: StateArray, i: int, seat: int) -> bytes:
    return b"".join(encode(states, i, seat) for encode in ENCODERS)


def check(name: str, count: int, seed: int) -> None:
    rules, phases = CASES[name]
    states = collect(rules, phases, count, seed)
    assert all((states["phase"] == phase).sum() == count for phase in phases)
    found = leaks(everything, states, np.random.default_rng(seed))
    assert found.total() == 0, found


@pytest.mark.parametrize("name", CASES)
def test_nothing_hidden_reaches_a_seat(name: str) -> None:
    check(name, 1_000 if name in PRESETS else 250, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_nothing_hidden_reaches_a_seat_in_many_positions(name: str) -> None:
    check(name, 4_000, seed=2)


# The checker itself


def test_the_permuter_moves_cards_and_keeps_counts() -> None:
    rng = np.random.default_rng(3)
    rules, phases = CASES["two_player"]
    states = collect(rules, phases, 20, seed=3)
    held, changed = 0, 0
    for i in range(len(states)):
        for seat in range(2):
            old, new = states[i], scrambled(states, i, seat, rng)[0]
            assert new["hands"][seat] == old["hands"][seat]
            assert int(new["hands"][1 - seat]).bit_count() == int(old["hands"][1 - seat]).bit_count()
            assert int(new["discards"]).bit_count() == int(old["discards"]).bit_count()
            assert (new["played"] == old["played"]).all()
            assert sorted(new["pile"]) == sorted(old["pile"])
            if old["hands"][1 - seat]:
                held += 1
                changed += new["hands"][1 - seat] != old["hands"][1 - seat]
    assert held > 100
    assert changed > 0.9 * held


def partners_mask(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks as some published environments do: every seat gets the mask of the seat to act."""
    return bytes(legal_action_list(states, i))


def unlooked_hand(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks a hand before its owner has looked (R10)."""
    return int(states["hands"][i, seat]).to_bytes(8, "little")


def top_of_the_pile(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks the card that the other seat is looking at (R27)."""
    return bytes([int(states["pile"][i, min(int(states["pile_pos"][i]), 51)])])


def discarded_ace(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks one bit: whether the ace of spades is out of the game."""
    return bytes([int(states["discards"][i]) >> 51 & 1])


def fate_of_a_rejected_card(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks whether a card she rejected has come to the other hand (R28)."""
    return bytes([bool(int(states["rejected"][i, seat]) & int(states["hands"][i, 1 - seat]))])


def cards_given_up(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks the history of the exchange (R29)."""
    return states["actions"][i].tobytes()


def longest_suit_of_the_next(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks a count only: how many spades the next seat holds."""
    return bytes([(int(states["hands"][i, (seat + 1) % 4]) >> 39).bit_count()])


def key(states: StateArray, i: int, seat: int) -> bytes:
    """Leaks the random numbers of the deals to come."""
    return int(states["key"][i]).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("leaky", "case", "phase"),
    [
        (partners_mask, "classic", PHASE_PLAY),
        (unlooked_hand, "modern", PHASE_BLIND),
        (top_of_the_pile, "two_player", PHASE_DRAFT),
        (discarded_ace, "two_player", PHASE_PLAY),
        (fate_of_a_rejected_card, "two_player", PHASE_BID),
        (cards_given_up, "two_player", PHASE_PLAY),
        (longest_suit_of_the_next, "table", PHASE_BID),
        (key, "classic", PHASE_DEAL_OVER),
    ],
)
def test_an_encoder_that_leaks_is_caught(leaky: Encoder, case: str, phase: int) -> None:
    rules, _ = CASES[case]
    states = collect(rules, (phase,), 60, seed=4)
    assert leaks(leaky, states, np.random.default_rng(4))[phase] > 0
    assert leaks(everything, states, np.random.default_rng(4)).total() == 0


# The environment: what a seat gets of it, with the infos that its own code made


def at_position(env: SpadesAECEnv, states: StateArray) -> None:
    """Put `env`, at the start of an episode, where its own `step` would have left it at this position."""
    game = Game.__new__(Game)
    game._rules, game._states = env.rules, states
    env._game, env._states = game, states
    if game.deal_over:
        env._end_deal()
    else:
        env._clear_infos()
        env._ask_first()


def seen_in(*envs: SpadesAECEnv) -> Encoder:
    """All that a seat gets of the environments: observation, mask, info, view, reward, end, picture."""

    def encode(states: StateArray, i: int, seat: int) -> bytes:
        seen: list[Any] = []
        for env in envs:
            env.reset(seed=0)
            at_position(env, states[i : i + 1].copy())
            agent = env.possible_agents[seat]
            env.render_seat = seat
            seen += [env.observe(agent), env.infos[agent], env.view(agent).views.tobytes(), env.render()]
            seen += [env.rewards[agent], env.terminations[agent], env.truncations[agent], env.agent_selection]
        return pickle.dumps(seen)

    return encode


def check_env(name: str, count: int, seed: int) -> None:
    """No leak at `count` positions of every phase. A match deals anew after a deal, so that end is an episode here."""
    rules, phases = CASES[name]
    match = seen_in(SpadesAECEnv(rules, render_mode="ansi"))
    deal = seen_in(SpadesAECEnv(rules, episode="deal", dtype="uint8", render_mode="ansi"))
    for phase in phases:
        states = collect(rules, (phase,), count, seed)
        found = leaks(deal if phase == PHASE_DEAL_OVER else match, states, np.random.default_rng(seed))
        assert found.total() == 0, found


@pytest.mark.parametrize("name", CASES)
def test_nothing_hidden_leaves_the_environment(name: str) -> None:
    check_env(name, 100 if name in PRESETS else 25, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_nothing_hidden_leaves_the_environment_in_many_positions(name: str) -> None:
    check_env(name, 1_000, seed=6)


@pytest.mark.parametrize("rules", PRESETS)
def test_an_environment_put_at_a_position_is_the_one_that_was_stepped_there(rules: str) -> None:
    """What the leak test looks at is what players get: infos, observations and turn, after every step of a deal."""
    env, placed = (SpadesAECEnv(rules, episode="deal", render_mode="ansi") for _ in range(2))
    env.reset(seed=7)
    rng = np.random.default_rng(7)
    while True:
        placed.reset(seed=0)
        at_position(placed, env.game.states.copy())
        assert placed.agent_selection == env.agent_selection
        assert placed.rewards == env.rewards
        for agent in env.possible_agents:
            for mine, stepped in (
                (placed.infos[agent], env.infos[agent]),
                (placed.observe(agent), env.observe(agent)),
            ):
                assert pickle.dumps(mine) == pickle.dumps(stepped)
        if env.terminations[env.agent_selection]:
            break
        env.step(int(rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]))))


class Chatty(SpadesAECEnv):
    """Leaks in `info` how many spades the next seat holds."""

    def _clear_infos(self) -> None:
        super()._clear_infos()
        hands = self.game.hands
        for seat, agent in enumerate(self.agents):
            spades = [card for card in hands[(seat + 1) % len(hands)] if card >= 39]
            self.infos[agent]["next_spades"] = len(spades)


class OneMask(SpadesAECEnv):
    """Leaks the mask of the seat to act to everybody, as some published environments do."""

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        return super().observe(agent) | {"action_mask": self._masks[self.agent_selection]}


class OpenTable(SpadesAECEnv):
    """Leaks in `info` the whole pack once a deal is over, with what was discarded unseen (R27)."""

    def _end_deal(self) -> None:
        super()._end_deal()
        for info in self.infos.values():
            info["pile"] = self._game.states["pile"].tobytes()


@pytest.mark.parametrize(
    ("leaky", "case", "phase"),
    [
        (Chatty, "classic", PHASE_PLAY),
        (Chatty, "two_player", PHASE_EXCHANGE),
        (OneMask, "table", PHASE_PLAY),
        (OpenTable, "two_player", PHASE_MATCH_OVER),
    ],
)
def test_an_environment_that_leaks_is_caught(leaky: type[SpadesAECEnv], case: str, phase: int) -> None:
    rules, _ = CASES[case]
    states = collect(rules, (phase,), 30, seed=8)
    env = leaky(rules, render_mode="ansi")
    assert leaks(seen_in(env), states, np.random.default_rng(8))[phase] > 0
