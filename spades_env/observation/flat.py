"""The flat encoder: a VIEW becomes one row of `FLAT_SIZE` bytes, block by block as `blocks.py` lays them out.

Seats are relative (0 self, then in turn order), teams are own and other. Nothing here sees a state: what a
view does not hold cannot reach the row (R30). The float32 form is the byte row times `FLAT_SCALES`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from spades_env.cards import BIG_JOKER, LITTLE_JOKER, NUM_CARDS, SUIT_MASKS
from spades_env.cards import suit_of as card_suit
from spades_env.engine.deal import FULL_DECK
from spades_env.engine.draft import ACTION_KEEP, ACTION_TAKE_NEXT
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.play import led_suit, legal_cards, suit_of
from spades_env.engine.state import (
    FAILED_HELP_PARTNER,
    FAILED_IGNORED,
    PHASE_DEAL_OVER,
    PHASE_PLAY,
    StateArray,
)
from spades_env.engine.write import Bytes, write_bits, write_int32
from spades_env.observation.blocks import (
    BIDS,
    DRAWS,
    FIRST_SCORE_STEP,
    FLAT,
    FLAT_SCALES,
    FLAT_SIZE,
    MOST_DEALS_LEFT,
    NEEDS,
    PENALTY_STEPS,
    SCORE_STEPS,
    TEAMS,
    TRICK_COUNTS,
)
from spades_env.view import VIEW, write_view

Floats = npt.NDArray[np.float32]

_OWN_HAND: Final = FLAT.offset("own_hand")
_PLAYED_BY: Final = FLAT.offset("played_by")
_PLAYED_WHEN: Final = FLAT.offset("played_when")
_TABLE: Final = FLAT.offset("table")
_VOIDS: Final = FLAT.offset("voids")
_BIDS: Final = FLAT.offset("bids")
_BLIND: Final = FLAT.offset("blind")
_LOOKED: Final = FLAT.offset("looked")
_TRICKS: Final = FLAT.offset("tricks")
_NEED: Final = FLAT.offset("need")
_BAGS_SO_FAR: Final = FLAT.offset("bags_so_far")
_NIL_ALIVE: Final = FLAT.offset("nil_alive")
_NIL_FAILED: Final = FLAT.offset("nil_failed")
_BOSS: Final = FLAT.offset("boss")
_WINNING: Final = FLAT.offset("winning")
_LED_SUIT: Final = FLAT.offset("led_suit")
_TRICK_BEST: Final = FLAT.offset("trick_best")
_TRICK_LEN: Final = FLAT.offset("trick_len")
_TRICKS_LEFT: Final = FLAT.offset("tricks_left")
_BROKEN: Final = FLAT.offset("broken")
_PHASE: Final = FLAT.offset("phase")
_TURN: Final = FLAT.offset("turn")
_DEALER: Final = FLAT.offset("dealer")
_SCORES: Final = FLAT.offset("scores")
_SCORE_STEPS: Final = FLAT.offset("score_steps")
_BAGS: Final = FLAT.offset("bags")
_BAGS_TO_PENALTY: Final = FLAT.offset("bags_to_penalty")
_DEAL: Final = FLAT.offset("deal")
_DEALS_LEFT: Final = FLAT.offset("deals_left")
_SHOWN: Final = FLAT.offset("shown")
_REJECTED: Final = FLAT.offset("rejected")
_THROWN: Final = FLAT.offset("thrown")
_EXCHANGED: Final = FLAT.offset("exchanged")
_KEPT: Final = FLAT.offset("kept")
_PILE_LEFT: Final = FLAT.offset("pile_left")
_RULES: Final = FLAT.offset("rules.target")


def _all_but_top(n: int) -> int:
    """Mask of all cards but the `n` highest ids of each suit."""
    return sum(1 << c for c in range(NUM_CARDS) if c + n < NUM_CARDS and card_suit(c + n) == card_suit(c))


_DOWN_1, _DOWN_2, _DOWN_4, _DOWN_8 = _all_but_top(1), _all_but_top(2), _all_but_top(4), _all_but_top(8)
_SPADES: Final = 3
_SPADE_MASK: Final = SUIT_MASKS[_SPADES]
_CHOICES: Final = TEAMS * DRAWS
_EVEN_BITS: Final = 0x1555555


@inline_kernel
def relative_seat(seat: int, me: int, players: int, step: int) -> int:
    """`seat` as seen by `me`: 0 herself, then in turn order."""
    # `step` is 1 or players - 1, its own inverse modulo players.
    return wrapped((seat - me) * step, players)


@inline_kernel
def wrapped(seat: int, players: int) -> int:
    """`seat` modulo `players`, which is 2 or 4."""
    # Many times faster than %; the 3 tells the compiler that the result is not negative.
    return seat & (players - 1) & 3


@inline_kernel
def write_plays(known: np.void, out: Bytes) -> None:
    """Block played_when, from the history of this deal."""
    start = int(known["first_play"])
    if start > 0:
        for k in range(start, int(known["n_actions"])):
            # & 63 tells the compiler that the index is not negative.
            out[_PLAYED_WHEN + (int(known["actions"][k]) & 63)] = k - start + 1


@inline_kernel
def own_voids(known: np.void, me: int) -> int:
    """Suits that `me` does not hold, bit s for suit s; none before she has looked (R10)."""
    hand = int(known["hands"][me])
    voids = 0
    for suit in range(4):
        voids |= (hand & SUIT_MASKS[suit] == 0) << suit
    return voids * int(known["looked"][me])


@inline_kernel
def write_seats(known: np.void, me: int, players: int, step: int, out: Bytes) -> None:
    """The blocks with a row for every seat; all but her own voids are public facts."""
    voids = own_voids(known, me)
    seat = wrapped(me, players)
    for r in range(4):
        # A loop of four whatever `players` is can be unrolled; rows of absent seats stay 0.
        here = r < players
        bid, tricks = int(known["bids"][seat]), int(known["tricks"][seat])
        write_bits(out, _PLAYED_BY + NUM_CARDS * r, int(known["played"][seat]) * here, NUM_CARDS)
        voids |= (int(known["voids"][seat]) * here) << (4 * r)
        out[_BIDS + BIDS * r + bid + 1] = here
        out[_BLIND + r] = int(known["blind"][seat]) * here
        out[_LOOKED + r] = int(known["looked"][seat]) * here
        out[_TRICKS + TRICK_COUNTS * r + tricks] = here
        out[_NIL_ALIVE + r] = here & (bid == 0) & (tricks == 0)
        out[_NIL_FAILED + r] = here & (bid == 0) & (tricks > 0)
        seat = wrapped(seat + step, players)
    write_bits(out, _VOIDS, voids, 16)


@inline_kernel
def cards_out(known: np.void, me: int) -> int:
    """Cards that another hand may hold as far as `me` knows: not hers, not played, not known to be gone.

    With a small deck the low cards outside it are counted too; they can beat nothing.
    """
    rules = known["rules"]
    jokers = int(rules["jokers"])
    gone = int(known["hands"][me])
    for seat in range(4):
        gone |= int(known["played"][seat])
    if int(rules["draft"]) == 1:
        gone |= int(known["thrown"][me])
        # What she rejected comes back only through the other's exchange (R28).
        if int(known["exchanged"][1 - me]) == 0:
            gone |= int(known["rejected"][me])
    return (FULL_DECK | (jokers << LITTLE_JOKER) | (jokers << BIG_JOKER)) & ~gone


@inline_kernel
def at_or_below(cards: int) -> int:
    """Every card of which `cards` holds the same or a higher one of its suit."""
    # Each step doubles how far a bit is copied down; the masks stop the copies at the border of a suit.
    cards |= (cards >> 1) & _DOWN_1
    cards |= (cards >> 2) & _DOWN_2
    cards |= (cards >> 4) & _DOWN_4
    return cards | ((cards >> 8) & _DOWN_8)


@inline_kernel
def write_hand(known: np.void, me: int, out: Bytes) -> None:
    """Own hand and own boss cards; the view holds no hand before she has looked (R10)."""
    hand = int(known["hands"][me])
    write_bits(out, _OWN_HAND, hand, NUM_CARDS)
    write_bits(out, _BOSS, hand & ~at_or_below(cards_out(known, me)), NUM_CARDS)


@inline_kernel
def beaters(card: int, led: int) -> int:
    """Mask of the cards that beat `card` where `led` is the suit led and `card` the best so far (R12)."""
    suit = suit_of(card)
    mask = (SUIT_MASKS[suit] | _SPADE_MASK) & -(2 << card)
    # Under low_club the first card need not be of the suit led, and any club beats it.
    off_suit = (suit != led) & (suit != _SPADES)
    return mask | (SUIT_MASKS[led] * off_suit)


@inline_kernel
def write_trick(known: np.void, me: int, players: int, step: int, out: Bytes) -> None:
    """The trick in progress: its cards by relative seat, the suit to follow, who wins it and what would."""
    rules = known["rules"]
    length, trick = int(known["trick_len"]), int(known["trick"])
    out[_TRICK_LEN + length] = 1
    out[_TRICKS_LEFT] = int(rules["hand_size"]) - trick
    out[_BROKEN] = known["broken"]
    if int(known["phase"]) != PHASE_PLAY or (length == 0 and (trick > 0 or int(rules["low_club"]) == 0)):
        return
    led = led_suit(known)
    out[_LED_SUIT + led] = 1
    if length == 0:
        return
    start = int(known["first_play"]) + trick * players
    relative = relative_seat(int(known["leaders"][trick]), me, players, step)
    winner, beating = relative, 0
    for k in range(length):
        card = int(known["actions"][start + k]) & 63
        if relative > 0:
            out[_TABLE + NUM_CARDS * (relative - 1) + card] = 1
        if k == 0 or (beating >> card) & 1 == 1:
            winner, beating = relative, beaters(card, led)
        relative = wrapped(relative + 1, players)
    out[_TRICK_BEST + winner] = 1
    if int(known["turn"]) == me:
        write_bits(out, _WINNING, legal_cards(known) & beating, NUM_CARDS)


@inline_kernel
def team_course(rules: np.void, bid_a: int, tricks_a: int, bid_b: int, tricks_b: int) -> tuple[int, int]:
    """(tricks that a team's ordinary bids still want, bags so far), as `deal_points` counts both (R17-R20).

    The same rules without points and almost without branches, since this runs twice for every observation.
    """
    failed_nil = int(rules["failed_nil"])
    nil_tricks = tricks_a * (bid_a == 0) + tricks_b * (bid_b == 0)
    if bid_a == 0 and bid_b == 0 and int(rules["both_nil_unit"]) == 1:
        return 0, 0
    if int(rules["individual"]) == 1:
        need = max(bid_a - tricks_a, 0) + max(bid_b - tricks_b, 0)
        bags = max(tricks_a - bid_a, 0) * (bid_a > 0) + max(tricks_b - bid_b, 0) * (bid_b > 0)
    else:
        contract = max(bid_a, 0) + max(bid_b, 0)
        counted = tricks_a * (bid_a > 0) + tricks_b * (bid_b > 0)
        if failed_nil == FAILED_HELP_PARTNER and contract > 0:
            counted += nil_tricks
            nil_tricks = 0
        need = max(contract - counted, 0)
        bags = max(counted - contract, 0)
    if failed_nil != FAILED_IGNORED:
        bags += nil_tricks
    return need, bags


@inline_kernel
def write_team(known: np.void, team: int, row: int, out: Bytes) -> None:
    """The blocks with a row for every team: `team` goes to row 0 (own) or 1 (other)."""
    rules = known["rules"]
    bid_a, bid_b = int(known["bids"][team]), int(known["bids"][team + 2])
    need, bags = team_course(rules, bid_a, int(known["tricks"][team]), bid_b, int(known["tricks"][team + 2]))
    out[_NEED + NEEDS * row + need] = 1
    out[_BAGS_SO_FAR + row] = bags
    score, target = int(known["scores"][team]), int(rules["target"])
    write_int32(out, _SCORES + 4 * row, score)
    steps = max(min(10 * score // target - FIRST_SCORE_STEP + 1, SCORE_STEPS), 0)
    write_bits(out, _SCORE_STEPS + SCORE_STEPS * row, (1 << steps) - 1, SCORE_STEPS)
    count, limit = int(known["bags"][team]), int(rules["bag_limit"])
    write_int32(out, _BAGS + 4 * row, count)
    if limit > 0:
        if count >= limit:  # only a record that no kernel made; the index would leave the block
            raise ValueError("bags of a game are at their limit or above; allowed: below it (R6)")
        out[_BAGS_TO_PENALTY + PENALTY_STEPS * row + min(limit - count, PENALTY_STEPS) - 1] = 1


@inline_kernel
def write_match(known: np.void, me: int, players: int, step: int, out: Bytes) -> None:
    """Phase, turn, dealer and the number of the deal."""
    phase = int(known["phase"])
    out[_PHASE + phase] = 1
    if phase < PHASE_DEAL_OVER:
        out[_TURN + relative_seat(int(known["turn"]), me, players, step)] = 1
    out[_DEALER + relative_seat(int(known["dealer"]), me, players, step)] = 1
    deal, most = int(known["deal"]), int(known["rules"]["max_deals"])
    write_int32(out, _DEAL, deal)
    out[_DEALS_LEFT] = MOST_DEALS_LEFT if most == 0 else max(min(most - deal, MOST_DEALS_LEFT), 0)


@inline_kernel
def draft_choices(known: np.void, me: int) -> int:
    """Bit 2k: `me` kept the card shown at her draw k (from 0); bit 2k + 1: the other did."""
    kept, draws = 0, 0
    # All draws are among the first actions: 26 choices and at most two answers about double nil (R28).
    for k in range(min(int(known["n_actions"]), _CHOICES + 2)):
        action = int(known["actions"][k])
        kept |= (action == ACTION_KEEP) << draws
        draws += (action == ACTION_KEEP) | (action == ACTION_TAKE_NEXT)
    if int(known["dealer"]) == me:
        return kept
    # The dealer draws first (R27), so the bits of a pair stand the wrong way round.
    return ((kept & _EVEN_BITS) << 1) | ((kept >> 1) & _EVEN_BITS)


@inline_kernel
def write_draft(view: np.void, me: int, out: Bytes) -> None:
    """What a two-player draft adds: the card shown, what she put away, and every public choice (R27-R29)."""
    known = view["known"]
    if int(view["shown"]) >= 0:
        out[_SHOWN + int(view["shown"])] = 1
    write_bits(out, _REJECTED, int(known["rejected"][me]), NUM_CARDS)
    write_bits(out, _THROWN, int(known["thrown"][me]), NUM_CARDS)
    out[_EXCHANGED] = known["exchanged"][me]
    out[_EXCHANGED + 1] = known["exchanged"][1 - me]
    out[_PILE_LEFT] = 52 - int(known["pile_pos"])
    write_bits(out, _KEPT, draft_choices(known, me), _CHOICES)


@inline_kernel
def write_rules(rules: np.void, out: Bytes) -> None:
    """Every field of the rules in the order of ``RULES_FIELDS``: bytes of the numbers, then the choices."""
    k = write_int32(out, _RULES, int(rules["target"]))
    k = write_int32(out, k, int(rules["mercy"]))
    k = write_int32(out, k, int(rules["nil_value"]))
    k = write_int32(out, k, int(rules["blind_nil_value"]))
    k = write_int32(out, k, int(rules["blind_nil_deficit"]))
    k = write_int32(out, k, int(rules["bag_limit"]))
    k = write_int32(out, k, int(rules["bag_penalty"]))
    k = write_int32(out, k, int(rules["bag_points"]))
    k = write_int32(out, k, int(rules["max_deals"]))
    out[k] = rules["players"]
    out[k + 1] = rules["draft"]
    out[k + 2] = rules["step"]
    out[k + 3] = rules["dealers_left"]
    out[k + 4] = rules["nil_allowed"]
    out[k + 5] = rules["blind_nil"]
    out[k + 6] = rules["exchange"]
    out[k + 7] = rules["jokers"]
    k += 8
    out[k + int(rules["lead_spades"])] = 1
    out[k + 3] = rules["forced_lead_breaks"]
    k += 4
    out[k + int(rules["failed_nil"])] = 1
    out[k + 3] = rules["both_nil_unit"]
    out[k + 4] = rules["individual"]
    out[k + 5] = rules["bag_reset"]
    out[k + 6] = rules["min_bid"]
    out[k + 7] = rules["max_team_bid"]
    out[k + 8] = rules["low_club"]
    out[k + 9] = rules["forbid_first_spades"]
    out[k + 10] = rules["second_seen"]
    out[k + 11] = rules["suits"]
    out[k + 12] = rules["ranks"]
    out[k + 13] = rules["hand_size"]


@kernel
def encode_flat(view: np.void, out: Bytes) -> None:
    """Write the observation of `view` into `out`, a contiguous uint8 row of `FLAT_SIZE`."""
    known = view["known"]
    rules = known["rules"]
    me, players, step = int(view["seat"]), int(rules["players"]), int(rules["step"])
    out[:] = 0
    write_seats(known, me, players, step, out)
    write_hand(known, me, out)
    write_plays(known, out)
    write_trick(known, me, players, step, out)
    for row in range(2):
        write_team(known, (me + row) & 1, row, out)
    write_match(known, me, players, step, out)
    if int(rules["draft"]) == 1:
        write_draft(view, me, out)
    write_rules(rules, out)


@kernel
def scale_row(row: Bytes, scales: Floats, out: Floats) -> None:
    """The float32 form of a byte row: `out` = `row` * `scales`, all of the same shape (size,)."""
    for k in range(out.shape[0]):
        out[k] = row[k] * scales[k]


# Entry points from Python. They check the shape of `out`, because a kernel would write behind its end.


@inline_kernel
def check_rows(rows: int, size: int, wanted_rows: int, wanted_size: int) -> None:
    """Raise ValueError unless an array of shape (rows, size) has room for the observations wanted."""
    if rows < wanted_rows:
        raise ValueError("out has fewer rows than there are games or views; allowed: at least as many")
    if size != wanted_size:
        raise ValueError("rows of out have the wrong length; allowed: the size of the encoder's layout")


@kernel
def encode_views(views: StateArray, out: Bytes) -> None:
    """Observations of `views`, dtype VIEW and shape (n,), into `out`, uint8 of shape (n, FLAT_SIZE)."""
    check_rows(out.shape[0], out.shape[1], views.shape[0], FLAT_SIZE)
    for i in range(views.shape[0]):
        encode_flat(views[i], out[i])


@kernel
def encode_views_float32(views: StateArray, out: Floats) -> None:
    """Like `encode_views`, into float32 of shape (n, FLAT_SIZE)."""
    check_rows(out.shape[0], out.shape[1], views.shape[0], FLAT_SIZE)
    row = np.empty(FLAT_SIZE, np.uint8)
    for i in range(views.shape[0]):
        encode_flat(views[i], row)
        scale_row(row, FLAT_SCALES, out[i])


@kernel
def observe_to_act(states: StateArray, out: Bytes) -> None:
    """Observations of the seats to act of all games, into `out`, uint8 of shape (n, FLAT_SIZE)."""
    check_rows(out.shape[0], out.shape[1], states.shape[0], FLAT_SIZE)
    view = np.empty(1, VIEW)[0]
    for i in range(states.shape[0]):
        write_view(states[i], int(states[i]["turn"]), view)
        encode_flat(view, out[i])


@kernel
def observe_to_act_float32(states: StateArray, out: Floats) -> None:
    """Like `observe_to_act`, into float32 of shape (n, FLAT_SIZE)."""
    check_rows(out.shape[0], out.shape[1], states.shape[0], FLAT_SIZE)
    view = np.empty(1, VIEW)[0]
    row = np.empty(FLAT_SIZE, np.uint8)
    for i in range(states.shape[0]):
        write_view(states[i], int(states[i]["turn"]), view)
        encode_flat(view, row)
        scale_row(row, FLAT_SCALES, out[i])


@kernel
def observe_seat(states: StateArray, i: int, seat: int, out: Bytes) -> None:
    """Observation of `seat` in game `i`, whoever is to act, into `out`, uint8 of shape (FLAT_SIZE,)."""
    check_rows(1, out.shape[0], 1, FLAT_SIZE)
    view = np.empty(1, VIEW)[0]
    write_view(states[i], seat, view)
    encode_flat(view, out)


@kernel
def observe_seat_float32(states: StateArray, i: int, seat: int, out: Floats) -> None:
    """Like `observe_seat`, into float32 of shape (FLAT_SIZE,)."""
    check_rows(1, out.shape[0], 1, FLAT_SIZE)
    row = np.empty(FLAT_SIZE, np.uint8)
    observe_seat(states, i, seat, row)
    scale_row(row, FLAT_SCALES, out)
