"""Where the shipped YAML files lie, and how any YAML file of the project is read: strictly.

Knows nothing of what the files mean; `Rules.from_yaml` and the rooms above give the keys their meaning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from spades_env.files import FileError, read_file

MAX_BYTES = 64 * 1024
"""Largest YAML file read; a configuration is a page, so more is a mistake or an attack."""

_PACKAGE = Path(__file__).resolve().parent


class ConfigError(ValueError):
    """A configuration file that cannot be read as what it should be; the message names the file."""


def config_path(name: str) -> Path:
    """Return the path of a shipped file such as "rules/modern.yaml".

    A wheel carries the repository's `configs/` as `spades_env/_configs`; a checkout has the folder itself.
    """
    for root in (_PACKAGE / "_configs", _PACKAGE.parent / "configs"):
        path = root / name
        if path.is_file() and path.resolve().is_relative_to(root.resolve()):
            return path
    raise ConfigError(f"config {name!r} is not shipped: give a file below configs/, as 'rules/modern.yaml'")


def load_mapping(path: str | Path, *, max_depth: int = 1) -> dict[str, Any]:
    """Return the mapping that a YAML file holds; anything but one plain mapping is refused.

    `max_depth` is how deep mappings and lists may nest (1: every value is a scalar). Duplicate keys, merge
    keys and aliases of whole mappings or lists are refused, so a small file stays small when read.
    """
    try:
        raw = read_file(path, MAX_BYTES)
    except FileError as error:
        raise ConfigError(str(error)) from None
    return parse_mapping(raw, str(path), max_depth=max_depth)


def parse_mapping(raw: bytes | str, source: str, *, max_depth: int = 1) -> dict[str, Any]:
    """Return the mapping that YAML text holds, as `load_mapping`; `source` names it in errors."""
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        _check_shape(text, source, max_depth)
        data = yaml.safe_load(text)
    except ConfigError:
        raise
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: not UTF-8 text (byte {error.start})") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a scalar that looks like a date and is none
        raise ConfigError(f"{source}: not valid YAML: {_one_line(error)}") from None
    except (AttributeError, LookupError) as error:  # what PyYAML comes to with "!!bool maybe", '!!int ""' and the like
        raise ConfigError(f"{source}: not valid YAML: a value does not fit its tag ({_one_line(error)})") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{source}: holds {kind_of(data)}, but must be a mapping of names to values")
    for key in data:
        if not isinstance(key, str):
            raise ConfigError(f"{source}: key {key!r} is {kind_of(key)}, but keys are text")
    return data


def parse_value(text: str, source: str, *, max_depth: int = 0) -> Any:
    """Return the one value that YAML text holds, as options give it; `source` names it in errors."""
    data = parse_mapping(f"value: {text}", source, max_depth=max_depth + 1)
    if list(data) != ["value"]:
        raise ConfigError(f"{source}: more than one value; allowed: one")
    return data["value"]


def _check_shape(text: str, source: str, max_depth: int) -> None:
    """Raise if the YAML events hold duplicate or merge keys, collection aliases, or nest too deeply.

    Works on events, which the parser yields without recursion: hostile nesting cannot exhaust the stack.
    """
    levels: list[_Level] = []
    collections: set[str | None] = set()
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            levels.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        where = f"{source}{_line(event.start_mark)}"
        if levels:
            levels[-1].take(event, where)
        if isinstance(event, yaml.CollectionStartEvent):
            if len(levels) == max_depth:
                raise ConfigError(f"{where}: nested deeper than {max_depth} level(s)")
            collections.add(event.anchor)
            levels.append(_Level(is_mapping=isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, yaml.AliasEvent) and event.anchor in collections:
            raise ConfigError(f"{where}: *{event.anchor} repeats a whole mapping or list; write it out")


class _Level:
    """One open mapping or list while scanning events: which keys it has, and whether a key comes next."""

    def __init__(self, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.key_next = is_mapping
        self.keys: set[str] = set()

    def take(self, event: yaml.NodeEvent, where: str) -> None:
        """Account for a child node; a key must be a plain scalar that the mapping does not have yet."""
        if not self.key_next:
            self.key_next = self.is_mapping
            return
        self.key_next = False
        if not isinstance(event, yaml.ScalarEvent):
            raise ConfigError(f"{where}: a key must be plain text")
        if event.value == "<<":
            raise ConfigError(f"{where}: merge keys (<<) are not used here; write the keys out")
        if event.value in self.keys:
            raise ConfigError(f"{where}: key {event.value!r} is given twice")
        self.keys.add(event.value)


def kind_of(value: object) -> str:
    """Return the article and name of a value's type, for messages."""
    name = type(value).__name__
    return "nothing" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _one_line(error: Exception) -> str:
    """Return a YAML error as one line with its line number."""
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return f"{problem}{_line(getattr(error, 'problem_mark', None))}"


def _line(mark: Any) -> str:
    """Return ", line N" of a YAML mark, or nothing where the parser gives none."""
    return "" if mark is None else f", line {mark.line + 1}"
