"""Self-play from which the tables of normal's bidding are measured: deals in which some seats are told what to bid.

Game number i of every measurement is game i of its seed. `states` is room for two games: the deal before the first
bid, and the copy that is played out.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from agents.rules.normal.agent import normal_action
from agents.rules.normal.bid import MOST_FOR_NIL, bids_before, place_in_turn
from agents.rules.normal.strength import expected_tricks, top_run
from agents.stakes import Stakes
from spades_env.actions import BLIND_NIL, FIRST_BID, LOOK
from spades_env.engine.kernel import kernel
from spades_env.engine.state import HIDDEN, PHASE_BID, PHASE_BLIND, PHASE_DEAL_OVER, PHASE_DRAFT, StateArray
from spades_env.engine.step import apply_action, new_games

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

BLIND: Final = -1
"""As a forced bid: blind or double nil."""
WEIGHED: Final = 6
"""Numbers that `weighed` (bid.py) weighs: 1, own tricks, partner's bid and nil, opponents' bids and nils."""


@kernel
def take_turn(game: np.void, seats: int, bid: int, stakes: Stakes) -> None:
    """One decision: as `normal`, who looks, but a seat of the mask `seats` makes `bid` (BLIND: without looking)."""
    turn, phase = int(game["turn"]), int(game["phase"])
    forced = (seats >> turn) & 1 == 1
    if phase == PHASE_BLIND:
        action = BLIND_NIL if forced and bid == BLIND else LOOK
    elif phase == PHASE_BID and forced:
        action = FIRST_BID + bid
    else:
        shown = int(game["pile"][int(game["pile_pos"])]) if phase == PHASE_DRAFT else HIDDEN
        action = normal_action(game, shown, stakes)
    apply_action(game, action)


@kernel
def deal_hands(states: StateArray, rules: StateArray, seed: int, number: int, stakes: Stakes) -> None:
    """Set `states[0]` to the first bid of game `number`, after the draft if there is one."""
    new_games(states[:1], rules, seed, number)
    game = states[0]
    while int(game["phase"]) != PHASE_BID:
        take_turn(game, 0, 0, stakes)


@kernel
def play_deal(game: np.void, seats: int, bid: int, stakes: Stakes) -> None:
    """Play the deal to its end, see `take_turn`."""
    while int(game["phase"]) < PHASE_DEAL_OVER:
        take_turn(game, seats, bid, stakes)


@kernel
def play_for_tricks(
    states: StateArray, rules: StateArray, seed: int, hands: IntArray, tricks: IntArray, stakes: Stakes
) -> None:
    """Hands and tricks of every seat, int64 of shape (deals, players), when everybody bids 13."""
    game = states[0]
    for i in range(hands.shape[0]):
        deal_hands(states, rules, seed, i, stakes)
        for seat in range(hands.shape[1]):
            hands[i, seat] = int(game["hands"][seat])
        play_deal(game, 15, 13, stakes)
        for seat in range(hands.shape[1]):
            tricks[i, seat] = int(game["tricks"][seat])


@kernel
def play_nils(
    states: StateArray,
    rules: StateArray,
    seed: int,
    deals: int,
    hands: IntArray,
    places: IntArray,
    known: FloatArray,
    made: FloatArray,
    stakes: Stakes,
) -> int:
    """Let each seat fit for it bid nil in turn; returns how many.

    Of each of n: her hand, her place in the bidding, what she knew (n, WEIGHED), 1 if she made it.
    """
    players, jokers = int(rules[0]["players"]), int(rules[0]["jokers"])
    dealt, game, count = states[0], states[1], 0
    for i in range(deals):
        deal_hands(states, rules, seed, i, stakes)
        for seat in range(players):
            hand = int(dealt["hands"][seat])
            if top_run(hand, jokers) > 0 or expected_tricks(hand, players, jokers) >= MOST_FOR_NIL:
                continue
            states[1] = states[0]
            while int(game["turn"]) != seat:
                take_turn(game, 0, 0, stakes)
            hands[count], places[count] = hand, place_in_turn(game)
            write_known(game, known[count])
            play_deal(game, 1 << seat, 0, stakes)
            made[count] = 1.0 if int(game["tricks"][seat]) == 0 else 0.0
            count += 1
    return count


@kernel
def write_known(game: np.void, out: FloatArray) -> None:
    """What `weighed` (bid.py) weighs for the seat to bid, shape (WEIGHED,)."""
    seat, rules = int(game["turn"]), game["rules"]
    partner_bid, partner_nil, bids, nils = bids_before(game, seat)
    out[0] = 1.0
    out[1] = expected_tricks(int(game["hands"][seat]), int(rules["players"]), int(rules["jokers"]))
    out[2], out[3] = partner_bid, partner_nil
    out[4], out[5] = bids, nils


@kernel
def contest(game: np.void, stakes: Stakes) -> None:
    """End the bidding as `normal`, then play the deal with everybody but nil bidders fighting for every trick."""
    while int(game["phase"]) == PHASE_BID:
        take_turn(game, 0, 0, stakes)
    for seat in range(int(game["rules"]["players"])):
        if int(game["bids"][seat]) > 0:
            game["bids"][seat] = 13
    play_deal(game, 0, 0, stakes)


@kernel
def play_last_bidders(
    states: StateArray, rules: StateArray, seed: int, known: FloatArray, tricks: FloatArray, stakes: Stakes
) -> None:
    """Tricks that the team of each of the last two to bid can fight for, without those of a partner who bids nil.

    `known` (2, deals, WEIGHED) is what she knows when she bids, `tricks` (2, deals) what the team takes.
    """
    players = int(rules[0]["players"])
    game = states[1]
    for i in range(tricks.shape[1]):
        deal_hands(states, rules, seed, i, stakes)
        for row in range(2):
            states[1] = states[0]
            while place_in_turn(game) < players - 2 + row:
                take_turn(game, 0, 0, stakes)
            seat = int(game["turn"])
            write_known(game, known[row, i])
            take_turn(game, 1 << seat, max(1, int(known[row, i, 1])), stakes)  # what the next bidder may expect
            contest(game, stakes)
            tricks[row, i] = int(game["tricks"][seat])
            if players == 4 and int(game["bids"][(seat + 2) & 3]) > 0:
                tricks[row, i] += int(game["tricks"][(seat + 2) & 3])


@kernel
def blind_share(states: StateArray, rules: StateArray, seed: int, deals: int, stakes: Stakes) -> float:
    """Share of blind or double nils made when each seat in turn bids one, the others bidding as `normal`."""
    players, made = int(rules[0]["players"]), 0
    game = states[0]
    for i in range(deals):
        for seat in range(players):
            new_games(states[:1], rules, seed, i)
            play_deal(game, 1 << seat, BLIND, stakes)
            made += 1 if int(game["tricks"][seat]) == 0 else 0
    return made / (deals * players)
