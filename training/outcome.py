"""What a run leaves: policies to play with, and figures against the opponents."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.learned.network import PolicyNetwork
from agents.learned.policy import load_policy
from agents.learned.weights import POLICY_FILE, Description, policy_bytes
from evaluation.duplicate import Evaluation, evaluate
from spades_env import __version__
from spades_env.files import write_atomically
from training.selfplay import SelfPlayPPO

AVERAGE_FILE = "policy-average.safetensors"
"""The policy of the averaged weights, where a run keeps any."""
EARLY = 0.1
"""The final policy is also measured against itself at this share of the training."""
MOST_COMMON_BID, FEWEST_NILS = 0.6, 0.005
"""Alarms: a bid more common, or nils of seats rarer, than this mean that the bidding has collapsed."""


def save_policy(path: Path, model: SelfPlayPPO, network: PolicyNetwork | None = None) -> None:
    """Write the weights for playing: those learned last, or of another `network` of the same shape."""
    config = model.config
    trained = {
        "deals": model.num_timesteps,
        "seed": config.seed,
        "config": config.model_dump(),
        "spades_env": __version__,
        "date": datetime.now(UTC).date().isoformat(),
    }
    description = Description(
        config.rule_set(), model.policy.hidden, model.policy.precision, trained, knows_match=config.match is not None
    )
    write_atomically(path, policy_bytes((network or model.policy.network()).tensors(), description))


def final_results(model: SelfPlayPPO, folder: Path) -> dict[str, Any]:
    """The trained policy against the final opponents and against itself at a tenth of the training."""
    config = model.config
    agent = load_policy(folder / POLICY_FILE)
    opponents: dict[str, Any] = {name: name for name in config.evaluation.final_opponents}
    if config.opponent is None and snapshot_path(folder, EARLY).exists():
        opponents[f"itself at {EARLY:.0%}"] = load_policy(snapshot_path(folder, EARLY))
    found: dict[str, Any] = {}
    for name, opponent in opponents.items():
        result = evaluate(
            agent,
            opponent,
            config.rule_set(),
            deals=config.evaluation.final_deals,
            matches=config.evaluation.final_matches,
            seed=config.evaluation.seed + 1,
            bag_price=config.bag_price,
        )
        found[name] = entry_of(result)
    return {
        "deals": model.num_timesteps,
        "minutes": model.seconds["all"] / 60,
        "threads": torch.get_num_threads(),
        "precision": model.policy.precision,
        "bag_price": model.env.bag_price,
        "opponents": found,
        "warnings": collapse_warnings(next(iter(found.values()))["stats"]),
        "speed": _speed(model),
    }


def collapse_warnings(stats: dict[str, Any]) -> list[str]:
    """What looks like collapsed bidding in an agent's evaluation statistics."""
    shares = np.array(stats["bid_histogram"]) / sum(stats["bid_histogram"])
    warnings = []
    if shares.max() > MOST_COMMON_BID:
        warnings.append(f"the bid {shares.argmax()} makes up {shares.max():.0%} of all bids")
    if stats["nil_rate"] < FEWEST_NILS:
        warnings.append(f"only {stats['nil_rate']:.2%} of seats bid nil")
    return warnings


def snapshot_path(folder: Path, progress: float) -> Path:
    """Where the policy at this share of the training lies."""
    return folder / f"policy-{round(100 * progress):03d}.safetensors"


def entry_of(result: Evaluation) -> dict[str, Any]:
    """What a history keeps of an evaluation."""
    return {
        "margin": result.margin.to_dict(),
        "margin_raw": result.margin_raw.to_dict(),
        "stats": result.stats(0),
        "match_win_rate": result.match_win_rate.to_dict() if result.match_win_rate else None,
        "opponent_set_rate": result.stats(1)["set_rate"],
    }


def _speed(model: SelfPlayPPO) -> dict[str, float]:
    total = max(model.seconds["all"], 1e-9)
    engine, network = model.seconds["engine"] / total, model.seconds["network"] / total
    return {
        "deals_per_second": model.num_timesteps / total,
        "choices_per_second": model.choices_made / total,
        "decisions_per_second": model.decisions_made / total,
        "engine_share": engine,
        "network_share": network,
        "rest_share": 1 - engine - network,
    }
