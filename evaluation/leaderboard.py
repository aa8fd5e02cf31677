"""The leaderboard: docs/leaderboard.md, made of the result files in docs/leaderboard and of nothing else.

The files are those that `spades tournament`, `ladder`, `benchmark` and `evaluate` write, unchanged. `evaluation.again`
plays them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.registry import ORACLES
from evaluation.fields import rules_text
from evaluation.report.benchmark import benchmark_table
from evaluation.report.build import command_of, places_of
from evaluation.report.duels import names_of
from evaluation.report.forms import BENCHMARK, EVALUATION, EXPLOIT, LADDER, RECORDS, TOURNAMENT, TRAINING
from evaluation.report.markdown import code_text, table_text
from evaluation.report.read import Source, read_sources
from evaluation.report.tournament import rating_text, unit_of
from evaluation.text import NOTHING, POINTS, Values, interval_text, milliseconds, unique
from spades_env.engine.batch import default_bag_price
from spades_env.rules import PRESETS, Rules, RulesError

FOLDER: Final = Path("docs/leaderboard")
PAGE: Final = Path("docs/leaderboard.md")
REFERENCE: Final = "normal"
"""Everybody is measured against this agent."""

INTRODUCTION: Final = """\
# Leaderboard

`spades leaderboard` writes this page from the result files in `docs/leaderboard/`, and a test keeps it in step with
them: it is not edited by hand. Points per deal, bags at their own points and their share of the penalty (−9 under the
presets), unless said otherwise; brackets are 95 % intervals, ratings OpenSkill's ± two of its sigmas.
[evaluation.md](evaluation.md) says how it is measured.
"""
RANKED: Final = """\
## What is ranked

Agents that choose from views (`agents.base.Agent`): they know what a seat may know, nothing else. Agents that see all
hands (`agents.base.OracleAgent`, as `cheating`) are ceilings, not players; a file with one of ours in it is refused,
and none can be played again with `--check`. Illegal actions are counted and replaced; an agent with any is not ranked
until it has none. Files in which a bag has another price than the rules' own are refused. A time per decision is what
it took on the machine that stands with the file, so it compares agents within a file. Strengths of different files are
on different scales; the margin against `normal` is not.

## How to enter an agent

An agent is a name with options, an entry point of a package, a process or a policy file; [agents.md](agents.md) and
[external_agents.md](external_agents.md) say how each is loaded. Then:

```
spades tournament normal easy YOUR_AGENT --deals 20000 --out mine
cp mine/tournament.json docs/leaderboard/YOUR_AGENT.json
spades leaderboard
spades leaderboard --check docs/leaderboard/YOUR_AGENT.json
```

Send the file, this page and where the agent can be had from, at which version. Run the commands from the checkout's
root, so that paths in them mean the same to others. The last one plays a part of the file again and compares its
figures exactly; so can everybody who doubts a line of this page. It cannot do so for an agent that looks at the clock
(the option `ms`) or computes otherwise on another machine; say so when you send one.
"""


class LeaderboardError(ValueError):
    """Files that no leaderboard is made of; the message names the file and says why."""


@dataclass(frozen=True)
class Line:
    """An agent against `normal`: `margin` is hers minus normal's, an interval."""

    agent: str
    rules: str
    margin: Values
    deals: int
    milliseconds: float | None
    version: str
    code: str
    file: str


def result_files(folder: Path) -> list[Path]:
    """Return the result files of the leaderboard's folder by name; none if it does not exist."""
    return sorted(folder.glob("*.json"))


def leaderboard(paths: Iterable[Path]) -> str:
    """Return the page, in Markdown, of the result files; one that is damaged, foreign or has an oracle is refused."""
    sources = read_sources(paths, 0)
    for source in sources:
        _check(source)
    parts = [INTRODUCTION.strip()]
    parts += [text for source in sources if source.kind == TOURNAMENT for text in _ranking(source)]
    parts += _against_reference(sources)
    parts += _benchmark([source for source in sources if source.kind == BENCHMARK])
    parts += _files(sources)
    return "\n\n".join([*parts, RANKED.strip()]) + "\n"


def agents_in(source: Source) -> list[str]:
    """Return the texts or names of all agents of a result."""
    data = source.data
    match source.kind:
        case "evaluation":
            texts: Iterable[Any] = data["line_up"] if data.get("line_up") else data["agents"].values()
        case "ladder":
            texts = (duel[side] for duel in data["duels"] for side in "ab")
        case "tournament":
            texts = (agent["agent"] for agent in data["agents"])
        case _:
            texts = (result["agent"] for result in data["results"])
    return unique(text for text in texts if text is not None)


def _check(source: Source) -> None:
    """Refuse what is not ranked."""
    if source.kind in (EXPLOIT, RECORDS, TRAINING):
        raise LeaderboardError(
            f"{source.name} is of kind {source.kind}; allowed: tournament, ladder, benchmark, evaluation"
        )
    oracles = [text for text in agents_in(source) if text.partition(":")[0] in ORACLES]
    if oracles:
        raise LeaderboardError(f"{source.name} has the agent {oracles[0]!r}, which sees all hands; allowed: agents")
    for rules, price in _prices(source):
        if price != default_bag_price(rules):
            raise LeaderboardError(
                f"{source.name} has bag_price {price!r}; allowed: {default_bag_price(rules):g}, the rules' own, "
                "without which margins cannot be compared"
            )


def _prices(source: Source) -> Iterator[tuple[Rules, Any]]:
    """Yield rules and the points of a bag of every result on single deals."""
    if source.kind in (EVALUATION, TOURNAMENT) and source.data.get("bag_price") is not None:
        yield _rules(source, source.data["rules"]), source.data["bag_price"]
    for duel in source.data["duels"] if source.kind == LADDER else ():
        measured = duel["measured"]
        if measured is not None and measured.get("bag_price") is not None:
            yield _rules(source, duel["rules"]), measured["bag_price"]


def _rules(source: Source, fields: Values) -> Rules:
    try:
        return Rules.from_dict(fields)
    except RulesError as error:
        raise LeaderboardError(f"{source.name}: {error}") from None


def _rules_name(rules: Rules) -> str:
    """Return a preset's name, or the preset nearest to the rules and every field that differs from it."""
    values = rules.to_dict()
    changes = {
        preset: {name: values[name] for name, value in Rules.preset(preset).to_dict().items() if values[name] != value}
        for preset in PRESETS
    }
    nearest = min(changes, key=lambda preset: len(changes[preset]))
    return rules_text({"preset": nearest, **changes[nearest]})


def _ranking(source: Source) -> Iterator[str]:
    """Yield the ranking of a tournament; agents with illegal actions stand below it."""
    data, unit = source.data, unit_of(source.data)
    agents = sorted(data["agents"], key=lambda agent: agent["rank"])
    ranked = [agent for agent in agents if not agent["illegal_actions"]]
    margins = _margins_of_pairs(data)
    code = places_of(source)[0][0]
    rows = [
        [
            str(place),
            f"`{agent['label']}`",
            interval_text(agent["strength"], unit),
            rating_text(agent["rating"]),
            interval_text(margins.get(agent["label"]), unit),
            milliseconds(agent.get("ms_per_decision")),
            f"{agent['games']:,}",
            str(data["versions"].get("spades_env")),
            code,
        ]
        for place, agent in enumerate(ranked, 1)
    ]
    columns = ("", "agent", "strength", "rating", f"− {REFERENCE}", "ms a decision", data["kind"], "version", "code")
    yield f"## Ranking, {data['rules_text']}"
    yield f"`{source.name}`: {data['games']:,} duplicate {data['kind']}, seed {data['seed']}."
    yield table_text(columns, rows, words=(1, 7, 8))
    out = [f"`{agent['label']}` ({agent['illegal_actions']:,})" for agent in agents if agent["illegal_actions"]]
    if out:
        yield f"Not ranked, with illegal actions: {', '.join(out)}."


def _margins_of_pairs(data: Values) -> dict[str, Values]:
    """Return by label the margin against the reference in the games of that pair."""
    labels = {agent["label"] for agent in data["agents"] if agent["agent"] == REFERENCE}
    found = {pair["a"]: pair["margin"] for pair in data["pairs"] if pair["b"] in labels}
    return found | {pair["b"]: negated(pair["margin"]) for pair in data["pairs"] if pair["a"] in labels}


def negated(interval: Values) -> dict[str, float]:
    """Return the interval of B minus A."""
    return {"mean": 0.0 - interval["mean"], "low": 0.0 - interval["high"], "high": 0.0 - interval["low"]}


def _against_reference(sources: Sequence[Source]) -> Iterator[str]:
    """Yield the table of single deals against the reference in ladders and evaluations, by rules and margin."""
    lines = [line for source in sources for line in _lines(source)]
    lines.sort(key=lambda line: (line.rules, -line.margin["mean"], line.agent, line.file))
    if not lines:
        return
    rows = [
        [
            f"`{line.agent}`",
            line.rules,
            interval_text(line.margin, POINTS),
            f"{line.deals:,}",
            milliseconds(line.milliseconds),
            line.version,
            line.code,
            f"`{line.file}`",
        ]
        for line in lines
    ]
    yield f"## Against `{REFERENCE}`"
    columns = ("agent", "rules", f"− {REFERENCE}", "deals", "ms a decision", "version", "code", "file")
    yield table_text(columns, rows, words=(0, 1, 5, 6, 7))


def _lines(source: Source) -> Iterator[Line]:
    """Yield the agents that a ladder or an evaluation sets against the reference on single deals."""
    if source.kind == EVALUATION and not source.data.get("line_up"):
        a, b = names_of(source.data)
        rules = _rules_name(_rules(source, source.data["rules"]))
        yield from _line(source, a, b, rules, source.data["deals"], source.data)
    for duel in source.data["duels"] if source.kind == LADDER else ():
        if duel["kind"] == "deals" and duel["b"] and duel["measured"]:
            rules = _rules_name(_rules(source, duel["rules"]))
            yield from _line(source, duel["a"], duel["b"], rules, duel["games"], duel["measured"])


def _line(source: Source, a: str, b: str, rules: str, deals: int, measured: Values) -> Iterator[Line]:
    if (a == REFERENCE) == (b == REFERENCE) or _illegal(measured):
        return
    side, agent = ("A", a) if b == REFERENCE else ("B", b)
    margin = measured["margin"] if side == "A" else negated(measured["margin"])
    version, code = str(measured["versions"].get("spades_env")), measured.get("code") or NOTHING
    times = measured.get("ms_per_decision") or {}
    yield Line(agent, rules, margin, deals, times.get(side), version, code, source.name)


def _illegal(measured: Values) -> bool:
    """Tell whether any agent of a duel chose what was not allowed."""
    counts = measured["illegal_actions"]
    return bool(counts if isinstance(counts, int) else any(counts.values()))


def _benchmark(sources: Sequence[Source]) -> list[str]:
    """Return the table of the benchmark's tasks."""
    if not sources:
        return []
    quick = [source.name for source in sources if source.data["scale"] != 1]
    if quick:
        raise LeaderboardError(f"{quick[0]} was run with --scale; allowed: scale 1, which can be compared")
    table = benchmark_table(sources)
    return ["## Benchmark", table_text(table.columns, table.rows, table.words), table.note]


def _files(sources: Sequence[Source]) -> list[str]:
    """Return what each file is, what made it and where."""
    if not sources:
        return ["No results have been entered yet."]
    rows = [
        [f"`{source.name}`", source.kind, source.digest, version, code, machine]
        for source in sources
        for code, version, machine in places_of(source)
    ]
    commands = "\n".join(f"{command_of(source)}  # {source.name}" for source in sources)
    return [
        "## The files",
        table_text(("file", "kind", "SHA-256", "versions", "code", "machine"), rows, words=(0, 1, 2, 3, 4, 5)),
        "Code is the hash of the source of rules and agents, of the SHA-256 the first 12 digits are shown. Made by:",
        code_text(commands),
    ]
