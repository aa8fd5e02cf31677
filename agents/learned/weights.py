"""Policies on disk: one safetensors file with the weights and a JSON description. Loading never unpickles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from agents.base import AgentError
from agents.learned.network import PRECISIONS, PolicyNetwork, input_size
from spades_env.actions import NUM_ACTIONS
from spades_env.observation.blocks import OBSERVATION_VERSION
from spades_env.rules import Rules, RulesError

FORMAT = "spades_env.policy"
FORMAT_VERSION = 1
POLICY_FILE = "policy.safetensors"
"""Name of the policy in a run's folder; a folder may be given instead of the file."""
MAX_BYTES = 512 * 2**20
MAX_LAYERS, MAX_WIDTH = 16, 8192


@dataclass(frozen=True)
class Description:
    """What a policy file says about itself beside its weights."""

    rules: Rules
    hidden: tuple[int, ...]
    precision: str
    trained: dict[str, Any]
    """Facts about the training, for people: deals, seed, configuration, package version, date."""


def policy_bytes(network: PolicyNetwork, description: Description) -> bytes:
    """The contents of a policy file."""
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "num_actions": NUM_ACTIONS,
        "rules": description.rules.to_dict(),
        "hidden": list(description.hidden),
        "precision": description.precision,
        "trained": description.trained,
    }
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    return save(tensors, {"spades_env": json.dumps(header)})


def read_policy(path: str | os.PathLike[str]) -> tuple[PolicyNetwork, Description]:
    """The network and description in a policy file, or in the folder that has one; refused with one line if unfit."""
    file = Path(path)
    file = file / POLICY_FILE if file.is_dir() else file
    if not file.is_file():
        raise AgentError(f"policy {str(path)!r}: there is no file {file.name}")
    if file.stat().st_size > MAX_BYTES:
        raise AgentError(f"policy {str(file)!r}: {file.stat().st_size} bytes; allowed: up to {MAX_BYTES}")
    try:
        with safe_open(file, framework="pt") as handle:
            header = _header(file, handle.metadata())
            tensors = {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118 (no mapping)
    except SafetensorError as error:
        raise AgentError(f"policy {str(file)!r}: damaged or no safetensors file ({error})") from None
    description = _description(file, header)
    return _network(file, description, tensors), description


def _header(file: Path, metadata: Mapping[str, str] | None) -> dict[str, Any]:
    """The JSON description, with format and versions checked."""
    try:
        header = json.loads((metadata or {})["spades_env"])
    except (KeyError, ValueError):
        raise AgentError(f"policy {str(file)!r}: not a policy of spades_env (no description)") from None
    wanted = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "num_actions": NUM_ACTIONS,
    }
    for name, value in wanted.items():
        found = header.get(name) if isinstance(header, dict) else None
        if found != value:
            raise AgentError(f"policy {str(file)!r}: {name} is {found!r}; this version plays with {value!r}")
    return dict(header)


def _description(file: Path, header: dict[str, Any]) -> Description:
    hidden, precision, trained = header.get("hidden"), header.get("precision"), header.get("trained")
    if (
        not isinstance(hidden, list)
        or not 1 <= len(hidden) <= MAX_LAYERS
        or not all(type(width) is int and 1 <= width <= MAX_WIDTH for width in hidden)
    ):
        raise AgentError(
            f"policy {str(file)!r}: hidden is {hidden!r}; allowed: 1 to {MAX_LAYERS} widths of 1 to {MAX_WIDTH}"
        )
    if precision not in PRECISIONS or not isinstance(trained, dict):
        raise AgentError(f"policy {str(file)!r}: precision is {precision!r}; allowed: {', '.join(PRECISIONS)}")
    try:
        rules = Rules.from_dict(dict(header.get("rules") or {}))
    except (RulesError, TypeError) as error:
        raise AgentError(f"policy {str(file)!r}: rules: {error}") from None
    return Description(rules, tuple(hidden), precision, trained)


def _network(file: Path, description: Description, tensors: dict[str, Tensor]) -> PolicyNetwork:
    """The network with `tensors` as its weights; every name, shape and value is checked."""
    network = PolicyNetwork(input_size(description.rules), description.hidden, description.precision)
    expected = network.state_dict()
    if set(tensors) != set(expected):
        odd = sorted(set(tensors) ^ set(expected))
        raise AgentError(f"policy {str(file)!r}: tensors do not fit the description: {', '.join(odd[:5])}")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape or tensor.dtype != expected[name].dtype:
            raise AgentError(
                f"policy {str(file)!r}: tensor {name} is {tensor.dtype} {tuple(tensor.shape)}; "
                f"allowed: {expected[name].dtype} {tuple(expected[name].shape)}"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise AgentError(f"policy {str(file)!r}: tensor {name} holds NaN or infinite values")
    network.load_state_dict(tensors)
    return network
