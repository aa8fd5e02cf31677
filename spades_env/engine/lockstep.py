"""Many games in lock-step: a learner on some seats, agents on the others. Who is to act, and what a step brought.

What a step brought the learner of a game stands in one OUTCOME record. A game stops where its episode ends and waits
to be started again.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from spades_env.engine.deal import start_match
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import PURPOSE_AGENT, combine, game_key, stream
from spades_env.engine.scoring import deal_value
from spades_env.engine.state import PHASE_DEAL_OVER, PHASE_MATCH_OVER, Field, StateArray
from spades_env.engine.step import advance, apply, is_legal, random_action

OUTCOME_FIELDS: Final[tuple[Field, ...]] = (
    ("reward", "<f8", "the learner's reward since her last action"),
    ("action", "<i8", "her action, where it was refused"),
    ("points", "(2,)<i4", "points of both teams in the deal that the step scored, as scored"),
    ("scores", "(2,)<i4", "match scores after that deal"),
    ("seat", "i1", "the learner's seat: to act now, or the last to act where the episode is over"),
    ("scored", "i1", "1: the step scored a deal"),
    ("match_over", "i1", "1: and ended the match with it"),
    ("winner", "i1", "team that won the match so, -1 nobody"),
    ("refused", "i1", "1: the episode ended by her illegal action"),
    ("terminated", "i1", "1: the episode is over"),
    ("truncated", "i1", "1: the episode is over because the match reached max_deals (R26)"),
    ("_pad", "i1", "zero"),
)
OUTCOME: Final = np.dtype([(name, form) for name, form, _ in OUTCOME_FIELDS])

OutcomeArray = npt.NDArray[np.void]
IndexArray = npt.NDArray[np.int64]
KeyArray = npt.NDArray[np.uint64]

LEARNER: Final = -1
"""In a line-up: the learner sits here."""
REWARD_MARGIN, REWARD_POINTS, REWARD_WIN = 0, 1, 2
REWARD_SCALE: Final = 100.0
"""Points of a deal that make a reward of 1."""


@kernel
def decision_key(game: np.void) -> np.uint64:
    """Key of the decision that `game` waits for: a hash of (seed and game, match, deal, seat, decision).

    Folding the hash onto itself keeps the shuffle's key from being read off by undoing bijections. It hides no seed
    that can be guessed: whoever tries small seeds finds the deal from her own cards alone (docs/evaluation.md).
    """
    base = stream(game["key"], int(game["match"]), int(game["deal"]), PURPOSE_AGENT)
    return base ^ combine(combine(base, int(game["turn"])), int(game["n_actions"]))


@kernel
def decision_keys(states: StateArray, keys: KeyArray) -> None:
    """Fill `keys`, shape (n,), with the `decision_key` of every game of `states`, shape (n,)."""
    for i in range(states.shape[0]):
        keys[i] = decision_key(states[i])


@kernel
def random_choices(states: StateArray, keys: KeyArray, out: npt.NDArray[np.int16]) -> None:
    """A uniformly random legal action for each of `states` (or views' `known`); all arrays have shape (n,)."""
    for i in range(states.shape[0]):
        out[i] = random_action(states[i], keys[i], 0)


@kernel
def start_games(
    states: StateArray, rules: StateArray, games: IndexArray, seeds: IndexArray, numbers: IndexArray
) -> None:
    """Start match 0 of game number `numbers[k]` under `seeds[k]` in `states[games[k]]`; `rules` has shape (1,)."""
    for k in range(games.shape[0]):
        game = states[games[k]]
        game["rules"] = rules[0]
        game["key"] = game_key(seeds[k], numbers[k])
        game["match"] = 0
        start_match(game)


@kernel
def next_matches(states: StateArray, games: IndexArray) -> None:
    """Start the next match (R26) in each of `games`, wherever the present one stands."""
    for k in range(games.shape[0]):
        game = states[games[k]]
        game["match"] = int(game["match"]) + 1
        start_match(game)


@kernel
def is_done(outcomes: OutcomeArray, i: int) -> bool:
    """Whether the episode of game `i` is over."""
    return int(outcomes[i]["terminated"]) == 1 or int(outcomes[i]["truncated"]) == 1


@kernel
def first_illegal_choice(states: StateArray, outcomes: OutcomeArray, actions: IndexArray) -> int:
    """First game whose episode goes on and for which `actions`, shape (n,), has an illegal action, or -1."""
    for i in range(states.shape[0]):
        if not is_done(outcomes, i) and not is_legal(states, i, int(actions[i])):
            return i
    return -1


@kernel
def take_choices(states: StateArray, outcomes: OutcomeArray, actions: IndexArray, penalty: float) -> None:
    """Take the learner's `actions`, shape (n,), in all games whose episode goes on, and open their outcomes.

    An illegal action changes no position: it ends the episode with the reward `penalty`.
    """
    for i in range(states.shape[0]):
        if is_done(outcomes, i):
            continue
        outcome, action = outcomes[i], int(actions[i])
        outcome["reward"] = 0.0
        outcome["scored"] = 0
        outcome["match_over"] = 0
        if is_legal(states, i, action):
            apply(states, i, action)
        else:
            outcome["reward"] = penalty
            outcome["action"] = action
            outcome["refused"] = 1
            outcome["terminated"] = 1


@kernel
def games_by_agent(
    states: StateArray,
    outcomes: OutcomeArray,
    line_up: npt.NDArray[np.int8],
    among: IndexArray,
    games: IndexArray,
    keys: KeyArray,
    ends: IndexArray,
) -> int:
    """Number of the games `among` these that wait for an agent; their indices and decision keys in `games` and `keys`.

    Those that wait for agent 0 come first and end before `ends[0]`, and so on. `line_up`, shape (4,): which agent sits
    on each seat, or LEARNER.
    """
    count = 0
    for agent in range(ends.shape[0]):
        for k in range(among.shape[0]):
            i = among[k]
            if line_up[int(states[i]["turn"])] == agent and not is_done(outcomes, i):
                games[count] = i
                keys[count] = decision_key(states[i])
                count += 1
        ends[agent] = count
    return count


@kernel
def take_moves(states: StateArray, games: IndexArray, actions: IndexArray) -> int:
    """Take `actions[k]` in game `games[k]`; the first k that is illegal, with it and the rest not taken, or -1."""
    for k in range(games.shape[0]):
        if not is_legal(states, games[k], int(actions[k])):
            return k
        apply(states, games[k], int(actions[k]))
    return -1


@kernel
def deal_reward(game: np.void, team: int, bag_price: float, reward: int) -> float:
    """Reward of `team` for the deal scored last, `reward` being one of the REWARD_ constants."""
    if reward == REWARD_WIN:
        winner = int(game["winner"])
        if winner < 0:
            return 0.0
        return 1.0 if winner == team else -1.0
    own = deal_value(game, team, bag_price) / REWARD_SCALE
    if reward == REWARD_POINTS:
        return own
    return own - deal_value(game, 1 - team, bag_price) / REWARD_SCALE


@kernel
def score_deals(
    states: StateArray,
    outcomes: OutcomeArray,
    games: IndexArray,
    team: int,
    whole_match: bool,
    bag_price: float,
    reward: int,
) -> None:
    """Report the deals just scored in `games` to the learner's `team`; matches go on to the next deal, episodes end.

    `bag_price` NaN counts bags and penalties as scored; without `whole_match` an episode is one deal.
    """
    for k in range(games.shape[0]):
        i = games[k]
        game, outcome = states[i], outcomes[i]
        phase = int(game["phase"])
        if phase < PHASE_DEAL_OVER or is_done(outcomes, i):
            continue
        outcome["reward"] = outcome["reward"] + deal_reward(game, team, bag_price, reward)
        outcome["scored"] = 1
        outcome["match_over"] = 1 if phase == PHASE_MATCH_OVER else 0
        outcome["winner"] = game["winner"]
        for side in range(2):
            outcome["points"][side] = int(deal_value(game, side, np.nan))
            outcome["scores"][side] = game["scores"][side]
        if not whole_match:
            outcome["terminated"] = 1
        elif phase == PHASE_MATCH_OVER:
            outcome["truncated"] = game["truncated"]
            outcome["terminated"] = 1 - int(game["truncated"])
        else:
            advance(states, i)


@kernel
def note_seats(states: StateArray, outcomes: OutcomeArray) -> None:
    """Write the seat to act into the outcome of every game whose episode goes on."""
    for i in range(states.shape[0]):
        if not is_done(outcomes, i):
            outcomes[i]["seat"] = states[i]["turn"]
