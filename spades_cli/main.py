"""Entry point of the `spades` command: lists subcommands, loads the one invoked, reports errors.

A subcommand NAME is the click command `command` of module `spades_cli.NAME`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from spades_cli.output import INTERRUPTED
from spades_env import __version__

SUBCOMMANDS = {
    "train": "Train a policy by self-play from a configuration file.",
    "evaluate": "Compare agents on duplicate deals and matches.",
    "agents": "List the agents that have names, and their options.",
    "ladder": "Play a list of duels and show the strength table.",
    "tournament": "Let every pair of agents play, and rank them.",
    "benchmark": "Measure agents in the tasks of the benchmark suite.",
    "promote": "Decide whether a candidate takes the incumbent's place.",
    "export": "Write a policy as an ONNX model.",
    "exploit": "Measure how much a best response wins against an agent.",
    "generate": "Write decisions of agents as a dataset to learn from.",
    "minari": "Export a dataset to Minari.",
    "equity": "Show the chance to win a match by scores and bags.",
    "bench": "Measure the environment's speed on this machine.",
    "rules": "Show, check and export a rule set.",
    "replay": "Show recorded deals trick by trick.",
    "play": "Play in the terminal, with agents on the other seats.",
    "table": "Play in the browser, with agents and friends.",
    "report": "Make one page of results, training and deals.",
    "leaderboard": "Write the leaderboard, or check a result.",
}
"""Name and one-line help of every subcommand; the help is written here so that listing imports nothing."""

ROOMS = {
    "train": ("agents", "evaluation", "training"),
    "evaluate": ("agents", "evaluation"),
    "agents": ("agents",),
    "ladder": ("agents", "evaluation"),
    "tournament": ("agents", "evaluation"),
    "benchmark": ("agents", "evaluation", "training"),
    "promote": ("agents", "evaluation"),
    "export": ("agents",),
    "exploit": ("agents", "evaluation", "training"),
    "generate": ("agents", "evaluation"),
    "minari": ("agents", "evaluation"),
    "equity": ("agents", "evaluation"),
    "bench": ("agents", "evaluation", "benchmarks"),
    "rules": (),
    "replay": (),
    "play": ("agents", "evaluation"),
    "table": ("agents", "table"),
    "report": ("agents", "evaluation"),
    "leaderboard": ("agents", "evaluation"),
}
"""The project's top-level packages with common names that a subcommand needs to be ours."""

FAILED, BAD_INPUT = 1, 2
"""Exit statuses: the system refused, the input is wrong."""


LONGEST_LINE = 2000
"""Characters of an error that are shown."""


class LazyGroup(click.Group):
    """A click group whose subcommands are imported when they are invoked, and not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all subcommands."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a subcommand, or None if there is none of that name."""
        if cmd_name not in SUBCOMMANDS:
            return None
        for room in ROOMS[cmd_name]:
            _check_ours(room)
        command: click.Command = importlib.import_module(f"spades_cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spades")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Play, train and measure agents for the card game Spades.

    `spades COMMAND --help` explains a command. Errors are one line on stderr; with SPADES_DEBUG=1 in the
    environment they come with a traceback. Exit status: 0 done, 1 failed, 2 wrong input.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (default: the process's arguments) and return the exit status."""
    try:
        status = cli.main(args=arguments, prog_name="spades", standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        click.echo("spades: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left, as `| head` does; without this the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (click.ClickException, ValueError, OSError, ModuleNotFoundError) as error:
        if os.environ.get("SPADES_DEBUG") == "1":
            raise
        click.echo(f"spades: error: {_one_line(error)}", err=True)
        return FAILED if _is_failure(error) else BAD_INPUT
    return status if isinstance(status, int) else 0


def _check_ours(room: str) -> None:
    """Raise if the package that Python finds under a room's name belongs to someone else."""
    package = importlib.import_module(room)
    if not getattr(package, "__spades_env__", False):
        place = getattr(package, "__file__", None) or ", ".join(getattr(package, "__path__", []))
        raise click.ClickException(
            f"package {room!r} is not the one of spades-env but another's ({place}): "
            "run from another folder, or install spades-env in an environment of its own"
        )


def _is_failure(error: Exception) -> bool:
    """Tell a system's refusal (status 1) from wrong input (status 2)."""
    if isinstance(error, click.ClickException):
        return not isinstance(error, click.UsageError)
    return isinstance(error, OSError | ModuleNotFoundError)


def _one_line(error: Exception) -> str:
    """Return an error as one line."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = f"{error.format_message()} (see '{error.ctx.command_path} --help')"
    elif isinstance(error, click.ClickException):
        text = error.format_message()
    elif isinstance(error, OSError) and error.strerror and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, ModuleNotFoundError):
        text = f"{error.name!r} is needed and not installed: pip install 'spades-env[train,evaluation,bench,data]'"
    else:
        text = str(error) or type(error).__name__
    line = " ".join(text.split())
    # What a stranger's file says must not reach the terminal as control characters, nor fill it.
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line[:LONGEST_LINE])
    return plain if len(line) <= LONGEST_LINE else f"{plain}..."


if __name__ == "__main__":
    sys.exit(main())
