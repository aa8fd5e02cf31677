"""`spades rules`: show, check and export a rule set.

Reads a preset or a YAML file, applies overrides, and prints a table, YAML or JSON.
"""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from spades_cli.output import json_option, write_json
from spades_env.checks import shown
from spades_env.configs import parse_value
from spades_env.rules import PRESETS, Rules, RulesError, as_rules


@click.command(name="rules", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name_or_file", metavar="[NAME|FILE]", default="classic")
@click.option(
    "--set",
    "overrides",
    metavar="FIELD=VALUE",
    multiple=True,
    help="Override one field, as --set target=300 or --set mercy=none. May be repeated.",
)
@json_option
@click.option("--yaml", "as_yaml", is_flag=True, help="Print YAML that this command reads back, instead of the table.")
def command(name_or_file: str, overrides: tuple[str, ...], json_path: str | None, as_yaml: bool) -> None:
    """Show a rule set: every field, its value and what it means.

    NAME is a preset (classic, table, modern, two_player; default classic). FILE is a .yaml file of fields,
    with an optional key `preset` as their base. Unknown fields and impossible combinations are refused.

    \b
    Examples:
      spades rules modern
      spades rules classic --set target=300 --set mercy=-200
      spades rules table --yaml > my_table.yaml
      spades rules my_table.yaml --json -
    """
    if json_path == "-" and as_yaml:
        raise click.UsageError("--json - and --yaml both write to stdout: give one", click.get_current_context())
    rules = as_rules(name_or_file).replace(**_parse_overrides(overrides))
    if write_json(rules.to_dict(), json_path):
        return
    if as_yaml:
        click.echo(rules.to_yaml(), nl=False)
    else:
        Console().print(_table(rules))


def _parse_overrides(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields and values of FIELD=VALUE texts; values are YAML, and "none" is null."""
    overrides: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name, text = name.strip(), text.strip()
        if not equals or not name or not text:
            raise RulesError(f"--set {shown(pair)}: must be FIELD=VALUE, as target=300")
        if name in overrides:
            raise RulesError(f"--set {shown(pair)}: field {name!r} is set twice")
        value = None if text.lower() == "none" else parse_value(text, f"--set {shown(pair)}")
        overrides[name] = value
    return overrides


def _table(rules: Rules) -> Table:
    """Return a table with one row a field."""
    table = Table(
        title=f"Spades rules: {rules.preset_name or 'custom'}",
        caption=f"Presets: {', '.join(PRESETS)}",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("field", no_wrap=True)
    table.add_column("value", no_wrap=True)
    table.add_column("meaning")
    for name, value, meaning in rules.describe():
        table.add_row(name, json.dumps(value).strip('"'), meaning)
    return table
