"""Worlds of the two-player deal while cards are still in the pile or the discards: drafts and exchanges (R27-R29).

A world of a draft is the other hand, the cards she rejected, and the order of the rest of the pile. All orders of the
pile are equally likely, but what she kept and passed over tells which cards she was shown. The draw is exact for a
drafter who keeps the cards that `normal` would, each departure costing the world DRAFT_MISS in log-likelihood.
"""

from __future__ import annotations

import math

import numpy as np

from agents.rules.normal.draft import keeps_card
from agents.search.likelihood import DRAFT_MISS, cards_kept
from agents.search.sampler import random_subset
from agents.search.sampler_plan import BINOMIAL, unknown_cards
from spades_env.engine.deal import deck_mask
from spades_env.engine.kernel import kernel, lowest_bit, nth_bit, popcount
from spades_env.engine.rng import below, unit
from spades_env.engine.state import PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE

PILE_SIZE = 52


@kernel
def is_drafting(known: np.void) -> bool:
    """Whether hands are not complete yet, because they are still being drafted."""
    return int(known["rules"]["draft"]) == 1 and int(known["phase"]) in (PHASE_BLIND, PHASE_DRAFT)


@kernel
def is_exchanging(known: np.void) -> bool:
    """Whether somebody is naming cards to give up."""
    return int(known["phase"]) == PHASE_EXCHANGE


@kernel
def fitting_cards(cards: int, plays_nil: bool) -> int:
    """Those of a mask that `normal` keeps when they are shown."""
    fitting = 0
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if keeps_card(card, plays_nil):
            fitting |= 1 << card
    return fitting


@kernel
def ways_to_fit(kept: int, passed: int, fitting: int, others: int, a: int, b: int) -> float:
    """Weight of all pile orders in which `a` of the `kept` cards and `b` of those `passed` over are fitting ones.

    `fitting` and `others` are the numbers of unseen cards of either kind.
    """
    rest = fitting + others - kept - passed
    if fitting - a - b < 0 or fitting - a - b > rest:
        return 0.0
    ways = BINOMIAL[kept, a] * BINOMIAL[passed, b] * BINOMIAL[rest, fitting - a - b]
    return ways * math.exp(-DRAFT_MISS * (kept - a + b))


@kernel
def split_of(kept: int, passed: int, fitting: int, others: int, mark: float) -> tuple[int, int]:
    """(a, b) of `ways_to_fit` in proportion to its weights; `mark` is a random number in [0, 1)."""
    total = 0.0
    for a in range(kept + 1):
        for b in range(passed + 1):
            total += ways_to_fit(kept, passed, fitting, others, a, b)
    left, at_a, at_b = mark * total, 0, 0
    for a in range(kept + 1):
        for b in range(passed + 1):
            ways = ways_to_fit(kept, passed, fitting, others, a, b)
            if ways > 0.0:
                at_a, at_b = a, b
                left -= ways
                if left < 0.0:
                    return at_a, at_b
    return at_a, at_b


@kernel
def deal_draft(known: np.void, shown: int, key: np.uint64, world: np.void) -> None:
    """Fill what is hidden from the seat to act of a draft into `world`, a copy of `known`; `shown`: HIDDEN or the card.

    Written are the other's hand and rejects, the discards, the pile from its top on, and the key of the exchanges.
    """
    seat, top = int(known["turn"]), int(known["pile_pos"])
    other = 1 - seat
    unseen = unknown_cards(known, seat)
    if shown >= 0:
        unseen &= ~(1 << shown)
        world["pile"][top] = shown
        top += 1
    kept = cards_kept(known, other)
    passed = cards_drafted(known, other) - kept
    fitting = fitting_cards(unseen, int(known["blind"][other]) == 1)
    a, b = split_of(kept, passed, popcount(fitting), popcount(unseen & ~fitting), unit(key, 0))
    mine, drawn = random_subset(fitting, a, key, 1)
    part, drawn = random_subset(unseen & ~fitting, kept - a, key, drawn)
    hand = mine | part
    mine, drawn = random_subset(fitting & ~hand, b, key, drawn)
    part, drawn = random_subset(unseen & ~fitting & ~hand, passed - b, key, drawn)
    rejected = mine | part
    rest = unseen & ~hand & ~rejected
    part, drawn = random_subset(rest, passed, key, drawn)  # each card passed over was followed by one unseen
    hand |= part
    rest &= ~part
    gone = deck_mask(known["rules"]) & ~int(known["hands"][seat]) & ~hand
    for place in range(top, PILE_SIZE):
        card = nth_bit(rest, below(key, drawn, popcount(rest)))
        drawn += 1
        rest &= ~(1 << card)
        gone &= ~(1 << card)
        world["pile"][place] = card
    if shown >= 0:
        gone &= ~(1 << shown)
    if int(known["rules"]["second_seen"]) == 1:
        part, drawn = random_subset(rest, kept, key, drawn)
        rejected |= part
    world["hands"][other] = hand
    world["rejected"][other] = rejected
    world["discards"] = gone
    world["key"] = key


@kernel
def cards_drafted(known: np.void, seat: int) -> int:
    """How many cards `seat` has drafted: the dealer draws first, two cards leave the pile each time (R27)."""
    draws = int(known["pile_pos"]) // 2
    return (draws + 1) // 2 if seat == int(known["dealer"]) else draws // 2


@kernel
def deal_discards(known: np.void, key: np.uint64, world: np.void) -> None:
    """Fill the discards of an exchange into `world`, in which the hands are complete, and the key of the draws (R28).

    What the other gave up is out of the game: any cards that the seat to act has not seen, all alike.
    """
    seat = int(known["turn"])
    other = 1 - seat
    hand = int(world["hands"][other])
    given, _ = random_subset(unknown_cards(known, seat) & ~hand, int(known["exchanged"][other]), key, 0)
    held = int(known["hands"][seat]) | int(known["thrown"][seat])
    world["thrown"][other] = given
    world["discards"] = deck_mask(known["rules"]) & ~(hand | held | given)
    world["key"] = key
