"""PLAN: what one seat knows about the hidden cards, in the form that sampler.py counts and draws from.

Every hidden hand is a *bin* with a size and a mask of the cards it may hold; the cards out of play are one more bin.
Cards that fit the same bins are exchangeable and form a *group*. Bins that may hold every unseen card are lumped
together as *the rest*, which is implied when the others are filled; only the *tight* bins are counted one by one.

What a seat knows (R29, R30): cards seen, sizes of hands, suits that a seat has shown not to hold, and under
`opening_lead: low_club` that a seat has no club below the one she played first.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.cards import SUIT_MASKS
from spades_env.engine.deal import deck_mask
from spades_env.engine.kernel import kernel, popcount
from spades_env.engine.play import CLUBS, suit_of
from spades_env.engine.state import PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE, Field, StateArray

MAX_BINS: Final = 5
"""Four hands, one's own among them before she has looked (R10), and the cards out of play."""
MAX_TIGHT: Final = 3
MAX_GROUPS: Final = 2**MAX_TIGHT
OUT_OF_PLAY: Final = -1

_MOST_CELLS: Final = 13**3
"""Cells of a level: three tight bins need cards left over, so hands of at most 12; two take 14 x 14 at most."""

PLAN_FIELDS: Final[tuple[Field, ...]] = (
    ("total", "<f8", "ways the hidden cards can lie; 0: the information is inconsistent or not supported"),
    ("counted", "<f8", "the same for tight bins and the rest as one, before the rest is divided"),
    ("may", f"({MAX_BINS},)<i8", "unseen cards that each bin may hold, a bit per card id; tight bins come first"),
    ("cards", f"({MAX_GROUPS},)<i8", "cards of each group"),
    ("need", f"({MAX_BINS},)i1", "cards that each bin is short of"),
    ("who", f"({MAX_BINS},)i1", "seat of each bin, or OUT_OF_PLAY"),
    ("allowed", f"({MAX_GROUPS},)i1", "bit b: the group fits tight bin b; bit 3: it fits the rest"),
    ("size", f"({MAX_GROUPS},)i1", "cards in each group"),
    ("left", f"({MAX_GROUPS + 1},)i1", "cards in this group and all after it"),
    ("bins", "i1", "number of bins"),
    ("tight", "i1", "how many of them are tight, at most 3"),
    ("groups", "i1", "number of groups, at least 1"),
    ("returned", "i1", "draft: the group of cards that an exchange may have brought to the other hand (R28), else -1"),
    ("returned_seen", "i1", "draft: how many such cards the other seat has played already"),
    ("odds", "(14,)<f8", "draft: ways of an exchange in which so many of such cards came to the other seat"),
    ("table", f"({MAX_GROUPS - 1}, {_MOST_CELLS})<f8", "ways to deal group g + 1 and later ones, by what is needed"),
)
PLAN: Final = np.dtype([(name, form) for name, form, _ in PLAN_FIELDS])

FITS_REST: Final = 1 << MAX_TIGHT

BINOMIAL: Final = np.zeros((55, 55))
"""BINOMIAL[n, k]: subsets of k out of n cards, exact in float64 (all are below 2**53)."""
for _n in range(55):
    BINOMIAL[_n, 0] = 1.0
    for _k in range(1, _n + 1):
        BINOMIAL[_n, _k] = BINOMIAL[_n - 1, _k - 1] + BINOMIAL[_n - 1, _k]


def new_plans(n: int) -> StateArray:
    """Zeroed plans, shape (n,), dtype PLAN, for `prepare` to fill again and again."""
    return np.zeros(n, PLAN)


@kernel
def cards_below_first_club(known: np.void, seat: int) -> int:
    """Clubs that `seat` cannot hold because her card in a low-club first trick was her lowest club; else 0."""
    rules = known["rules"]
    start = int(known["first_play"])
    if int(rules["low_club"]) == 0 or start == 0:
        return 0
    leader, step, players = int(known["leaders"][0]), int(rules["step"]), int(rules["players"])
    place = ((seat - leader) * step) % players
    if start + place >= int(known["n_actions"]):
        return 0
    card = int(known["actions"][start + place])
    return (1 << card) - 1 if suit_of(card) == CLUBS else 0


@kernel
def cards_not_held(known: np.void, seat: int) -> int:
    """Cards that `seat` has shown by her plays not to hold (R11, R13, R15)."""
    shown = int(known["voids"][seat])
    cards = cards_below_first_club(known, seat)
    for suit in range(4):
        if (shown >> suit) & 1 == 1:
            cards |= SUIT_MASKS[suit]
    return cards


@kernel
def unknown_cards(known: np.void, seat: int) -> int:
    """Cards of the pack that `seat` has not seen at all: not held, played, rejected or given up by her."""
    rules = known["rules"]
    seen = int(known["hands"][seat])
    for other in range(4):
        seen |= int(known["played"][other])
    if int(rules["draft"]) == 1:
        seen |= int(known["rejected"][seat]) | int(known["thrown"][seat])
    return deck_mask(rules) & ~seen


@kernel
def returnable_cards(known: np.void, seat: int) -> int:
    """Cards that `seat` rejected in the draft and the other may hold now: drawn in her exchange (R28, R29)."""
    if int(known["rules"]["draft"]) == 0 or int(known["exchanged"][1 - seat]) == 0:
        return 0
    seen = int(known["hands"][seat]) | int(known["played"][0]) | int(known["played"][1])
    return int(known["rejected"][seat]) & ~seen


@kernel
def write_exchange_odds(known: np.void, seat: int, plan: np.void) -> None:
    """Fill `odds`: in how many ways the other seat's exchange can have led to one hand, by its returned cards.

    Her draft hand is uniform among the cards that `seat` never saw, the e cards she gave up are uniform among hers,
    the e she drew uniform among the discards: all histories are equally likely. A hand with r cards that `seat`
    rejected drew these, so e - r of its other cards were drawn, too, and the e given up are any of the cards that
    `seat` never saw and that are not in the hand. What `seat` drew herself, earlier or later, is just not there.
    """
    rules = known["rules"]
    hand, given = int(rules["hand_size"]), int(known["exchanged"][1 - seat])
    rejected = int(known["rejected"][seat])
    played = int(known["played"][1 - seat])
    never_seen = popcount(unknown_cards(known, seat)) + popcount(played & ~rejected)
    for returned in range(14):
        plan["odds"][returned] = 0.0
        outside = never_seen - hand + returned
        if returned <= given and outside >= 0:
            drawn = BINOMIAL[hand - returned, given - returned]
            plan["odds"][returned] = drawn * BINOMIAL[outside, given]
    plan["returned_seen"] = popcount(played & rejected)


@kernel
def add_bin(plan: np.void, seat: int, need: int, may: int) -> None:
    """Append a bin."""
    place = int(plan["bins"])
    plan["who"][place] = seat
    plan["need"][place] = need
    plan["may"][place] = may
    plan["bins"] = place + 1


@kernel
def write_bins(known: np.void, seat: int, unseen: int, returnable: int, plan: np.void) -> None:
    """Fill the bins, the tight ones first; returnable cards, unlike all others, make the other hand tight."""
    rules = known["rules"]
    hand_size = int(rules["hand_size"])
    out = popcount(unseen)
    plan["bins"] = 0
    for free in range(2):
        for other in range(int(rules["players"])):
            if other == seat and int(known["looked"][seat]) == 1:
                continue
            may = unseen & ~cards_not_held(known, other)
            if int(may == unseen and returnable == 0) == free:
                need = hand_size - popcount(int(known["played"][other]))
                out -= need
                add_bin(plan, other, need, may)
        if free == 0:
            plan["tight"] = plan["bins"]
    if out > 0:
        add_bin(plan, OUT_OF_PLAY, out, unseen)
    if int(plan["tight"]) == int(plan["bins"]) and int(plan["bins"]) > 0:
        plan["tight"] = int(plan["bins"]) - 1  # the last hand is implied by the others


@kernel
def bins_are_sound(known: np.void, seat: int, unseen: int, plan: np.void) -> bool:
    """Whether hand sizes and the number of unseen cards fit together."""
    rules = known["rules"]
    hand_size = int(rules["hand_size"])
    hand, played = int(known["hands"][seat]), int(known["played"][seat])
    given_up = popcount(int(known["thrown"][seat])) if int(known["phase"]) == PHASE_EXCHANGE else 0
    if int(known["looked"][seat]) == 1 and popcount(hand) + popcount(played) + given_up != hand_size:
        return False
    out = popcount(deck_mask(rules)) - int(rules["players"]) * hand_size + given_up
    if int(rules["draft"]) == 1:
        rejected = int(known["rejected"][seat]) & ~(hand | played | int(known["played"][1 - seat]) | unseen)
        out -= popcount(int(known["thrown"][seat])) + popcount(rejected)
    needed = 0
    for place in range(int(plan["bins"])):
        if int(plan["need"][place]) < 0:
            return False
        if int(plan["who"][place]) != OUT_OF_PLAY:
            needed += int(plan["need"][place])
    return int(plan["tight"]) <= MAX_TIGHT and out == popcount(unseen) - needed


@kernel
def divide_groups(plan: np.void, mask: int) -> None:
    """Part every group into its cards inside and outside `mask`."""
    count = int(plan["groups"])
    for group in range(int(plan["groups"])):
        cards = int(plan["cards"][group])
        if cards & mask and cards & ~mask:
            plan["cards"][group] = cards & mask
            plan["cards"][count] = cards & ~mask
            count += 1
    plan["groups"] = count


@kernel
def write_groups(plan: np.void, unseen: int, returnable: int) -> None:
    """Fill the groups: the coarsest parts of the unseen cards of which every bin may hold all or none."""
    tight = int(plan["tight"])
    plan["groups"] = 1
    plan["cards"][0] = unseen
    for place in range(min(tight + 1, int(plan["bins"]))):
        divide_groups(plan, int(plan["may"][place]))
    divide_groups(plan, returnable)
    plan["returned"] = -1
    for group in range(int(plan["groups"])):
        cards = int(plan["cards"][group])
        allowed = 0
        for place in range(tight):
            if cards & int(plan["may"][place]):
                allowed |= 1 << place
        if tight < int(plan["bins"]) and cards & int(plan["may"][tight]):
            allowed |= FITS_REST
        plan["allowed"][group] = allowed
        plan["size"][group] = popcount(cards)
        if cards & returnable and allowed & 1:  # those of suits that she has shown void did not come back
            plan["returned"] = group


@kernel
def write_plan(known: np.void, seat: int, plan: np.void) -> bool:
    """Fill bins and groups from what `seat` knows; False if it is inconsistent or the hands are not complete yet."""
    rules = known["rules"]
    phase, draft = int(known["phase"]), int(rules["draft"])
    if draft == 1 and phase in (PHASE_BLIND, PHASE_DRAFT):
        return False
    if phase == PHASE_EXCHANGE and seat != int(known["turn"]):
        return False  # how many cards the other holds of her own is in between
    returnable = returnable_cards(known, seat)
    unseen = unknown_cards(known, seat) | returnable
    if draft == 1:
        write_exchange_odds(known, seat, plan)
    write_bins(known, seat, unseen, returnable, plan)
    if not bins_are_sound(known, seat, unseen, plan):
        return False
    write_groups(plan, unseen, returnable)
    return True
