"""What a page may choose from, made from the `Rules` fields and the agents: nothing is listed a second time."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agents.registry import AGENTS
from spades_env.rules import PRESETS, Rules
from table.limits import NAME_LENGTH, TEXT_LENGTH
from table.protocol import EMOJI, VERSION
from table.settings import PACES

MAIN: Final = (
    "target",
    "nil_allowed",
    "blind_nil",
    "jokers",
    "bag_limit",
    "bag_penalty",
    "lead_spades",
    "mercy",
    "turn_direction",
)
"""Rule fields that are offered first; all others stand behind "more"."""
LOCALES: Final = Path(__file__).parent / "locales"


def paragraph_of(name: str) -> str:
    """The paragraphs of docs/rules.md that a rule field stands for."""
    return next(str(spec.metadata["paragraph"]) for spec in dataclasses.fields(Rules) if spec.name == name)


def rule_fields() -> list[dict[str, Any]]:
    """Every rule field: what it is, and what may be chosen."""
    return [_rule_field(spec.name, spec.metadata) for spec in dataclasses.fields(Rules)]


def _rule_field(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    field: dict[str, Any] = {"name": name, "help": told["help"], "paragraph": told["paragraph"]}
    if "choices" in told:
        field["choices"] = [{"value": value, "text": text} for value, text in told["choices"].items()]
    else:
        field |= {"low": told["low"], "high": told["high"], "none": told["none"]}
    return field | {"group": "main" if name in MAIN else "more"}


def languages() -> list[str]:
    """Languages of the page: English, and those with a catalogue."""
    return ["en", *sorted(path.name for path in LOCALES.glob("*/") if path.name != "en")]


def welcome(agents: Mapping[str, str]) -> dict[str, Any]:
    """The first message of the server."""
    return {
        "t": "welcome",
        "v": VERSION,
        "agents": [{"name": name, "about": AGENTS[name].help if name in AGENTS else ""} for name in agents],
        "presets": {name: rules.to_dict() for name, rules in PRESETS.items()},
        "rule_fields": rule_fields(),
        "speeds": [name for name in PACES if name != "instant"],
        "languages": languages(),
        "emoji": list(EMOJI),
        "limits": {"name": NAME_LENGTH, "text": TEXT_LENGTH},
    }
