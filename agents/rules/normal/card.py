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
from spades_env.engine.play import SPADE_MASK, SPADES, legal_cards, seat_after


@inline_kernel
def beating(game: np.void, legal: int, best: int, led: int) -> int:
    """Those of `legal` that would win so far against a best card of strength `best` (facts.trick_strength)."""
    if best >= 128:
        return legal & SPADE_MASK & ~((2 << (best - 128)) - 1)
    if best < 64:
        return winning_cards(game, legal, best, led)
    return (legal & SUIT_MASKS[led] & ~((2 << (best - 64)) - 1)) | (legal & SPADE_MASK)


@inline_kernel
def partner_wins(game: np.void, seat: int, players: int, winner: int, need: int) -> bool:
    """Whether partner is winning the trick and may have it.

    A trick that does not help is as good as an opponent's to her; a nil of partner's is hers to save.
    """
    if players == 2 or winner != (seat + 2) & 3:
        return False
    return need <= 0 or nil_alive(game, winner) or partner_helps(game, seat)


@inline_kernel
def nil_to_come(game: np.void, seat: int, players: int, position: int) -> bool:
    """Whether an opponent whose nil is alive still has to play to the trick."""
    rules = game["rules"]
    for turns in range(1, players - position):
        other = seat_after(rules, seat, turns)
        if (other - seat) & 1 == 1 and nil_alive(game, other):
            return True
    return False


@inline_kernel
def lead_for_nil(game: np.void, legal: int, seat: int, players: int, unseen: int, need: int) -> int:
    """The card led for or against a nil that is alive, -1 if none is at stake."""
    if nil_alive(game, seat):
        return nil_lead(legal, unseen)
    if players == 2:
        other = 1 - seat
        if nil_alive(game, other) and need <= 1:
            return attack_lead(legal, unseen, int(game["voids"][other]))
        return -1
    partner, left, right = (seat + 2) & 3, (seat + 1) & 3, (seat + 3) & 3
    if nil_alive(game, partner):
        return cover_lead(legal, unseen, int(game["voids"][partner]))
    if int(game["rules"]["hand_size"]) - int(game["trick"]) > need:
        if nil_alive(game, left):
            return attack_lead(legal, unseen, int(game["voids"][left]))
        if nil_alive(game, right):
            return attack_lead(legal, unseen, int(game["voids"][right]))
    return -1


@inline_kernel
def lead_for_tricks(game: np.void, legal: int, seat: int, players: int, unseen: int, wants: bool) -> int:
    """The card led where no nil is at stake, by one who `wants` tricks or not."""
    if not wants:
        return lead_to_lose(legal, unseen)
    voids = game["voids"]
    if players == 2:
        return lead_to_win(legal, unseen, 0, int(voids[1 - seat]))
    enemies = int(voids[(seat + 1) & 3]) | int(voids[(seat + 3) & 3])
    return lead_to_win(legal, unseen, int(voids[(seat + 2) & 3]), enemies)


@inline_kernel
def follow_for_nil(
    game: np.void, legal: int, seat: int, players: int, unseen: int, need: int, best: int, winner: int, led: int
) -> int:
    """The card played on another seat's lead for or against a nil that is alive, -1 if none is at stake."""
    winners = beating(game, legal, best, led)
    position = int(game["trick_len"])
    last = position == players - 1
    if nil_alive(game, seat):
        return nil_follow(legal, winners, led, int(game["hands"][seat]), unseen, last)
    partners = partner_wins(game, seat, players, winner, need)
    if players == 4 and (partners or position == 1) and nil_alive(game, (seat + 2) & 3):
        card = cover_follow(winners, led, unseen, partners, best)
        if card >= 0:
            return card
    tricks_left = int(game["rules"]["hand_size"]) - int(game["trick"])
    if not partners and nil_alive(game, winner) and (last or tricks_left > need):
        card = under(legal, winners, led)
        if card >= 0:
            return card
    if (need <= 0 or not tricks_help(game, seat)) and nil_to_come(game, seat, players, position):
        return stay_low(legal, winners, led)
    return -1


@inline_kernel
def follow_for_tricks(
    game: np.void,
    legal: int,
    seat: int,
    players: int,
    unseen: int,
    need: int,
    wants: bool,
    best: int,
    winner: int,
    led: int,
) -> int:
    """The card played on another seat's lead where no nil is at stake, by one who `wants` tricks or not."""
    winners = beating(game, legal, best, led)
    position = int(game["trick_len"])
    last = position == players - 1
    if not wants:
        return follow_to_lose(legal, winners, last, unseen)
    if winners == 0:
        return throw(legal, unseen)
    if partner_wins(game, seat, players, winner, need):
        if last or (need > 0 and not tricks_help(game, seat)):
            return throw(legal, unseen)
        enemy = seat_after(game["rules"], seat, 1)
        ruffs = led != SPADES and shown_void(int(game["voids"][enemy]), led) and unseen & SPADE_MASK != 0
        return follow_partner(legal, winners, best, led, unseen, ruffs)
    if last:
        return cheapest(winners)
    return follow_enemy(legal, winners, led, unseen, position == 1)


@kernel
def points_card(game: np.void) -> int:
    """`normal_card` where points count: without stakes to hand around, the playouts are much faster."""
    legal = legal_cards(game)
    if legal & (legal - 1) == 0:
        return lowest_bit(legal)
    seat, players = int(game["turn"]), int(game["rules"]["players"])
    need, unseen = team_need(game, seat, players), unseen_cards(game, seat)
    # Whether tricks are wanted takes longest to say: it is asked where no nil decides.
    if int(game["trick_len"]) == 0:
        card = lead_for_nil(game, legal, seat, players, unseen, need)
        if card >= 0:
            return card
        return lead_for_tricks(game, legal, seat, players, unseen, wants_for_points(game, seat, players, need))
    best, winner, led = trick_so_far(game)
    card = follow_for_nil(game, legal, seat, players, unseen, need, best, winner, led)
    if card >= 0:
        return card
    wants = wants_for_points(game, seat, players, need)
    return follow_for_tricks(game, legal, seat, players, unseen, need, wants, best, winner, led)


@kernel
def normal_card(game: np.void, stakes: Stakes) -> int:
    """The card of the seat to act in a STATE record or the `known` part of her view."""
    if stakes[0].shape[0] == 0:
        return points_card(game)
    legal = legal_cards(game)
    if legal & (legal - 1) == 0:
        return lowest_bit(legal)
    seat, players = int(game["turn"]), int(game["rules"]["players"])
    need, unseen = team_need(game, seat, players), unseen_cards(game, seat)
    if int(game["trick_len"]) == 0:
        card = lead_for_nil(game, legal, seat, players, unseen, need)
        if card >= 0:
            return card
        return lead_for_tricks(game, legal, seat, players, unseen, wants_for_match(game, seat, players, need, stakes))
    best, winner, led = trick_so_far(game)
    card = follow_for_nil(game, legal, seat, players, unseen, need, best, winner, led)
    if card >= 0:
        return card
    wants = wants_for_match(game, seat, players, need, stakes)
    return follow_for_tricks(game, legal, seat, players, unseen, need, wants, best, winner, led)
