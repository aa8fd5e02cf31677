"""Deals played with every decision noted: columns of NumPy arrays, a row for each decision.

A row is the same whoever plays its deal, and with whichever others: it depends on spec, agents and deal alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, KeyArray
from evaluation.dataset.spec import DatasetError, DatasetSpec
from evaluation.play import gather, put
from evaluation.starts import begin
from spades_env.actions import NUM_ACTIONS, action_text
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import below, combine, unit
from spades_env.engine.rollout import team_values
from spades_env.engine.state import MAX_ACTIONS, StateArray
from spades_env.envs.players import PlayerError, choose
from spades_env.view import empty_views, write_view_masks

CHUNK_DEALS: Final = 256
"""Deals played in lock-step, and in a row group: 16 MB of flat observations."""
PURPOSE_EXPLORE: Final = 0x6578706C
"""Of the streams under a decision's key: whether it is taken at random, and how."""

Columns = dict[str, npt.NDArray[Any]]
Tick = Callable[[int], None]
"""Called with a number of decisions just made."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive deals, played.

    Attributes:
        columns: by name (columns.COLUMNS), each of n rows, ordered by deal, seat and step. `observation` is uint8
            (n, size), `mask` uint8 (n, 10): bit a, lowest first, for action a.
        ends: STATE, the deals once they were scored.
        margins: float32 (deals, 2), points of each team minus the other's, bags priced.
    """

    columns: Columns
    ends: StateArray
    margins: npt.NDArray[np.float32]


@kernel
def pick_at_random(masks: npt.NDArray[np.int8], keys: KeyArray, epsilon: float, picked: npt.NDArray[np.int64]) -> None:
    """Fill `picked`, shape (n,), with a uniformly random legal action for a share `epsilon` of rows, else -1."""
    for k in range(masks.shape[0]):
        key = combine(keys[k], PURPOSE_EXPLORE)
        picked[k] = -1
        if unit(key, 0) >= epsilon:
            continue
        legal = 0
        for action in range(NUM_ACTIONS):
            legal += masks[k, action]
        left = below(key, 1, legal)
        for action in range(NUM_ACTIONS):
            left -= masks[k, action]
            if left < 0:
                picked[k] = action
                break


class Notes:
    """Room for the decisions of up to `deals` deals, in the order in which they are made."""

    def __init__(self, spec: DatasetSpec, deals: int) -> None:
        rules = spec.rules
        most = MAX_ACTIONS if rules.deal == "draft" else rules.players * (rules.hand_size + 2)
        rows = deals * most
        self._encoder = spec.writer
        size = 0 if self._encoder is None else self._encoder.layout.size
        self.observations = np.empty((rows if size else 0, size), np.uint8)
        self.masks = np.empty((rows, NUM_ACTIONS), np.int8)
        # Number of the deal in the chunk, seat, step, phase, action, explored.
        self.facts = np.empty((6, rows), np.int64)
        self.count = 0

    def see(self, views: StateArray, index: npt.NDArray[np.int64]) -> slice:
        """Note what is seen, before an agent gets the views into her hands; the rows."""
        rows = slice(self.count, self.count + len(views))
        if self._encoder is not None:
            self._encoder.write(views, self.observations[rows])
        write_view_masks(views, self.masks[rows])
        known = views["known"]
        for fact, values in enumerate((index, views["seat"], known["n_actions"], known["phase"])):
            self.facts[fact, rows] = values
        self.count = rows.stop
        return rows

    def take(self, rows: slice, actions: npt.NDArray[np.int64], explored: npt.NDArray[np.bool_]) -> None:
        """Note what was done in the `rows`."""
        self.facts[4, rows] = actions
        self.facts[5, rows] = explored


def play_chunk(spec: DatasetSpec, agents: Sequence[Agent], first: int, count: int, tick: Tick | None = None) -> Chunk:
    """Play deals `first` to `first + count - 1` with the agents of `spec.job()`, loaded."""
    job = spec.job()
    states = begin("deals", spec.rules, spec.seed, first, count)
    line_ups = np.tile(np.array(job.rows, np.int8), (count, 1))
    notes = Notes(spec, count)
    index, views, keys = np.empty(count, np.int64), empty_views(count), np.empty(count, np.uint64)
    moved = True
    while moved:
        moved = False
        for k, agent in enumerate(agents):
            found = gather(states, line_ups, k, index, views, keys)
            if found:
                moved = True
                _decide(agent, spec, first, notes, views[:found], keys[:found], index[:found])
                put(states, index[:found], notes.facts[4, notes.count - found : notes.count])
                if tick is not None:
                    tick(found)
    return _finished(spec, first, states, line_ups, notes)


def _decide(
    agent: Agent,
    spec: DatasetSpec,
    first: int,
    notes: Notes,
    views: StateArray,
    keys: KeyArray,
    index: npt.NDArray[np.int64],
) -> None:
    """Note one decision in each of `views`, taken by `agent` or at random."""
    rows = notes.see(views, index)
    masks = notes.masks[rows]
    picked = np.full(len(views), -1, np.int64)
    if spec.epsilon > 0.0:
        pick_at_random(masks, keys, spec.epsilon, picked)
    try:
        chosen = choose(agent, views, keys)
    except (AgentError, PlayerError) as error:
        raise DatasetError(f"deals {first + index[0]}..{first + index[-1]}: {error}") from error
    except Exception as error:  # an agent of anybody's may raise anything
        raise DatasetError(f"agent {agent.name!r}: {type(error).__name__}: {error}") from error
    legal = (chosen >= 0) & (chosen < NUM_ACTIONS)
    legal[legal] = masks[legal, chosen[legal]] == 1
    if not legal.all():
        k = int(legal.argmin())
        allowed = ", ".join(action_text(int(action)) for action in np.flatnonzero(masks[k]))
        raise DatasetError(
            f"agent {agent.name!r}: action {int(chosen[k])} in deal {first + index[k]}; allowed there: {allowed}"
        )
    notes.take(rows, np.where(picked < 0, chosen, picked), picked >= 0)


def _finished(spec: DatasetSpec, first: int, states: StateArray, line_ups: npt.NDArray[np.int8], notes: Notes) -> Chunk:
    """Put the decisions in order, and beside each what its deal came to."""
    n = notes.count
    game, seat, step, phase, action, explored = notes.facts[:, :n]
    order = np.lexsort((step, seat, game))
    game, seat = game[order], seat[order]
    priced, raw = (np.empty((len(states), 2), np.float32) for _ in range(2))
    team_values(states, spec.price, priced)
    team_values(states, np.nan, raw)
    margins = priced - priced[:, ::-1]
    team, bids, tricks = seat % 2, states["bids"][game, seat], states["tricks"][game, seat]
    columns: Columns = {
        "deal": (first + game).astype(np.int32),
        "seat": seat.astype(np.int8),
        "step": step[order].astype(np.int8),
        "phase": phase[order].astype(np.int8),
        "mask": np.packbits(notes.masks[:n][order], axis=1, bitorder="little"),
        "action": action[order].astype(np.int8),
        "explored": explored[order] == 1,
        "agent": line_ups[game, seat],
        "margin": margins[game, team],
        "margin_raw": (raw - raw[:, ::-1])[game, team].astype(np.int32),
        "points": raw[game, team].astype(np.int32),
        "bid": bids,
        "tricks": tricks,
        "nil": np.where(bids != 0, -1, tricks == 0).astype(np.int8),
    }
    if spec.writer is not None:
        columns["observation"] = notes.observations[:n][order]
    return Chunk(columns, states, margins)
