"""What a person at the table reads, as rich text: made from her `View`, so nothing else can get in (R30)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from spades_cli.seated.answers import HELP, HINT, QUIT, UNDO, Choice
from spades_env.actions import FIRST_BID
from spades_env.cards import BIG_JOKER, CLUBS, DIAMONDS, HEARTS, LITTLE_JOKER, SPADES, card_text, suit_of
from spades_env.game import View
from spades_env.render.ansi import bid_text, seat_name, team_need

_SYMBOLS: Final = {SPADES: "♠", HEARTS: "♥", CLUBS: "♣", DIAMONDS: "♦"}
_STYLES: Final = {SPADES: "bold cyan", HEARTS: "bold red", CLUBS: "bold", DIAMONDS: "bold red"}
_JOKERS: Final = {LITTLE_JOKER: "LJ", BIG_JOKER: "BJ"}


class Screen:
    """Texts for one person: her seat, and who plays the others. With `symbols` suits are ♠♥♣♦, else letters."""

    def __init__(self, players: Sequence[str], *, symbols: bool = True) -> None:
        self.players = players
        self.symbols = symbols

    # ------------------------------------------------------------ cards

    def card(self, card: int) -> Text:
        """A card: rank, then suit."""
        if card in _JOKERS:
            return Text(_JOKERS[card], style=_STYLES[SPADES])
        text, suit = card_text(card), suit_of(card)
        name = _SYMBOLS[suit] if self.symbols else text[1]
        return Text(text[0].replace("T", "10") + name, style=_STYLES[suit])

    def cards(self, cards: Iterable[int]) -> Text:
        """Cards with blanks between; "none" for none."""
        return Text(" ").join([self.card(card) for card in cards]) or Text("none")

    def hand(self, view: View) -> Text:
        """Her hand by suits, spades first."""
        if not view.looked[view.seat]:
            return Text("you have not looked at your cards", style="dim")
        ordered = sorted(view.hand, key=lambda card: (-suit_of(card), -card))
        suits = [self.cards(c for c in ordered if suit_of(c) == suit) for suit in (SPADES, HEARTS, DIAMONDS, CLUBS)]
        return Text("   ").join([suit for suit in suits if suit.plain != "none"]) or Text("no cards")

    def choice(self, choice: Choice, view: View) -> Text:
        """A choice with what to type for it."""
        card = choice.action is not None and choice.action < FIRST_BID
        label = self.card(choice.action or 0) if card else Text(choice.label, style="bold")
        typed = "" if choice.label == choice.value else f"{choice.value} "
        return Text(typed, style="dim") + label

    # ------------------------------------------------------------ the table

    def name(self, view: View, seat: int) -> str:
        """ "South", or "you"."""
        return "you" if seat == view.seat else seat_name(view.rules, seat)

    def headline(self, view: View) -> Text:
        """Deal, trick, what spades may do."""
        parts = [f"match {view.match + 1}, deal {view.deal + 1}"]
        if view.phase == "play":
            parts.append(f"trick {len(view.trick_winners) + 1} of {view.rules.hand_size}")
            parts.append("spades are broken" if view.broken else "spades are not broken")
        elif view.pile_left:
            parts.append(f"pile of {view.pile_left}")
        return Text(", ".join(parts), style="bold")

    def scores(self, view: View) -> Table:
        """Both teams: score, bags, what they bid and still need."""
        grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for heading in ("", "score", "bags", "needs"):
            grid.add_column(heading, justify="left" if heading == "" else "right", header_style="dim")
        for team in (view.seat % 2, 1 - view.seat % 2):
            seats = range(team, view.players, 2)
            bid = any(view.bids[seat] is not None for seat in seats)
            limit = f" of {view.rules.bag_limit}" if view.rules.bag_limit else ""
            grid.add_row(
                " & ".join(seat_name(view.rules, seat) for seat in seats),
                f"{view.scores[team]} of {view.rules.target}",
                f"{view.bags[team]}{limit}",
                str(team_need(view, team)) if bid else "-",
            )
        return grid

    def seats(self, view: View) -> Table:
        """A row a seat, she herself last: who plays, bid, tricks, and the card in this trick (> led)."""
        grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for heading in ("seat", "player", "bid", "took", "trick"):
            grid.add_column(heading, header_style="dim", no_wrap=True)
        trick = dict(view.trick)
        leader = view.trick[0][0] if view.trick else None
        for k in range(1, view.players + 1):
            seat = (view.seat + k) % view.players
            played = Text(">" if seat == leader else " ") + (self.card(trick[seat]) if seat in trick else Text(""))
            dealer = " (dealer)" if seat == view.dealer else ""
            bid = "not looked" if not self._has_looked(view, seat) else bid_text(view, seat)
            style = "bold" if seat == view.seat else ""
            name = seat_name(view.rules, seat) + dealer
            grid.add_row(Text(name, style=style), self.players[seat], bid, str(view.tricks[seat]), played)
        return grid

    def _has_looked(self, view: View, seat: int) -> bool:
        return view.looked[seat] or view.rules.deal == "draft"

    def draft(self, view: View) -> Text:
        """What a draft shows her: the card to decide about, and what she has rejected (R27, R29)."""
        parts = []
        if view.shown is not None:
            parts.append(Text("drawn: ") + self.card(view.shown))
        if view.rejected:
            parts.append(Text("rejected: ") + self.cards(reversed(view.rejected)))
        return Text("   ").join(parts)

    def trick(self, view: View, number: int) -> Text:
        """A complete trick in the order of play, with who took it."""
        cards = view.plays[number * view.players : (number + 1) * view.players]
        said = Text(", ").join([Text(f"{self.name(view, seat)} ") + self.card(card) for seat, card in cards])
        winner = view.trick_winners[number]
        takes = "you take it" if winner == view.seat else f"{seat_name(view.rules, winner)} takes it"
        return Text(f"trick {number + 1}: ", style="dim") + said + Text(f": {takes}", style="bold")


def help_text(*, practice: bool, hinter: str) -> str:
    """The answers that are understood, whatever is asked."""
    undo = "take back your last decision of this deal" if practice else "only with --practice"
    return (
        "a card      rank and suit in either order: AS, sa, 10h; LJ and BJ are the jokers\n"
        "a number    the choice with that number; when you bid, the bid (0 is nil)\n"
        "a word      nil, look, blind nil, keep, take, done, or how it begins\n"
        "arrow keys  in a terminal: move over the choices, Enter takes one\n"
        f"{HINT}           a hint: what {hinter} would do with what you know\n"
        f"{UNDO}           {undo}\n"
        f"{QUIT}           quit; with --record the deal is kept as far as it went\n"
        f"{HELP}           this help"
    )
