"""Deals of random play, and other worlds in which each would have gone just as it did before the eyes of one seat.

Written from R27-R30 and the engine, and knows nothing of views. Unlike the permuter of test_leak.py, which moves every
hidden card wherever it likes, this one deals only what the engine itself plays to the same course: suits that somebody
has shown not to hold, leads that tell a hand, draws and exchanges included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from hidden_positions import replays
from test_leak import CASES, IDS, known_places, moved, pack

from spades_env.actions import KEEP, TAKE_NEXT
from spades_env.cards import NUM_CARDS, cards_of
from spades_env.engine.state import PHASE_DRAFT, StateArray
from spades_env.engine.step import apply
from spades_env.game import Game
from spades_env.rules import PRESETS, Rules

TABLES: Final[dict[str, Rules]] = {
    **{name: rules for name, (rules, _) in CASES.items()},
    "jokers": PRESETS["modern"].replace(max_deals=3, jokers=True, turn_direction="counter_clockwise"),
    "undealt": Rules(suits=3, ranks=9, hand_size=5, max_deals=3, blind_nil=True, blind_nil_deficit=0),
    "low club": PRESETS["classic"].replace(
        max_deals=3, opening_lead="low_club", contract="individual", lead_spades="only_spades_left"
    ),
}
"""Rule sets with everything that can be hidden: blind hands, drafts, discards, exchanges, jokers, cards not dealt."""


@dataclass(frozen=True)
class Course:
    """A deal as far as it went: its start, as `Game` takes it, and the actions of all seats."""

    rules: Rules
    seed: int
    dealer: int
    scores: tuple[int, int]
    cards: tuple[int, ...]
    """A hand mask for each seat; of a draft the pile."""
    actions: tuple[int, ...]

    @property
    def options(self) -> dict[str, Any]:
        """What makes an environment or a `Game` start here, as `reset(options=...)` takes it."""
        drafted = self.rules.deal == "draft"
        dealt = {"pile": list(self.cards)} if drafted else {"hands": [cards_of(hand) for hand in self.cards]}
        return {**dealt, "dealer": self.dealer, "scores": self.scores}

    def start(self) -> Game:
        """The deal before its first action."""
        return Game(self.rules, seed=self.seed, **self.options)

    def game(self) -> Game:
        """The deal where it stands."""
        game = self.start()
        for action in self.actions:
            apply(game.states, 0, action)
        return game


def course_of(rules: Rules, seed: int, part: float) -> Course:
    """The first `part` (0 to 1) of a deal of random play; the scores let one team or the other bid blind nil."""
    rng = np.random.default_rng(seed)
    scores = (0, 100) if seed % 2 else (100, 0)
    game = Game(rules, seed=seed, scores=scores)
    drafted = rules.deal == "draft"
    cards = tuple(game.pile) if drafted else tuple(int(hand) for hand in game.states["hands"][0, : rules.players])
    dealer = game.dealer
    while not game.deal_over:
        game.apply(int(rng.choice(game.legal_actions())))
    actions = tuple(game.actions[: round(part * len(game.actions))])
    return Course(rules, seed, dealer, scores, cards, actions)


def known_to(states: StateArray, seat: int) -> tuple[bytes, ...]:
    """Everything that `seat` may know of game 0, spelled out from R10, R27-R30."""
    state = states[0]
    public = (
        *("bids", "blind", "looked", "asked", "exchanged", "tricks", "voids", "played", "scores", "bags", "broken"),
        *("phase", "turn", "trick", "trick_len", "leaders", "n_actions", "first_play", "pile_pos", "dealer", "first"),
        *("winner", "truncated", "result", "match", "deal", "rules"),
    )
    parts = [state[name].tobytes() for name in public]
    if state["looked"][seat]:
        parts.append(state["hands"][seat].tobytes())
    actions = state["actions"].copy()
    if state["rules"]["draft"]:
        parts += [state["rejected"][seat].tobytes(), state["thrown"][seat].tobytes(), drawn_by(state, seat)]
        for k in exchanged_by(state, 1 - seat):
            actions[k] = -1
    return (*parts, actions.tobytes())


def drawn_by(state: np.void, seat: int) -> bytes:
    """The cards of the pile that `seat` has looked at, in order, with the one she is deciding about (R27)."""
    pile, dealer = state["pile"], int(state["dealer"])
    choices = [int(a) for a in state["actions"][: int(state["n_actions"])] if int(a) in (KEEP, TAKE_NEXT)]
    seen = []
    for k, choice in enumerate(choices):
        if (dealer + k) % 2 == seat:  # the dealer draws first
            both = choice == TAKE_NEXT or int(state["rules"]["second_seen"]) == 1
            seen += [int(card) for card in pile[2 * k : 2 * k + 1 + both]]
    if int(state["phase"]) == PHASE_DRAFT and int(state["turn"]) == seat:
        seen.append(int(pile[int(state["pile_pos"])]))
    return bytes(seen)


def exchanged_by(state: np.void, giver: int) -> list[int]:
    """Places in the history at which `giver` named a card to give up (R28: the dealer first)."""
    end = int(state["first_play"]) or int(state["n_actions"])
    named = [k for k in range(end) if 0 <= int(state["actions"][k]) < NUM_CARDS]
    dealer = int(state["dealer"])
    of_dealer = int(state["exchanged"][dealer])
    return named[:of_dealer] if giver == dealer else named[of_dealer:]


def other_world(course: Course, seat: int, rng: np.random.Generator, swaps: int = 60) -> Course | None:
    """A course with other hidden cards that `seat` cannot tell from this one; None if none was found.

    Hidden cards change places two at a time, as long as the engine plays the same course to the same knowledge.
    """
    start, now = course.start().states, course.game().states
    wanted, state = known_to(now, seat), now[0]
    hidden = np.flatnonzero((pack(state) & ~known_places(state, seat)) >> IDS & 1)
    theirs = exchanged_by(state, 1 - seat) if course.rules.deal == "draft" else []
    to, found = IDS.copy(), None
    for _ in range(swaps if len(hidden) > 1 else 0):
        one, two = rng.choice(hidden, 2, replace=False)
        tried = to.copy()
        tried[one], tried[two] = to[two], to[one]
        candidate = renamed(course, tried, theirs)
        if candidate.cards == course.cards or not tells_the_same(start, candidate, seat, wanted):
            continue
        to, found = tried, candidate
    if found is None or state["exchanged"].any():
        return found  # what an exchange draws is decided by the seed
    return replace(found, seed=int(rng.integers(2**62)))


def renamed(course: Course, to: np.ndarray, theirs: list[int]) -> Course:
    """The course with card c replaced by to[c] in the cards and at the places `theirs` of the history."""
    drafted = course.rules.deal == "draft"
    cards = tuple(int(to[card]) for card in course.cards) if drafted else tuple(moved(m, to) for m in course.cards)
    actions = list(course.actions)
    for k in theirs:
        actions[k] = int(to[actions[k]])
    return replace(course, cards=cards, actions=tuple(actions))


def tells_the_same(start: StateArray, candidate: Course, seat: int, wanted: tuple[bytes, ...]) -> bool:
    """Whether the engine plays the candidate's course and `seat` then knows what she is to know."""
    game = start.copy()
    if candidate.rules.deal == "draft":
        game["pile"][0] = candidate.cards
    else:
        game["hands"][0, : candidate.rules.players] = candidate.cards
    actions = np.array(candidate.actions, np.int8)
    return bool(replays(game, actions, len(actions))) and known_to(game, seat) == wanted
