"""SpadesBatch: N games in lock-step over one array of STATE records, with automatic resets.

The course of a game depends on (seed, game number, actions) alone: not on the batch's size, the game's place in it or
the number of threads.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from spades_env.actions import action_text
from spades_env.checks import finite_number, shown, whole_number
from spades_env.engine.deal import start_match
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import combine
from spades_env.engine.scoring import deal_value
from spades_env.engine.state import PHASE_DEAL_OVER, PHASE_MATCH_OVER, STATE, StateArray, rules_to_record
from spades_env.engine.step import (
    NUM_ACTIONS,
    apply_action,
    go_on,
    is_legal_action,
    legal_parts,
    new_games,
    random_action,
    write_action_mask,
)
from spades_env.rules import Rules, as_rules

Episode = Literal["match", "deal"]
EPISODES: Final = ("match", "deal")
DEFAULT_MAX_DEALS: Final = 100


class IllegalActionError(ValueError):
    """An action that the rules do not allow now; the message names game, seat, action and what was legal."""


def default_bag_price(rules: Rules) -> float:
    """Points a bag is worth in a single deal: its own points and its share of the penalty, -9 under the presets."""
    if rules.bag_limit == 0:
        return float(rules.bag_points)
    return rules.bag_points - rules.bag_penalty / rules.bag_limit


@kernel
def first_illegal(states: StateArray, actions: npt.NDArray[np.int64]) -> int:
    """Index of the first game whose action is not legal, or -1."""
    for i in range(states.shape[0]):
        if not is_legal_action(states[i], int(actions[i])):
            return i
    return -1


@kernel
def end_of_deal(
    game: np.void,
    i: int,
    whole_match: bool,
    bag_price: float,
    margins: npt.NDArray[np.float32],
    final_scores: npt.NDArray[np.int32],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
) -> None:
    """Report the deal that game `i` has just scored and start the next deal, match or single-deal episode."""
    margins[i] = deal_value(game, 0, bag_price) - deal_value(game, 1, bag_price)
    final_scores[i, 0] = game["scores"][0]
    final_scores[i, 1] = game["scores"][1]
    if whole_match:
        over = int(game["phase"]) == PHASE_MATCH_OVER
        truncated[i] = int(game["truncated"]) == 1
        terminated[i] = over and int(game["truncated"]) == 0
        go_on(game)
    else:
        terminated[i] = True
        game["match"] = int(game["match"]) + 1
        start_match(game)


@kernel
def step_games(
    states: StateArray,
    actions: npt.NDArray[np.int64],
    whole_match: bool,
    bag_price: float,
    margins: npt.NDArray[np.float32],
    final_scores: npt.NDArray[np.int32],
    scored: npt.NDArray[np.bool_],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
) -> None:
    """Apply one legal action to every game; games whose deal is over report it and go on at once."""
    for i in range(states.shape[0]):
        game = states[i]
        apply_action(game, int(actions[i]))
        over = int(game["phase"]) >= PHASE_DEAL_OVER
        scored[i] = over
        terminated[i] = False
        truncated[i] = False
        margins[i] = 0.0
        if over:
            end_of_deal(game, i, whole_match, bag_price, margins, final_scores, terminated, truncated)


@kernel
def write_action_masks(states: StateArray, out: npt.NDArray[np.int8]) -> None:
    """Masks of the seats to act, int8 of shape (n, 73), 1 = legal."""
    for i in range(states.shape[0]):
        cards, calls = legal_parts(states[i])
        write_action_mask(cards, calls, out[i])


@kernel
def sample_actions(states: StateArray, key: np.uint64, n: int, out: npt.NDArray[np.int64]) -> None:
    """A uniformly random legal action for every game: choice `n` of stream (key, i), shape (n_games,)."""
    for i in range(states.shape[0]):
        out[i] = random_action(states[i], combine(key, i), n)


class SpadesBatch:
    """N games stepped together; all arrays are owned here and overwritten by the next `step`.

    Attributes (n = number of games):
        states: STATE records, shape (n,).
        scored: bool (n,), a deal was scored in the last step.
        terminated, truncated: bool (n,), the episode ended in the last step (the next one has already begun).
        margins: float32 (n,), points of team 0 minus team 1 in the deal just scored, else 0. Bags are priced at
            `bag_price` in single deals and counted as scored, penalties included, in matches.
        final_scores: int32 (n, 2), scores after the deal scored last.
    """

    def __init__(
        self,
        n: int,
        rules: Rules | str = "classic",
        *,
        seed: int = 0,
        episode: Episode = "match",
        bag_price: float | None = None,
        first_game: int = 0,
    ) -> None:
        n = whole_number("n", n, 1, 2**24)
        if episode not in EPISODES:
            raise ValueError(f"episode is {shown(episode)}; allowed: {', '.join(EPISODES)}")
        seed = whole_number("seed", seed, 0, 2**63 - 1)
        first_game = whole_number("first_game", first_game, 0, 2**31 - 1)
        if bag_price is not None and episode == "match":
            raise ValueError("bag_price is refused with episode='match': bags and penalties count as scored there")
        self.rules = as_rules(rules)
        if self.rules.max_deals is None:
            self.rules = self.rules.replace(max_deals=DEFAULT_MAX_DEALS)
        self.episode: Episode = episode
        # NaN tells `deal_value` to count bags and penalties as scored.
        self.bag_price = default_bag_price(self.rules) if bag_price is None else finite_number("bag_price", bag_price)
        self._price = self.bag_price if episode == "deal" else float("nan")
        self.states: StateArray = np.zeros(n, STATE)
        new_games(self.states, rules_to_record(self.rules), seed, first_game)
        self.scored = np.zeros(n, np.bool_)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self.margins = np.zeros(n, np.float32)
        self.final_scores = np.zeros((n, 2), np.int32)

    @property
    def turn(self) -> npt.NDArray[np.int8]:
        """Seat to act of each game, int8 (n,): a view into `states`."""
        turn: npt.NDArray[np.int8] = self.states["turn"]
        return turn

    def __len__(self) -> int:
        return int(self.states.shape[0])

    def step(self, actions: npt.NDArray[np.integer], *, check: bool = True) -> None:
        """Apply `actions`, integers of shape (n,). With `check`, an illegal one is refused before anything changes."""
        chosen = _whole_actions(actions, self.scored.shape)
        if check:
            self._check(chosen)
        step_games(
            self.states,
            chosen,
            self.episode == "match",
            self._price,
            self.margins,
            self.final_scores,
            self.scored,
            self.terminated,
            self.truncated,
        )

    def action_masks(self, out: npt.NDArray[np.int8] | None = None) -> npt.NDArray[np.int8]:
        """Masks of the seats to act, int8 of shape (n, 73), written into `out` if given."""
        shape = (len(self), NUM_ACTIONS)
        if out is None:
            out = np.empty(shape, np.int8)
        elif not isinstance(out, np.ndarray):
            raise ValueError(f"out is a {type(out).__name__}; allowed: an array")
        elif out.shape != shape or out.dtype != np.int8 or not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError(f"out is {out.dtype} {out.shape}; allowed: writeable contiguous int8 of shape {shape}")
        write_action_masks(self.states, out)
        return out

    def sample_actions(self, key: int, n: int) -> npt.NDArray[np.int64]:
        """Uniformly random legal actions, shape (n_games,): choice `n` of the random stream `key`."""
        key, n = whole_number("key", key, 0, 2**64 - 1), whole_number("n", n, 0, 2**63 - 1)
        out = np.empty(len(self), np.int64)
        sample_actions(self.states, np.uint64(key), n, out)
        return out

    def _check(self, actions: npt.NDArray[np.int64]) -> None:
        i = int(first_illegal(self.states, actions))
        if i >= 0:
            raise IllegalActionError(f"game {i}: {illegal_text(self.states, i, int(actions[i]))}")


def _whole_actions(actions: object, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """`actions` as contiguous int64 of `shape`; floats, bools, text and numbers beyond int64 are refused."""
    given = np.asarray(actions)
    if given.shape != shape:
        raise ValueError(f"actions have shape {given.shape}; allowed: {shape}")
    if not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"actions are {given.dtype}; allowed: integers 0..{NUM_ACTIONS - 1}")
    if given.dtype != np.int64:
        # Clipped, because huge unsigned numbers would wrap around, perhaps to legal ones.
        given = np.clip(given, -1, NUM_ACTIONS)
    return np.ascontiguousarray(given, dtype=np.int64)


def legal_action_list(states: StateArray, i: int) -> list[int]:
    """Legal actions of game `i` in ascending order."""
    mask = np.zeros((1, NUM_ACTIONS), np.int8)
    write_action_masks(states[i : i + 1], mask)
    return [int(a) for a in np.flatnonzero(mask[0])]


def illegal_text(states: StateArray, i: int, action: int) -> str:
    """One line that says who may not do what, and what she may do instead."""
    legal = legal_action_list(states, i)
    named = ", ".join(f"{a} ({action_text(a)})" for a in legal) or "nothing, the episode is over"
    what = f"{action} ({action_text(action)})" if 0 <= action < NUM_ACTIONS else f"{action} (no action)"
    return f"seat {int(states['turn'][i])} may not do {what}; legal: {named}"
