"""Claims against every way in which the unseen cards can lie and be played: what is claimed is always won.

The checker deals the unseen cards in every way that the public voids allow, lets the other seats play every legal card,
and knows nothing of how a claim is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from spades_env.cards import cards_of, mask_of, suit_of
from spades_env.engine.state import StateArray
from spades_env.engine.step import apply
from spades_env.game import Game
from spades_env.rules import Rules
from table.claims import certain_line, unseen_cards

SMALL = Rules(suits=4, ranks=4, hand_size=4)
"""Sixteen cards, four a hand: all layouts of the last three tricks can be tried."""
RULES = {
    "broken": SMALL,
    "any": SMALL.replace(lead_spades="any"),
    "only spades left": SMALL.replace(lead_spades="only_spades_left"),
    "undealt": Rules(suits=4, ranks=5, hand_size=4, lead_spades="any"),
    "two": Rules(players=2, suits=3, ranks=4, hand_size=4, lead_spades="any"),
}


def layouts(cards: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """Every way to give hands of these sizes from the cards (what is left stays out of play), as masks."""
    if not sizes:
        yield []
        return
    for chosen in combinations(cards, sizes[0]):
        rest = [card for card in cards if card not in chosen]
        for others in layouts(rest, sizes[1:]):
            yield [mask_of(chosen), *others]


def worlds(game: Game, seat: int) -> Iterator[StateArray]:
    """The game with every layout of the cards that `seat` has not seen, as far as the shown voids allow (R11)."""
    view = game.view(seat)
    others = [k for k in range(game.players) if k != seat]
    sizes = [len(game.hands[k]) for k in others]
    for hands in layouts(cards_of(unseen_cards(view)), sizes):
        if any(suit_of(c) in view.voids[k] for k, hand in zip(others, hands, strict=True) for c in cards_of(hand)):
            continue
        states = game.states.copy()
        for k, hand in zip(others, hands, strict=True):
            states["hands"][0, k] = hand
        yield states


def always_wins(states: StateArray, seat: int, line: list[int]) -> bool:
    """Whether `seat`, leading `line`, takes every trick against all cards that the others may play."""
    game = Game.__new__(Game)
    game._states, game._rules = states, RULES["any"]
    phase, turn = int(states["phase"][0]), int(states["turn"][0])
    if phase != 2:
        return True
    leads = int(states["trick_len"][0]) == 0
    if leads and turn != seat:
        return False
    tried = [line[0]] if turn == seat else game.legal_actions()
    if turn == seat and line[0] not in game.legal_actions():
        return False
    for card in tried:
        after = states.copy()
        apply(after, 0, card)
        if not always_wins(after, seat, line[1:] if turn == seat else line):
            return False
    return True


def positions(rules: Rules, seed: int, count: int) -> Iterator[Game]:
    """Positions of random play in which somebody is on lead with one to three cards."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        game = Game(rules, seed=int(rng.integers(2**40)))
        while game.turn is not None:
            if game.phase == "play" and not game.trick and 1 <= len(game.hands[game.turn]) <= 3:
                found += 1
                yield game.copy()
            game.apply(int(rng.choice(game.legal_actions())))


def check(name: str, count: int, seed: int, most_worlds: int) -> tuple[int, int]:
    """(claims found, positions in which her cards, led in some order, would always win) among `count`."""
    claimed = 0
    for game in positions(RULES[name], seed, count):
        seat = game.turn
        assert seat is not None
        line = certain_line(game.view(seat))
        if line is None:
            continue
        assert sorted(line) == sorted(game.hands[seat])
        claimed += len(line) > 1
        for tried, states in enumerate(worlds(game, seat)):
            assert always_wins(states, seat, line), (name, game.hand_texts, line)
            if tried >= most_worlds:
                break
    return claimed, count


@pytest.mark.parametrize("name", RULES)
def test_what_is_claimed_is_always_won(name: str) -> None:
    claimed, _ = check(name, 150, seed=1, most_worlds=150)
    assert claimed > 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", RULES)
def test_what_is_claimed_is_always_won_in_many_positions(name: str) -> None:
    claimed, _ = check(name, 500, seed=2, most_worlds=500)
    assert claimed > 5


def test_what_others_could_still_win_is_not_claimed() -> None:
    """An ace that can be ruffed, a king whose ace is out, a spade while the spade above it is out."""
    hands = {"0": "AC KC", "1": "AS QC", "2": "JC AD", "3": "KD QD"}
    rules = Rules(suits=4, ranks=4, hand_size=2, lead_spades="any")
    game = Game.from_position(rules, dealer=3, hands=list(hands.values()), actions=["bid 1"] * 4)
    game.apply("KC")
    for card in ("QC", "JC", "KD"):
        game.apply(card)
    assert game.turn == 0
    assert certain_line(game.view(0)) is None  # the ace of spades is out
