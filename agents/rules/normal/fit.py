"""Measure the tables of normal's bidding in self-play: `python -m agents.rules.normal.fit` writes tables.py.

Tricks: everybody bids 13 and so plays for every trick; a hand's tricks are regressed on its suits (ridge). Nil: one
seat is made to bid nil, the others bid and play as `normal`; success is regressed on low cards and high spades
(logistic), and what the bids before hers tell comes on top. Team tricks: after the bids all fight for every trick; a
team's tricks are regressed on the hand of a late bidder and the bids before. Blind nils: each seat is made to bid one.

The others bid by the tables in force, so a second run, by the first one's tables, comes closer to rest.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import Progress

from agents.rules.normal.regression import (
    NIL_READ,
    NIL_SIDE_COLUMNS,
    SIDE_ROWS,
    TRICKS_READ,
    chance_of_logit,
    fit_before,
    fit_nil,
    fit_team,
    fit_tricks,
    log_loss,
    nil_columns,
    trick_columns,
)
from agents.rules.normal.self_play import (
    WEIGHED,
    FloatArray,
    IntArray,
    blind_share,
    play_for_tricks,
    play_last_bidders,
    play_nils,
)
from agents.rules.normal.strength import HONOURS, NIL_RANKS, NIL_SPADE_RANKS, TEN_THOUSAND
from agents.stakes import POINTS
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.files import write_atomically
from spades_env.rules import PRESETS, Rules

DEALS: Final = 100_000
NIL_SCALE: Final = {4: 1, 2: 16}
"""Deals looked through for nils, in multiples, by players: with two, few hands are fit for one."""
FEWEST_DEALS: Final = 50
"""With fewer, there may be no hand fit for nil to hold out."""
SEED: Final = 20_240_601
TABLE_SETS: Final = tuple(
    PRESETS[name].replace(jokers=jokers) for name in ("classic", "two_player") for jokers in (False, True)
)
"""Rules under which each table set is measured, in the order of strength.table_number."""
BLIND_RULES: Final = (PRESETS["modern"].replace(blind_nil_deficit=None), PRESETS["two_player"])
"""Rules under which blind and double nils are measured: always allowed."""


@dataclass
class Tables:
    """What is written to tables.py; whole numbers are ten-thousandths (of tricks, of log-odds)."""

    tricks: list[IntArray] = field(default_factory=list)
    """Of each table set, (SIDE_ROWS + SPADE_ROWS,)."""
    nil: list[IntArray] = field(default_factory=list)
    """Of each table set, (NIL_SIDE_COLUMNS + NIL_SPADE_COLUMNS,)."""
    before: list[FloatArray] = field(default_factory=list)
    """Of each table set, (4, WEIGHED)."""
    team: list[FloatArray] = field(default_factory=list)
    """With four players and with two, (2, WEIGHED + 1)."""
    blind: list[float] = field(default_factory=list)
    """With four players and with two."""
    notes: list[str] = field(default_factory=list)
    """How well each fits."""


def new_states() -> StateArray:
    """Room for the games of self_play.py."""
    return np.zeros(2, STATE)


def whole(table: FloatArray) -> IntArray:
    """In ten-thousandths."""
    return np.rint(table * TEN_THOUSAND).astype(np.int64)


def set_name(rules: Rules) -> str:
    """Name of a table set."""
    return f"{rules.players} players{', jokers' if rules.jokers else ''}"


def measure_tricks(tables: Tables, rules: Rules, seed: int, deals: int) -> None:
    """Add the trick tables of `rules` from `deals` deals (twice as many with two players: as many hands)."""
    shape = (deals * 4 // rules.players, rules.players)
    hands, tricks = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    play_for_tricks(new_states(), rules_to_record(rules), seed, hands, tricks, POINTS)
    columns, beyond = np.zeros((hands.size, TRICKS_READ), np.int64), np.zeros(hands.size)
    trick_columns(hands.ravel(), int(rules.jokers), columns, beyond)
    taken = tricks.ravel() - beyond
    table = fit_tricks(columns, taken)
    error = taken - table[columns].sum(axis=1)
    explained = 1.0 - np.var(error) / np.var(taken)
    tables.tricks.append(whole(table))
    tables.notes.append(
        f"tricks, {set_name(rules)}: {hands.size} hands, {explained:.1%} of variance, spread {np.std(error):.2f}"
    )


def measure_nils(tables: Tables, rules: Rules, seed: int, deals: int) -> None:
    """Add the nil tables of `rules` from the hands fit for nil in `deals` deals; a fifth tells how good they are."""
    most = deals * rules.players
    hands, places = np.zeros(most, np.int64), np.zeros(most, np.int64)
    known, made = np.zeros((most, WEIGHED)), np.zeros(most)
    count = play_nils(new_states(), rules_to_record(rules), seed, deals, hands, places, known, made, POINTS)
    columns, places, known, made = np.zeros((count, NIL_READ), np.int64), places[:count], known[:count], made[:count]
    nil_columns(hands[:count], columns)
    learnt, tested = slice(count * 4 // 5), slice(count * 4 // 5, count)
    logits = fit_nil(columns[learnt], made[learnt])[columns].sum(axis=1)
    before = fit_places(places[learnt], known[learnt], logits[learnt], made[learnt])
    better = logits + (before[places] * known).sum(axis=1)
    rate = np.full(count, made[learnt].mean())
    losses = [log_loss(each[tested], made[tested]) for each in (rate, chance_of_logit(logits), chance_of_logit(better))]
    table = fit_nil(columns, made)
    tables.nil.append(whole(table))
    tables.before.append(fit_places(places, known, table[columns].sum(axis=1), made))
    tables.notes.append(
        f"nil, {set_name(rules)}: {count} hands, {made.mean():.1%} made; log-loss on a held-out fifth "
        "by their rate {:.3f}, by the cards {:.3f}, by the bids before too {:.3f}".format(*losses)
    )


def fit_places(places: IntArray, known: FloatArray, logits: FloatArray, made: FloatArray) -> FloatArray:
    """`fit_before` for each place in the bidding, (4, WEIGHED)."""
    rows = (places == place for place in range(4))
    return np.stack([fit_before(known[row], logits[row], made[row]) for row in rows])


def measure_team(tables: Tables, rules: Rules, seed: int, deals: int) -> None:
    """Add the weights of the last two to bid under `rules`."""
    known, tricks = np.zeros((2, deals, WEIGHED)), np.zeros((2, deals))
    play_last_bidders(new_states(), rules_to_record(rules), seed, known, tricks, POINTS)
    tables.team.append(np.stack([fit_team(known[row], tricks[row]) for row in range(2)]))
    spreads = " and ".join(f"{model[-1]:.2f}" for model in tables.team[-1])
    tables.notes.append(f"team tricks, {set_name(rules)}: {2 * deals} bidders, spread {spreads}")


def measure_blind(tables: Tables, rules: Rules, seed: int, deals: int) -> None:
    """Add the share of blind or double nils made under `rules`."""
    share = blind_share(new_states(), rules_to_record(rules), seed, deals, POINTS)
    tables.blind.append(share)
    tables.notes.append(f"blind nil, {set_name(rules)}: {deals * rules.players} nils, {share:.1%} made")


def steps(deals: int) -> Iterator[tuple[str, Callable[[Tables], None]]]:
    """What is measured, step by step, each from games of its own: (what, how)."""
    works = [("tricks", measure_tricks, rules, deals) for rules in TABLE_SETS]
    works += [("nil", measure_nils, rules, deals * NIL_SCALE[rules.players]) for rules in TABLE_SETS]
    works += [("team tricks", measure_team, rules, deals) for rules in TABLE_SETS if not rules.jokers]
    works += [("blind nil", measure_blind, rules, deals) for rules in BLIND_RULES]
    for number, (what, measure, rules, games) in enumerate(works):
        yield f"{what}, {set_name(rules)}", partial(measure, rules=rules, seed=SEED + number, deals=games)


def measure_all(deals: int, console: Console) -> Tables:
    """All tables, with a progress bar on `console`."""
    tables = Tables()
    with Progress(console=console, transient=True) as bar:
        todo = list(steps(deals))
        task = bar.add_task("", total=len(todo))
        for what, measure in todo:
            bar.update(task, description=what)
            measure(tables)
            bar.advance(task)
    return tables


# --- Text ---------------------------------------------------------------------------------------------------

HEADER: Final = '''"""Measured tables of normal's bidding. Written by `{command}`; not to be edited.

Whole numbers are ten-thousandths. The first axis is strength.table_number: four players without and with jokers, two
players likewise. TRICKS_SIDE (4, 128) and TRICKS_SPADES (4, 160): tricks by side_index and spade_index, a line for each
length. NIL_SIDE (4, 5, 14): log-odds by the rank of the lowest to the fourth lowest card of a side suit, last line by
its length. NIL_SPADES (4, 4, 16): by the place of the highest to the third highest spade, last line by their number.
NIL_BEFORE (4, 4, 6): what is added to a nil's log-odds, a line for each place in the bidding: weights of 1, own tricks,
partner's bid, partner's nil, opponents' bids, opponents' nils. TEAM_TRICKS (2, 2, 7): with four players and with two,
last but one to bid and last, the same weights and the spread. BLIND_CHANCE: share made of blind nils by four players,
of double nils by two.

{notes}
"""

from typing import Final

import numpy as np

# fmt: off
'''


def nested(table: np.ndarray, form: str, depth: int = 1) -> str:
    """Text of an array, innermost axis on one line."""
    if table.ndim == 1:
        return "[" + ",".join(format(value, form) for value in table.tolist()) + "]"
    inner = (",\n" + " " * depth).join(nested(each, form, depth + 1) for each in table)
    return f"[{inner}]"


def definition(name: str, table: np.ndarray, lines: int) -> str:
    """A whole-number table of shape (4, ...) as source, its first axis in lines of `lines` numbers."""
    shape = ", ".join(str(size) for size in table.shape)
    text = nested(table.reshape(table.shape[0], -1, lines), "6d")
    return f"{name}: Final = np.array(\n{text},\n    np.int32,\n).reshape({shape})\n"


def source(tables: Tables, command: str) -> str:
    """The text of tables.py."""
    tricks, nil = np.stack(tables.tricks), np.stack(tables.nil)
    nil_side = nil[:, :NIL_SIDE_COLUMNS].reshape(4, -1, NIL_RANKS)
    nil_spades = nil[:, NIL_SIDE_COLUMNS:].reshape(4, -1, NIL_SPADE_RANKS)
    parts = [
        HEADER.format(command=command, notes="\n".join(textwrap.fill(f"{note}.", 118) for note in tables.notes)),
        definition("TRICKS_SIDE", tricks[:, :SIDE_ROWS], HONOURS),
        definition("TRICKS_SPADES", tricks[:, SIDE_ROWS:], HONOURS),
        definition("NIL_SIDE", nil_side, NIL_RANKS),
        definition("NIL_SPADES", nil_spades, NIL_SPADE_RANKS),
        f"NIL_BEFORE: Final = np.array(\n{nested(np.stack(tables.before), '7.3f')},\n)\n",
        f"TEAM_TRICKS: Final = np.array(\n{nested(np.stack(tables.team), '7.3f')},\n)\n",
        f"BLIND_CHANCE: Final = ({', '.join(f'{share:.3f}' for share in tables.blind)})\n",
    ]
    return "".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write and report."""
    parser = argparse.ArgumentParser(prog="python -m agents.rules.normal.fit", description=__doc__)
    parser.add_argument("--deals", type=int, default=DEALS, help=f"deals of each measurement (default {DEALS})")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("tables.py"), help="default: %(default)s")
    options = parser.parse_args(arguments)
    if options.deals < FEWEST_DEALS:
        parser.error(f"--deals: at least {FEWEST_DEALS}")
    console = Console(stderr=True)
    tables = measure_all(options.deals, console)
    write_atomically(options.out, source(tables, f"{parser.prog} --deals {options.deals}"))
    for note in tables.notes:
        console.print(note, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
