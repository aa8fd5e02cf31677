"""The themes of the handed play cases P01-P10, each put generally: when a position belongs to it, and its cards.

`holds` and `right_cards` look at what the seat to act knows; whether a card of the theme is right in a given position
is decided by solving it (tests/layouts.py).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.rules.facts import master_cards, trick_so_far, unseen_cards, winning_cards
from spades_env.cards import SUIT_MASKS
from spades_env.engine.kernel import highest_bit, kernel, popcount
from spades_env.engine.play import SPADE_MASK, SPADES, legal_cards
from spades_env.engine.state import StateArray

THEMES: Final[dict[str, str]] = {
    "P01": "last to play, our contract made: win the trick that the opponents need, at the price of a bag",
    "P02": "last to play, partner's nil wins the trick: take it away from her",
    "P03": "last to play, an opponent's nil wins the trick: leave it to her",
    "P04": "last to play, void, partner wins the trick without a spade: do not ruff it",
    "P05": "third to play, partner led, no spades left: play the highest card of the suit",
    "P06": "our own nil, void in a trick that is lost: throw a dangerous card away",
    "P07": "as P01, but the trick brings our tenth bag and the set is worth less: leave it",
    "P08": "as P01 with bags switched off: win it",
    "P09": "as P01 at the tenth bag, but the opponents win the match if they make it: win it",
    "P10": "last to play, our own nil, void in a trick without a spade: do not ruff it",
}
SET_FREE, COVER_NIL, DUCK_NIL, NO_RUFF, BOSS, DUMP, BAG_FEAR, NO_BAGS, SURVIVE, NIL_NO_RUFF = range(10)
"""Numbers of the themes, in the order of `THEMES`."""
MOST_LEFT: Final = 3
"""Most tricks still to be played, the one on the table included."""


@kernel
def need_of(game: np.void, team: int) -> int:
    """Tricks that `team` still needs for its contract; below 0: bags taken so far (R17, R18)."""
    need = 0
    for seat in (team, team + 2):
        if int(game["bids"][seat]) > 0:
            need += int(game["bids"][seat]) - int(game["tricks"][seat])
    return need


@kernel
def contract_of(game: np.void, team: int) -> int:
    """Contract of `team` (R9)."""
    return max(0, int(game["bids"][team])) + max(0, int(game["bids"][team + 2]))


@kernel
def nils(game: np.void) -> int:
    """Number of nil bids."""
    count = 0
    for seat in range(4):
        count += 1 if int(game["bids"][seat]) == 0 else 0
    return count


@kernel
def only_nil_lives(game: np.void, seat: int) -> bool:
    """Whether `seat` has bid the only nil of the deal and has taken no trick."""
    return nils(game) == 1 and int(game["bids"][seat]) == 0 and int(game["tricks"][seat]) == 0


@kernel
def tricks_left(game: np.void) -> int:
    """Tricks still to be played, the one in progress included."""
    return int(game["rules"]["hand_size"]) - int(game["trick"])


@kernel
def set_at_stake(game: np.void, winner: int) -> bool:
    """No nils, our contract made, the opponents win the trick so far and need all that are left."""
    own, other = int(game["turn"]) % 2, 1 - int(game["turn"]) % 2
    if nils(game) > 0 or winner % 2 == own:
        return False
    return need_of(game, own) <= 0 and need_of(game, other) == tricks_left(game)


@kernel
def bags_so_far(game: np.void) -> int:
    """Bags on the sheet of the team to act with those of this deal, its contract being made."""
    own = int(game["turn"]) % 2
    return int(game["bags"][own]) - need_of(game, own)


@kernel
def set_theme_holds(game: np.void, theme: int, winner: int) -> bool:
    """`holds` for the four themes about setting the opponents and what it costs."""
    if not set_at_stake(game, winner):
        return False
    limit, bags = int(game["rules"]["bag_limit"]), bags_so_far(game)
    if theme == SET_FREE:
        return bags + tricks_left(game) < limit
    if theme == NO_BAGS:
        return limit == 0 and int(game["rules"]["bag_points"]) == 0
    if bags != limit - 1:
        return False
    other = 1 - int(game["turn"]) % 2
    contract = 10 * contract_of(game, other)
    if theme == BAG_FEAR:
        return 2 * contract < int(game["rules"]["bag_penalty"])
    return int(game["scores"][other]) + contract >= int(game["rules"]["target"])


@kernel
def boss_holds(game: np.void, legal: int, winners: int, led: int) -> bool:
    """`holds` for the highest card in third hand: hers is the only master, and our contract is still in doubt."""
    seat = int(game["turn"])
    unseen, own = unseen_cards(game, seat), int(game["hands"][seat])
    if int(game["trick_len"]) != 2 or nils(game) > 0 or (unseen | own) & SPADE_MASK or led == SPADES:
        return False
    masters = master_cards(legal, unseen) & winners
    need = need_of(game, seat % 2)
    return popcount(masters) == 1 and legal & SUIT_MASKS[led] != 0 and 1 <= need <= tricks_left(game)


@kernel
def nil_theme_holds(game: np.void, theme: int, winner: int, winners: int, void: bool) -> bool:
    """`holds` for the themes about a nil: partner's, an opponent's or our own."""
    seat = int(game["turn"])
    if theme == COVER_NIL:
        return winner == (seat + 2) % 4 and only_nil_lives(game, winner)
    if theme == DUCK_NIL:
        return winner % 2 != seat % 2 and only_nil_lives(game, winner)
    return only_nil_lives(game, seat) and void and (theme == NIL_NO_RUFF or winners == 0)


@kernel
def holds(game: np.void, theme: int) -> bool:
    """Whether the position of the seat to act belongs to `theme`, an index of `THEMES`."""
    legal, left = legal_cards(game), tricks_left(game)
    best, winner, led = trick_so_far(game)
    if winner < 0 or left > MOST_LEFT or popcount(legal) < 2:
        return False
    winners = winning_cards(game, legal, best, led)
    if theme == BOSS:
        return boss_holds(game, legal, winners, led)
    void = legal & SUIT_MASKS[led] == 0
    if theme == DUMP:
        return nil_theme_holds(game, theme, winner, winners, void)
    if int(game["trick_len"]) != 3:
        return False
    if theme in (NO_RUFF, NIL_NO_RUFF):
        if not void or best >= 128 or legal & SPADE_MASK in (0, legal):  # 128: a spade is on the table
            return False
        if theme == NIL_NO_RUFF:
            return nil_theme_holds(game, theme, winner, winners, void)
        own = int(game["turn"]) % 2
        return nils(game) == 0 and winner % 2 == own and 1 <= need_of(game, own) <= left
    if winners in (0, legal):
        return False
    if theme in (COVER_NIL, DUCK_NIL):
        return nil_theme_holds(game, theme, winner, winners, void)
    return set_theme_holds(game, theme, winner)


@kernel
def highest_of_suits(cards: int) -> int:
    """The highest of `cards` in every suit."""
    tops = 0
    for suit in range(4):
        own = cards & SUIT_MASKS[suit]
        if own:
            tops |= 1 << highest_bit(own)
    return tops


@kernel
def right_cards(game: np.void, theme: int) -> int:
    """The legal cards that the theme calls for, where `holds`."""
    legal = legal_cards(game)
    best, _, led = trick_so_far(game)
    winners = winning_cards(game, legal, best, led)
    if theme == BOSS:
        return master_cards(legal, unseen_cards(game, int(game["turn"]))) & winners
    if theme in (NO_RUFF, NIL_NO_RUFF):
        return legal & ~SPADE_MASK
    if theme == DUMP:
        return highest_of_suits(legal)
    return legal & ~winners if theme in (DUCK_NIL, BAG_FEAR) else winners


@kernel
def theme_of(states: StateArray, i: int, theme: int) -> tuple[int, int]:
    """(cards that the theme calls for, cards that it warns of) in game `i`; (0, 0) if it does not belong to `theme`.

    Of a nil's losing cards one of another suit may be as wrong as a lower one of the same.
    """
    game = states[i]
    if not holds(game, theme):
        return 0, 0
    legal, right = legal_cards(game), right_cards(game, theme)
    return right, legal if theme == DUMP else legal & ~right
