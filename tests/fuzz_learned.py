"""The readers of PyTorch's files for fuzz tests: policies and checkpoints, spoiled as bytes and in their headers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_readers import Reader
from small_training import small
from spoiling import spoiled_value

from agents.learned.policy import load_policy
from agents.learned.weights import Description, input_size, policy_bytes, tensor_forms
from spades_env.rules import PRESETS
from training.checkpoint import load_checkpoint, save_checkpoint
from training.config import TrainingConfig
from training.selfplay import SelfPlayPPO


def tiny_config(**changes: Any) -> TrainingConfig:
    """A training of three collections that takes seconds."""
    return small(**({"checkpoint_every": 0.3, "network": {"hidden": [8], "precision": "float32"}} | changes))


def policy_file() -> bytes:
    """A small policy."""
    rules = PRESETS["classic"]
    rng = np.random.default_rng(0)
    forms = tensor_forms(input_size(rules), (8,))
    tensors = {name: rng.normal(size=shape).astype(np.float32) for name, shape in forms.items()}
    return policy_bytes(tensors, Description(rules, (8,), "float32", {"deals": 1}))


def with_header(data: bytes, seed: int) -> bytes:
    """A safetensors file with values of its description spoiled, its length and all else right."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    said = spoiled_value(json.loads(header["__metadata__"]["spades_env"]), np.random.default_rng(seed))
    header["__metadata__"]["spades_env"] = json.dumps(said)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def learned_readers(folder: Path) -> list[Reader]:
    """Policies and checkpoints; every other one is spoiled in its description alone."""
    policy = policy_file()
    model = SelfPlayPPO(tiny_config())
    path = folder / "checkpoint.safetensors"
    save_checkpoint(path, model, [])
    checkpoint = path.read_bytes()

    def read_policy(data: bytes, place: Path) -> None:
        file = place / "x.safetensors"
        file.write_bytes(data)
        load_policy(file)

    def read_checkpoint(data: bytes, place: Path) -> None:
        file = place / "x.safetensors"
        file.write_bytes(data)
        load_checkpoint(file, model)

    def by_header(read: Any, good: bytes) -> Any:
        return lambda data, place: read(with_header(good, int.from_bytes(data[:8].ljust(8, b"x"), "little")), place)

    seeds = (np.random.default_rng(0).bytes(64),)
    return [
        Reader("policy", (policy,), read_policy),
        Reader("policy's description", seeds, by_header(read_policy, policy)),
        Reader("checkpoint", (checkpoint,), read_checkpoint),
        Reader("checkpoint's description", seeds, by_header(read_checkpoint, checkpoint)),
    ]
