"""Checkpoints: one safetensors file with everything a run needs to go on exactly where it stopped. No pickle.

Deals, choices and minibatches are functions of (seed, deals so far), so weights, optimizer moments and counters are
the whole state, with a league also who wins against which snapshot; the snapshots' weights are in files of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from agents.learned.weights import DIGEST, Tensors, content_digest
from evaluation.report.forms import INTERVAL, STATS
from evaluation.report.shape import NUMBER, Each, Maybe, ShapeError, check_shape
from spades_env.checks import shown
from spades_env.files import write_atomically
from spades_env.observation.blocks import OBSERVATION_VERSION
from training.alarms import ALARM_FORM
from training.config import TrainingConfig
from training.league import SNAPSHOTS_FOLDER, STATE_FORM, League, read_snapshots
from training.line_ups import PoolVecEnv
from training.pool import PoolConfig
from training.selfplay import SelfPlayPPO

FORMAT = "spades_env.checkpoint"
FORMAT_VERSION = 1
CHECKPOINT_FILE = "checkpoint.safetensors"
BEHIND: Final = "behind."
"""Beginning of the names of the weights that the next deals are played with, where these are not the policy's."""
LATER: Final = {
    "ppo": {"shares": 1, "staleness": 0, "learners": 1, "average_rate": 0.0, "anchor": 0.0},
    "pool": {
        name: PoolConfig.model_fields[name].default
        for name in ("snapshots", "snapshot_every", "snapshot_weight", "hardness", "result_rate")
    },
}
"""Fields of a configuration that older checkpoints lack, and what was so before they were there."""
MAY_CHANGE = ("name", "evaluation", "alarms", "checkpoint_every", "threads")
"""Fields of the configuration that a resumed run may set anew; all others belong to the result."""


MAX_BYTES: Final = 4 * 2**30
HEADER: Final[Mapping[str, Any]] = {
    "format": str,
    "version": int,
    "observation_version": int,
    "config": dict,
    "rules": dict,
    "precision": str,
    "num_timesteps": int,
    "n_updates": int,
    "choices_made": int,
    "decisions_made": int,
    "seconds": Each(NUMBER),
    "last_deals": dict,
    "league": Maybe([STATE_FORM]),
    "history": [
        {
            "deals": int,
            "minutes": NUMBER,
            "opponents": Each({"margin": INTERVAL, "stats": STATS, "opponent_set_rate": Maybe(NUMBER)}),
            "deals_log": Maybe(dict),
            "alarms": Maybe([ALARM_FORM]),
            "alarm_action": Maybe(str),
            "rolled_back_to": Maybe(int),
        }
    ],
}
"""What stands in a checkpoint beside the tensors, and `DIGEST`."""
COUNTS: Final = ("num_timesteps", "n_updates", "choices_made", "decisions_made")


class CheckpointError(ValueError):
    """A checkpoint that cannot be resumed; the message says why."""


def save_checkpoint(path: Path, model: SelfPlayPPO, history: list[dict[str, Any]]) -> None:
    """Write the state of `model` between two collections, and the `history` of its evaluations."""
    tensors = {f"policy.{name}": tensor for name, tensor in model.policy.state_dict().items()}
    optimizer = model.policy.optimizer.state_dict()
    for index, moments in optimizer["state"].items():
        for name, value in moments.items():
            tensors[f"optimizer.{index}.{name}"] = torch.as_tensor(value)
    behind = model.apart.behind if model.apart else None
    for name, array in (behind or {}).items():
        tensors[f"{BEHIND}{name}"] = torch.from_numpy(array)
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
        "league": league.state() if (league := _league_of(model)) else None,
        "history": history,
    }
    data = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    header[DIGEST] = content_digest(header, _arrays(data))
    write_atomically(path, save(data, {"spades_env": json.dumps(header)}))


def load_checkpoint(path: Path, model: SelfPlayPPO) -> list[dict[str, Any]]:
    """Put the state in the file at `path` into a fresh `model` of the same configuration; its evaluation history."""
    header, tensors = _read(path)
    _check_header(path, header, model)
    try:
        policy, optimizer = _policy_of(model, tensors), _optimizer_of(model, tensors)
        behind = _behind_of(model, tensors, header["num_timesteps"])
    except (KeyError, ValueError) as error:
        raise CheckpointError(f"checkpoint {str(path)!r}: weights do not fit: {error}") from None
    league = _league_of(model)
    snapshots = read_snapshots(path.parent / SNAPSHOTS_FOLDER, header.get("league") or []) if league else []
    # Nothing of the model has been touched before everything was found good.
    model.policy.load_state_dict(policy)
    model.policy.optimizer.load_state_dict(optimizer)
    if model.apart:
        model.apart.behind = behind
    if league:
        league.snapshots = snapshots
    model.num_timesteps = header["num_timesteps"]
    model._n_updates = header["n_updates"]
    model._current_progress_remaining = 1 - model.progress
    model.choices_made = header["choices_made"]
    model.decisions_made = header["decisions_made"]
    model.seconds.update(header["seconds"])
    model.last_deals = header["last_deals"]
    return list(header["history"])


def restore_weights(path: Path, model: SelfPlayPPO, deals: int) -> None:
    """Put the weights and optimizer moments in the checkpoint at `path`, of so many `deals`, into a `model` of its run.

    Deals, history and all else of the model stay as they are.
    """
    header, tensors = _read(path)
    _check_header(path, header, model)
    if header["num_timesteps"] != deals:
        raise CheckpointError(f"checkpoint {str(path)!r}: of {header['num_timesteps']} deals; expected: of {deals}")
    try:
        policy, optimizer = _policy_of(model, tensors), _optimizer_of(model, tensors)
    except (KeyError, ValueError) as error:
        raise CheckpointError(f"checkpoint {str(path)!r}: weights do not fit: {error}") from None
    model.policy.load_state_dict(policy)
    model.policy.optimizer.load_state_dict(optimizer)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The header and the tensors in a file, whole as they were written; what they say has been checked for form."""
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        raise CheckpointError(f"checkpoint {str(path)!r}: allowed: an ordinary file of up to {MAX_BYTES} bytes")
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})["spades_env"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, KeyError, ValueError, RecursionError, OSError) as error:
        raise CheckpointError(f"checkpoint {str(path)!r}: damaged or foreign file ({error})") from None
    digest = header.pop(DIGEST, None) if isinstance(header, dict) else None
    # Files written before there was one have none.
    if digest is not None and digest != content_digest(header, _arrays(tensors)):
        raise CheckpointError(f"checkpoint {str(path)!r}: damaged file: its contents and their checksum differ")
    return header, tensors


def _arrays(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def _check_form(path: Path, header: Mapping[str, Any]) -> None:
    """Refuse fields that are missing, unknown or of another kind."""
    odd = sorted(set(header) - set(HEADER))
    try:
        check_shape(header, HEADER)
        if odd:
            raise ShapeError(f"it has a field {shown(odd[0])}; allowed: {', '.join(HEADER)}")
        for name in COUNTS:
            if not 0 <= header[name] < 2**63:
                raise ShapeError(f"{name} is {shown(header[name])}; allowed: an int from 0 on")
    except ShapeError as error:
        raise CheckpointError(f"checkpoint {str(path)!r}: damaged or foreign file ({error})") from None


def _check_header(path: Path, header: Any, model: SelfPlayPPO) -> None:
    wanted = {"format": FORMAT, "version": FORMAT_VERSION, "observation_version": OBSERVATION_VERSION}
    for name, value in wanted.items():
        found = header.get(name) if isinstance(header, dict) else None
        if found != value:
            raise CheckpointError(f"checkpoint {str(path)!r}: {name} is {shown(found)}; this version resumes {value!r}")
    _check_form(path, header)
    if header["rules"] != model.config.rule_set().to_dict():
        raise CheckpointError(f"checkpoint {str(path)!r}: made under other rules than the configuration's")
    made_with = _completed(header["config"])
    for name, value in _fixed(model.config).items():
        if made_with.get(name) != value:
            raise CheckpointError(
                f"checkpoint {str(path)!r}: made with {name} = {shown(made_with.get(name))}, "
                f"the configuration says {value!r}; a run goes on with what it began with"
            )
    if header["precision"] != model.policy.precision:
        raise CheckpointError(
            f"checkpoint {str(path)!r}: computed in {shown(header['precision'])}, this machine would go on in "
            f"{model.policy.precision}; set network.precision to that"
        )


def _fixed(config: TrainingConfig) -> dict[str, Any]:
    return {name: value for name, value in config.model_dump().items() if name not in MAY_CHANGE}


def _completed(config: Mapping[str, Any]) -> dict[str, Any]:
    """A checkpoint's configuration with the fields that came later."""
    return {
        name: LATER[name] | value if name in LATER and isinstance(value, dict) else value
        for name, value in config.items()
    }


def _league_of(model: SelfPlayPPO) -> League | None:
    """The snapshots at the model's tables."""
    return model.env.league if isinstance(model.env, PoolVecEnv) else None


def _policy_of(model: SelfPlayPPO, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights among `tensors`, as `model.policy` takes them; ValueError for others than its own."""
    weights = {name.removeprefix("policy."): t for name, t in tensors.items() if name.startswith("policy.")}
    _check_tensors(weights, model.policy.state_dict())
    return weights


def _behind_of(model: SelfPlayPPO, tensors: Mapping[str, Tensor], deals: int) -> Tensors | None:
    """The weights among `tensors` that the next deals are played with; None where these are the policy's."""
    if not model.config.ppo.staleness or deals == 0:
        return None
    found = {name.removeprefix(BEHIND): tensor for name, tensor in tensors.items() if name.startswith(BEHIND)}
    wanted = {name: torch.from_numpy(array) for name, array in model.policy.playing_weights().items()}
    _check_tensors(found, wanted)
    return {name: tensor.numpy() for name, tensor in found.items()}


def _optimizer_of(model: SelfPlayPPO, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """The optimizer's moments among `tensors`, as it takes them; none before the first update."""
    moments = {name: tensor for name, tensor in tensors.items() if not name.startswith(("policy.", BEHIND))}
    groups = model.policy.optimizer.state_dict()["param_groups"]
    shapes = [parameter for group in model.policy.optimizer.param_groups for parameter in group["params"]]
    wanted: dict[str, Tensor] = {}
    for index, parameter in enumerate(shapes):
        # A weight that has had no gradient yet has no moments.
        if f"optimizer.{index}.step" in moments:
            wanted |= {f"optimizer.{index}.{name}": parameter for name in ("exp_avg", "exp_avg_sq")}
            wanted[f"optimizer.{index}.step"] = torch.zeros(())
    _check_tensors(moments, wanted)
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in moments.items():
        _, index_text, moment = name.split(".")
        state.setdefault(int(index_text), {})[moment] = tensor
    return {"state": state, "param_groups": groups}


def _check_tensors(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """ValueError unless the tensors have the names, types and shapes of those wanted, and finite values."""
    odd = sorted(set(found) ^ set(wanted))
    if odd:
        raise ValueError(f"{odd[0]} is missing or not known")
    for name, tensor in found.items():
        like = wanted[name]
        if tensor.shape != like.shape or tensor.dtype != like.dtype:
            raise ValueError(
                f"{name} is {tensor.dtype} {tuple(tensor.shape)}; allowed: {like.dtype} {tuple(like.shape)}"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"{name} holds NaN or infinite values")
