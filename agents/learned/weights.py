"""Policies on disk: one safetensors file with the weights and a JSON description. Loading never unpickles."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.base import AgentError
from spades_env.actions import NUM_ACTIONS
from spades_env.checks import LONGEST_SHOWN, shown
from spades_env.observation.blocks import GAME_SIZE, OBSERVATION_VERSION, RULES_OFFSET
from spades_env.rules import FIELD_NAMES, Rules, RulesError

FORMAT = "spades_env.policy"
FORMAT_VERSION = 1
POLICY_FILE = "policy.safetensors"
"""Name of the policy in a run's folder; a folder may be given instead of the file."""
MAX_BYTES = 512 * 2**20
MAX_LAYERS, MAX_WIDTH = 16, 8192

PRECISIONS = ("float32", "bfloat16")
"""In which the products of the trunk were computed in training; at play it is always float32."""
Tensors = dict[str, npt.NDArray[np.float32]]
NIL_HEAD = "nil_head"
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
    knows_match: bool = False
    """Whether it has learned at scores other than 0:0; one that has not plays every score as 0:0."""


def input_size(rules: Rules) -> int:
    """Length of the prefix of the flat observation that can differ while `rules` stay the same."""
    return RULES_OFFSET if rules.deal == "draft" else GAME_SIZE


def tensor_forms(n_inputs: int, hidden: Sequence[int], *, nil_head: bool = False) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor of a policy: a layer's weight is (outputs, inputs).

    The nil head is optional: a file that has it says how likely nils are made.
    """
    sizes = [n_inputs, *hidden]
    forms: dict[str, tuple[int, ...]] = {}
    for name, inputs, outputs in (
        *((f"trunk.layers.{k}", sizes[k], sizes[k + 1]) for k in range(len(hidden))),
        ("action_head", sizes[-1], NUM_ACTIONS),
        ("value_head", sizes[-1], 1),
        *([(NIL_HEAD, sizes[-1], 1)] if nil_head else []),
    ):
        forms |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    return forms


def policy_bytes(tensors: Tensors, description: Description) -> bytes:
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
        "knows_match": description.knows_match,
    }
    header[DIGEST] = content_digest(header, tensors)
    return save(tensors, {"spades_env": json.dumps(header)})


def content_digest(header: Mapping[str, Any], tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    """Hash of a description, `DIGEST` itself left out, and of the tensors with their names, types and shapes."""
    plain = json.loads(json.dumps({name: value for name, value in header.items() if name != DIGEST}))
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tensor.shape}\0".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


def read_policy(path: str | os.PathLike[str]) -> tuple[Tensors, Description]:
    """The weights and description in a policy file, or in the folder that has one; refused with one line if unfit."""
    file = Path(path)
    file = file / POLICY_FILE if file.is_dir() else file
    if not file.is_file():
        raise AgentError(f"policy {str(path)!r}: there is no file {file.name}")
    if file.stat().st_size > MAX_BYTES:
        raise AgentError(f"policy {str(file)!r}: {file.stat().st_size} bytes; allowed: up to {MAX_BYTES}")
    try:
        with safe_open(file, framework="np") as handle:
            header = _header(file, handle.metadata())
            description = _description(file, header)
            names = list(handle.keys())
            forms = {name: _form(handle.get_slice(name)) for name in names}
            # Before arrays of the size that the file claims are made.
            _check_forms(file, description, forms)
            tensors = {name: handle.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise AgentError(f"policy {str(file)!r}: damaged or no safetensors file ({error})") from None
    # Files written before there was one, or by others, have none.
    if DIGEST in header and header[DIGEST] != content_digest(header, tensors):
        raise AgentError(f"policy {str(file)!r}: damaged file: its contents and their checksum differ")
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise AgentError(f"policy {str(file)!r}: tensor {name} holds NaN or infinite values")
    return tensors, description


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
    knows_match = header.get("knows_match", False)
    if not isinstance(knows_match, bool):
        raise AgentError(f"policy {str(file)!r}: knows_match is {shown(knows_match)}; allowed: true, false")
    return Description(_rules(file, header.get("rules")), tuple(hidden), precision, trained, knows_match)


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
    nil_head = any(name.startswith(f"{NIL_HEAD}.") for name in forms)
    shapes = tensor_forms(input_size(description.rules), description.hidden, nil_head=nil_head)
    expected = {name: ("F32", shape) for name, shape in shapes.items()}
    odd = sorted(set(forms) ^ set(expected))
    if odd:
        raise AgentError(f"policy {str(file)!r}: tensors do not fit the description: {', '.join(odd[:5])}")
    for name, (dtype, shape) in forms.items():
        if (dtype, shape) != expected[name]:
            allowed = " ".join(map(str, expected[name]))
            raise AgentError(f"policy {str(file)!r}: tensor {name} is {dtype} {shape}; allowed: {allowed}")
