"""Fields of a list in a YAML file, checked one by one: the error names the place, the field and what is allowed."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from spades_env.checks import whole_number
from spades_env.configs import ConfigError, kind_of


def check_fields(fields: Any, allowed: Sequence[str], where: str) -> None:
    """Raise if `fields` is no mapping or has a field that does not exist."""
    if not isinstance(fields, Mapping):
        raise ConfigError(f"{where} is {kind_of(fields)}, but must have the fields {', '.join(allowed)}")
    for name in fields:
        if name not in allowed:
            close = difflib.get_close_matches(str(name), allowed, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(allowed)}"
            raise ConfigError(f"{where}: unknown field {name!r}: {hint}")


def list_field(fields: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """Return a field that must be a list with something in it."""
    value = fields.get(name)
    if not isinstance(value, list) or not value:
        found = "an empty list" if isinstance(value, list) else kind_of(value)
        raise ConfigError(f"{where}: {name} is {found}; allowed: a list with at least one entry")
    return value


def line_of_text(value: Any, what: str) -> str:
    """Return a value that must be text on one line."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ConfigError(f"{what} is {value!r}; allowed: text on one line")
    return value


def whole_field(value: Any, what: str, high: int, *, low: int = 0) -> int:
    """Return a value that must be an int from `low` to `high`."""
    return whole_number(what, value, low, high, ConfigError)


def rules_text(spec: str | Mapping[str, Any]) -> str:
    """Return rules as a file says them: a name, or a preset and what differs from it."""
    if isinstance(spec, str):
        return spec
    changes = [f"{name}={json.dumps(value)}" for name, value in spec.items() if name != "preset"]
    return ", ".join([str(spec.get("preset", "classic")), *changes]).replace('"', "")
