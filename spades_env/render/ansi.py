"""A table as text: hands, bids, tricks, what each team needs, scores, bags, the trick; plain or in colour."""

from __future__ import annotations

import re
from typing import Final

from spades_env.cards import card_text, hand_text, mask_of
from spades_env.game import Game, View
from spades_env.rules import Rules

SEAT_NAMES: Final = ("South", "West", "North", "East")

_RED, _CYAN, _BOLD, _RESET = "\x1b[31m", "\x1b[36m", "\x1b[1m", "\x1b[0m"


def table_text(table: Game | View) -> str:
    """Lines of text, each ending in a newline: every hand of a `Game`, her own alone of a `View`."""
    lines = [_headline(table), _score_line(table), ""]
    lines += [_seat_line(table, seat) for seat in range(table.players)]
    lines += ["", _trick_line(table)]
    lines += [line for line in (_draft_line(table), _result_line(table)) if line]
    return "\n".join(lines) + "\n"


def in_colour(text: str) -> str:
    """The text with a terminal's colours: red suits red, trumps cyan, first line and the seat to act bold.

    Nothing else changes: without the escape sequences it is the text again.
    """
    text = re.sub(r"\b[2-9TJQKA][DH]\b", rf"{_RED}\g<0>{_RESET}", text)
    text = re.sub(r"\b([2-9TJQKA]S|[LB]J)\b", rf"{_CYAN}\g<0>{_RESET}", text)
    return re.sub(r"\A.*|^> \w+( \d)?", rf"{_BOLD}\g<0>{_RESET}", text, flags=re.MULTILINE)


def seat_name(rules: Rules, seat: int) -> str:
    """ "South" ... "East"; with two players the seats have numbers alone."""
    return SEAT_NAMES[seat] if rules.players == 4 else f"seat {seat}"


def bid_text(table: Game | View, seat: int) -> str:
    """ "-" before the bid, "nil", "blind nil" (in a draft "double nil", R28) or the number."""
    bid = table.bids[seat]
    if bid is None:
        return "-"
    if bid == 0 and table.blind[seat]:
        return "double nil" if table.rules.deal == "draft" else "blind nil"
    return str(bid) if bid else "nil"


def team_need(table: Game | View, team: int) -> int:
    """Tricks that the team's ordinary bids still want, as they count by the rules (R17)."""
    seats = range(team, table.players, 2)
    bids = {seat: table.bids[seat] or 0 for seat in seats}
    if table.rules.contract == "individual":
        return sum(max(0, bids[seat] - table.tricks[seat]) for seat in seats if bids[seat])
    helps = table.rules.failed_nil == "help_partner"
    counted = sum(table.tricks[seat] for seat in seats if bids[seat] or helps)
    return max(0, sum(bids.values()) - counted)


def _headline(table: Game | View) -> str:
    rules = table.rules
    # Environments add `max_deals` to a preset, which says nothing about the rules of play.
    name = rules.replace(max_deals=None).preset_name or "own rules"
    head = f"Spades ({name}), match {table.match + 1}, deal {table.deal + 1}: "
    if table.match_over:
        return head + ("match truncated" if table.winner is None else f"match won by team {table.winner}")
    if table.turn is None:
        return head + "deal over"
    return f"{head}{table.phase}, {seat_name(rules, table.turn)} to act"


def _score_line(table: Game | View) -> str:
    rules, (score_0, score_1), (bags_0, bags_1) = table.rules, table.scores, table.bags
    goal = f"target {rules.target}" + ("" if rules.mercy is None else f", mercy {rules.mercy}")
    limit = f"penalty at {rules.bag_limit}" if rules.bag_limit else "no penalty"
    return f"score {score_0} : {score_1} ({goal})   bags {bags_0} : {bags_1} ({limit})"


def _seat_line(table: Game | View, seat: int) -> str:
    mark = ">" if seat == table.turn else " "
    name = seat_name(table.rules, seat) + (" (dealer)" if seat == table.dealer else "")
    bid = bid_text(table, seat)
    need = f"team needs {team_need(table, seat % 2)}" if table.bids[seat] is not None else ""
    line = f"{mark} {name:<15} bid {bid:<10} tricks {table.tricks[seat]:<2}  {need:<13}  "
    return (line + _hand(table, seat)).rstrip()


def _hand(table: Game | View, seat: int) -> str:
    if isinstance(table, Game):
        return table.hand_texts[seat] + ("" if table.looked[seat] else " (not looked at)")
    if seat != table.seat:
        return ""
    return table.hand_text if table.looked[seat] else "(not looked at)"


def _trick_line(table: Game | View) -> str:
    broken = "spades are broken" if table.broken else "spades are not broken"
    cards = [f"{seat_name(table.rules, seat)} {card_text(card)}" for seat, card in table.trick]
    number = min(sum(table.tricks) + 1, table.rules.hand_size)
    return f"trick {number}: {', '.join(cards) or '-'}   ({broken})"


def _draft_line(table: Game | View) -> str:
    if table.rules.deal != "draft":
        return ""
    line = f"pile {table.pile_left}, exchanged {table.exchanged[0]} and {table.exchanged[1]}"
    if isinstance(table, Game):
        return line + (f", next card {card_text(table.pile[0])}" if table.phase == "draft" else "")
    if table.shown is not None:
        line += f", shown {card_text(table.shown)}"
    return line + f", rejected {hand_text(mask_of(table.rejected)) or '-'}"


def _result_line(table: Game | View) -> str:
    if table.result is None:
        return ""
    parts = []
    for team, part in enumerate(table.result):
        items = f"contract {part.contract}, nil {part.nil}, bags {part.bag_points}, penalty {part.penalty}"
        boston = ", boston" if part.boston else ""
        parts.append(f"team {team} {part.points:+d} ({items}{boston})")
    return "last deal scored: " + "; ".join(parts)
