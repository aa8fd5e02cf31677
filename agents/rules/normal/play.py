"""How `normal` plays a card when nobody's nil is at stake: for the contract, to set, or out of the way of bags."""

from __future__ import annotations

from agents.rules.facts import JACK, KING, QUEEN, cheapest, dearest, rank_of
from spades_env.cards import SUIT_MASKS
from spades_env.engine.kernel import highest_bit, inline_kernel, kernel, lowest_bit, popcount
from spades_env.engine.play import SPADE_MASK, SPADES


@inline_kernel
def above(cards: int, others: int) -> int:
    """Those of `cards` that are higher than every one of `others`, both of one suit."""
    return cards if others == 0 else cards & ~((2 << highest_bit(others)) - 1)


@inline_kernel
def lowest_equal(own: int, others: int, card: int) -> int:
    """The lowest of the cards `own` of a suit that is as good as `card`: none of `others` lies between."""
    below = others & ((1 << card) - 1)
    return lowest_bit(above(own, below))


@inline_kernel
def shown_void(voids: int, suit: int) -> bool:
    """Whether the bits `voids` say that the suit is not held."""
    return (voids >> suit) & 1 == 1


@kernel
def side_lead_score(own: int, others: int, spades: int, partner_void: bool, ruffable: bool) -> int:
    """How good a lead of a side suit without its master is for winning tricks; `spades`: her low ones."""
    length = popcount(own)
    score = 100 + 2 * popcount(others) - 3 * length
    if ruffable:
        score -= 40
    elif partner_void:
        score += 60
    if length <= 2 and spades > 0:
        score += 45 - 15 * length
    top = rank_of(highest_bit(own))
    if top in (KING, QUEEN):
        score -= 30
    return score


@kernel
def lead_to_win(legal: int, unseen: int, partner_voids: int, enemy_voids: int) -> int:
    """A card to lead for tricks: masters that will not be ruffed, long spades, then suits that promise ruffs."""
    spades_out = unseen & SPADE_MASK
    own_spades = legal & SPADE_MASK
    low_spades = popcount(own_spades & ~above(own_spades, spades_out))
    best, best_score = -1, -1000
    for suit in range(3):
        own = legal & SUIT_MASKS[suit]
        if own == 0:
            continue
        others = unseen & SUIT_MASKS[suit]
        ruffable = spades_out != 0 and (others == 0 or shown_void(enemy_voids, suit))
        masters = above(own, others)
        if masters and not ruffable:
            card = lowest_bit(masters)
            score = 300 + 4 * popcount(others)
        else:
            card = lowest_bit(own)
            score = side_lead_score(own, others, low_spades, shown_void(partner_voids, suit), ruffable)
        if score > best_score:
            best, best_score = card, score
    if own_spades:
        masters = above(own_spades, spades_out)
        if masters:
            count = popcount(own_spades)
            score = 320 if 2 * count >= popcount(spades_out) and count >= 3 else 160
            card = lowest_bit(masters)
        else:
            score = 60
            card = lowest_bit(own_spades)
        if score > best_score:
            best, best_score = card, score
    return best


@kernel
def lead_to_lose(legal: int, unseen: int) -> int:
    """A card to lead that others will beat: the one with the most unseen cards above it in its suit."""
    best, best_score = -1, -1000
    for suit in range(4):
        own = legal & SUIT_MASKS[suit]
        if own == 0:
            continue
        card = lowest_bit(own)
        higher = popcount(unseen & SUIT_MASKS[suit] & ~((2 << card) - 1))
        score = 4 * higher + popcount(unseen & SUIT_MASKS[suit]) - (20 if suit == SPADES else 0)
        if score > best_score:
            best, best_score = card, score
    return best


@kernel
def follow_to_lose(legal: int, winners: int, last: bool, unseen: int) -> int:
    """Follow without winning, parting with the most dangerous card; if all win, the dearest when last."""
    losers = legal & ~winners
    if losers:
        return dearest_danger(losers, unseen)
    return dearest(winners) if last else cheapest(winners)


@kernel
def dearest_danger(cards: int, unseen: int) -> int:
    """The card of a mask (not 0) most likely to win a trick later: fewest unseen cards of its suit above it."""
    best, best_score = -1, -1000
    for suit in range(4):
        own = cards & SUIT_MASKS[suit]
        if own == 0:
            continue
        card = highest_bit(own)
        higher = popcount(unseen & SUIT_MASKS[suit] & ~((2 << card) - 1))
        score = 8 * (rank_of(card)) - 16 * higher - popcount(own) + (60 if suit == SPADES else 0)
        if score > best_score:
            best, best_score = card, score
    return best


@kernel
def follow_partner(legal: int, winners: int, best: int, led: int, unseen: int, enemy_ruffs: bool) -> int:
    """Third hand with partner winning and one opponent to come: help only if the card may not hold and ours may."""
    if best >= 128 or winners == 0:
        return cheapest(legal)
    suit = SUIT_MASKS[led]
    card = best - 64
    higher = unseen & suit & ~((2 << card) - 1)
    own = winners & suit
    if own and unseen & SPADE_MASK == 0 and above(legal & suit, unseen & suit) == legal & suit:
        return highest_bit(own)  # nothing beats her cards of the suit any more: she takes over to cash them
    if higher == 0 and not enemy_ruffs:
        return cheapest(legal)
    if own:
        masters = above(own, unseen & suit)
        top = highest_bit(own)
        # A card of ours next to partner's is no better than hers.
        between = higher & ((1 << top) - 1)
        if between == 0:
            return cheapest(legal)
        if masters:
            return lowest_bit(masters)
        if rank_of(card) < JACK:
            return lowest_equal(own, unseen & suit, top)
        return cheapest(legal)
    if legal & suit == 0 and rank_of(card) < QUEEN and higher:
        ruffs = winners & SPADE_MASK
        return lowest_bit(ruffs)
    return cheapest(legal)


@kernel
def follow_enemy(legal: int, winners: int, led: int, unseen: int, second: bool) -> int:
    """An opponent is winning, others are to come: a card that will hold, third hand high, ruffs; else the cheapest."""
    suit = SUIT_MASKS[led]
    own = winners & suit
    if own:
        others = unseen & suit
        masters = above(own, others)
        if masters:
            return lowest_bit(masters)
        if second:
            return cheapest(legal)
        return lowest_equal(own, others, highest_bit(own))
    return lowest_bit(winners)


@kernel
def throw(legal: int, unseen: int) -> int:
    """The card to part with on a lost trick: low, of a short suit if she has spades to ruff with, no honour's guard."""
    best, best_score = -1, -1000
    spades = popcount(legal & SPADE_MASK)
    for suit in range(4):
        own = legal & SUIT_MASKS[suit]
        if own == 0:
            continue
        card = lowest_bit(own)
        length = popcount(own)
        others = unseen & SUIT_MASKS[suit]
        higher = popcount(others & ~((2 << card) - 1))
        score = -4 * rank_of(card)
        if suit == SPADES:
            score -= 100
        elif higher == 0:
            score -= 40
        else:
            if spades > 0:
                score += 10 - 4 * length
            top = highest_bit(own)
            over_top = popcount(others & ~((2 << top) - 1))
            if over_top > 0 and over_top < 3 and length == over_top + 1:
                score -= 16
        if score > best_score:
            best, best_score = card, score
    return best
