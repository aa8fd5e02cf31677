"""Tasks about partners: the agent beside players she has not been made for, all seats and teams taken in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from agents.base import Agent
from agents.registry import load_agent
from evaluation.intervals import mean_interval
from evaluation.play import Players
from evaluation.suite.tables import FloatArray, dealer, margins, play_tables
from evaluation.suite.task import REFERENCE, Outcome, Run, Share, Task
from spades_env.engine.batch import default_bag_price
from spades_env.rules import Rules

CLASSIC: Final = Rules()
PARTNERS: Final = ("suit_odds", "easy", "conservative", "lowest", "random")
"""Of ad_hoc: none is a level that an agent here was made with; `random` is bad on purpose."""
POOL: Final = (REFERENCE, "suit_odds", "easy")
"""Of cross_play, besides the other agents of the command."""
ROTATIONS: Final = ((0, 1, 2, 1), (1, 0, 1, 2), (2, 1, 0, 1), (1, 2, 1, 0))
"""The four ways to seat agent 0 and her partner 2 between two opponents 1."""


def team_margins(run: Run, first: Agent, second: Agent, share: Share, illegal: list[int]) -> FloatArray:
    """Points of the team of `first` and `second` minus two `normal`, mean over ROTATIONS, float64 (games,).

    Bags at their own points and their share of the penalty. The illegal actions of `first` are added to `illegal`,
    those on both of her seats if she is `second`, too.
    """
    opponent = load_agent(REFERENCE)
    players = Players([first, opponent, second], len(ROTATIONS) * run.batch_size)
    log = play_tables(players, ROTATIONS, dealer(CLASSIC), run.games, run.batch_size, share)
    illegal.append(players.tallies[0].illegal + (players.tallies[2].illegal if second is first else 0))
    points = margins(log, default_bag_price(CLASSIC))
    own_team = np.array([rotation.index(0) % 2 for rotation in ROTATIONS])
    return (points * np.where(own_team == 0, 1.0, -1.0)[:, None]).mean(axis=0)


def ad_hoc(run: Run) -> Outcome:
    """She minus the reference beside the same partners on the same deals."""
    gains: list[FloatArray] = []
    figures: dict[str, Any] = {}
    illegal: list[int] = []
    for k, name in enumerate(PARTNERS):
        partner = load_agent(name)
        hers = team_margins(run, run.player, partner, run.part(k, len(PARTNERS)), illegal)
        base = team_margins(run, load_agent(REFERENCE), partner, lambda _: None, [])
        gains.append(hers - base)
        figures[name] = {
            "gain": mean_interval(gains[-1]).to_dict(),
            "margin": mean_interval(hers).to_dict(),
            "reference_margin": mean_interval(base).to_dict(),
        }
    worst = min(figures, key=lambda name: figures[name]["gain"]["mean"])
    return Outcome(
        headline=mean_interval(np.stack(gains).mean(axis=0)),
        n=run.games,
        illegal=sum(illegal),
        figures={"by_partner": figures, "worst_partner": worst, "worst_gain": figures[worst]["gain"]},
    )


def cross_play(run: Run) -> Outcome:
    """What mixing costs: the mean of what she and a partner make with their likes, minus what they make together."""
    partners = _pool(run)
    illegal: list[int] = []
    own = team_margins(run, run.player, run.player, run.part(0, len(partners) + 1), illegal)
    gaps: list[FloatArray] = []
    rows: dict[str, Any] = {}
    for k, partner in enumerate(partners, 1):
        theirs = team_margins(run, partner, partner, lambda _: None, [])
        mixed = team_margins(run, run.player, partner, run.part(k, len(partners) + 1), illegal)
        gaps.append((own + theirs) / 2.0 - mixed)
        rows[partner.name] = {
            "gap": mean_interval(gaps[-1]).to_dict(),
            "margin": mean_interval(mixed).to_dict(),
            "partner_self_play": mean_interval(theirs).to_dict(),
        }
    return Outcome(
        headline=mean_interval(np.stack(gaps).mean(axis=0)),
        n=run.games,
        illegal=sum(illegal),
        figures={"self_play": mean_interval(own).to_dict(), "by_partner": rows},
    )


def _pool(run: Run) -> Sequence[Agent]:
    """The partners of cross_play, each name once and never herself, in an order that no command line decides."""
    pool: dict[str, Agent] = {}
    others = sorted(run.pool, key=lambda agent: agent.name)
    for agent in (*(load_agent(name) for name in POOL), *others):
        if agent.name != run.agent.name:
            pool.setdefault(agent.name, agent)
    return tuple(pool.values())


PARTNER_TASKS: Final = (
    Task(
        id="ad_hoc",
        version=1,
        title="Unknown partners",
        definition=(
            "The agent with each of the partners " + ", ".join(f"`{name}`" for name in PARTNERS) + " against two "
            "`normal`, in all four rotations of the table, minus `normal` in her place beside the same partner on the "
            "same deals. Points per deal, bags at −9; the mean over the partners, and the worst of them beside. "
            "`random` is a deliberately bad partner. `normal` is exactly 0."
        ),
        metric="gain over `normal`",
        unit="points per deal",
        higher_is_better=True,
        rules="classic",
        rule_set=CLASSIC,
        games=200,
        of="deals per partner",
        decisions=14 * len(ROTATIONS) * len(PARTNERS),
        play=ad_hoc,
    ),
    Task(
        id="cross_play",
        version=1,
        title="Cross-play",
        definition=(
            "The agent beside each of "
            + ", ".join(f"`{name}`" for name in POOL)
            + " and the other agents of the command (never her own name), each of them beside herself, and the agent "
            "beside herself, all against two `normal` in all four rotations on the same deals. The gap with a partner "
            "is the mean of what the two make in self-play minus what they make together, so that a weak partner "
            "alone makes none; the mean over the partners. Over all agents of a matrix the mean gap is self-play minus "
            "the mean off the diagonal. Points per deal, bags at −9. The row of the matrix stands beside."
        ),
        metric="gap",
        unit="points per deal",
        higher_is_better=False,
        rules="classic",
        rule_set=CLASSIC,
        games=200,
        of="deals per partner",
        decisions=14 * len(ROTATIONS) * (2 + len(POOL)),
        play=cross_play,
        core=False,
        uses_pool=True,
    ),
)
