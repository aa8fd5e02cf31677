"""How `normal` plays around a nil: her own, her partner's, an opponent's."""

from __future__ import annotations

from agents.rules.facts import cheapest, dearest, rank_of
from agents.rules.normal.play import lowest_equal, shown_void
from spades_env.cards import SUIT_MASKS
from spades_env.engine.kernel import highest_bit, kernel, lowest_bit, popcount
from spades_env.engine.play import SPADE_MASK, SPADES


@kernel
def nil_discard(cards: int, hand: int, unseen: int) -> int:
    """The card a nil bidder throws off: high spades, then the card most in danger of being forced to win.

    Danger grows with the unseen cards below a card and the fewer low cards of her own protect it.
    """
    best, best_score = -1, -1000
    for suit in range(4):
        own = cards & SUIT_MASKS[suit]
        if own == 0:
            continue
        card = highest_bit(own)
        lower = popcount(unseen & SUIT_MASKS[suit] & ((1 << card) - 1))
        higher = popcount(unseen & SUIT_MASKS[suit]) - lower
        guards = popcount(hand & SUIT_MASKS[suit]) - 1
        score = 10 * lower - 12 * higher - 8 * guards
        if suit == SPADES:
            score += 40  # the lowest spade may still have to ruff
        elif lower == 0:
            score = -500 + rank_of(card)
        if score > best_score:
            best, best_score = card, score
    return best


@kernel
def nil_follow(legal: int, winners: int, led: int, hand: int, unseen: int, last: bool) -> int:
    """A nil bidder's card on somebody's lead: the highest that loses; forced to win, the dearest if last."""
    losers = legal & ~winners
    if losers == 0:
        return dearest(winners) if last else cheapest(winners)
    followers = losers & SUIT_MASKS[led]
    if followers:
        return highest_bit(followers)
    return nil_discard(losers, hand, unseen)


@kernel
def nil_lead(legal: int, unseen: int) -> int:
    """A nil bidder's lead: the card that is likeliest to be beaten."""
    best, best_score = -1, -1000
    for suit in range(4):
        own = legal & SUIT_MASKS[suit]
        if own == 0:
            continue
        card = lowest_bit(own)
        others = unseen & SUIT_MASKS[suit]
        higher = popcount(others & ~((2 << card) - 1))
        lower = popcount(others) - higher
        score = 10 * higher - 14 * lower
        if score > best_score:
            best, best_score = card, score
    return best


@kernel
def cover_lead(legal: int, unseen: int, partner_voids: int) -> int:
    """A lead that protects partner's nil: a suit she is out of, or the highest card nearest to a master."""
    best, best_score = -1, -1000
    for suit in range(4):
        own = legal & SUIT_MASKS[suit]
        if own == 0:
            continue
        card = highest_bit(own)
        others = unseen & SUIT_MASKS[suit]
        higher = popcount(others & ~((2 << card) - 1))
        score = 60 - 20 * higher + popcount(others) - (10 if suit == SPADES else 0)
        if suit != SPADES and shown_void(partner_voids, suit):
            score += 50
        if score > best_score:
            best, best_score = card, score
    return best


@kernel
def cover_follow(winners: int, led: int, unseen: int, partner_wins: bool, best: int) -> int:
    """Partner's nil is alive: take the trick from her, or play high before her; -1: nothing to do for the nil.

    `best` is the strength of the trick's best card so far (facts.trick_strength).
    """
    if winners == 0:
        return -1
    suit = SUIT_MASKS[led]
    own = winners & suit
    if partner_wins:
        return lowest_equal(own, unseen & suit, lowest_bit(own)) if own else lowest_bit(winners)
    higher = unseen & suit & ~((2 << (best - 64)) - 1) if 64 <= best < 128 else 0
    lower = unseen & suit & ((1 << (best - 64)) - 1) if 64 <= best < 128 else suit
    # With few cards left to go under the trick's best one she may have to win.
    if best >= 128 or popcount(lower) >= 2 * popcount(higher) + 2:
        return -1
    if own:
        return lowest_equal(own, unseen & suit, highest_bit(own))
    return -1


@kernel
def attack_lead(legal: int, unseen: int, nil_voids: int) -> int:
    """A lead against an opponent's nil: the lowest card of a suit she may hold, with few cards below it out."""
    best, best_score = -1, -1000
    for suit in range(4):
        own = legal & SUIT_MASKS[suit]
        if own == 0:
            continue
        card = lowest_bit(own)
        others = unseen & SUIT_MASKS[suit]
        lower = popcount(others & ((1 << card) - 1))
        higher = popcount(others) - lower
        score = 3 * higher - 12 * lower
        if shown_void(nil_voids, suit):
            score -= 200
        if score > best_score:
            best, best_score = card, score
    return best


@kernel
def under(legal: int, winners: int, led: int) -> int:
    """The card with which to stay under a nil bidder who is winning, high ones first; -1 if all win."""
    losers = legal & ~winners
    if losers == 0:
        return -1
    followers = losers & SUIT_MASKS[led]
    if followers:
        return highest_bit(followers)
    return cheapest(losers)


@kernel
def stay_low(legal: int, winners: int, led: int) -> int:
    """A nil bidder is still to play: leave the trick as low as it is, keeping low cards for later leads."""
    losers = legal & ~winners
    followers = losers & SUIT_MASKS[led]
    if followers:
        return highest_bit(followers)
    if losers:
        return dearest(losers & ~SPADE_MASK) if losers & ~SPADE_MASK else dearest(losers)
    own = winners & SUIT_MASKS[led]
    return lowest_bit(own) if own else lowest_bit(winners)
