"""Partners made apart: `python -m benchmarks.cross_play A B C` plays all pairs of agents as partners.

The suite's task `cross_play` takes one agent beside partners of all kinds. This is the matrix for agents of one kind,
as policies of one recipe from different seeds: every pair of partners against the same opponents on the same deals. The
gap is the mean of the pairs of equals minus that of the mixed pairs: what agents lose beside a partner whose
conventions grew elsewhere (zero-shot coordination; Hu et al. 2020).
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Final

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from rich.table import Table

from agents.base import Agent
from agents.registry import load_agent
from evaluation.duplicate import evaluate_line_up
from evaluation.intervals import Interval, mean_interval

Margins = dict[tuple[int, int], npt.NDArray[np.float64]]
"""Of partners i and j, i <= j: points per deal over the opponents, float64 (deals,)."""
SEED: Final = 0


def margins_of_pairs(agents: list[Agent], opponent: Agent, deals: int, seed: int) -> Margins:
    """Play every pair of `agents` as partners against two `opponent`, all four rotations of the table."""
    pairs = combinations_with_replacement(range(len(agents)), 2)
    return {
        (i, j): evaluate_line_up((agents[i], opponent, agents[j], opponent), deals=deals, seed=seed).margins
        for i, j in pairs
    }


def gap(margins: Margins) -> npt.NDArray[np.float64]:
    """Per deal: mean over the pairs of equals minus mean over the mixed pairs, float64 (deals,)."""
    equal, mixed = ([own for pair, own in margins.items() if (pair[0] == pair[1]) is same] for same in (True, False))
    return np.asarray(np.mean(equal, axis=0) - np.mean(mixed, axis=0))


def text(found: Interval) -> str:
    """An interval as in our tables."""
    return f"{found.mean:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agents", nargs=-1, required=True)
@click.option("--opponent", "opponents", multiple=True, default=["normal"], show_default=True, help="May be repeated.")
@click.option("--among", is_flag=True, help="Each of AGENTS with herself is an opponent, too.")
@click.option("--deals", type=click.IntRange(2), default=2000, show_default=True, help="Each in four rotations.")
@click.option("--seed", type=click.IntRange(0), default=SEED, show_default=True, help="Of cards and keys.")
def main(agents: tuple[str, ...], opponents: tuple[str, ...], among: bool, deals: int, seed: int) -> None:
    """Print a matrix of points per deal for all pairs of AGENTS as partners, and the gap, for each opponent."""
    if len(set(agents)) < 2 or len(set(agents)) < len(agents):
        raise click.UsageError(f"AGENTS are {', '.join(agents)}; allowed: two or more, each once")
    console = Console()
    loaded = [load_agent(agent) for agent in agents]
    other = [load_agent(name) for name in opponents] + (loaded if among else [])
    gaps = []
    numbers = {agent.name: str(k) for k, agent in enumerate(loaded, 1)}
    table = Table("opponents", "partners", *(f"+ {k}" for k in numbers.values()), "gap", title=f"{deals:,} deals")
    for opponent in track(other, "pairs of partners", console=Console(stderr=True)):
        margins = margins_of_pairs(loaded, opponent, deals, seed)
        gaps.append(gap(margins))
        for i in range(len(agents)):
            cells = [text(mean_interval(margins[min(i, j), max(i, j)])) for j in range(len(agents))]
            last = text(mean_interval(gaps[-1])) if i == 0 else ""
            table.add_row(numbers.get(opponent.name, opponent.name) if i == 0 else "", f"{i + 1}", *cells, last)
    console.print(table)
    for agent, number in numbers.items():
        console.print(f"{number}: {agent}")
    console.print(f"Equal pairs minus mixed pairs: {text(mean_interval(np.mean(gaps, axis=0)))} points per deal")


if __name__ == "__main__":
    main()
