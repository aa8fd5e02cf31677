"""A report put together from sources: an overview, a section for each kind, and how to come to the same figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from evaluation.report.benchmark import benchmark_section
from evaluation.report.deals import deals_section
from evaluation.report.duels import evaluation_command, evaluation_section, ladder_section, names_of, rules_block
from evaluation.report.exploit import exploit_commands, exploit_section
from evaluation.report.forms import BENCHMARK, EVALUATION, EXPLOIT, LADDER, RECORDS, TOURNAMENT, TRAINING
from evaluation.report.model import Block, Code, Folded, Report, Section, Table, Text
from evaluation.report.read import ReportError, Source, read_sources
from evaluation.report.shape import ShapeError
from evaluation.report.tournament import tournament_section
from evaluation.report.training import training_section
from evaluation.text import NOTHING, Values, machine_text, unique, versions_text

FORMAT: Final = "spades report"
VERSION: Final = 1
DEFAULT_TITLE: Final = "Spades: results"
DEFAULT_DEALS: Final = 24
MOST_DEALS: Final = 500


def build_report(paths: Sequence[str | Path], title: str = DEFAULT_TITLE, deals: int = DEFAULT_DEALS) -> Report:
    """Return the report of result files and run folders, with at most `deals` sample deals.

    The same files make the same report: it holds no times and paths but those in the files, and their names.
    """
    sources = read_sources(paths, deals)
    makers: dict[str, Callable[[Sequence[Source]], Section]] = {
        TOURNAMENT: tournament_section,
        EVALUATION: evaluation_section,
        LADDER: ladder_section,
        BENCHMARK: benchmark_section,
        EXPLOIT: exploit_section,
        TRAINING: training_section,
        RECORDS: partial(deals_section, most=deals),
    }
    sections = [_overview(sources)]
    for kind, make in makers.items():
        chosen = [source for source in sources if source.kind == kind]
        try:
            sections += [section] if chosen and (section := make(chosen)).blocks else []
        except ShapeError as error:
            raise ReportError(f"{', '.join(source.name for source in chosen)}: {error}") from None
    sections.append(_reproduce(sources))
    return Report(title, sections, _merged(title, sources))


def _merged(title: str, sources: Sequence[Source]) -> dict[str, Any]:
    """Return all sources as one value for JSON, described in docs/report.md."""
    found = [{"name": s.name, "kind": s.kind, "sha256": s.digest, "data": s.told} for s in sources]
    return {"format": FORMAT, "version": VERSION, "title": title, "sources": found}


def _overview(sources: Sequence[Source]) -> Section:
    rows = [[source.name, source.kind, _what(source), _seed(source), source.digest] for source in sources]
    columns = ("file", "kind", "what", "seed", "SHA-256")
    return Section("overview", "Overview", [Table("What this report is made of", columns, rows, words=(0, 1, 2, 4))])


def _what(source: Source) -> str:
    """Return what a source is about, in a few words."""
    data = source.data
    match source.kind:
        case "evaluation":
            a, b = names_of(data)
            return f"{a} against {b}, {data['preset'] or 'own rules'}, {data['deals']:,} deals"
        case "ladder":
            return f"{len(data['duels'])} duels"
        case "tournament":
            return f"{len(data['agents'])} agents, {data['rules_text']}, {data['games']:,} {data['kind']}"
        case "benchmark":
            agents = unique(result["agent"] for result in data["results"])
            return f"suite {data['suite']}: {', '.join(agents)}; {len(data['tasks'])} tasks"
        case "exploit":
            agents, games = (unique(r.get(name, "full size") for r in data["results"]) for name in ("agent", "game"))
            return f"{', '.join(agents)}: {', '.join(games)}"
        case "training":
            return f"run {data['config']['name']}, {data['final']['deals']:,} deals"
        case _:
            return f"{data['count']:,} deals"


def _seed(source: Source) -> str:
    """Return the seed, or the seeds, of a source."""
    data = source.data
    match source.kind:
        case "ladder":
            seeds = unique(str(duel["seed"]) for duel in data["duels"])
        case "exploit":
            seeds = unique(str(result["seed"]) for result in data["results"])
        case "training":
            seeds = [str(data["config"]["seed"])]
        case "records":
            seeds = unique(str(record["seed"]) for record in data["records"] if "seed" in record)
        case _:
            seeds = [str(data["seed"])] if "seed" in data else []
    return ", ".join(seeds[:5]) + (", …" if len(seeds) > 5 else "") or NOTHING


def _reproduce(sources: Sequence[Source]) -> Section:
    """Return commands, versions, machines, rules and hashes of the source code."""
    commands = [Code(command_of(source), f"{source.name} ({source.kind})") for source in sources]
    places: dict[tuple[str, str, str], list[str]] = {}
    for source in sources:
        for place in places_of(source):
            places.setdefault(place, []).append(source.name)
    blocks: list[Block] = [
        Text(
            "The same command, seed and versions give the same figures, times apart. Where a file does not keep its "
            "command, it is made of its fields: agents then stand by their names."
        ),
        *commands,
        Table(
            "Measured on",
            ("files", "code", "versions", "machine"),
            [[", ".join(names), *place] for place, names in places.items()],
            words=(0, 1, 2, 3),
            note="Code: hash of the source of rules and agents, where the file has it.",
        ),
    ]
    rules = [(source.name, source.data) for source in sources if source.kind in (EVALUATION, TOURNAMENT)]
    own = [Folded(f"Rules of {name}", found) for name, data in rules if (found := rules_block(data))]
    return Section("reproduce", "How to reproduce", [*blocks, *own])


def command_of(source: Source) -> str:
    """Return the command that comes to a source's figures."""
    match source.kind:
        case "evaluation":
            return evaluation_command(source.data)
        case "exploit":
            return exploit_commands(source.data)
        case "training":
            return f"spades train {source.name}/config.yaml --set name=again"
        case "records":
            return f"spades replay {source.name}"
        case _:
            return str(source.data["command"])


def places_of(source: Source) -> list[tuple[str, str, str]]:
    """Return each (code, versions, machine) that figures of a source come from, once."""
    data = source.data
    match source.kind:
        case "ladder":
            found = [duel["measured"] for duel in data["duels"] if duel["measured"]]
        case "benchmark" | "exploit":
            found = list(data["results"])
        case "records":
            found = []
        case _:
            found = [data]
    return list(dict.fromkeys(map(_place, found)))


def _place(found: Values) -> tuple[str, str, str]:
    return found.get("code") or NOTHING, versions_text(found["versions"]), machine_text(found["machine"])
