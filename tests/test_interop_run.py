"""`make interop`: what it would install, and the table it makes. The libraries' own tests are elsewhere."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

INTEROP = Path(__file__).resolve().parent / "interop"
RUN: dict[str, Any] = runpy.run_path(str(INTEROP / "run.py"), run_name="interop")

PASSED = {
    "library": "torchrl",
    "version": "0.14.1",
    "gymnasium": "1.4.0",
    "pettingzoo": "1.27.0",
    "numpy": "2.4.6",
    "torch": "2.13.0+cpu",
    "passed": 15,
    "failed": 0,
    "skipped": 0,
    "install": 81.8,
    "tests": 72.4,
    "tested": "2026-11-30",
    "reason": "",
}
REFUSED = {"library": "pufferlib", "tested": "2026-11-30", "reason": "URLError: no such host", "install": 12.2}


def test_every_library_has_tests() -> None:
    assert {path.stem.removeprefix("test_") for path in INTEROP.glob("test_*.py")} == set(RUN["libraries"]())


def test_what_a_library_overrules_is_not_asked_for_in_our_version() -> None:
    libraries = RUN["libraries"]()
    wanted = RUN["requirements"](libraries["agilerl"])
    assert "pettingzoo" in wanted
    assert not any(line.startswith("pettingzoo>") for line in wanted)
    assert any(line.startswith("pettingzoo>=") for line in RUN["requirements"](libraries["torchrl"]))
    for library in libraries.values():
        assert any(line.startswith("numba") for line in RUN["requirements"](library))


def test_the_table() -> None:
    text = RUN["table"]([PASSED, REFUSED])
    header, _, passed, refused, _, reason = text.split("\n")
    assert header.startswith("| library | version | gymnasium |")
    assert passed == ("| torchrl | 0.14.1 | 1.4.0 | 1.27.0 | 2.4.6 | 2.13.0+cpu | 15 | 0 | 82 s | 72 s | 2026-11-30 |")
    assert refused.startswith("| pufferlib | not installable |")
    assert header.count("|") == passed.count("|") == refused.count("|")
    assert reason == "pufferlib: URLError: no such host"


def test_the_table_goes_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "interop.md"
    page.write_text(f"before\n\n{RUN['BEGIN']}\n\nold\n\n{RUN['END']}\n\nafter\n", encoding="utf-8")
    monkeypatch.setitem(RUN["write_page"].__globals__, "PAGE", page)
    for _ in range(2):
        RUN["write_page"]([PASSED])
        text = page.read_text(encoding="utf-8")
        assert text.startswith("before\n\n")
        assert text.endswith(f"{RUN['END']}\n\nafter\n")
        assert "old" not in text
        assert text.count("torchrl") == 1


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ("noise\nurllib.error.URLError: <no host>\nERROR: Failed to build 'x'\n", "urllib.error.URLError: <no host>"),
        ("ERROR: No matching distribution found for x\n", "No matching distribution found for x"),
        ("", "pip failed"),
    ],
)
def test_the_reason_is_the_line_that_says_most(errors: str, reason: str) -> None:
    assert RUN["_reason"](errors) == reason


def test_an_unknown_library_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        RUN["main"](["gymnasium3"])
    assert stopped.value.code == 2
    assert "library is 'gymnasium3'; allowed: " in capsys.readouterr().err
