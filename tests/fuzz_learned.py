"""The readers of training for fuzz tests: policies, checkpoints and labels, spoiled as bytes and inside; settings."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_readers import Reader
from small_training import small
from spoiling import pick, spoiled, spoiled_value

from agents.learned.policy import load_policy
from agents.learned.weights import Description, input_size, policy_bytes, tensor_forms
from spades_env.configs import config_path
from spades_env.rules import PRESETS
from training.bid_labels import BIDS, BidTask, read_bid_labels
from training.checkpoint import load_checkpoint, save_checkpoint
from training.config import TrainingConfig, load_config
from training.labels import Labels, read_labels
from training.labels import _bytes as label_bytes
from training.sections import BidLabelsConfig, LabelsConfig
from training.selfplay import SelfPlayPPO
from training.shards import shard_bytes, shard_path


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


def with_member(data: bytes, seed: int) -> bytes:
    """An .npz file with one of its arrays spoiled, and the checksums of the archive right."""
    rng = np.random.default_rng(seed)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = pick(rng, tuple(members))
    members[name] = spoiled(members[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


LABELS = LabelsConfig(games=2, shards=1)
BID_LABELS = BidTask(BidLabelsConfig(games=2, shards=1), PRESETS["classic"], -9.0, {}, knows_match=False)


def shards() -> dict[str, tuple[bytes, Callable[[Path], Any]]]:
    """A shard of each kind of labels, and what reads a folder of it."""
    rules = PRESETS["classic"]
    seen = np.zeros((2, input_size(rules)), np.uint8)
    labels = Labels(seen, np.ones((2, 73), np.bool_), np.zeros((2, 73), np.float16), np.ones(2, np.bool_))
    bids = {"logits": np.zeros((2, BIDS), np.float32), "values": np.zeros((2, BIDS), np.float32)}
    arrays = {"observations": seen, **bids, "deals": np.arange(2)}
    return {
        "labels": (label_bytes(labels, LABELS, rules, 0), lambda folder: read_labels(LABELS, rules, folder)),
        "bid labels": (
            shard_bytes(BID_LABELS.header(0), arrays),
            lambda folder: read_bid_labels(BID_LABELS, folder),
        ),
    }


def label_readers(folder: Path) -> list[Reader]:
    """Shards of labels; every other one is spoiled in one of its arrays alone."""
    found = []
    for name, (good, read) in shards().items():

        def feed(data: bytes, place: Path, read: Callable[[Path], Any] = read) -> None:
            shard_path(place, 0).write_bytes(data)
            read(place)

        def feed_inside(data: bytes, place: Path, good: bytes = good, feed: Any = feed) -> None:
            feed(with_member(good, int.from_bytes(data[:8].ljust(8, b"x"), "little")), place)

        seeds = (np.random.default_rng(1).bytes(64),)
        found += [Reader(name, (good,), feed), Reader(f"arrays of {name}, no description", seeds, feed_inside)]
    return found


def settings_reader() -> Reader:
    """Configurations of runs."""
    files = ("train/selfplay.yaml", "train/distill.yaml", "train/champion/bid_values.yaml")

    def read_config(data: bytes, place: Path) -> None:
        file = place / "x.yaml"
        file.write_bytes(data)
        load_config(file)

    return Reader("training configuration", tuple(config_path(file).read_bytes() for file in files), read_config)


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
        *label_readers(folder),
        settings_reader(),
    ]
