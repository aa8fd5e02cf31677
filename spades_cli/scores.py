"""The itemised score of a deal as a table, for the commands that show deals."""

from __future__ import annotations

from rich.table import Table

from spades_env.game import Game, View
from spades_env.render.ansi import seat_name


def score_table(table: Game | View) -> Table:
    """The score of the deal scored last, a row a team: its items, and what they led to (R17-R22)."""
    grid = Table(title="Score", title_justify="left")
    for heading in ("team", "contract", "nil", "bags", "penalty", "deal", "score", "bag count"):
        grid.add_column(heading, justify="left" if heading == "team" else "right")
    for team, part in enumerate(table.result or ()):
        seats = " & ".join(seat_name(table.rules, seat) for seat in range(team, table.players, 2))
        items = (f"{part.contract:+d}", f"{part.nil:+d}", f"{part.bags}: {part.bag_points:+d}", f"{part.penalty:+d}")
        after = (f"{part.points:+d}", str(table.scores[team]), str(table.bags[team]))
        boston = ", boston" if part.boston else ""
        grid.add_row(f"{team} ({seats}{boston})", *items, *after)
    return grid
