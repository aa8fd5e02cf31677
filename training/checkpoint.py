"""Checkpoints: one safetensors file with everything a run needs to go on exactly where it stopped. No pickle.

Deals, choices and minibatches are functions of (seed, deals so far), so weights, optimizer moments and counters are
the whole state.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from spades_env.files import write_atomically
from spades_env.observation.blocks import OBSERVATION_VERSION
from training.config import TrainingConfig
from training.selfplay import SelfPlayPPO

FORMAT = "spades_env.checkpoint"
FORMAT_VERSION = 1
CHECKPOINT_FILE = "checkpoint.safetensors"
MAY_CHANGE = ("name", "evaluation", "checkpoint_every", "threads")
"""Fields of the configuration that a resumed run may set anew; all others belong to the result."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be resumed; the message says why."""


def save_checkpoint(path: Path, model: SelfPlayPPO, history: list[dict[str, Any]]) -> None:
    """Write the state of `model` between two collections, and the `history` of its evaluations."""
    tensors = {f"policy.{name}": tensor for name, tensor in model.policy.state_dict().items()}
    optimizer = model.policy.optimizer.state_dict()
    for index, moments in optimizer["state"].items():
        for name, value in moments.items():
            tensors[f"optimizer.{index}.{name}"] = torch.as_tensor(value)
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "config": model.config.model_dump(),
        "rules": model.config.rule_set().to_dict(),
        "precision": model.policy.precision,
        "num_timesteps": model.num_timesteps,
        "n_updates": model._n_updates,
        "choices_made": model.choices_made,
        "decisions_made": model.decisions_made,
        "seconds": dict(model.seconds),
        "last_deals": model.last_deals,
        "history": history,
    }
    data = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    write_atomically(path, save(data, {"spades_env": json.dumps(header)}))


def load_checkpoint(path: Path, model: SelfPlayPPO) -> list[dict[str, Any]]:
    """Put the state in the file at `path` into a fresh `model` of the same configuration; its evaluation history."""
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})["spades_env"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise CheckpointError(f"checkpoint {str(path)!r}: damaged or foreign file ({error})") from None
    _check_header(path, header, model)
    try:
        _load_policy(model, tensors)
        _load_optimizer(model, tensors)
    except (KeyError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"checkpoint {str(path)!r}: weights do not fit: {error}") from None
    model.num_timesteps = header["num_timesteps"]
    model._n_updates = header["n_updates"]
    model._current_progress_remaining = 1 - model.progress
    model.choices_made = header["choices_made"]
    model.decisions_made = header["decisions_made"]
    model.seconds.update(header["seconds"])
    model.last_deals = header["last_deals"]
    return list(header["history"])


def _check_header(path: Path, header: Any, model: SelfPlayPPO) -> None:
    wanted = {"format": FORMAT, "version": FORMAT_VERSION, "observation_version": OBSERVATION_VERSION}
    for name, value in wanted.items():
        found = header.get(name) if isinstance(header, dict) else None
        if found != value:
            raise CheckpointError(f"checkpoint {str(path)!r}: {name} is {found!r}; this version resumes {value!r}")
    if header["rules"] != model.config.rule_set().to_dict():
        raise CheckpointError(f"checkpoint {str(path)!r}: made under other rules than the configuration's")
    for name, value in _fixed(model.config).items():
        if header["config"].get(name) != value:
            raise CheckpointError(
                f"checkpoint {str(path)!r}: made with {name} = {header['config'].get(name)!r}, "
                f"the configuration says {value!r}; a run goes on with what it began with"
            )
    if header["precision"] != model.policy.precision:
        raise CheckpointError(
            f"checkpoint {str(path)!r}: computed in {header['precision']}, this machine would go on in "
            f"{model.policy.precision}; set network.precision={header['precision']}"
        )


def _fixed(config: TrainingConfig) -> dict[str, Any]:
    return {name: value for name, value in config.model_dump().items() if name not in MAY_CHANGE}


def _load_policy(model: SelfPlayPPO, tensors: dict[str, Tensor]) -> None:
    weights = {name.removeprefix("policy."): t for name, t in tensors.items() if name.startswith("policy.")}
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"{name} holds NaN or infinite values")
    model.policy.load_state_dict(weights)


def _load_optimizer(model: SelfPlayPPO, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, index, moment = name.split(".")
            state.setdefault(int(index), {})[moment] = tensor
    groups = model.policy.optimizer.state_dict()["param_groups"]
    model.policy.optimizer.load_state_dict({"state": state, "param_groups": groups})
