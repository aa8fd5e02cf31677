"""spades_env: a reference reinforcement-learning environment for the card game Spades.

The names below are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spades_env.envs.registration import register_all

if TYPE_CHECKING:
    from spades_env.actions import action_text as action_text
    from spades_env.actions import parse_action as parse_action
    from spades_env.engine.batch import IllegalActionError as IllegalActionError
    from spades_env.engine.batch import SpadesBatch as SpadesBatch
    from spades_env.envs.aec import SpadesAECEnv as SpadesAECEnv
    from spades_env.envs.aec import env as env
    from spades_env.envs.aec import raw_env as raw_env
    from spades_env.envs.single import SpadesEnv as SpadesEnv
    from spades_env.envs.vector import SpadesVectorEnv as SpadesVectorEnv
    from spades_env.game import Game as Game
    from spades_env.game import TeamResult as TeamResult
    from spades_env.game import View as View
    from spades_env.observation.blocks import OBSERVATION_VERSION as OBSERVATION_VERSION
    from spades_env.observation.explain import explain as explain
    from spades_env.record import RecordError as RecordError
    from spades_env.record import append_records as append_records
    from spades_env.record import deal_text as deal_text
    from spades_env.record import parse_deal as parse_deal
    from spades_env.record import read_records as read_records
    from spades_env.record import record_for_seat as record_for_seat
    from spades_env.rules import PRESETS as PRESETS
    from spades_env.rules import Rules as Rules
    from spades_env.rules import RulesError as RulesError
    from spades_env.rules import as_rules as as_rules

__version__ = "0.1.0"

_HOME = {
    "IllegalActionError": "engine.batch",
    "SpadesBatch": "engine.batch",
    "SpadesAECEnv": "envs.aec",
    "env": "envs.aec",
    "raw_env": "envs.aec",
    "SpadesEnv": "envs.single",
    "SpadesVectorEnv": "envs.vector",
    "Game": "game",
    "TeamResult": "game",
    "View": "game",
    "OBSERVATION_VERSION": "observation.blocks",
    "explain": "observation.explain",
    "RecordError": "record",
    "append_records": "record",
    "deal_text": "record",
    "parse_deal": "record",
    "read_records": "record",
    "record_for_seat": "record",
    "PRESETS": "rules",
    "Rules": "rules",
    "RulesError": "rules",
    "as_rules": "rules",
    "action_text": "actions",
    "parse_action": "actions",
}
"""Public names and the module each of them lives in."""

__all__ = [*sorted(_HOME), "__version__"]

register_all()


def __getattr__(name: str) -> Any:
    """Load a public name at its first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'spades_env' has no attribute {name!r}")
    value = getattr(import_module(f"spades_env.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
