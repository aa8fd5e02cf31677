"""`spades replay`: recorded deals trick by trick as tables, or one action at a time.

Reads records of deals and of seats (docs/records.md); all of them are checked by replaying them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spades_cli.output import announce_compilation
from spades_cli.scores import score_table
from spades_env.actions import DONE, FIRST_BID, KEEP, TAKE_NEXT
from spades_env.cards import card_text, hand_text, mask_of
from spades_env.game import Game, View
from spades_env.record import read_records, record_for_seat, table_of
from spades_env.render.ansi import bid_text, seat_name, table_text

Record = dict[str, Any]


@click.command(name="replay", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="FILE")
@click.option("--deal", type=click.IntRange(min=1), metavar="N", help="Only the deal on line N of the file.")
@click.option(
    "--seat",
    type=click.IntRange(0, 3),
    metavar="S",
    help="Only what seat S may know: 0 South, 1 West, 2 North, 3 East.",
)
@click.option("--step", is_flag=True, help="One action at a time; Enter goes on, q and Enter ends.")
def command(path: str, deal: int | None, seat: int | None, step: bool) -> None:
    """Show the deals recorded in FILE: hands, bids, every trick, and the score item by item.

    FILE is JSON Lines, one deal a line, as Game.to_record makes them; docs/records.md describes the format.
    Every record is replayed: one that breaks a rule is refused with its line, the action and what was legal.
    In a trick * marks the card that won it and > the card led.

    \b
    Examples:
      spades replay match.jsonl
      spades replay match.jsonl --deal 3 --step
      spades replay match.jsonl --deal 3 --seat 0
    """
    if step and not sys.stdin.isatty():
        raise click.UsageError("--step waits for Enter, but stdin is no terminal", click.get_current_context())
    announce_compilation()
    console = Console(highlight=False)
    for number, record in _chosen(path, deal):
        seen = record if seat is None else _as_seen(record, seat)
        title = f"{path}, line {number}"
        if not step:
            _print(console, title, seen)
        elif not _step_through(console, title, record, seat):
            return


def _chosen(path: str, deal: int | None) -> Iterator[tuple[int, Record]]:
    """Line numbers and records to show; a file that has not got them is refused."""
    number = 0
    for number, record in enumerate(read_records(path), start=1):
        if deal is None or number == deal:
            yield number, record
        if number == deal:
            return
    if deal is not None or number == 0:
        wanted = "" if deal is None else f", and --deal is {deal}"
        raise ValueError(f"{path} has {number} deals{wanted}")


def _as_seen(record: Record, seat: int) -> Record:
    """The record as a seat may know it; another seat's record does not tell."""
    if "seat" not in record:
        return record_for_seat(record, seat)
    if record["seat"] != seat:
        raise ValueError(f"--seat is {seat}, but the record is one of seat {record['seat']}")
    return record


# ---------------------------------------------------------------- step by step


def _step_through(console: Console, title: str, record: Record, seat: int | None) -> bool:
    """Show the table after each action; whether to go on to the next deal."""
    if "seat" in record:
        raise ValueError(f"{title} is the record of a seat, which has no positions in between: leave --step out")
    game = Game.from_record(record, actions=0)
    console.print(Text(title, style="bold"))
    for actor, action in record["actions"]:
        click.echo(table_text(_table(game, seat)))
        if not _wants_more():
            return False
        game.apply(action)
        said = _table(game, seat).action_texts[-1]
        console.print(Text(f"{seat_name(game.rules, actor)}: {said}", style="bold"))
    click.echo(table_text(_table(game, seat)))
    return _wants_more()


def _table(game: Game, seat: int | None) -> Game | View:
    return game if seat is None else game.view(seat)


def _wants_more() -> bool:
    """Wait for a line; q, or the end of input, is no."""
    click.echo("Enter: go on, q: quit ", nl=False)
    line = sys.stdin.readline()
    return line != "" and line.strip().lower() != "q"


# ---------------------------------------------------------------- a whole deal


def _print(console: Console, title: str, record: Record) -> None:
    """Print one deal as tables."""
    table = table_of(record)
    console.print(Text(f"{title}: {_headline(record, table)}", style="bold"))
    (score_0, score_1), (bags_0, bags_1) = record["scores"], record["bags"]
    console.print(Text(f"before: score {score_0} : {score_1}, bags {bags_0} : {bags_1}"))
    if table.rules.deal == "draft":
        console.print(_draft(table))
    for line in _calls(record, table):
        console.print(Text(line))
    console.print(_hands(record, table))
    if table.plays:
        console.print(_tricks(table))
    if table.deal_over:
        console.print(score_table(table))
    console.print(Text(_ending(table) + "\n"))


def _headline(record: Record, table: Game | View) -> str:
    name = record["preset"] or "own rules"
    return f"{name}, match {table.match + 1}, deal {table.deal + 1}, dealer {seat_name(table.rules, table.dealer)}"


def _calls(record: Record, table: Game | View) -> Iterator[str]:
    """Lines of the bids, and of the exchange after a draft."""
    drawn = dict(record.get("drawn", ()))
    before_play = len(record["actions"]) - len(table.plays)
    bids: list[str] = []
    given: dict[int, list[str]] = {seat: [] for seat in range(table.players)}
    for (seat, text), action in list(zip(record["actions"], table.actions, strict=True))[:before_play]:
        if action in (KEEP, TAKE_NEXT, DONE):
            continue
        if action < FIRST_BID:
            given[seat].append(text)
        else:
            bids.append(f"{seat_name(table.rules, seat)} {text}")
    if bids:
        yield f"calls: {', '.join(bids)}"
    for seat, cards in given.items():
        if seat in drawn or cards:
            drew = f", drew {drawn[seat] or 'none'}" if seat in drawn else ""
            yield f"exchange: {seat_name(table.rules, seat)} gave up {' '.join(cards) or 'none'}{drew}"


def _draft(table: Game | View) -> Table:
    """The choices of both seats, with the cards where they may be known (R27, R29)."""
    grid = Table(title="Draft", title_justify="left")
    grid.add_column("draw", justify="right")
    order = (table.dealer, 1 - table.dealer)
    for seat in order:
        grid.add_column(seat_name(table.rules, seat), no_wrap=True)
    cells = [_choice(table, k, action) for k, action in enumerate(_choices(table))]
    for row in range(0, len(cells), 2):
        grid.add_row(str(row // 2 + 1), *cells[row : row + 2])
    return grid


def _choices(table: Game | View) -> list[int]:
    return [action for action in table.actions if action in (KEEP, TAKE_NEXT)]


def _choice(table: Game | View, k: int, action: int) -> str:
    """What the k-th draw came to."""
    if isinstance(table, View):
        return "kept" if action == KEEP else "took the next"
    first, second = (card_text(int(card)) for card in table.states["pile"][0, 2 * k : 2 * k + 2])
    return f"kept {first} ({second} away)" if action == KEEP else f"took {second} ({first} away)"


def _hands(record: Record, table: Game | View) -> Table:
    """Who sat where with which cards, what was bid and taken."""
    title = "Hands after the draft" if table.rules.deal == "draft" else "Hands"
    grid = Table(title=title, title_justify="left")
    for heading in ("seat", *(["player"] if "players" in record else []), "cards", "bid", "tricks"):
        grid.add_column(heading, no_wrap=heading != "player")
    for seat in range(table.players):
        name = [Text(record["players"][seat])] if "players" in record else []
        bid = bid_text(table, seat)
        grid.add_row(seat_name(table.rules, seat), *name, _cards(table, seat), bid, str(table.tricks[seat]))
    return grid


def _cards(table: Game | View, seat: int) -> str:
    """The cards a seat holds or has played; of a view her own alone."""
    played = [card for player, card in table.plays if player == seat]
    if isinstance(table, Game):
        return hand_text(mask_of(table.hands[seat] + played))
    if seat != table.seat:
        return "hidden"
    return hand_text(mask_of(table.hand + played)) if table.looked[seat] else "not looked at"


def _tricks(table: Game | View) -> Table:
    """One row a trick, one column a seat."""
    grid = Table(title="Tricks", title_justify="left")
    grid.add_column("trick", justify="right")
    for seat in range(table.players):
        grid.add_column(seat_name(table.rules, seat), no_wrap=True)
    grid.add_column("won by", no_wrap=True)
    winners = table.trick_winners
    for number, start in enumerate(range(0, len(table.plays), table.players)):
        plays = table.plays[start : start + table.players]
        winner = winners[number] if number < len(winners) else None
        cells = [Text("") for _ in range(table.players)]
        for place, (seat, card) in enumerate(plays):
            mark = (">" if place == 0 else " ") + card_text(card) + ("*" if seat == winner else "")
            cells[seat] = Text(mark, style="bold" if seat == winner else "")
        grid.add_row(str(number + 1), *cells, "" if winner is None else seat_name(table.rules, winner))
    return grid


def _ending(table: Game | View) -> str:
    if table.turn is not None:
        return f"not over: {seat_name(table.rules, table.turn)} is to act ({table.phase})"
    if table.winner is not None:
        return f"team {table.winner} has won the match"
    return "the match ends without a winner (max_deals)" if table.truncated else "the match goes on"
