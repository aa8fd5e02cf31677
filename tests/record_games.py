"""Games and records for the tests of records: random ones, one with every spade in one hand, and a draft."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
from random_rules import random_rules

from spades_env.game import Game
from spades_env.record import parse_line, record_text
from spades_env.rules import PRESETS, Rules

SUITED = [
    "AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S",
    "AC KC QC JC TC 9C 8C 7C 6C 5C 4C 3C 2C",
    "AD KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D",
    "AH KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H",
]
"""South holds all spades; she bids and leads first if the dealer is East (3)."""


class _Delete:
    """Its text is the same in every process, as parallel tests want of what is in their names."""

    def __repr__(self) -> str:
        return "<delete>"


DELETE = _Delete()
"""For `changed`: take the place away."""
Place = tuple[Any, ...]
"""Keys and indices that lead to a place in a record."""


def preset_or_random_rules(seed: int) -> Rules:
    """A preset every other time, else random rules."""
    if seed % 2:
        return list(PRESETS.values())[seed // 2 % len(PRESETS)]
    return random_rules(np.random.default_rng(seed))


def play(game: Game, rng: random.Random, actions: int = 1_000) -> None:
    """Random legal actions until the deal is over, at most `actions`."""
    for _ in range(actions):
        if game.deal_over:
            return
        game.apply(rng.choice(game.legal_actions()))


def go_on(game: Game) -> None:
    """The next deal, or the next match after the end of one."""
    game.next_match() if game.match_over else game.next_deal()


def some_game(rules: Rules, rng: random.Random) -> Game:
    """A game somewhere in one of its first deals, often at the deal's end."""
    game = Game(rules, seed=rng.randrange(2**63), game=rng.randrange(100), match=rng.randrange(3))
    for _ in range(rng.randrange(3)):
        play(game, rng)
        go_on(game)
    play(game, rng, rng.choice((0, 3, 30, 60, 1_000, 1_000)))
    return game


def suited_game() -> Game:
    """South takes every trick with her spades; West's nil is made."""
    game = Game(hands=SUITED, dealer=3, seed=7)
    for bid in ("bid 7", "nil", "bid 3", "bid 2"):
        game.apply(bid)
    while not game.deal_over:
        game.apply(game.legal_actions()[0])
    return game


def again(record: dict[str, Any]) -> dict[str, Any]:
    """A record by way of its line."""
    return parse_line(record_text(record))


def drafted_game(seed: int = 1) -> Game:
    """Seat 0 deals, calls double nil and gives up two cards; at the opening lead."""
    game = Game("two_player", seed=seed, dealer=0)
    game.apply("double nil")
    while game.phase != "exchange":
        game.apply("look" if game.phase == "blind" else "keep")
    for card in game.hands[0][-2:]:
        game.apply(card)
    game.apply("done")
    game.apply("bid 4")
    return game


def changed(record: dict[str, Any], path: Place, value: Any) -> dict[str, Any]:
    """A copy of the record with one place set (or deleted)."""
    record = copy.deepcopy(record)
    place: Any = record
    for step in path[:-1]:
        place = place[step]
    if value is DELETE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return record
