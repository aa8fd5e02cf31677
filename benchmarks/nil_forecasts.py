"""What an agent says of her nils beside what comes of them: `python -m benchmarks.nil_forecasts champion hard`.

Unlike the suite's task `nil_decision`, which asks about frozen positions that `normal` plays on, this takes the nils
that the agent bids herself, at tables where she plays on with herself as partner, against the other agent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from agents.base import Agent, FloatArray, NilForecaster, decision_keys
from agents.registry import load_agent
from evaluation.report.nils import wilson
from evaluation.suite.nil_decision import calibration_error, reliability
from spades_env.actions import NIL
from spades_env.engine.lockstep import take_moves
from spades_env.engine.state import PHASE_DEAL_OVER, STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.envs.players import choose
from spades_env.rules import as_rules
from spades_env.view import empty_views, views_to_act

BATCH: Final = 1000
FIRST_GAME: Final = 1 << 41
"""Number of the first game: no evaluation and no training has these cards."""


def forecasts(asked: Agent, other: Agent, states: StateArray) -> tuple[FloatArray, FloatArray]:
    """Play newly dealt `states`, `asked` on seats 0 and 2; chance told of each of her nils, and 1 if it was made."""
    assert isinstance(asked, NilForecaster)
    said = np.full((len(states), 4), np.nan)
    while len(games := np.flatnonzero(states["phase"] < PHASE_DEAL_OVER)):
        turns = states["turn"][games]
        for agent, own in ((asked, games[turns % 2 == 0]), (other, games[turns % 2 == 1])):
            if len(own):
                views, keys = empty_views(len(own)), np.empty(len(own), np.uint64)
                views_to_act(states[own], views)
                decision_keys(states[own], keys)
                actions = choose(agent, views, keys)
                if agent is asked and (nils := actions == NIL).any():
                    said[own[nils], states["turn"][own[nils]]] = asked.nil_chances(views[nils], keys[nils])
                take_moves(states, own, actions)
    told = ~np.isnan(said)
    return said[told], (states["tricks"][told] == 0).astype(np.float64)


def draw(path: Path, bins: list[dict[str, Any]], title: str) -> None:
    """Plot the share made by the chance told, with Wilson's intervals."""
    figure = Figure(figsize=(5.5, 5), layout="constrained")
    axes = figure.subplots()
    told = [row["predicted"] for row in bins]
    ranges = [wilson(round(row["observed"] * row["n"]), row["n"]) for row in bins]
    made = [row["mean"] for row in ranges]
    spread = [[row["mean"] - row["low"] for row in ranges], [row["high"] - row["mean"] for row in ranges]]
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    axes.errorbar(told, made, spread, fmt="o", capsize=3)
    for x, y, row in zip(told, made, bins, strict=True):
        axes.annotate(f"{row['n']}", (x, y), textcoords="offset points", xytext=(6, -10), fontsize=8)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="chance told at the bid", ylabel="share made", title=title)
    figure.savefig(path, dpi=110)


def played(asked: Agent, other: Agent, deals: int, seed: int, rules: str) -> tuple[FloatArray, FloatArray]:
    """What `forecasts` finds in so many deals."""
    found: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = []
    for start in range(0, deals, BATCH):
        states: StateArray = np.zeros(min(BATCH, deals - start), STATE)
        new_games(states, rules_to_record(as_rules(rules)), seed, FIRST_GAME + start)
        found.append(forecasts(asked, other, states))
    said, made = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return said, made


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agent")
@click.argument("opponent")
@click.option("--rules", default="classic", show_default=True, help="A preset or a .yaml file, for four players.")
@click.option("--deals", type=click.IntRange(1), default=4000, show_default=True, help="The agent's team is 0.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of cards and chances.")
@click.option("--png", type=click.Path(path_type=Path), help="Where to plot it.")
def main(agent: str, opponent: str, rules: str, deals: int, seed: int, png: Path | None) -> None:
    """Print Brier score, calibration error and a table of AGENT's own nils against OPPONENT."""
    asked, other = load_agent(agent), load_agent(opponent)
    if not isinstance(asked, NilForecaster):
        raise click.UsageError(f"AGENT is {agent!r}; allowed: one that offers nil_chances (docs/agents.md)")
    if as_rules(rules).players != 4:
        raise click.UsageError(f"--rules {rules!r}: allowed: rules for four players")
    said, made = played(asked, other, deals, seed, rules)
    if not len(said):
        raise click.ClickException(f"{agent} bid no nil in {deals:,} deals, or says of none how likely it is")
    bins = reliability(said, made)
    table = Table("chance told", "nils", "made", title=f"Nils of {agent} against {opponent}, {deals:,} deals")
    for row in bins:
        table.add_row(f"{row['predicted']:.1%}", f"{row['n']:,}", f"{row['observed']:.1%}")
    share = made.mean()
    console = Console()
    console.print(table)
    console.print(
        f"{len(said):,} nils, {said.mean():.1%} told, {share:.1%} made; Brier score "
        f"{((said - made) ** 2).mean():.4f} ({share * (1 - share):.4f} of one number for all), "
        f"calibration error {calibration_error(said, made):.3f}"
    )
    if png is not None:
        draw(png, bins, f"Nils of {agent} against {opponent}")


if __name__ == "__main__":
    main()
