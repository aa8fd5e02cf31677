"""Tasks nil_cover and nil_attack: positions in which a nil hangs on the next card, the answer known by the solver."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.registry import load_agent
from agents.search.candidates import distinct_cards
from agents.search.solver.api import solve_moves
from agents.search.solver.workspace import new_workspace
from agents.stakes import POINTS, Stakes
from evaluation.intervals import mean_interval
from evaluation.play import Players, put
from evaluation.suite.choices import chosen
from evaluation.suite.positions import Columns, columns_of, load, states_from
from evaluation.suite.reference import cards_played
from evaluation.suite.tables import dealer
from evaluation.suite.task import REFERENCE, Outcome, Run, Task
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import kernel, lowest_bit, popcount
from spades_env.engine.play import legal_cards
from spades_env.engine.state import PHASE_PLAY, STATE, StateArray
from spades_env.rules import Rules

COVER, ATTACK = "nil_cover", "nil_attack"
MADE_SEEDS: Final = {COVER: 73_001, ATTACK: 74_001}
POSITIONS: Final = 500
TRICKS_PLAYED: Final = (4, 9)
"""A position has at least and at most so many tricks behind it: 9 to 4 cards a hand."""
NIL_WORTH: Final = 100_000
"""Of a nil while the solver looks: more than everything else, so that the nil alone decides."""
NODES: Final = 3_000_000
NOBODY: Final = -1


@kernel
def nil_seat(game: np.void) -> int:
    """The one seat whose nil is still alive in a deal with a single nil, else NOBODY."""
    found = NOBODY
    for seat in range(4):
        if int(game["bids"][seat]) == 0:
            if found != NOBODY or int(game["tricks"][seat]) > 0:
                return NOBODY
            found = seat
    return found


@kernel
def cards_by_nil(
    states: StateArray, i: int, scratch: StateArray, workspace: StateArray, stakes: Stakes
) -> tuple[int, int]:
    """(cards that leave the nil made, cards that leave it set) of the seat to act, masks, by perfect play for the nil.

    All hands are known; both masks are 0 if the solver gives up. `scratch`: one STATE record.
    """
    scratch[0] = states[i]
    scratch[0]["rules"]["nil_value"] = NIL_WORTH
    nil = nil_seat(states[i])
    solved = np.zeros(NUM_CARDS)
    if solve_moves(scratch[0], workspace[0], stakes, NODES, solved) == 0:
        return 0, 0
    sign = 1.0 if nil % 2 == 0 else -1.0
    made, broken = 0, 0
    cards = legal_cards(states[i])
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if sign * solved[card] > 0.0:
            made |= 1 << card
        else:
            broken |= 1 << card
    return made, broken


@kernel
def role_to_act(states: StateArray, i: int) -> int:
    """0 if partner of a living nil is to act with a choice, 1 if an opponent is, -1 if neither."""
    game = states[i]
    if int(game["phase"]) != PHASE_PLAY:
        return -1
    nil, turn = nil_seat(game), int(game["turn"])
    if nil == NOBODY or turn == nil or popcount(distinct_cards(game, turn)) < 2:
        return -1
    return 0 if (turn - nil) % 2 == 0 else 1


def make(name: str, positions: int = POSITIONS) -> Columns:
    """Return the file of a task: `good`, int64 (n,): the cards after which her side still has its way, as a mask."""
    deal, number = dealer(Rules(), MADE_SEEDS[name]), 0
    workspace, scratch = new_workspace(), np.zeros(1, STATE)
    parts: list[Columns] = []
    low, high = TRICKS_PLAYED
    while len(parts) < positions:
        states = deal(number, 1)
        # Where in the deal is looked goes round with its number; one position a deal.
        cards_played(states, 4 * low + number % (4 * (high - low + 1)))
        number += 1
        if role_to_act(states, 0) != (0 if name == COVER else 1):
            continue
        made, broken = cards_by_nil(states, 0, scratch, workspace, POINTS)
        if made and broken:
            row = columns_of(states)
            row["good"] = np.array([made if name == COVER else broken], np.int64)
            parts.append(row)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _run(run: Run, name: str) -> Outcome:
    """Play every position of a task to the end of its deal with the agent in her role."""
    columns = load(name)
    states = states_from(columns, run.games)
    first, illegal = chosen(run, states)
    good = (columns["good"][: run.games] >> first.astype(np.int64)) & 1
    nils = np.where((states["bids"] == 0).any(axis=1), (states["bids"] == 0).argmax(axis=1), NOBODY)
    seats = np.arange(4)[None, :]
    hers = seats == (nils[:, None] + 2) % 4 if name == COVER else (seats - nils[:, None]) % 2 == 1
    put(states, np.arange(run.games), first)
    players = Players([run.player, load_agent(REFERENCE)], run.batch_size)
    for start in range(0, run.games, run.batch_size):
        rows = slice(start, start + run.batch_size)
        part = states[rows].copy()
        players.play_deals(part, np.where(hers[rows], 0, 1).astype(np.int8))
        states[rows] = part
        run.share(min(1.0, (start + run.batch_size) / run.games))
    made = states["tricks"][np.arange(run.games), nils] == 0
    success = made if name == COVER else ~made
    figures: dict[str, Any] = {
        "first_card_right": float(good.mean()),
        "success_after_right_card": float(success[good == 1].mean()) if good.any() else None,
        "success_after_wrong_card": float(success[good == 0].mean()) if not good.all() else None,
    }
    return Outcome(mean_interval(success.astype(np.float64)), run.games, illegal + players.tallies[0].illegal, figures)


def nil_cover(run: Run) -> Outcome:
    """She is partner of the nil."""
    return _run(run, COVER)


def nil_attack(run: Run) -> Outcome:
    """She is both opponents of the nil."""
    return _run(run, ATTACK)


_POSITION: Final = (
    "Frozen positions, one a deal, of deals that `normal` bid and played in all seats, after "
    f"{TRICKS_PLAYED[0]} to {TRICKS_PLAYED[1]} tricks, with one nil at the table, still alive. The exact solver, all "
    "hands known and nothing but the nil at stake, finds that the nil hangs on the next card: after some cards of the "
    "seat to act it can be made against any attack, after the others it can be broken against any defence. "
)
_REST: Final = (
    "`first_card_right` is the share of positions in which her first card keeps what the solver promises. She sees her "
    "own hand alone, so that nobody can be asked for 100 %."
)

NIL_PLAY: Final = (
    Task(
        id=COVER,
        version=1,
        title="Covering partner's nil",
        definition=_POSITION
        + "The agent plays the partner of the nil bidder, who is to act, from there to the end of the deal; `normal` "
        "plays the nil bidder and the opponents. Share of these nils, all of which can be made, that are made. "
        + _REST,
        metric="nils made",
        unit="share",
        higher_is_better=True,
        rules="classic",
        rule_set=Rules(),
        games=POSITIONS,
        of="positions",
        decisions=6.5,
        play=nil_cover,
    ),
    Task(
        id=ATTACK,
        version=1,
        title="Attacking a nil",
        definition=_POSITION
        + "The agent plays both opponents of the nil bidder, one of whom is to act, from there to the end of the deal; "
        "`normal` plays the nil bidder and her partner. Share of these nils, all of which can be broken, that are set. "
        + _REST,
        metric="nils set",
        unit="share",
        higher_is_better=True,
        rules="classic",
        rule_set=Rules(),
        games=POSITIONS,
        of="positions",
        decisions=13,
        play=nil_attack,
    ),
)
