"""How fast `normal` bids and plays inside kernels: `python -m benchmarks.playouts`.

CPU time on one core, the best of some rounds, beside the engine's random playouts of the same deals in the same run.
"""

from __future__ import annotations

import time
from typing import Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from agents.rules.normal.agent import normal_action
from agents.search.playout import playouts
from agents.stakes import POINTS, Stakes
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_DEAL_OVER, PHASE_PLAY, STATE, StateArray, rules_to_record
from spades_env.engine.step import apply_action, new_games, random_action
from spades_env.rules import as_rules

DECISIONS: Final = 56


@kernel
def bid(states: StateArray, points: Stakes) -> None:
    """`normal` up to the opening lead in each of `states`."""
    for i in range(states.shape[0]):
        while int(states[i]["phase"]) < PHASE_PLAY:
            apply_action(states[i], normal_action(states[i], -1, points))


@kernel
def play_at_random(states: StateArray) -> None:
    """Random cards to the end of the deal in each of `states`."""
    for i in range(states.shape[0]):
        game, count = states[i], 0
        while int(game["phase"]) < PHASE_DEAL_OVER:
            apply_action(game, random_action(game, game["key"], count))
            count += 1


def one_round(rules: str, deals: int) -> tuple[float, float, float]:
    """CPU seconds for bids, playouts, and random playouts of `deals` deals."""
    states = np.zeros(deals, STATE)
    new_games(states, rules_to_record(as_rules(rules)), 1, 0)
    marks = [time.process_time()]
    bid(states, POINTS)
    marks.append(time.process_time())
    others = states.copy()
    marks.append(time.process_time())
    playouts(states, POINTS)
    marks.append(time.process_time())
    play_at_random(others)
    marks.append(time.process_time())
    return marks[1] - marks[0], marks[3] - marks[2], marks[4] - marks[3]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--deals", default=20_000, show_default=True, help="Deals of a round.")
@click.option("--rounds", default=7, show_default=True, help="Rounds, of which the best counts.")
def main(deals: int, rounds: int) -> None:
    """Time bids and playouts of `normal`, rules classic."""
    one_round("classic", 10)
    bids, plays, random = (
        min(times) / deals for times in zip(*(one_round("classic", deals) for _ in range(rounds)), strict=True)
    )
    table = Table("what", "per second", "ns each")
    table.add_row("playouts of `normal`, deals", f"{1 / plays:,.0f}", f"{plays * 1e9:,.0f}")
    table.add_row("random playouts, deals", f"{1 / random:,.0f}", f"{random * 1e9:,.0f}")
    table.add_row("bids of `normal`", f"{4 / bids:,.0f}", f"{bids / 4 * 1e9:,.0f}")
    table.add_row(
        "decisions of `normal`, bids included",
        f"{DECISIONS / (bids + plays):,.0f}",
        f"{(bids + plays) / DECISIONS * 1e9:,.0f}",
    )
    Console().print(table)


if __name__ == "__main__":
    main()
