"""A deal's hands, tricks and score as tables, for the page's readers without the viewer and for Markdown."""

from __future__ import annotations

from typing import Final

from evaluation.report.model import Table
from evaluation.text import Values

SYMBOLS: Final = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
JOKERS: Final = {"LJ": "little joker", "BJ": "big joker"}


def card_symbol(text: str) -> str:
    """Return a card with the symbol of its suit: "AS" as "A♠"."""
    return JOKERS.get(text) or text[0] + SYMBOLS[text[1]]


def hand_symbols(cards: list[str]) -> str:
    """Return a hand suit by suit, spades first, high cards first (the order of `cards` within a suit): "♠ A K ♥ 7"."""
    parts = [JOKERS[card] for card in cards if card in JOKERS]
    for suit, symbol in SYMBOLS.items():
        ranks = [card[0] for card in cards if card not in JOKERS and card[1] == suit]
        parts += [" ".join([symbol, *ranks])] if ranks else []
    return " ".join(parts)


def hand_table(deal: Values) -> Table:
    """Return who sat where with which cards, what was bid and taken."""
    stand = deal["stands"][-1]
    rows = []
    for seat, name in enumerate(deal["seats"]):
        dealer = " (dealer)" if seat == deal["dealer"] else ""
        cards = hand_symbols(deal["hands"][seat])
        rows.append([name + dealer, deal["names"][seat], cards, stand["bids"][seat], str(stand["tricks"][seat])])
    return Table("Hands", ("seat", "player", "cards", "bid", "tricks"), rows, words=(0, 1, 2))


def trick_table(deal: Values) -> Table:
    """Return a line for each trick; > marks the card led, * the card that won."""
    plays = [(seat, text) for seat, kind, text in deal["steps"] if kind == "play"]
    seats = deal["seats"]
    rows = []
    for number, start in enumerate(range(0, len(plays), len(seats))):
        trick = plays[start : start + len(seats)]
        winner = deal["winners"][number] if number < len(deal["winners"]) else None
        cells = [""] * len(seats)
        for place, (seat, text) in enumerate(trick):
            cells[seat] = (">" if place == 0 else "") + card_symbol(text) + ("*" if seat == winner else "")
        rows.append([str(number + 1), *cells, "" if winner is None else seats[winner]])
    note = "> led, * won the trick."
    return Table("Tricks", ("trick", *seats, "won by"), rows, words=tuple(range(1, len(seats) + 2)), note=note)


def score_table(deal: Values) -> Table:
    """Return the score of the deal item by item; no lines while it is not over."""
    outcome, rows = deal["outcome"], []
    for team, part in enumerate(outcome["result"] if outcome else ()):
        name = " & ".join(deal["seats"][team::2]) + (", boston" if part["boston"] else "")
        items = [f"{part[name]:+d}" for name in ("contract", "nil", "bag_points", "penalty", "points")]
        before, after = deal["scores"][team], outcome["scores"][team]
        rows.append(
            [name, *items[:2], str(part["bags"]), *items[2:], str(before), str(after), str(outcome["bags"][team])]
        )
    columns = ("team", "contract", "nil", "bags", "bag points", "penalty", "deal", "before", "after", "bag count")
    return Table("Score", columns, rows)
