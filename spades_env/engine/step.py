"""One decision of any phase: what is legal, and what an action does. The entry points for Python take (states, i, ...).

`apply` expects a legal action; the callers that face a user check with `is_legal` first and raise.
"""

from __future__ import annotations

import numpy as np

from spades_env.cards import NUM_CARDS
from spades_env.engine.bidding import (
    ACTION_BID_0,
    CALL_BLIND,
    CALL_LOOK,
    apply_bid,
    apply_blind,
    legal_bids,
)
from spades_env.engine.deal import start_deal, start_match
from spades_env.engine.draft import (
    CALL_DONE,
    CALL_KEEP,
    CALL_TAKE_NEXT,
    apply_double_nil,
    apply_draft,
    apply_exchange,
)
from spades_env.engine.kernel import inline_kernel, kernel, nth_bit, popcount
from spades_env.engine.play import apply_card, legal_cards
from spades_env.engine.rng import below, game_key
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DEAL_OVER,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_MATCH_OVER,
    PHASE_PLAY,
    StateArray,
)
from spades_env.engine.write import write_bits

NUM_ACTIONS = 73
NUM_CALLS = NUM_ACTIONS - NUM_CARDS


@inline_kernel
def legal_parts(game: np.void) -> tuple[int, int]:
    """Legal actions of the seat to act as (mask of card ids 0-53, mask of calls: bit k for action 54 + k)."""
    phase = int(game["phase"])
    if phase == PHASE_PLAY:
        return legal_cards(game), 0
    if phase == PHASE_BID:
        return 0, legal_bids(game)
    if phase == PHASE_BLIND:
        return 0, CALL_BLIND | CALL_LOOK
    if phase == PHASE_DRAFT:
        return 0, CALL_KEEP | CALL_TAKE_NEXT
    if phase == PHASE_EXCHANGE:
        return int(game["hands"][int(game["turn"])]), CALL_DONE
    return 0, 0


@kernel
def is_legal_action(game: np.void, action: int) -> bool:
    """Whether the seat to act may take `action` now; any integer may be asked about."""
    cards, calls = legal_parts(game)
    if action < 0 or action >= NUM_ACTIONS:
        return False
    if action < NUM_CARDS:
        return (cards >> action) & 1 == 1
    return (calls >> (action - NUM_CARDS)) & 1 == 1


@inline_kernel
def apply_action(game: np.void, action: int) -> None:
    """Take a legal `action` for the seat to act, score the deal if it was the last card, and set whose turn it is."""
    count = int(game["n_actions"])
    game["actions"][count] = action
    game["n_actions"] = count + 1
    phase = int(game["phase"])
    if phase == PHASE_PLAY:
        apply_card(game, action)
    elif phase == PHASE_BID:
        apply_bid(game, action)
    elif phase == PHASE_BLIND:
        if int(game["rules"]["draft"]) == 1:
            apply_double_nil(game, action)
        else:
            apply_blind(game, action)
    elif phase == PHASE_DRAFT:
        apply_draft(game, action)
    else:
        apply_exchange(game, action)


@kernel
def go_on(game: np.void) -> None:
    """After a scored deal: the next deal with the deal passed on (R5), or a new match if this one is over (R26)."""
    if int(game["phase"]) == PHASE_MATCH_OVER:
        game["match"] = int(game["match"]) + 1
        start_match(game)
        return
    rules = game["rules"]
    game["deal"] = int(game["deal"]) + 1
    game["dealer"] = (int(game["dealer"]) + int(rules["step"])) % int(rules["players"])
    start_deal(game)


@kernel
def write_action_mask(cards: int, calls: int, out: np.ndarray) -> None:
    """Spread `legal_parts` over `out`, int8 of shape (73,): 1 = legal."""
    write_bits(out, 0, cards, NUM_CARDS)
    write_bits(out, NUM_CARDS, calls, NUM_CALLS)


@inline_kernel
def random_action(game: np.void, key: np.uint64, n: int) -> int:
    """A uniformly random legal action, the `n`-th choice of stream `key`."""
    cards, calls = legal_parts(game)
    n_cards = popcount(cards)
    pick = below(key, n, n_cards + popcount(calls))
    if pick < n_cards:
        return nth_bit(cards, pick)
    return ACTION_BID_0 + nth_bit(calls, pick - n_cards)


# Entry points from Python: an array of STATE and an index.


@kernel
def new_games(states: StateArray, rules: StateArray, seed: int, first_game: int) -> None:
    """Start match 0 in every record; games are numbered from `first_game`, `rules` has shape (1,) or (n,)."""
    for i in range(states.shape[0]):
        game = states[i]
        game["rules"] = rules[i % rules.shape[0]]
        game["key"] = game_key(seed, first_game + i)
        game["match"] = 0
        start_match(game)


@kernel
def legal_masks(states: StateArray, i: int) -> tuple[int, int]:
    """`legal_parts` of game `i`."""
    return legal_parts(states[i])


@kernel
def is_legal(states: StateArray, i: int, action: int) -> bool:
    """Whether `action` is legal in game `i`."""
    return is_legal_action(states[i], action)


@kernel
def apply(states: StateArray, i: int, action: int) -> None:
    """Take a legal `action` in game `i`."""
    apply_action(states[i], action)


@kernel
def is_over(states: StateArray, i: int) -> bool:
    """Whether the deal of game `i` has been scored (the match may go on)."""
    return int(states[i]["phase"]) >= PHASE_DEAL_OVER


@kernel
def advance(states: StateArray, i: int) -> None:
    """Start the next deal or match of game `i`, whose deal is over."""
    go_on(states[i])


@kernel
def play_out(states: StateArray, i: int, key: np.uint64, deals: int) -> int:
    """Random play of game `i` for `deals` whole deals, going on to new deals and matches; decisions made."""
    game = states[i]
    decisions = 0
    for _ in range(deals):
        while int(game["phase"]) < PHASE_DEAL_OVER:
            apply_action(game, random_action(game, key, decisions))
            decisions += 1
        go_on(game)
    return decisions
