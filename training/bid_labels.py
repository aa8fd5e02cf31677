"""Labels for bids: a policy's deals, in which one bid is replaced by every plausible one, and what each brings.

The cards, the earlier bids and the keys of the decisions are the same for all of them (common random numbers: a key
depends on the deal, on who is to act and on how many actions there were), so that what they differ in is the bid and
what came of it. One decision a deal: copies cost as much as deals, and other cards tell more than another seat of the
same.

All play the likeliest action, as the policy does at a table; what a bid is worth to one who draws, she need not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, decision_keys
from agents.learned.forward import LOWEST
from agents.learned.policy import LearnedAgent, softmax
from agents.learned.sampling import uniforms
from agents.learned.weights import Tensors, content_digest, input_size
from agents.registry import load_agent
from spades_env.actions import FIRST_BID, MAX_BID, NIL, action_text
from spades_env.engine.lockstep import take_moves
from spades_env.engine.rollout import apply_choices, team_values, to_next_choice
from spades_env.engine.state import PHASE_BID, StateArray
from spades_env.envs.players import choose
from spades_env.observation.blocks import OBSERVATION_VERSION
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act
from training.seats import SeatVecEnv
from training.sections import BidLabelsConfig
from training.shards import LabelError, ShowShards, make_missing, read_arrays, shard_bytes, shard_paths

FORMAT, FORMAT_VERSION = "spades_env.bid_labels", 1
BIDS: Final = MAX_BID + 1
"""Nil and 1 to 13: columns of the arrays below, column b is the action FIRST_BID + b."""
FIRST_DEAL: Final = 1 << 40
"""Number of the first deal: self-play under the same seed has others."""
OPPONENTS_DRAW: Final = 13
"""Which number of the stream of a deal's first decision decides whether the opponents sit there."""

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class BidLabels:
    """Bidding decisions and what the bids tried there came to; n rows, one a deal.

    Attributes:
        observations: uint8 (n, n_inputs), of the seat to bid.
        logits: float32 (n, 14), of the policy, LOWEST where illegal.
        values: float32 (n, 14), points of the bidder's team minus the others', bags priced; NaN: not tried.
        deals: int64 (n,), number of the deal.
    """

    observations: npt.NDArray[np.uint8]
    logits: Floats
    values: Floats
    deals: Ints

    def __len__(self) -> int:
        return len(self.deals)

    @property
    def tried(self) -> Bools:
        """Which bids were tried, bool (n, 14)."""
        return ~np.isnan(self.values)


NAMES: Final = tuple(field.name for field in fields(BidLabels))


@dataclass(frozen=True)
class BidTask:
    """All that shards of bids depend on beside their number."""

    config: BidLabelsConfig
    rules: Rules
    bag_price: float
    tensors: Tensors
    knows_match: bool

    def header(self, number: int) -> Mapping[str, Any]:
        """What stands in shard `number`."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "observation_version": OBSERVATION_VERSION,
            "rules": self.rules.to_dict(),
            "bag_price": self.bag_price,
            "policy": content_digest({"knows_match": self.knows_match}, self.tensors),
            "labels": self.config.model_dump(exclude={"shards"}),
            "number": number,
        }


def make_bid_shards(task: BidTask, folder: Path, first: int = 0, step: int = 1, show: ShowShards | None = None) -> None:
    """Make the shards number `first`, `first + step`, ... of `task` that `folder` lacks."""
    policy = LearnedAgent(task.tensors, task.rules, name="start", knows_match=task.knows_match)
    opponents = None if task.config.opponents is None else load_agent(task.config.opponents)

    def make(number: int) -> bytes:
        labels = value_bids(task, number, policy, opponents)
        return shard_bytes(task.header(number), {name: getattr(labels, name) for name in NAMES})

    make_missing(folder, range(first, task.config.shards, step), make, show)


def read_bid_labels(task: BidTask, folder: Path) -> BidLabels:
    """All shards of `task` in `folder`, in order; one that is missing, damaged or foreign is named."""
    parts = []
    for number, path in enumerate(shard_paths(folder, task.config.shards)):
        labels = BidLabels(**read_arrays(path, task.header(number), NAMES))
        if not _fits(labels, input_size(task.rules)):
            raise LabelError(f"labels {str(path)!r}: arrays of other shapes or types than format {FORMAT_VERSION} has")
        parts.append(labels)
    return BidLabels(*(np.concatenate([getattr(part, name) for part in parts]) for name in NAMES))


def _fits(labels: BidLabels, inputs: int) -> bool:
    n = labels.deals.size
    forms = {name: (getattr(labels, name).dtype.name, getattr(labels, name).shape) for name in NAMES}
    return forms == {
        "observations": ("uint8", (n, inputs)),
        "logits": ("float32", (n, BIDS)),
        "values": ("float32", (n, BIDS)),
        "deals": ("int64", (n,)),
    }


def value_bids(task: BidTask, number: int, policy: LearnedAgent, opponents: Agent | None) -> BidLabels:
    """The decisions of shard `number`; deals in which the seat chosen has no bid to choose are left out."""
    config, players = task.config, task.rules.players
    table = SeatVecEnv(task.rules, config.games, config.seed, task.bag_price)
    first = number * config.games
    table.deal(FIRST_DEAL + first)
    states, deals = table.states, first + np.arange(config.games)
    # Every place in the order of bidding as often as the others.
    bidders = (states["first"] + states["rules"]["step"].astype(np.int64) * deals) % players
    agents: list[Agent] = [policy] if opponents is None else [policy, opponents]
    owners = line_ups(states, bidders, players, config)
    play_on(states, owners, agents, bidders)
    games = np.flatnonzero((states["phase"] == PHASE_BID) & (states["turn"] == bidders))
    observations, _ = table.observe(games)
    views = empty_views(len(games))
    views_to_act(states[games], views)
    logits = policy.outputs(views)[:, FIRST_BID : FIRST_BID + BIDS]
    tried = plausible(logits, config)
    values = np.full(tried.shape, np.nan, np.float32)
    rows, bids = np.nonzero(tried)
    values[rows, bids] = _worth(states[games], owners[games], agents, rows, bids, task.bag_price)
    return BidLabels(observations.copy(), logits.copy(), values, deals[games])


def line_ups(states: StateArray, bidders: Ints, players: int, config: BidLabelsConfig) -> Ints:
    """Which agent sits where in freshly dealt `states`, (n, players): 0, or 1 on the seats of opponents."""
    keys, luck = np.empty(len(states), np.uint64), np.empty(len(states))
    decision_keys(states, keys)
    uniforms(keys, OPPONENTS_DRAW, luck)
    meets = (luck < config.opponents_share) & (config.opponents is not None)
    against = (np.arange(players) - bidders[:, None]) % 2 == 1
    return (meets[:, None] & against).astype(np.int64)


def plausible(logits: Floats, config: BidLabelsConfig) -> Bools:
    """Which bids are tried where the policy has `logits`, (n, 14): see `BidLabelsConfig`."""
    legal = logits > LOWEST
    likeliest = 1 + logits[:, 1:].argmax(axis=1)
    near = np.abs(np.arange(BIDS) - likeliest[:, None]) <= config.width
    near[:, NIL - FIRST_BID] = True
    return legal & (near | (softmax(logits) >= config.chance))


def _worth(
    states: StateArray, owners: Ints, agents: Sequence[Agent], rows: Ints, bids: Ints, bag_price: float
) -> Floats:
    """Points of the bidder's team minus the others' once `bids[k]` is bid in a copy of `states[rows[k]]`, (k,)."""
    copies = states[rows]
    team = copies["turn"] % 2
    apply_choices(copies, np.arange(len(rows)), FIRST_BID + bids)
    play_on(copies, owners[rows], agents)
    points = np.empty((len(rows), 2), np.float32)
    team_values(copies, bag_price, points)
    margin = points[:, 0] - points[:, 1]
    return np.where(team == 0, margin, -margin)


def play_on(states: StateArray, owners: Ints, agents: Sequence[Agent], bidders: Ints | None = None) -> None:
    """Let agent `owners[game, seat]` choose until all deals of `states`, (n,), are over.

    With `bidders`, (n,), a game stops as soon as it waits for the bid of that seat.
    """
    waiting = np.empty(len(states), np.int64)
    views, keys = empty_views(len(states)), np.empty(len(states), np.uint64)
    while True:
        games = waiting[: to_next_choice(states, waiting)]
        if bidders is not None:
            asked = (states["phase"][games] == PHASE_BID) & (states["turn"][games] == bidders[games])
            games = games[~asked]
        if len(games) == 0:
            return
        who = owners[games, states["turn"][games]]
        for number, agent in enumerate(agents):
            _let_choose(states, games[who == number], agent, views, keys)


def _let_choose(states: StateArray, games: Ints, agent: Agent, views: StateArray, keys: npt.NDArray[np.uint64]) -> None:
    """One choice of `agent` in each of `games`; `views` and `keys` are room to work in."""
    n = len(games)
    if n == 0:
        return
    now = states[games]
    views_to_act(now, views[:n])
    decision_keys(now, keys[:n])
    actions = choose(agent, views[:n], keys[:n])
    wrong = int(take_moves(states, games, actions))
    if wrong >= 0:
        text = action_text(int(actions[wrong]))
        raise AgentError(f"opponent {agent.name!r} chose {text}, which the rules do not allow there")
