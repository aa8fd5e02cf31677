"""What a picture of a table shows, as plain values: everything of a `Game`, what one seat knows of a `View` (R30).

Nothing here draws. What is hidden is left out here, so that no painter can show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spades_env.actions import KEEP, TAKE_NEXT
from spades_env.cards import CLUBS, DIAMONDS, HEARTS, SPADES, suit_of
from spades_env.game import Game, View
from spades_env.render.ansi import bid_text, seat_name, team_need
from spades_env.rules import Rules

BOTTOM, LEFT, TOP, RIGHT = 0, 1, 2, 3
"""Places at the table, clockwise: whoever looks sits at the bottom, her partner at the top."""

_SUIT_ORDER: Final = {SPADES: 0, HEARTS: 1, CLUBS: 2, DIAMONDS: 3}
"""Suits of a hand from left to right, black and red in turn."""


@dataclass(frozen=True, slots=True)
class SeatScene:
    """One seat: her plate and her hand."""

    seat: int
    place: int
    name: str
    bid: str
    """ "-" before the bid, "nil", "blind nil", "double nil" or the number."""
    tricks: int
    dealer: bool
    to_act: bool
    cards: tuple[int | None, ...]
    """Her hand, spades first; None is a card face down."""
    note: str
    """What else is known: "has not looked", "exchanged 2"; or nothing."""


@dataclass(frozen=True, slots=True)
class TeamScene:
    """One line of the score board."""

    name: str
    score: int
    bags: int
    need: int | None
    """Tricks that its bids still want; None before the first bid."""
    last: int | None
    """Points of the deal scored last."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole picture."""

    title: str
    subtitle: str
    goal: str
    spades: str
    caption: str
    """What happens now, in words."""
    seats: tuple[SeatScene, ...]
    teams: tuple[TeamScene, TeamScene]
    trick: tuple[tuple[int, int], ...]
    """(place, card) of the trick in progress, or of the one before until the next is led."""
    trick_winner: int | None
    """Place that took the trick shown, if it is complete."""
    show_bids: bool
    """The bidding goes on: the middle of the table belongs to the bids."""
    result: tuple[tuple[str, ...], ...]
    """Heading and a row a team, once the deal is over."""
    pile: int
    """Cards left in the draft pile."""
    shown: int | None
    """The card of the draft that is being decided about, where it may be seen."""
    rejected: tuple[int, ...]
    """Cards that the seat looking has discarded."""


def scene_of(table: Game | View) -> Scene:
    """The picture of a table; a `View` has its seat at the bottom, a `Game` South."""
    viewer = table.seat if isinstance(table, View) else 0
    places = [_place(table.rules, seat, viewer) for seat in range(table.players)]
    trick, taker = _trick(table)
    return Scene(
        title=_title(table.rules),
        subtitle=f"match {table.match + 1} · deal {table.deal + 1}",
        goal=f"target {table.rules.target}" + ("" if table.rules.mercy is None else f" · mercy {table.rules.mercy}"),
        spades="spades are broken" if table.broken else "spades not broken",
        caption=_caption(table, trick, taker),
        seats=tuple(_seat(table, seat, places[seat]) for seat in range(table.players)),
        teams=(_team(table, 0), _team(table, 1)),
        trick=tuple((places[seat], card) for seat, card in trick),
        trick_winner=None if taker is None else places[taker],
        show_bids=table.phase in ("blind", "bid", "exchange") and any(bid is not None for bid in table.bids),
        result=_result(table),
        pile=table.pile_left,
        shown=_shown(table),
        rejected=tuple(_sorted(table.rejected)) if isinstance(table, View) else (),
    )


def _place(rules: Rules, seat: int, viewer: int) -> int:
    """Seats are numbered clockwise (R4), and so are the places; of two players one sits opposite."""
    return (seat - viewer) % rules.players * (4 // rules.players)


def _title(rules: Rules) -> str:
    # Environments add `max_deals` to a preset, which says nothing about the rules of play.
    return f"Spades · {(rules.replace(max_deals=None).preset_name or 'own rules').replace('_', ' ')}"


def _team(table: Game | View, team: int) -> TeamScene:
    seats = range(team, table.players, 2)
    bid = any(table.bids[seat] is not None for seat in seats)
    return TeamScene(
        name=" & ".join(seat_name(table.rules, seat) for seat in seats),
        score=table.scores[team],
        bags=table.bags[team],
        need=team_need(table, team) if bid else None,
        last=None if table.result is None else table.result[team].points,
    )


def _seat(table: Game | View, seat: int, place: int) -> SeatScene:
    notes = [] if table.looked[seat] or _drafts(table) else ["has not looked"]
    if table.rules.deal == "draft" and table.exchanged[seat]:
        notes.append(f"exchanged {table.exchanged[seat]}")
    return SeatScene(
        seat=seat,
        place=place,
        name=seat_name(table.rules, seat),
        bid=bid_text(table, seat),
        tricks=table.tricks[seat],
        dealer=seat == table.dealer,
        to_act=seat == table.turn,
        cards=_hand(table, seat),
        note=", ".join(notes),
    )


def _drafts(table: Game | View) -> bool:
    """Whether hands still come about by drawing: what a seat draws she sees (R28)."""
    return table.rules.deal == "draft"


def _hand(table: Game | View, seat: int) -> tuple[int | None, ...]:
    """Her cards where they may be seen, else as many face down as she is known to hold."""
    if isinstance(table, Game):
        return tuple(_sorted(table.hands[seat]))
    if seat == table.seat and table.looked[seat]:
        return tuple(_sorted(table.hand))
    return (None,) * _count(table, seat)


def _count(table: View, seat: int) -> int:
    """How many cards `seat` holds, from what is public."""
    played = sum(player == seat for player, _ in table.plays)
    if not _drafts(table):
        return table.rules.hand_size - played
    draws = sum(action in (KEEP, TAKE_NEXT) for action in table.actions)
    # The dealer draws first, then they alternate (R27).
    held = (draws + (seat == table.dealer)) // 2
    naming = table.phase == "exchange" and table.turn == seat
    return held - played - (table.exchanged[seat] if naming else 0)


def _sorted(cards: Sequence[int]) -> list[int]:
    return sorted(cards, key=lambda card: (_SUIT_ORDER[suit_of(card)], -card))


def _trick(table: Game | View) -> tuple[list[tuple[int, int]], int | None]:
    """(seat, card) of the trick to show, and who took it if it is complete."""
    if table.trick or not table.plays:
        return table.trick, None
    return table.plays[-table.players :], table.trick_winners[-1]


def _shown(table: Game | View) -> int | None:
    if table.phase != "draft":
        return None
    return table.shown if isinstance(table, View) else table.pile[0]


def _caption(table: Game | View, trick: Sequence[tuple[int, int]], taker: int | None) -> str:
    """What happens now: who is to do what, or how it ended."""
    if table.match_over:
        winner = None if table.winner is None else _team(table, table.winner).name
        return "the match ends without a winner" if winner is None else f"{winner} won the match"
    if table.turn is None:
        return "the deal is over"
    name = seat_name(table.rules, table.turn)
    if table.phase != "play":
        return f"{name} {_PHASE_TEXTS[table.phase]}"
    if taker is not None:
        return f"trick {len(table.trick_winners)} to {seat_name(table.rules, taker)} · {name} to lead"
    if not trick:
        return f"{name} to lead"
    return f"trick {sum(table.tricks) + 1} · {seat_name(table.rules, trick[0][0])} led · {name} to play"


_PHASE_TEXTS: Final = {
    "blind": "to choose: blind or not",
    "bid": "to bid",
    "draft": "to keep or take the next",
    "exchange": "to exchange",
}


def _result(table: Game | View) -> tuple[tuple[str, ...], ...]:
    """The score of the deal item by item (R17-R22), once it is over."""
    if not table.deal_over or table.result is None:
        return ()
    rows: list[tuple[str, ...]] = [("", "contract", "nil", "bags", "penalty", "deal", "score")]
    for team, part in enumerate(table.result):
        name = _team(table, team).name + (" (boston)" if part.boston else "")
        items = (part.contract, part.nil, part.bag_points, part.penalty, part.points)
        rows.append((name, *(f"{item:+d}" if item else "0" for item in items), str(table.scores[team])))
    return tuple(rows)
