"""Every named agent as tests can afford it: searches with few worlds, and no equity table for each rule set."""

from __future__ import annotations

from agents.registry import AGENTS

LIGHT = {
    "normal": "normal:objective=points",
    "hard": "hard:worlds=6,draws=2,reads=2,exact=3,objective=points",
    "expert": "expert:worlds=8,draws=2,reads=2,exact=4,objective=points",
    "champion+search": "champion+search:worlds=8,draws=2,reads=2,exact=4,objective=points",
}
SPECS = {name: LIGHT.get(name, name) for name in AGENTS}
"""What to load for each name of AGENTS."""
