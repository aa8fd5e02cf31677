"""Export to Minari (minari.farama.org): the decisions of one seat in one deal are an episode.

The episode's last observation, after the deal, stands in no dataset: the deal is played again from its actions, which
also proves that they are those of the deal.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

import minari
import numpy as np
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_dataset import parse_dataset_id
from minari.storage import get_dataset_path

from evaluation.dataset.read import Batch, Dataset
from evaluation.dataset.spec import DatasetError
from evaluation.starts import begin
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.lockstep import REWARD_SCALE, take_moves
from spades_env.engine.state import StateArray
from spades_env.envs.registration import gymnasium_spec
from spades_env.envs.spaces import action_space, observation_space
from spades_env.observation.encoders import ENCODERS
from spades_env.rules import Rules
from spades_env.view import empty_views, view_of

DTYPE: Final = "uint8"
DEFAULT_AUTHOR: Final = "spades_env"

Progress = Callable[[int, int], None]
"""Called with the episodes written, and how many there are."""


def export_minari(
    dataset: Dataset,
    dataset_id: str,
    *,
    author: str = DEFAULT_AUTHOR,
    email: str | None = None,
    progress: Progress | None = None,
) -> int:
    """Write `dataset` to Minari's folder (MINARI_DATASETS_PATH) under `dataset_id`; the number of episodes.

    Observations are dicts of `observation`, uint8, and `action_mask`; the reward, at the end of the deal, is the
    column `margin` / 100. Options of an episode say deal, seat and agent.
    """
    definition = dataset.definition
    if definition["encoder"] not in ENCODERS:
        raise DatasetError(f"encoder is {definition['encoder']!r}; allowed for Minari: {', '.join(ENCODERS)}")
    parse_dataset_id(dataset_id)
    place = get_dataset_path(dataset_id)
    if place.exists():
        raise DatasetError(f"{place} is there already: delete it, or give another ID")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it recommends an e-mail address, and more
            minari.create_dataset_from_buffers(
                dataset_id,
                _episodes(dataset, progress),
                env=gymnasium_spec(**_arguments(definition)),
                observation_space=observation_space(definition["encoder"], DTYPE),
                action_space=action_space(),
                algorithm_name=", ".join(dataset.agents),
                author=author,
                author_email=email,
                code_permalink=f"spades_env {definition['spades_env']}, code {definition['code']}",
                description=f"Decisions of {', '.join(dataset.agents)} in single deals of Spades. {dataset.command}",
                data_format="hdf5",
            )
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return sum(agent["seats"] for entry in dataset.entries for agent in entry.counts["agents"])


def _arguments(definition: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the environment that an episode of seat 0 comes from."""
    seats = [definition["agents"][k] for k in definition["line_up"]]
    others: dict[str, Any] = {"opponents": seats[1]}
    if len(seats) == 4:
        others = {"opponents": [seats[1], seats[3]], "partner": seats[2]}
    fixed = {"episode": "deal", "reward": "margin", "bag_price": definition["bag_price"], "dtype": DTYPE}
    return {"rules": definition["rules"], "observation": definition["encoder"], **fixed, **others}


def _episodes(dataset: Dataset, progress: Progress | None) -> Iterator[EpisodeBuffer]:
    """Yield the episodes in order of deal and seat."""
    players = len(dataset.definition["line_up"])
    total = players * sum(entry.counts["deals"] for entry in dataset.entries)
    done = 0
    for rows in dataset.groups():
        ends = _played_again(dataset, rows)
        first = int(rows["deal"][0])
        starts = np.flatnonzero(np.diff(rows["deal"] * 4 + rows["seat"], prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(rows["deal"])], strict=True):
            deal, seat = int(rows["deal"][start]), int(rows["seat"][start])
            last = _last_observation(dataset.definition["encoder"], ends, deal - first, seat)
            yield _episode(dataset, rows, slice(int(start), int(stop)), last)
            done += 1
        if progress is not None:
            progress(done, total)


def _played_again(dataset: Dataset, rows: Batch) -> StateArray:
    """Return the deals of some rows once they are over, STATE of shape (deals,)."""
    first, count = int(rows["deal"][0]), int(rows["deal"][-1]) - int(rows["deal"][0]) + 1
    definition = dataset.definition
    states = begin("deals", Rules.from_dict(definition["rules"]), definition["seed"], first, count)
    order = np.lexsort((rows["step"], rows["deal"]))
    games = rows["deal"][order].astype(np.int64) - first
    wrong = int(take_moves(states, games, rows["action"][order].astype(np.int64)))
    if wrong >= 0:
        raise DatasetError(f"deal {first + games[wrong]}: an action is not legal; the engine's rules have changed")
    return states


def _last_observation(encoder: str, ends: StateArray, i: int, seat: int) -> np.ndarray:
    """Return what `seat` sees of game `i` of `ends`, uint8 of shape (1, size)."""
    views = empty_views(1)
    view_of(ends, i, seat, views, 0)
    row = np.empty((1, ENCODERS[encoder].layout.size), np.uint8)
    ENCODERS[encoder].write(views, row)
    return row


def _episode(dataset: Dataset, rows: Batch, part: slice, last: np.ndarray) -> EpisodeBuffer:
    """Return the decisions `part` as an episode; in the last observation all actions are legal, none is asked for."""
    steps = part.stop - part.start
    rewards = np.zeros(steps, np.float32)
    rewards[-1] = rows["margin"][part.start] / REWARD_SCALE
    masks = np.concatenate([rows["mask"][part].view(np.int8), np.ones((1, NUM_ACTIONS), np.int8)])
    options = {name: int(rows[name][part.start]) for name in ("deal", "seat")}
    return EpisodeBuffer(
        options=options | {"agent": dataset.agents[int(rows["agent"][part.start])]},
        observations={"observation": np.concatenate([rows["observation"][part], last]), "action_mask": masks},
        actions=rows["action"][part].astype(np.int64),
        rewards=rewards,
        terminations=np.arange(steps) == steps - 1,
        truncations=np.zeros(steps, np.bool_),
    )
