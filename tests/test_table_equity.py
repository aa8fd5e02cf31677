"""Near the end of a match no agent keeps the table waiting: without an equity table she plays for points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pebble", reason="needs the extra `table`")

import agents.equity.table
from agents.base import decision_keys
from agents.equity.files import save_table
from agents.equity.outcomes import sample_outcomes
from agents.equity.table import DEFAULT_AGENT, DEFAULT_DEALS, make_table
from spades_env.game import Game
from spades_env.rules import Rules
from table.equity import _path, for_points, missing_table
from table.thinking import decide, explain

RULES = Rules(suits=2, ranks=4, hand_size=2, target=60)


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents.equity.table, "_tables", {})


def refused(*arguments: object, **options: object) -> None:
    raise AssertionError("an equity table is made at the table")


def question(scores: tuple[int, int]) -> tuple[bytes, int]:
    game, keys = Game(RULES, seed=3, scores=scores), np.zeros(1, np.uint64)
    decision_keys(game.states, keys)
    return game.view(game.turn or 0).views.tobytes(), int(keys[0])


@pytest.mark.parametrize(
    ("spec", "points"),
    [
        ("normal", "normal:objective=points"),
        ("normal:objective=match", "normal:objective=points"),
        ("hard:worlds=20", "hard:worlds=20,objective=points"),
        ("hard:objective=auto,worlds=20", "hard:worlds=20,objective=points"),
    ],
)
def test_the_same_agent_for_points(spec: str, points: str) -> None:
    assert for_points(spec) == points


def test_who_needs_a_table() -> None:
    views = Game(RULES, seed=1, scores=(50, 0)).view(0).views
    far = Game("classic", seed=1).view(0).views
    for spec in ("normal", "hard", "expert", "hard:worlds=20"):
        assert missing_table(spec, views, "") == RULES
        assert missing_table(spec, far, "") is None
    for spec in ("easy", "champion", "normal:objective=points", "process:any"):
        assert missing_table(spec, views, "") is None


def test_no_decision_makes_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents.equity.table, "sample_outcomes", refused)
    view, key = question((50, 0))
    assert decide("normal", view, key, str(tmp_path)) == decide("normal:objective=points", view, key)
    assert explain("normal", view, key, str(tmp_path))["action"] == decide("normal:objective=points", view, key)


def test_a_table_in_the_folder_is_played_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(RULES, sample_outcomes(RULES, "easy", 50, 0))
    save_table(replace(table, agent=DEFAULT_AGENT, deals=DEFAULT_DEALS), _path(tmp_path, RULES))
    monkeypatch.setattr(agents.equity.table, "sample_outcomes", refused)
    view, key = question((50, 0))
    assert missing_table("normal", np.frombuffer(view, Game(RULES).view(0).views.dtype), str(tmp_path)) is None
    assert decide("normal", view, key, str(tmp_path)) == decide("normal", view, key)


def test_a_damaged_table_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents.equity.table, "sample_outcomes", refused)
    _path(tmp_path, RULES).write_bytes(b"no table")
    view, key = question((50, 0))
    assert decide("normal", view, key, str(tmp_path)) == decide("normal:objective=points", view, key)
