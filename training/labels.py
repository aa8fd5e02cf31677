"""Labels for expert iteration: what a searching agent thinks each action is worth, in shards of decisions on disk.

A shard is a function of the configuration and its number, so any number of processes make the same shards, in any
order. One that exists is left alone; one that is half written is never seen (`write_atomically`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, Valuer, decision_keys
from agents.learned.sampling import uniforms
from agents.learned.weights import input_size
from agents.registry import load_agent
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.lockstep import random_choices
from spades_env.envs.players import choose
from spades_env.observation.blocks import OBSERVATION_VERSION
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act
from training.seats import SeatVecEnv
from training.sections import LabelsConfig
from training.shards import Arrays, LabelError, ShowShards, make_missing, read_arrays, shard_bytes, shard_paths

FORMAT, FORMAT_VERSION = "spades_env.labels", 1
RANDOM_DRAW, LABEL_DRAW = 11, 12
"""Which number of a decision's stream decides whether it is random, and whether it is labelled."""


@dataclass(frozen=True)
class Labels:
    """Decisions and what their actions are worth; n rows.

    `observations`: uint8 (n, n_inputs). `masks`: bool (n, 73). `values`: float16 (n, 73), points to the mover's team,
    NaN for actions that were not compared. `is_bid`: bool (n,).
    """

    observations: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.bool_]
    values: npt.NDArray[np.float16]
    is_bid: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.observations)


def make_shards(
    config: LabelsConfig,
    rules: Rules,
    folder: Path,
    first: int = 0,
    step: int = 1,
    show: ShowShards | None = None,
) -> None:
    """Make the shards number `first`, `first + step`, ... of `config` that `folder` lacks."""
    teacher, player = load_agent(config.teacher), load_agent(config.player)
    if not isinstance(teacher, Valuer):
        raise AgentError(f"teacher {config.teacher!r} says no values; allowed: hard, expert, or an agents.base.Valuer")
    make_missing(
        folder,
        range(first, config.shards, step),
        lambda number: _bytes(_label(config, rules, number, teacher, player), config, rules, number),
        show,
    )


def _label(config: LabelsConfig, rules: Rules, number: int, teacher: Valuer, player: Agent) -> Labels:
    """The decisions of one shard: `player` plays, now and then at random, `teacher` values some of the choices."""
    env = SeatVecEnv(rules, config.games, config.seed)
    env.deal(number * config.games)
    views, keys = empty_views(config.games), np.zeros(config.games, np.uint64)
    parts: list[Labels] = []
    while len(games := env.waiting()):
        now, key = views[: len(games)], keys[: len(games)]
        states = env.states[games]
        views_to_act(states, now)
        decision_keys(states, key)
        is_bid = env.is_bid(games)
        chosen = np.flatnonzero(_luck(key, LABEL_DRAW) < np.where(is_bid, config.bid_share, config.play_share))
        if len(chosen):
            parts.append(_labelled(env, games[chosen], teacher.values(now[chosen], key[chosen]), is_bid[chosen]))
        actions = choose(player, now, key).astype(np.int64)
        anything = np.empty(len(games), np.int16)
        random_choices(states, key, anything)
        # Bids are the player's own: a random one ruins the deal, and what follows it is nobody's business.
        random = (_luck(key, RANDOM_DRAW) < config.random) & ~is_bid
        env.choose(games, np.where(random, anything, actions))
    return _joined(parts)


def _labelled(env: SeatVecEnv, games: npt.NDArray[np.int64], values: npt.NDArray[np.float64], bids: Any) -> Labels:
    observations, masks = env.observe(games)
    found = ~np.isnan(values).all(axis=1)
    return Labels(observations[found], masks[found], values[found].astype(np.float16), bids[found])


def _luck(keys: npt.NDArray[np.uint64], draw: int) -> npt.NDArray[np.float64]:
    out = np.empty(len(keys))
    uniforms(keys, draw, out)
    return out


def _joined(parts: list[Labels]) -> Labels:
    return Labels(*(np.concatenate([getattr(part, name) for part in parts]) for name in Labels.__dataclass_fields__))


def _header(config: LabelsConfig, rules: Rules, number: int) -> dict[str, Any]:
    """What two shards that may be mixed have in common, and the number."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "rules": rules.to_dict(),
        "labels": config.model_dump(exclude={"shards"}),
        "number": number,
    }


def _bytes(labels: Labels, config: LabelsConfig, rules: Rules, number: int) -> bytes:
    return shard_bytes(
        _header(config, rules, number),
        {
            "observations": labels.observations,
            "masks": np.packbits(labels.masks, axis=1),
            "values": labels.values,
            "is_bid": labels.is_bid,
        },
    )


def read_shard(path: Path, config: LabelsConfig, rules: Rules, number: int) -> Labels:
    """The labels in a file, which must be shard `number` of `config`; a damaged or foreign one is refused."""
    arrays = read_arrays(path, _header(config, rules, number), ("observations", "masks", "values", "is_bid"))
    if not _fit(arrays, input_size(rules)):
        raise LabelError(f"labels {str(path)!r}: arrays of other shapes or types than format {FORMAT_VERSION} has")
    masks = np.unpackbits(arrays["masks"], axis=1, count=NUM_ACTIONS).astype(np.bool_)
    return Labels(arrays["observations"], masks, arrays["values"], arrays["is_bid"])


def _fit(arrays: Arrays, inputs: int) -> bool:
    n = arrays["is_bid"].size
    return {name: (array.dtype.name, array.shape) for name, array in arrays.items()} == {
        "observations": ("uint8", (n, inputs)),
        "masks": ("uint8", (n, -(-NUM_ACTIONS // 8))),
        "values": ("float16", (n, NUM_ACTIONS)),
        "is_bid": ("bool", (n,)),
    }


def read_labels(config: LabelsConfig, rules: Rules, folder: Path) -> Labels:
    """All shards of `config` in `folder`, in order; one that is missing is named."""
    paths = enumerate(shard_paths(folder, config.shards))
    return _joined([read_shard(path, config, rules, number) for number, path in paths])
