"""Policies on disk: one safetensors file with the weights and a JSON description. Loading never unpickles."""

from __future__ import annotations

import hashlib
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
from spades_env.checks import LONGEST_SHOWN, shown
from spades_env.observation.blocks import OBSERVATION_VERSION
from spades_env.rules import FIELD_NAMES, Rules, RulesError

FORMAT = "spades_env.policy"
FORMAT_VERSION = 1
POLICY_FILE = "policy.safetensors"
"""Name of the policy in a run's folder; a folder may be given instead of the file."""
MAX_BYTES = 512 * 2**20
MAX_LAYERS, MAX_WIDTH = 16, 8192

DIGEST = "sha256"
"""Field of a description: the hash of all else in the file. It tells damage, not who wrote it."""

Form = tuple[str, tuple[int, ...]]
"""Type, as safetensors names it, and shape of a tensor."""


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
    header[DIGEST] = content_digest(header, tensors)
    return save(tensors, {"spades_env": json.dumps(header)})


def content_digest(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """Hash of a description, `DIGEST` itself left out, and of the tensors with their names, types and shapes."""
    plain = json.loads(json.dumps({name: value for name, value in header.items() if name != DIGEST}))
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


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
            description = _description(file, header)
            names = list(handle.keys())
            forms = {name: _form(handle.get_slice(name)) for name in names}
            # Before a network of the size that the description claims is built.
            _check_forms(file, description, forms)
            tensors = {name: handle.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise AgentError(f"policy {str(file)!r}: damaged or no safetensors file ({error})") from None
    # Files of version 0.1.0 and before, and those of other writers, have none.
    if DIGEST in header and header[DIGEST] != content_digest(header, tensors):
        raise AgentError(f"policy {str(file)!r}: damaged file: its contents and their checksum differ")
    return _network(file, description, tensors), description


def _header(file: Path, metadata: Mapping[str, str] | None) -> dict[str, Any]:
    """The JSON description, with format and versions checked."""
    try:
        header = json.loads((metadata or {})["spades_env"])
    except (KeyError, ValueError, RecursionError):
        raise AgentError(f"policy {str(file)!r}: not a policy of spades_env (no description)") from None
    wanted = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "num_actions": NUM_ACTIONS,
    }
    for name, value in wanted.items():
        found = header.get(name) if isinstance(header, dict) else None
        if found == "spades_env.checkpoint":
            raise AgentError(f"policy {str(file)!r}: a checkpoint to resume from; {POLICY_FILE} beside it plays")
        if found != value:
            raise AgentError(f"policy {str(file)!r}: {name} is {shown(found)}; this version plays with {value!r}")
    return dict(header)


def _description(file: Path, header: dict[str, Any]) -> Description:
    hidden, precision, trained = header.get("hidden"), header.get("precision"), header.get("trained")
    if (
        not isinstance(hidden, list)
        or not 1 <= len(hidden) <= MAX_LAYERS
        or not all(type(width) is int and 1 <= width <= MAX_WIDTH for width in hidden)
    ):
        raise AgentError(
            f"policy {str(file)!r}: hidden is {shown(hidden)}; allowed: 1 to {MAX_LAYERS} widths of 1 to {MAX_WIDTH}"
        )
    if precision not in PRECISIONS:
        raise AgentError(f"policy {str(file)!r}: precision is {shown(precision)}; allowed: {', '.join(PRECISIONS)}")
    if not isinstance(trained, dict):
        raise AgentError(f"policy {str(file)!r}: trained is no object; allowed: facts about the training by name")
    return Description(_rules(file, header.get("rules")), tuple(hidden), precision, trained)


def _rules(file: Path, given: object) -> Rules:
    """The rules in a description, which names every field: a default may not be what the policy learned."""
    if not isinstance(given, dict):
        raise AgentError(f"policy {str(file)!r}: rules are missing; allowed: an object with every field of Rules")
    odd = sorted(set(given) ^ set(FIELD_NAMES))
    if odd:
        names = ", ".join(name[:LONGEST_SHOWN] for name in odd[: len(FIELD_NAMES)])
        raise AgentError(f"policy {str(file)!r}: rules lack or do not know {names}; allowed: every field once")
    try:
        return Rules.from_dict(given)
    except RulesError as error:
        raise AgentError(f"policy {str(file)!r}: rules: {error}") from None


def _form(part: Any) -> Form:
    """Type and shape of a tensor in a file, from the file's header alone."""
    return str(part.get_dtype()), tuple(part.get_shape())


def _check_forms(file: Path, description: Description, forms: Mapping[str, Form]) -> None:
    """Refuse tensors of another name, type or shape than those of the network described."""
    with torch.device("meta"):  # a network without memory
        network = PolicyNetwork(input_size(description.rules), description.hidden, description.precision)
    expected = {name: ("F32", tuple(tensor.shape)) for name, tensor in network.state_dict().items()}
    odd = sorted(set(forms) ^ set(expected))
    if odd:
        raise AgentError(f"policy {str(file)!r}: tensors do not fit the description: {', '.join(odd[:5])}")
    for name, (dtype, shape) in forms.items():
        if (dtype, shape) != expected[name]:
            allowed = " ".join(map(str, expected[name]))
            raise AgentError(f"policy {str(file)!r}: tensor {name} is {dtype} {shape}; allowed: {allowed}")


def _network(file: Path, description: Description, tensors: dict[str, Tensor]) -> PolicyNetwork:
    """The network with `tensors`, which fit the description, as its weights; every value is checked."""
    network = PolicyNetwork(input_size(description.rules), description.hidden, description.precision)
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise AgentError(f"policy {str(file)!r}: tensor {name} holds NaN or infinite values")
    network.load_state_dict(tensors)
    return network
