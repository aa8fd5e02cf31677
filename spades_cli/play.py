"""`spades play`: a person at the table, agents on the other seats; the table itself is spades_cli/seated."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from agents.base import Agent
from agents.registry import load_agent
from evaluation.line_up import split_line_up
from spades_cli.output import announce_compilation, check_path
from spades_cli.seated.session import Session
from spades_cli.seated.talk import KeyTalk, LineTalk, Talk
from spades_env.envs.players import Player, line_up
from spades_env.game import Game
from spades_env.game.position import whole_number
from spades_env.record import append_records
from spades_env.render.ansi import seat_name
from spades_env.rules import Rules, as_rules

DEFAULT_AGENT = "normal"


@click.command(name="play", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--seat", type=int, default=0, show_default=True, help="Yours: 0 South, 1 West, 2 North, 3 East.")
@click.option("--partner", metavar="AGENT", help=f"Who sits opposite. Default: {DEFAULT_AGENT}.")
@click.option(
    "--opponents",
    metavar="AGENT[,AGENT]",
    default=DEFAULT_AGENT,
    show_default=True,
    help="Who sits on the other seats: one agent for both, or the one after you and the one before you.",
)
@click.option(
    "--rules",
    "rules_spec",
    metavar="NAME|FILE",
    default="classic",
    show_default=True,
    help="A preset or a .yaml file of rules.",
)
@click.option("--seed", type=int, help="Seed of the cards and of the agents' chances. Default: another every time.")
@click.option("--deals", type=int, help="Stop after so many deals.")
@click.option("--match", "whole_match", is_flag=True, help="Play the whole match; the default.")
@click.option("--practice", is_flag=True, help="You may take back your decisions.")
@click.option("--hint", "hint_spec", metavar="AGENT", default=DEFAULT_AGENT, show_default=True, help="Who gives hints.")
@click.option("--record", "record_path", metavar="FILE", help="Append every deal to FILE as a game record.")
def command(
    seat: int,
    partner: str | None,
    opponents: str,
    rules_spec: str,
    seed: int | None,
    deals: int | None,
    whole_match: bool,
    practice: bool,
    hint_spec: str,
    record_path: str | None,
) -> None:
    """Play Spades in the terminal, with agents on the other seats.

    Answer with a card ("AS", "10h"), a bid, or the number of a choice; in a terminal also with the arrow keys and
    Enter. ? is help, h a hint, u takes back (with --practice), q quits. Agents are those of `spades agents`.
    Nothing is shown but what your seat may know.

    \b
    Examples:
      spades play
      spades play --rules modern --partner hard --opponents hard,easy
      spades play --rules two_player --practice --hint expert
      spades play --seed 7 --deals 1 --record mine.jsonl
    """
    if whole_match and deals is not None:
        raise click.UsageError("--match and --deals exclude each other: give one", click.get_current_context())
    rules = as_rules(rules_spec)
    whole_number("seat", seat, 0, rules.players - 1)
    if deals is not None:
        whole_number("deals", deals, 1, 1_000_000)
    seed = secrets.randbelow(2**31) if seed is None else seed
    game = Game(rules, seed=seed)
    save = None if record_path is None else _saver(record_path)
    with ExitStack() as stack:
        load = cache(load_agent)  # one text is one agent: a program is started once
        players, hinter = _seated(rules, seat, partner, opponents, load), load(hint_spec)
        for agent in {id(agent): agent for agent in (*players, hinter) if agent is not None}.values():
            if hasattr(agent, "close"):
                stack.callback(agent.close)
        announce_compilation()
        console = Console(highlight=False)
        console.print(Text(_welcome(rules, seat, seed)))
        symbols = (console.encoding or "").lower().startswith("utf")
        session = Session(
            game, players, hinter, _talk(console), practice=practice, deals=deals, save=save, symbols=symbols
        )
        session.run()
    if record_path is not None:
        console.print(Text(f"recorded in {record_path}; spades replay {record_path} shows it"))


def _seated(
    rules: Rules, seat: int, partner: str | None, opponents: str, load: Callable[[str], Agent]
) -> tuple[Player | None, ...]:
    """The agent on each seat, None on the person's."""
    others = tuple(load(text) for text in split_line_up(opponents))
    pair: Any = others[0] if len(others) == 1 else others
    opposite = partner if partner is not None or rules.players == 2 else DEFAULT_AGENT
    if opposite is None or rules.players == 2:
        return line_up(seat, rules.players, team=False, partner=opposite, opponents=pair)
    return line_up(seat, rules.players, team=False, partner=load(opposite), opponents=pair)


def _saver(path: str) -> Callable[[dict[str, Any]], None]:
    """What appends a record to the file; a file that takes none is refused now, not after an hour's play."""
    check_path(path)
    append_records(path, [])

    def save(record: dict[str, Any]) -> None:
        append_records(path, [record])

    return save


def _talk(console: Console) -> Talk:
    """Keys if both ends are a terminal, else lines."""
    if sys.stdin.isatty() and console.is_terminal:
        return KeyTalk(console)
    return LineTalk(console, sys.stdin, echo=not sys.stdin.isatty())


def _welcome(rules: Rules, seat: int, seed: int) -> str:
    return (
        f"Spades ({rules.preset_name or 'own rules'}), seed {seed}. You are {seat_name(rules, seat)}. "
        "? is help, h a hint, q quits."
    )
