"""`exploit_trained_task`: the suite's task that trains a response, whose definition is `evaluation.suite.exploit`'s."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any, Final

import torch

from agents.base import AgentError
from evaluation.intervals import Interval
from evaluation.suite.exploit import EXPLOIT_TRAINED
from evaluation.suite.task import SEED, Outcome, Run, Task
from training.best_response import trained_exploitability
from training.config import CHAMPION
from training.run import Interrupted
from training.selfplay import SelfPlayPPO

FINAL_DEALS: Final = 2_000
OVERRIDES: Final = (
    "threads=1",
    f"start={CHAMPION}",
    "explore.nil=0",
    "ppo.learning_rate=0.0003",
    "evaluation.every=1.0",
    "evaluation.deals=2",
    f"evaluation.final_deals={FINAL_DEALS}",
)


def exploit_trained_task(overrides: tuple[str, ...] = ()) -> Task:
    """The task as it can be played; `overrides` change further fields of the configuration."""
    return dataclasses.replace(EXPLOIT_TRAINED, play=lambda run: exploit_trained(run, overrides))


def exploit_trained(run: Run, overrides: tuple[str, ...] = ()) -> Outcome:
    """Train a response to her for `run.games` deals and measure it; the run's files are thrown away."""
    if run.text is None:
        return Outcome(None, 0, reason="the agent is an object; allowed: an agent given as text")

    def show(model: SelfPlayPPO, entry: dict[str, Any] | None) -> None:
        run.share(min(1.0, model.num_timesteps / run.games))

    threads = torch.get_num_threads()
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = trained_exploitability(
                run.text, run.games, SEED, Path(folder), overrides=(*OVERRIDES, *overrides), show=show
            ).to_dict()
        except Interrupted as stop:
            raise KeyboardInterrupt from stop
        except AgentError as error:  # she broke the rules: nothing learned from that is worth telling
            return Outcome(None, 0, reason=str(error))
        finally:
            torch.set_num_threads(threads)
    return Outcome(
        Interval(**found["margin"]),
        found["deals"],
        figures={name: found[name] for name in ("exploitability_at_least", "margin_raw", "budget")},
    )
