"""How lucky the choices of an agent were whose chances are known: what the one taken is worth above their mean.

What a choice is worth is estimated with all hands open, by playing the deal on with stand-ins for the agents. As the
chances are known, the luck has mean 0 whatever the stand-ins are like; the better they are, the more of a result's
spread it explains. The idea is AIVAT's (Burch, Schmid, Moravcik, Morrill, Bowling: AIVAT, AAAI 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, KnownPolicy, OracleAgent
from agents.rules.conservative import ConservativeAgent, conservative_action
from agents.rules.easy import EasyAgent, easy_action
from agents.rules.normal.agent import normal_action
from agents.rules.uniform import RandomAgent
from agents.stakes import POINTS, Stakes
from evaluation.asking import asked
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.kernel import kernel
from spades_env.engine.lockstep import decision_key
from spades_env.engine.rng import combine
from spades_env.engine.scoring import deal_value
from spades_env.engine.state import PHASE_DEAL_OVER, PHASE_DRAFT, STATE, StateArray
from spades_env.engine.step import apply_action, random_action
from spades_env.view import write_view_masks

NORMAL, RANDOM, CONSERVATIVE, EASY = range(4)
"""Who plays on in an agent's place."""
PURPOSE_PLAYOUT: Final = 32
"""Of a decision's key: the stream of its playouts, apart from what the agents draw."""

IndexArray = npt.NDArray[np.int64]
SeatArray = npt.NDArray[np.int8]
FloatArray = npt.NDArray[np.float64]


def stand_in(agent: Agent | OracleAgent) -> tuple[int, float]:
    """Return who plays on for `agent`, and the chance of a slip where that is `easy`."""
    match agent:
        case RandomAgent():
            return RANDOM, 0.0
        case ConservativeAgent():
            return CONSERVATIVE, 0.0
        case EasyAgent():
            return EASY, agent.error
    return NORMAL, 0.0


@kernel
def stand_in_action(game: np.void, kind: int, slip: float, key: np.uint64, points: Stakes) -> int:
    """The action of a stand-in in the decision that `game`, dtype STATE, waits for; `key` is the stream of chance."""
    shown = int(game["pile"][int(game["pile_pos"])]) if int(game["phase"]) == PHASE_DRAFT else -1
    if kind == RANDOM:
        return random_action(game, key, 0)
    if kind == CONSERVATIVE:
        return conservative_action(game, key)
    if kind == EASY:
        return easy_action(game, shown, key, slip)
    return normal_action(game, shown, points)


@kernel
def finished_margin(
    game: np.void,
    line_up: SeatArray,
    kinds: IndexArray,
    slips: FloatArray,
    key: np.uint64,
    price: float,
    points: Stakes,
) -> float:
    """Play `game` to the end of its deal with stand-ins; points of team 0 minus team 1, bags at `price`."""
    while int(game["phase"]) < PHASE_DEAL_OVER:
        agent = int(line_up[int(game["turn"])])
        step = combine(key, int(game["n_actions"]))
        apply_action(game, stand_in_action(game, kinds[agent], slips[agent], step, points))
    return deal_value(game, 0, price) - deal_value(game, 1, price)


@kernel
def luck_of_action(
    game: np.void,
    action: int,
    chances: FloatArray,
    line_up: SeatArray,
    kinds: IndexArray,
    slips: FloatArray,
    playouts: int,
    price: float,
    work: StateArray,
    points: Stakes,
) -> float:
    """What `action` is worth to team 0 above the mean over `chances`, shape (73,); later luck is the same for all."""
    key = combine(decision_key(game), PURPOSE_PLAYOUT)
    mean, taken = 0.0, 0.0
    for other in range(chances.shape[0]):
        if chances[other] == 0.0:
            continue
        value = 0.0
        for k in range(playouts):
            work[0] = game
            apply_action(work[0], other)
            value += finished_margin(work[0], line_up, kinds, slips, combine(key, k), price, points)
        mean += chances[other] * value
        if other == action:
            taken = value
    return (taken - mean) / playouts


@kernel
def add_luck(
    states: StateArray,
    line_ups: npt.NDArray[np.int8],
    index: IndexArray,
    actions: IndexArray,
    chances: FloatArray,
    kinds: IndexArray,
    slips: FloatArray,
    playouts: int,
    price: float,
    work: StateArray,
    points: Stakes,
    luck: FloatArray,
) -> int:
    """Add the luck of `actions[k]` in game `index[k]` to its seat's; the first k whose action had no chance, or -1.

    `chances`: float64 (n, 73); `kinds`, `slips`: the stand-in of every agent; `luck`: float64 (games, 4), points of the
    seat's team minus the other's.
    """
    for k in range(index.shape[0]):
        i, action = index[k], int(actions[k])
        if chances[k, action] == 0.0:
            return k
        if chances[k, action] < 1.0:
            seat = int(states[i]["turn"])
            value = luck_of_action(
                states[i], action, chances[k], line_ups[i], kinds, slips, playouts, price, work, points
            )
            luck[i, seat] += value if seat & 1 == 0 else -value
    return -1


class Luck:
    """Adds up the luck of agents with known chances in `values`, float64 (size, 4): by game and seat."""

    def __init__(self, agents: Sequence[Agent | OracleAgent], size: int, playouts: int, price: float) -> None:
        stand_ins = [stand_in(agent) for agent in agents]
        self._agents = tuple(agents)
        self._kinds = np.array([kind for kind, _ in stand_ins], np.int64)
        self._slips = np.array([slip for _, slip in stand_ins], np.float64)
        self._playouts, self._price = playouts, price
        self._work = np.zeros(1, STATE)
        self.values = np.zeros((size, 4))

    def add(
        self, states: StateArray, line_ups: SeatArray, k: int, index: IndexArray, views: StateArray, actions: IndexArray
    ) -> None:
        """Count the luck of agent `k`, who takes `actions` in the games `index` on `views`; all three of shape (n,)."""
        agent = self._agents[k]
        if not isinstance(agent, KnownPolicy):
            return
        chances = checked_chances(agent, agent.name, views)
        wrong = add_luck(
            states,
            line_ups,
            index,
            actions,
            chances,
            self._kinds,
            self._slips,
            self._playouts,
            self._price,
            self._work,
            POINTS,
            self.values,
        )
        if wrong >= 0:
            raise AgentError(
                f"agent {agent.name!r} took action {int(actions[wrong])}, which had no chance by her own word"
            )


def checked_chances(agent: KnownPolicy, name: str, views: StateArray) -> FloatArray:
    """Return the chances of `agent`, called `name`; AgentError where they are none, or of what is illegal."""
    chances = np.ascontiguousarray(asked(name, agent.chances, views))
    masks = np.empty((views.shape[0], NUM_ACTIONS), np.int8)
    write_view_masks(views, masks)
    good = chances.shape == masks.shape and bool(
        ((chances >= 0) & ((masks == 1) | (chances == 0))).all()
        and np.isclose(chances.sum(axis=1), 1.0, atol=1e-6).all()
    )
    if not good:
        raise AgentError(
            f"agent {name!r}: chances are of shape {chances.shape} or no chances; "
            f"allowed: shape {masks.shape}, 0 for what is illegal, of sum 1"
        )
    return chances
