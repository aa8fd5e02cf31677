"""Playing a world on with `normal` in every seat, and what the finished deal is worth."""

from __future__ import annotations

import numpy as np

from agents.rules.normal.agent import normal_action
from agents.rules.normal.card import normal_card, points_card
from agents.stakes import Stakes, worth
from spades_env.engine.kernel import kernel
from spades_env.engine.state import HIDDEN, PHASE_DEAL_OVER, PHASE_DRAFT, PHASE_PLAY, StateArray
from spades_env.engine.step import apply_action


@kernel
def deal_worth(before: np.void, after: np.void, stakes: Stakes) -> float:
    """`worth` to team 0 of the deal scored in `after`, which was in progress in `before`."""
    points_0 = int(after["scores"][0]) - int(before["scores"][0])
    points_1 = int(after["scores"][1]) - int(before["scores"][1])
    return worth(before, points_0, int(after["bags"][0]), points_1, int(after["bags"][1]), stakes)


@kernel
def doubted_worth(before: np.void, after: np.void, seat: int, doubt: float, stakes: Stakes) -> float:
    """`deal_worth` of a deal in which `seat` has bid nil: one that was made is taken to fail with chance `doubt`.

    Playouts attack a nil less well than a searching opponent does.
    """
    value = deal_worth(before, after, stakes)
    if int(after["bids"][seat]) != 0 or int(after["tricks"][seat]) > 0 or doubt == 0.0:
        return value
    rules = before["rules"]
    lost = 2 * int(rules["blind_nil_value"] if int(after["blind"][seat]) == 1 else rules["nil_value"])
    points_0 = int(after["scores"][0]) - int(before["scores"][0])
    points_1 = int(after["scores"][1]) - int(before["scores"][1])
    if seat & 1 == 0:
        points_0 -= lost
    else:
        points_1 -= lost
    failed = worth(before, points_0, int(after["bags"][0]), points_1, int(after["bags"][1]), stakes)
    return (1.0 - doubt) * value + doubt * failed


@kernel
def play_on(game: np.void, playout_stakes: Stakes) -> None:
    """Draft, bid and play the deal of `game`, dtype STATE with nothing unknown, to its end as `normal` does.

    Every seat chooses from what it may know: `normal_action` reads nothing else.
    """
    while int(game["phase"]) != PHASE_PLAY and int(game["phase"]) < PHASE_DEAL_OVER:
        shown = int(game["pile"][int(game["pile_pos"])]) if int(game["phase"]) == PHASE_DRAFT else HIDDEN
        apply_action(game, normal_action(game, shown, playout_stakes))
    if playout_stakes[0].shape[0] == 0:
        while int(game["phase"]) < PHASE_DEAL_OVER:
            apply_action(game, points_card(game))
    while int(game["phase"]) < PHASE_DEAL_OVER:
        apply_action(game, normal_card(game, playout_stakes))


@kernel
def playouts(states: StateArray, stakes: Stakes) -> None:
    """`play_on` for each of `states`, shape (n,), in which nothing is unknown."""
    for i in range(states.shape[0]):
        play_on(states[i], stakes)
