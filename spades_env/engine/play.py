"""Following suit, leading, breaking spades and winning tricks (R11-R16)."""

from __future__ import annotations

import numpy as np

from spades_env.cards import SUIT_MASKS
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.scoring import finish_deal
from spades_env.engine.state import LEAD_ANY, LEAD_BROKEN

CLUBS = 0
SPADES = 3
SIDE_SUITS = 0b0111
SPADE_MASK = SUIT_MASKS[SPADES]


@inline_kernel
def suit_of(card: int) -> int:
    """Suit 0-3 of a card id; the jokers, 52 and 53, are spades (R2)."""
    return min(card // 13, SPADES)


@inline_kernel
def seat_after(rules: np.void, seat: int, turns: int) -> int:
    """The seat that is `turns` after `seat` in playing order (R4); two or four play, so no division is needed."""
    return (seat + turns * int(rules["step"])) & (int(rules["players"]) - 1)


@inline_kernel
def follow_mask(hand: int, suit: int) -> int:
    """Cards of `hand` that may be played on a lead of `suit`: those of the suit, or any without one (R11)."""
    same = hand & SUIT_MASKS[suit]
    return same if same else hand


@inline_kernel
def lead_mask(hand: int, lead_spades: int, broken: int) -> int:
    """Cards of `hand` that may be led (R13)."""
    if lead_spades == LEAD_ANY or (lead_spades == LEAD_BROKEN and broken == 1):
        return hand
    others = hand & ~SPADE_MASK
    return others if others else hand


@inline_kernel
def beats(card: int, best: int) -> bool:
    """Whether `card` beats `best`, the best card so far of a trick whose led suit is that of its first card (R12)."""
    suit = suit_of(card)
    if suit == suit_of(best):
        return card > best
    return suit == SPADES


@inline_kernel
def led_suit(game: np.void) -> int:
    """Suit led in the trick in progress (at least one card on the table); clubs in a low-club first trick."""
    if int(game["rules"]["low_club"]) == 1 and int(game["trick"]) == 0:
        return CLUBS
    players = int(game["rules"]["players"])
    return suit_of(int(game["actions"][int(game["first_play"]) + int(game["trick"]) * players]))


@kernel
def first_trick_mask(game: np.void, hand: int) -> int:
    """Legal cards in a first trick under `low_club` or `first_trick_spades: forbid` (R15)."""
    rules = game["rules"]
    if int(rules["low_club"]) == 1:
        clubs = hand & SUIT_MASKS[CLUBS]
        if clubs:
            return 1 << lowest_bit(clubs)
        others = hand & ~SPADE_MASK
        return others if others else hand
    if int(game["trick_len"]) == 0:
        cards = lead_mask(hand, int(rules["lead_spades"]), int(game["broken"]))
    else:
        suit = led_suit(game)
        cards = follow_mask(hand, suit)
        if suit == SPADES:
            return cards
    others = cards & ~SPADE_MASK
    return others if others else cards


@inline_kernel
def legal_cards(game: np.void) -> int:
    """Cards the seat to act may play now, as a mask."""
    rules = game["rules"]
    hand = int(game["hands"][int(game["turn"])])
    if int(game["trick"]) == 0 and (int(rules["low_club"]) == 1 or int(rules["forbid_first_spades"]) == 1):
        return first_trick_mask(game, hand)
    if int(game["trick_len"]) == 0:
        return lead_mask(hand, int(rules["lead_spades"]), int(game["broken"]))
    return follow_mask(hand, led_suit(game))


@inline_kernel
def trick_winner(game: np.void, start: int) -> int:
    """Seat that wins the complete trick whose cards are `actions[start:]` (R12; opening_lead)."""
    rules = game["rules"]
    led = led_suit(game)
    first_suit = suit_of(int(game["actions"][start]))
    best, turns = -1, 0
    for k in range(int(rules["players"])):
        card = int(game["actions"][start + k])
        suit = suit_of(card)
        # Ranked in tiers of 64: spades, then the suit led, then (low_club alone) the suit of the first card.
        strength = -1
        if suit == SPADES:
            strength = 128 + card
        elif suit == led:
            strength = 64 + card
        elif suit == first_suit:
            strength = card
        if strength > best:
            best, turns = strength, k
    return seat_after(rules, int(game["leaders"][int(game["trick"])]), turns)


@inline_kernel
def lead_shows(game: np.void, card: int) -> tuple[int, int]:
    """(suits the leader has shown void, whether spades become broken) of leading `card` (R13, R14)."""
    if suit_of(card) != SPADES:
        return 0, 0
    rules = game["rules"]
    lead_spades = int(rules["lead_spades"])
    held_back = lead_spades != LEAD_ANY and (lead_spades != LEAD_BROKEN or int(game["broken"]) == 0)
    if int(game["trick"]) == 0 and int(rules["forbid_first_spades"]) == 1:
        held_back = True
    return SIDE_SUITS if held_back else 0, int(rules["forced_lead_breaks"])


@inline_kernel
def follow_shows(game: np.void, card: int) -> tuple[int, int]:
    """(suits the seat has shown void, whether spades become broken) of `card` on a lead of another seat (R11, R14).

    In a low-club first trick every card, the first too, is played on a lead of clubs.
    """
    led, suit = led_suit(game), suit_of(card)
    off = int(suit != led)
    ruffed = off & int(suit == SPADES)
    shown = off << led
    if int(game["trick"]) == 0 and ruffed == 1:
        rules = game["rules"]
        if int(rules["low_club"]) == 1 or int(rules["forbid_first_spades"]) == 1:
            shown = SIDE_SUITS  # R15: a spade only from a hand of spades
    return shown, ruffed


@inline_kernel
def card_shows(game: np.void, card: int) -> tuple[int, int]:
    """(bits of suits the seat to act cannot hold if she plays `card` now, whether the card breaks spades)."""
    if int(game["trick_len"]) == 0 and not (int(game["trick"]) == 0 and int(game["rules"]["low_club"]) == 1):
        return lead_shows(game, card)
    return follow_shows(game, card)


@inline_kernel
def apply_card(game: np.void, card: int) -> None:
    """Play `card` (already the last of `actions`) for the seat to act; the fourth card closes the trick (R12-R14)."""
    rules = game["rules"]
    players = int(rules["players"])
    seat = int(game["turn"])
    shown, breaks = card_shows(game, card)
    game["voids"][seat] = int(game["voids"][seat]) | shown
    game["broken"] = int(game["broken"]) | breaks
    bit = 1 << card
    game["hands"][seat] &= ~bit
    game["played"][seat] |= bit
    played = int(game["trick_len"]) + 1
    if played < players:
        game["trick_len"] = played
        game["turn"] = seat_after(rules, seat, 1)
        return
    winner = trick_winner(game, int(game["n_actions"]) - players)
    trick = int(game["trick"]) + 1
    game["tricks"][winner] = int(game["tricks"][winner]) + 1
    game["trick"] = trick
    game["trick_len"] = 0
    game["turn"] = winner
    if trick < int(rules["hand_size"]):
        game["leaders"][trick] = winner
    else:
        finish_deal(game)
