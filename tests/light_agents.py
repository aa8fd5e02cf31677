"""Every named agent as tests can afford it: searches with few worlds, and no equity table for each rule set."""

from __future__ import annotations

import numpy as np

from agents.learned.champion import shipped_policies
from agents.registry import AGENTS
from spades_env.engine.state import rules_to_record
from spades_env.rules import Rules
from spades_env.view import empty_views

LIGHT = {
    "normal": "normal:objective=points",
    "hard": "hard:worlds=6,draws=2,reads=2,exact=3,objective=points",
    "expert": "expert:worlds=8,draws=2,reads=2,exact=4,objective=points",
    "champion+search": "champion+search:worlds=8,draws=2,reads=2,exact=4,objective=points",
}
SPECS = {name: LIGHT.get(name, name) for name in AGENTS}
"""What to load for each name of AGENTS."""


def specs_for(rules: Rules) -> dict[str, str]:
    """The entries of SPECS that play under these rules: the champion knows those that she was trained for."""
    views = empty_views(1)
    views["known"]["rules"] = rules_to_record(rules)
    trained = any(bool(np.all(policy.knows(views))) for policy in shipped_policies())
    return {name: spec for name, spec in SPECS.items() if trained or not name.startswith("champion")}
