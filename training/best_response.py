"""`trained_exploitability`: a lower bound of what can be won against an agent at full size, by training a responder.

One policy for all seats of a team learns by `training.run` against the fixed agent, and is then measured on fresh
duplicate deals; docs/exploitability.md says what that bounds.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.intervals import Interval
from evaluation.work.definition import code_hash
from spades_env.checks import whole_number
from spades_env.configs import config_path
from training.config import TrainingConfig, TrainingConfigError, load_config
from training.keeper import Report
from training.report import RESULTS_FILE
from training.run import train

DEFAULT_BUDGET: Final = 600_000
"""Deals to learn from."""
MOST_DEALS: Final = 10**9
GIVEN: Final = ("deals", "seed", "opponent", "evaluation.opponents", "evaluation.final_opponents")
"""Fields of the configuration that agent, budget and seed decide."""


@dataclass(frozen=True)
class TrainedExploitability:
    """What `trained_exploitability` found; `to_dict` is the JSON contract, described in docs/exploitability.md."""

    agent: str
    budget: int
    seed: int
    folder: Path
    results: dict[str, Any]

    @property
    def margin(self) -> Interval:
        """Points per deal, the responder's team minus the agent's, bags priced."""
        return Interval(**self._found["margin"])

    @property
    def lower_bound(self) -> float:
        """Lower end of the 95 % interval of the margin, and 0 where that is negative: the agent herself wins 0."""
        return max(0.0, self.margin.low)

    @property
    def _found(self) -> dict[str, Any]:
        found: dict[str, Any] = self.results["final"]["opponents"][self.agent]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        config, final = self.results["config"], self.results["final"]
        return {
            "kind": "trained",
            "agent": self.agent,
            "exploitability_at_least": self.lower_bound,
            "margin": self._found["margin"],
            "margin_raw": self._found["margin_raw"],
            "budget": self.budget,
            "deals": config["evaluation"]["final_deals"],
            "bag_price": final["bag_price"],
            "seed": self.seed,
            "rules": config["rules"],
            "start": config["start"],
            "minutes": final["minutes"],
            "policy": str(self.folder),
            "code": code_hash(),
            "versions": self.results["versions"],
            "machine": self.results["machine"],
        }


def trained_exploitability(
    agent: str,
    budget: int = DEFAULT_BUDGET,
    seed: int = 1,
    out: str | Path = "runs",
    *,
    overrides: tuple[str, ...] = (),
    config_file: Path | None = None,
    resume: bool = False,
    show: Report | None = None,
) -> TrainedExploitability:
    """Train a response to `agent` (a text for `load_agent`) for `budget` deals below folder `out`, and measure it.

    `overrides` ("rules=modern", "start=runs/selfplay", "threads=1") change fields of the configuration, which is
    the shipped train/best_response.yaml unless `config_file` is given. A run that was stopped goes on with `resume`.
    """
    config = response_config(agent, budget, seed, overrides, config_file)
    report = train(config, Path(out), resume=resume, show=show)
    results = json.loads((report.parent / RESULTS_FILE).read_text(encoding="utf-8"))
    return TrainedExploitability(agent, budget, seed, report.parent, results)


def response_config(
    agent: str, budget: int, seed: int, overrides: tuple[str, ...] = (), config_file: Path | None = None
) -> TrainingConfig:
    """The configuration of a run that trains a response to `agent`."""
    whole_number("budget", budget, 1, MOST_DEALS)
    for override in overrides:
        field = override.partition("=")[0].strip()
        if field in GIVEN:
            raise TrainingConfigError(f"{field} is set twice: it follows from agent, budget and seed")
    own = (
        f"name={run_name(agent)}",
        f"deals={budget}",
        f"seed={seed}",
        f"opponent={json.dumps(agent)}",
        f"evaluation.opponents={json.dumps([agent])}",
        f"evaluation.final_opponents={json.dumps([agent])}",
    )
    return load_config(config_file or config_path("train/best_response.yaml"), (*own, *overrides))


def run_name(agent: str) -> str:
    """Folder name of the response to an agent's text."""
    return "response-" + re.sub(r"[^A-Za-z0-9._-]+", "-", agent).strip("-")[-50:]
