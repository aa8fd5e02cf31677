"""`normal_card`: which of the plans of play.py and nil.py is followed in a position."""

from __future__ import annotations

import numpy as np

from agents.rules.facts import cheapest, trick_so_far, unseen_cards, winning_cards
from agents.rules.normal.nil import (
    attack_lead,
    cover_follow,
    cover_lead,
    nil_follow,
    nil_lead,
    stay_low,
    under,
)
from agents.rules.normal.play import (
    follow_enemy,
    follow_partner,
    follow_to_lose,
    lead_to_lose,
    lead_to_win,
    shown_void,
    throw,
)
from agents.rules.normal.situation import (
    nil_alive,
    partner_helps,
    team_need,
    tricks_help,
    wants_for_match,
    wants_for_points,
)
from agents.stakes import Stakes
from spades_env.cards import SUIT_MASKS
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.play import SPADE_MASK, SPADES, legal_cards


@inline_kernel
def beating(game: np.void, legal: int, best: int, led: int) -> int:
    """Those of `legal` that would win so far against a best card of strength `best` (facts.trick_strength)."""
    if best >= 128:
        return legal & SPADE_MASK & ~((2 << (best - 128)) - 1)
    if best < 64:
        return winning_cards(game, legal, best, led)
    return (legal & SUIT_MASKS[led] & ~((2 << (best - 64)) - 1)) | (legal & SPADE_MASK)


@inline_kernel
def lead_card(game: np.void, legal: int, seat: int, players: int, unseen: int, need: int, wants: bool) -> int:
    """The card `normal` leads."""
    if nil_alive(game, seat):
        return nil_lead(legal, unseen)
    if players == 2:
        other = 1 - seat
        if nil_alive(game, other) and need <= 1:
            return attack_lead(legal, unseen, int(game["voids"][other]))
        return lead_to_win(legal, unseen, 0, int(game["voids"][other])) if wants else lead_to_lose(legal, unseen)
    partner, left, right = (seat + 2) & 3, (seat + 1) & 3, (seat + 3) & 3
    if nil_alive(game, partner):
        return cover_lead(legal, unseen, int(game["voids"][partner]))
    tricks_left = int(game["rules"]["hand_size"]) - int(game["trick"])
    spare = tricks_left - need
    if spare > 0:
        if nil_alive(game, left):
            return attack_lead(legal, unseen, int(game["voids"][left]))
        if nil_alive(game, right):
            return attack_lead(legal, unseen, int(game["voids"][right]))
    if wants:
        enemies = int(game["voids"][left]) | int(game["voids"][right])
        return lead_to_win(legal, unseen, int(game["voids"][partner]), enemies)
    return lead_to_lose(legal, unseen)


@inline_kernel
def nil_to_come(game: np.void, seat: int, players: int, position: int) -> bool:
    """Whether an opponent whose nil is alive still has to play to the trick."""
    step = int(game["rules"]["step"])
    other = seat
    for _ in range(players - 1 - position):
        other = (other + step) % players
        if (other - seat) & 1 == 1 and nil_alive(game, other):
            return True
    return False


@inline_kernel
def follow_card(game: np.void, legal: int, seat: int, players: int, unseen: int, need: int, wants: bool) -> int:
    """The card `normal` plays on another seat's lead."""
    best, winner, led = trick_so_far(game)
    winners = beating(game, legal, best, led)
    position = int(game["trick_len"])
    last = position == players - 1
    if nil_alive(game, seat):
        return nil_follow(legal, winners, led, int(game["hands"][seat]), unseen, last)
    tricks_left = int(game["rules"]["hand_size"]) - int(game["trick"])
    partner_wins = False
    if players == 4:
        partner = (seat + 2) & 3
        cover = nil_alive(game, partner)
        # A trick that does not help is as good as an opponent's to her; a nil of partner's is hers to save.
        partner_wins = winner == partner and (need <= 0 or cover or partner_helps(game, seat))
        if cover and (partner_wins or position == 1):
            card = cover_follow(winners, led, unseen, partner_wins, best)
            if card >= 0:
                return card
    if not partner_wins and nil_alive(game, winner) and (last or tricks_left > need):
        card = under(legal, winners, led)
        if card >= 0:
            return card
    helps = need > 0 and tricks_help(game, seat)
    if not helps and nil_to_come(game, seat, players, position):
        return stay_low(legal, winners, led)
    if not wants:
        return follow_to_lose(legal, winners, last, unseen)
    if winners == 0:
        return throw(legal, unseen)
    if partner_wins:
        if last or (need > 0 and not helps):
            return throw(legal, unseen)
        enemy = (seat + int(game["rules"]["step"])) & 3
        ruffs = led != SPADES and shown_void(int(game["voids"][enemy]), led) and unseen & SPADE_MASK != 0
        return follow_partner(legal, winners, best, led, unseen, ruffs)
    if last:
        return cheapest(winners)
    return follow_enemy(legal, winners, led, unseen, position == 1)


@inline_kernel
def planned_card(game: np.void, legal: int, seat: int, players: int, need: int, wants: bool) -> int:
    """The card of a seat with a choice, whose team needs `need` tricks and who `wants` tricks or not."""
    unseen = unseen_cards(game, seat)
    if int(game["trick_len"]) == 0:
        return lead_card(game, legal, seat, players, unseen, need, wants)
    return follow_card(game, legal, seat, players, unseen, need, wants)


@kernel
def points_card(game: np.void) -> int:
    """`normal_card` where points count: without stakes to hand around, the playouts are much faster."""
    legal = legal_cards(game)
    if legal & (legal - 1) == 0:
        return lowest_bit(legal)
    seat, players = int(game["turn"]), int(game["rules"]["players"])
    need = team_need(game, seat, players)
    return planned_card(game, legal, seat, players, need, wants_for_points(game, seat, players, need))


@kernel
def normal_card(game: np.void, stakes: Stakes) -> int:
    """The card of the seat to act in a STATE record or the `known` part of her view."""
    if stakes[0].shape[0] == 0:
        return points_card(game)
    legal = legal_cards(game)
    if legal & (legal - 1) == 0:
        return lowest_bit(legal)
    seat, players = int(game["turn"]), int(game["rules"]["players"])
    need = team_need(game, seat, players)
    return planned_card(game, legal, seat, players, need, wants_for_match(game, seat, players, need, stakes))
