"""Given positions, checked: what a caller says about a match and a deal is refused or kept exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

import numpy as np

from spades_env import checks
from spades_env.actions import NUM_ACTIONS, ActionError, parse_action
from spades_env.cards import CardError, card_text, cards_of, hand_text, parse_card, parse_hand
from spades_env.engine.front import (
    begin_deal,
    begin_given_deal,
    begin_match,
    begin_unknown_deal,
    pack_mask,
    winner_by_scores,
)
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import Rules

Cards = str | Iterable[str | int]
"""Cards as text ("AS KS 2C") or as an iterable of texts and ids."""

HIGHEST_SCORE = 1_000_000
"""Largest amount of a given score or bag count: the range of `Rules.target`."""
HIGHEST_TOTAL = 2_000_000_000
"""Largest amount of a score from which a game goes on; no deal reaches the end of an int32 from there."""
HIGHEST_SEED = 2**63 - 1
HIGHEST_NUMBER = 2**31 - 1
"""Largest number of a game under a seed."""
HIGHEST_COUNT = 1_000_000
"""Largest number of a match in its game and of a deal in its match; no game goes on beyond."""


class PositionError(ValueError):
    """A given position that cannot be; the message names the field, the value and what is allowed."""


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """`checks.whole_number` with the error of positions."""
    return checks.whole_number(name, value, low, high, PositionError)


def action_id(value: object, name: str = "action") -> int:
    """The action id that an int or a text stands for, or an error that names it."""
    if isinstance(value, str):
        try:
            return parse_action(value)
        except ActionError as error:
            raise PositionError(str(error) if name == "action" else f"{name}: {error}") from None
    return whole_number(name, value, 0, NUM_ACTIONS - 1)


def course_of(actions: Iterable[int | str]) -> Iterable[int | str]:
    """`actions` as they are, each yet to be checked; a single action is refused."""
    if isinstance(actions, str) or not isinstance(actions, Iterable):
        raise PositionError(f"actions are {checks.shown(actions)}; allowed: a list of action ids and texts")
    return actions


def new_state(rules: Rules, seed: int, game: int, match: int) -> StateArray:
    """One ``STATE`` record, shape (1,), at the start of match number `match` of game number `game`."""
    seed = whole_number("seed", seed, 0, HIGHEST_SEED)
    game = whole_number("game", game, 0, HIGHEST_NUMBER)
    match = whole_number("match", match, 0, HIGHEST_COUNT)
    states = np.zeros(1, STATE)
    new_games(states, rules_to_record(rules), seed, game)
    if match > 0:
        states["match"] = match
        begin_match(states, 0)
    return states


def last_deal(rules: Rules) -> int:
    """Number of the last deal that a match can have."""
    return HIGHEST_COUNT if rules.max_deals is None else rules.max_deals - 1


def write_match_so_far(
    states: StateArray,
    rules: Rules,
    *,
    dealer: int | None,
    scores: Sequence[int],
    bags: Sequence[int],
    deal: int,
) -> None:
    """Write the match so far into the record: dealer (None: the one there), scores, bags, deal number."""
    if dealer is not None:
        states["dealer"] = whole_number("dealer", dealer, 0, rules.players - 1)
    given = _pair("scores", scores, -HIGHEST_SCORE, HIGHEST_SCORE)
    states["scores"][0] = given
    most_bags = rules.bag_limit - 1 if rules.bag_limit > 0 else HIGHEST_SCORE  # R6
    states["bags"][0] = _pair("bags", bags, 0, most_bags)
    states["deal"] = whole_number("deal", deal, 0, last_deal(rules))
    winner = int(winner_by_scores(states, 0))
    if winner >= 0:
        raise PositionError(
            f"scores are {given}; allowed: a match that goes on, but team {winner} has won this one "
            f"(target {rules.target}, mercy {rules.mercy})"
        )


def open_position(
    states: StateArray,
    rules: Rules,
    *,
    dealer: int | None = None,
    scores: Sequence[int] = (0, 0),
    bags: Sequence[int] = (0, 0),
    deal: int = 0,
    hands: Sequence[Cards] | None = None,
    pile: Cards | None = None,
) -> None:
    """Start the deal so described in `states[0]`; cards that are not given come from its own shuffle."""
    write_match_so_far(states, rules, dealer=dealer, scores=scores, bags=bags, deal=deal)
    if hands is not None and pile is not None:
        raise PositionError("hands and pile are both given; allowed: hands if dealt, the pile if drafted")
    if hands is not None:
        write_hands(states, rules, hands)
    elif pile is not None:
        write_pile(states, rules, pile)
    else:
        begin_deal(states, 0)
        return
    begin_given_deal(states, 0)


def write_hands(states: StateArray, rules: Rules, hands: Sequence[Cards]) -> None:
    """Put the pack that deals exactly `hands` into `pile` (R6); cards of a small deck left over come last."""
    if rules.deal == "draft":
        raise PositionError("hands are given; allowed with deal='draft': the pile")
    by_seat = _listed(hands)
    if by_seat is None or len(by_seat) != rules.players:
        raise PositionError(f"hands are {checks.shown(hands)}; allowed: {rules.players} hands, a list by seat")
    deck, seen = int(pack_mask(states, 0)), 0
    masks = []
    for seat, cards in enumerate(by_seat):
        mask = checked_cards(f"hands[{seat}]", cards, deck, rules.hand_size)
        if mask & seen:
            twice = hand_text(mask & seen)
            raise PositionError(f"hands[{seat}] has {twice}; allowed: cards that no other seat holds")
        seen |= mask
        masks.append(mask)
    begin_unknown_deal(states, 0)  # finds the first seat
    first, step = int(states["first"][0]), int(states["rules"]["step"][0])
    columns = [cards_of(masks[(first + k * step) % rules.players]) for k in range(rules.players)]
    pack = [card for row in zip(*columns, strict=True) for card in row] + cards_of(deck & ~seen)
    _write_pack(states, pack)


def write_pile(states: StateArray, rules: Rules, pile: Cards) -> None:
    """Put a given draft pile, the card drawn first in front, into the record (R27)."""
    if rules.deal != "draft":
        raise PositionError("a pile is given; allowed with deal='dealt': hands")
    try:
        if isinstance(pile, AbstractSet | Mapping):
            raise TypeError
        # One card too many tells as much as all of them, and an iterator may never end.
        tokens = list(islice(pile.replace(",", " ").split() if isinstance(pile, str) else pile, 53))
    except TypeError:
        raise PositionError(f"pile is {checks.shown(pile)}; allowed: 52 cards in drawing order") from None
    checked_cards("pile", tokens, int(pack_mask(states, 0)), 52)
    _write_pack(states, [parse_card(token) if isinstance(token, str) else int(token) for token in tokens])


def checked_cards(name: str, cards: Cards, deck: int, size: int | None = None) -> int:
    """Mask of given cards that are in `deck`, each once, and `size` of them if that is not None."""
    try:
        mask = parse_hand(cards)
    except (CardError, TypeError) as error:
        raise PositionError(f"{name}: {error}") from None
    foreign = cards_of(mask & ~deck)
    if foreign:
        raise PositionError(f"{name} has {card_text(foreign[0])}; allowed: cards that are in this pack")
    if size is not None and mask.bit_count() != size:
        raise PositionError(f"{name} has {mask.bit_count()} cards; allowed: {size}")
    return mask


def _listed(values: object) -> list[Any] | None:
    """The entries of a list, tuple or array, or None: text is one thing, and nothing else has an order to keep."""
    if isinstance(values, np.ndarray):
        return list(values) if values.ndim > 0 else None
    return list(values) if isinstance(values, Sequence) and not isinstance(values, str | bytes) else None


def _pair(name: str, values: Sequence[int], low: int, high: int) -> tuple[int, int]:
    """Two whole numbers, by team."""
    by_team = _listed(values)
    if by_team is None or len(by_team) != 2:
        raise PositionError(f"{name} are {checks.shown(values)}; allowed: two ints, team 0 and team 1")
    first, second = by_team
    return whole_number(f"{name}[0]", first, low, high), whole_number(f"{name}[1]", second, low, high)


def _write_pack(states: StateArray, pack: list[int]) -> None:
    """Write the order of the pack, zeros behind a small one."""
    states["pile"][0] = 0
    states["pile"][0, : len(pack)] = pack
