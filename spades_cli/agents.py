"""`spades agents`: every agent that has a name, with its options, as a table or as JSON."""

from __future__ import annotations

import dataclasses

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents.listing import Listed, list_agents
from spades_cli.output import json_option, write_json


@click.command(name="agents", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--options", "with_options", is_flag=True, help="Say what each option means, too.")
@json_option
def command(with_options: bool, json_path: str | None) -> None:
    """List the agents that commands and environments take by name.

    Ours first, then those of installed packages (entry points of the group spades_env.agents), which this
    command imports. NAME:OPTION=VALUE,OPTION=VALUE sets options.

    \b
    Examples:
      spades agents
      spades agents --options
      spades agents --json -
    """
    found = list(list_agents())
    if not write_json({"agents": [dataclasses.asdict(agent) for agent in found]}, json_path):
        Console().print(_table(found, with_options))


def _table(found: list[Listed], with_options: bool) -> Table:
    """One row an agent; with `with_options`, a line for each of its options."""
    table = Table(title="Agents", title_justify="left")
    for heading in ("name", "options", "what it is", "from"):
        table.add_column(heading, overflow="fold")
    for agent in found:
        options = "\n".join(f"{key}: {meaning}" for key, meaning in agent.options.items())
        cell = options if with_options else ", ".join(agent.options)
        table.add_row(*(escape(text) for text in (agent.name, cell, agent.help, agent.source)))
    return table
