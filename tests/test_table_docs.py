"""docs/table_protocol.md is the contract: every frame, error, field and setting of the code stands in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("pydantic", reason="needs the extra `table`")

from test_table_leak import OWN, PUBLIC

from table.errors import CODES
from table.protocol import AnyFrame, SettingsFrame

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "table_protocol.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([a-z_ ]+)`", PAGE))
"""Everything in backticks."""


def test_every_frame_and_its_fields() -> None:
    frames = PAGE.split("`settings` of `create`")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|[^|]*\|[^|]*\|$", frames, re.MULTILINE))
    for frame in get_args(AnyFrame):
        kind = get_args(frame.model_fields["t"].annotation)[0]
        fields = set(re.findall(r"`(\w+)`", rows[kind]))
        assert fields == set(frame.model_fields) - {"t", "r"}, kind


def test_every_error_with_its_meaning() -> None:
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning} |" in PAGE


def test_every_setting() -> None:
    for name in SettingsFrame.model_fields:
        assert f"| `{name}` |" in PAGE, name


def test_every_field_of_a_state() -> None:
    assert (PUBLIC | OWN | {"hands", "preparing"}) - {"t"} <= NAMED
