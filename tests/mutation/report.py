"""Verdicts as JSON and as a table."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from spades_env.files import write_atomically

from .trial import Verdict


def entries(verdicts: Sequence[Verdict]) -> list[dict[str, object]]:
    """One entry a mutant, as in the JSON file (docs/reliability.md)."""
    found = []
    for verdict in verdicts:
        mutant = dataclasses.asdict(verdict.mutant)
        found.append(
            {
                "id": mutant["id"],
                "breaks": verdict.mutant.breaks.split(),
                "means": mutant["means"],
                **{name: mutant[name] for name in ("file", "old", "new")},
                "killed_by": verdict.killed_by or None,
                "message": verdict.message or None,
                "seconds": round(verdict.seconds, 1),
            }
        )
    return found


def write_report(path: Path, verdicts: Sequence[Verdict], tests: int) -> None:
    """Write the verdicts and how many `tests` the unbroken tree passes as JSON."""
    survivors = [verdict.mutant.id for verdict in verdicts if not verdict.killed]
    report = {"tests": tests, "mutants": len(verdicts), "survivors": survivors, "results": entries(verdicts)}
    write_atomically(path, (json.dumps(report, indent=1) + "\n").encode())


def table_of(verdicts: Sequence[Verdict]) -> Table:
    """The verdicts as a table for the terminal."""
    table = Table("mutant", "breaks", "killed by", "s")
    for verdict in verdicts:
        killed = verdict.killed_by.replace("tests/", "") if verdict.killed else "[bold red]SURVIVES[/]"
        table.add_row(verdict.mutant.id, verdict.mutant.breaks, killed, f"{verdict.seconds:.1f}")
    return table
