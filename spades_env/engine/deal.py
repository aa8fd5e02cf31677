"""Starting a match and a deal: the dealer, the shuffle, whose turn it is (R1-R6)."""

from __future__ import annotations

import numpy as np

from spades_env.cards import SUIT_MASKS as _SUIT_MASKS
from spades_env.engine.bidding import ask_for_bid, may_bid_blind
from spades_env.engine.draft import ask_for_draft
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.rng import PURPOSE_DEALER, PURPOSE_SHUFFLE, below, stream
from spades_env.engine.state import NO_BID

FULL_DECK = (1 << 52) - 1
JOKER_DECK = ((1 << 54) - 1) & ~((1 << 13) | (1 << 26))
"""R2: 2 of diamonds (id 13) and 2 of hearts (id 26) leave, ids 52 and 53 enter."""
_PLAIN_SPADES = ((1 << 13) - 1) << 39
assert _SUIT_MASKS[3] == _PLAIN_SPADES | (3 << 52)


@kernel
def deck_mask(rules: np.void) -> int:
    """The pack under a ``RULES`` record: 52 cards, with jokers (R2), or the small deck's highest suits and ranks."""
    if int(rules["jokers"]) == 1:
        return JOKER_DECK
    suits, ranks = int(rules["suits"]), int(rules["ranks"])
    if suits == 4 and ranks == 13:
        return FULL_DECK
    mask = 0
    for suit in range(4 - suits, 4):
        mask |= ((1 << ranks) - 1) << (13 * suit + 13 - ranks)
    return mask


@inline_kernel
def first_seat(dealer: int, players: int, step: int, dealers_left: int) -> int:
    """The seat that gets the first card, bids first and leads first (R4, R5)."""
    if dealers_left == 1:
        return (dealer + 1) % players
    return (dealer + step) % players


@kernel
def clear_deal(game: np.void) -> None:
    """Forget the deal before: empty hands, bids, tricks and history; rules, scores, bags and dealer stay."""
    rules = game["rules"]
    for seat in range(4):
        game["hands"][seat] = 0
        game["played"][seat] = 0
        game["voids"][seat] = 0
        game["bids"][seat] = NO_BID
        game["blind"][seat] = 0
        game["looked"][seat] = 0
        game["tricks"][seat] = 0
    for seat in range(2):
        game["rejected"][seat] = 0
        game["thrown"][seat] = 0
        game["asked"][seat] = 0
        game["exchanged"][seat] = 0
    game["discards"] = 0
    for k in range(int(game["n_actions"])):
        game["actions"][k] = 0
    for k in range(14):
        game["leaders"][k] = 0
    game["n_actions"] = 0
    game["first_play"] = 0
    game["pile_pos"] = 0
    game["trick"] = 0
    game["trick_len"] = 0
    game["broken"] = 0
    game["first"] = first_seat(
        int(game["dealer"]), int(rules["players"]), int(rules["step"]), int(rules["dealers_left"])
    )


@kernel
def shuffle(game: np.void) -> None:
    """Put a uniformly random order of the pack into `pile` (forward Fisher-Yates, R6)."""
    remaining = deck_mask(game["rules"])
    size = 0
    while remaining:
        game["pile"][size] = lowest_bit(remaining)
        remaining &= remaining - 1
        size += 1
    key = stream(game["key"], int(game["match"]), int(game["deal"]), PURPOSE_SHUFFLE)
    for k in range(size - 1):
        other = k + below(key, k, size - k)
        card = game["pile"][other]
        game["pile"][other] = game["pile"][k]
        game["pile"][k] = card


@kernel
def hand_out(game: np.void) -> None:
    """Card i of the pack goes to the (i mod players)-th seat from the first seat in the direction of play (R6)."""
    rules = game["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    seat = int(game["first"])
    for place in range(players):
        hand = 0
        for turn in range(int(rules["hand_size"])):
            hand |= 1 << int(game["pile"][turn * players + place])
        game["hands"][seat] = hand
        seat = (seat + step) % players


@kernel
def open_deal(game: np.void) -> None:
    """With the cards in place, decide who sees hers at once (R10) and ask the first seat for her first decision."""
    rules = game["rules"]
    if int(rules["draft"]) == 1:
        game["looked"][0] = 1
        game["looked"][1] = 1
        ask_for_draft(game, int(game["dealer"]))  # R27: the dealer draws first, the other bids and leads first
        return
    for seat in range(int(rules["players"])):
        game["looked"][seat] = 0 if may_bid_blind(game, seat) else 1
    ask_for_bid(game, int(game["first"]))


@kernel
def start_deal(game: np.void) -> None:
    """Shuffle, deal (or lay out the draft pile) and ask for the first decision of deal number `deal`."""
    clear_deal(game)
    shuffle(game)
    if int(game["rules"]["draft"]) == 0:
        hand_out(game)
    open_deal(game)


@kernel
def start_match(game: np.void) -> None:
    """Scores 0:0, no bags, a newly drawn dealer (R5, R26), then the first deal."""
    for team in range(2):
        game["scores"][team] = 0
        game["bags"][team] = 0
    game["deal"] = 0
    game["winner"] = -1
    game["truncated"] = 0
    key = stream(game["key"], int(game["match"]), 0, PURPOSE_DEALER)
    game["dealer"] = below(key, 0, int(game["rules"]["players"]))
    start_deal(game)
