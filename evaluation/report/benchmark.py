"""The section of `spades benchmark`: tasks by agents, partners, calibration of nil, and definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from evaluation.report.model import (
    Bin,
    Block,
    Folded,
    HeatMap,
    IntervalRow,
    Intervals,
    Reliability,
    Section,
    Table,
    Text,
)
from evaluation.report.read import Source
from evaluation.report.shape import NUMBER, Maybe, ShapeError, check_shape
from evaluation.suite.exploit import EXPLOIT_SMALL
from evaluation.text import NOTHING, POINTS, Values, interval_text, milliseconds, unique

BINS = {
    "bins": [{"predicted": NUMBER, "observed": NUMBER, "n": int}],
    "brier": Maybe(NUMBER),
    "ece": Maybe(NUMBER),
}
"""Form of a figure that a reliability diagram is drawn from."""


def benchmark_section(sources: Sequence[Source]) -> Section:
    """Return the section of all benchmark results; the same task of several files stands together."""
    tasks, agents, found = _gathered(sources)
    results = list(found.values())
    blocks: list[Block] = [
        Text(
            f"Suite {source.data['suite']}, scale {source.data['scale']:g}: a quick look, not comparable with scale 1."
        )
        for source in sources
        if source.data["scale"] != 1
    ]
    blocks.append(benchmark_table(sources))
    blocks += [_plot(task, agents, found) for task in tasks if _measured(task, agents, found)]
    blocks += [*_partners(results, agents), *_calibration(results)]
    figures = _figures(tasks, agents, found)
    blocks += [Folded("Further figures", [figures])] if figures.rows else []
    blocks.append(Folded("What the tasks are", [_definition(task) for task in tasks]))
    return Section("benchmark", "Benchmark", blocks)


Found = dict[tuple[str, str, int], Values]
"""Results by agent, task and version of the task."""


def _gathered(sources: Sequence[Source]) -> tuple[list[Values], list[str], Found]:
    """Return all tasks, all agents, and the results."""
    tasks = {(task["id"], task["version"]): task for source in sources for task in source.data["tasks"]}
    results = [result for source in sources for result in source.data["results"]]
    found = {(result["agent"], result["task"], result["task_version"]): result for result in results}
    return list(tasks.values()), unique(result["agent"] for result in results), found


def _get(task: Values, agent: str, found: Found) -> Values | None:
    return found.get((agent, task["id"], task["version"]))


def _measured(task: Values, agents: Sequence[str], found: Found) -> list[tuple[str, Values]]:
    """Return the agents that have a headline in a task, with their results."""
    results = [(agent, _get(task, agent, found)) for agent in agents]
    return [(agent, result) for agent, result in results if result is not None and result["headline"]]


def benchmark_table(sources: Sequence[Source]) -> Table:
    """Return the headlines: a line for each task, a column for each agent."""
    tasks, agents, found = _gathered(sources)
    rows = []
    for task in tasks:
        arrow = "↑" if task["higher_is_better"] else "↓"
        cells = [_cell(task, _get(task, agent, found)) for agent in agents]
        rows.append([f"{task['id']} v{task['version']}", f"{task['metric']}, {task['unit']} {arrow}", *cells])
    note = "Brackets: 95 % intervals. ↑ higher is better, ↓ lower."
    if EXPLOIT_SMALL.id in {task["id"] for task in tasks}:
        note += f" In {EXPLOIT_SMALL.id} they are bounds."
    reasons = unique(f"{r['task']}: {r['reason']}" for r in found.values() if not r["headline"] and r.get("reason"))
    note += f" {NOTHING} {'; '.join(reasons)}." if reasons else ""
    return Table("All tasks", ("task", "metric", *agents), rows, words=(0, 1), note=note)


def _cell(task: Values, result: Values | None) -> str:
    if result is None or not result["headline"]:
        return NOTHING
    illegal = f", illegal actions {result['illegal_actions']:,}" if result["illegal_actions"] else ""
    return interval_text(result["headline"], task["unit"]) + illegal


def _plot(task: Values, agents: Sequence[str], found: Found) -> Intervals:
    rows = [
        IntervalRow(agent, result["headline"], f"{milliseconds(result.get('ms_per_decision'))} ms a decision")
        for agent, result in _measured(task, agents, found)
    ]
    line = 0.5 if task["unit"] == "share" and "won" in task["metric"] else 0.0
    title = f"{task['title']}: {task['metric']}, {'higher' if task['higher_is_better'] else 'lower'} is better"
    return Intervals(title, rows, task["unit"], line=line)


def _partners(results: Sequence[Values], agents: Sequence[str]) -> Iterator[Block]:
    """Yield a heat map for every task whose figures are told by partner: agents by partners."""
    for task in unique(result["task"] for result in results):
        rows = {r["agent"]: _by_partner(r["figures"]) for r in results if r["task"] == task}
        partners = unique(name for row in rows.values() for name in row)
        if partners:
            names = [agent for agent in agents if rows.get(agent)]
            intervals = [[rows[agent].get(partner) for partner in partners] for agent in names]
            yield HeatMap(
                f"{task}: by partner",
                names,
                partners,
                [[cell["mean"] if cell else None for cell in row] for row in intervals],
                POINTS,
                "agent \\ partner",
                [[f"± {(cell['high'] - cell['low']) / 2:.2f}" if cell else "" for cell in row] for row in intervals],
            )


def _by_partner(figures: Values) -> dict[str, Values]:
    """Return the interval of each partner: the margin, or the gain over the reference; beside herself first."""
    found: dict[str, Values] = {}
    if _is_interval(figures.get("self_play")):
        found["herself"] = figures["self_play"]
    told = figures.get("by_partner")
    for name, value in told.items() if isinstance(told, dict) else ():
        interval = value.get("gain") if isinstance(value, dict) and "gain" in value else value
        if _is_interval(interval):
            found[name] = interval
    return found


def _is_interval(value: Any) -> TypeGuard[Values]:
    try:
        check_shape(value, {"mean": NUMBER, "low": NUMBER, "high": NUMBER})
    except ShapeError:
        return False
    return True


def _calibration(results: Sequence[Values]) -> Iterator[Block]:
    """Yield a reliability diagram for every task with a `calibration` of told chances in `bins`."""
    for task in unique(result["task"] for result in results):
        series = []
        for result in results:
            told = result["figures"].get("calibration")
            if result["task"] == task and isinstance(told, dict) and told.get("bins"):
                check_shape(told, BINS, f"{task}: calibration")
                bins = [Bin(b["predicted"], b["observed"], b["n"]) for b in told["bins"] if b["n"] > 0]
                extra = [
                    f"{name} {told[key]:.4f}" for key, name in (("brier", "Brier"), ("ece", "ECE")) if told.get(key)
                ]
                series.append((", ".join([result["agent"], *extra]), bins))
        if series:
            note = "Chance of making nil as the agent said it, against the share that was made; on the line is right."
            yield Reliability(f"{task}: calibration", series, note)


def _figures(tasks: Any, agents: Sequence[str], found: Found) -> Table:
    """Return the plain numbers and intervals among the further figures, a line for each."""
    rows = []
    for task in tasks:
        results = [_get(task, agent, found) for agent in agents]
        columns = [_flat(one["figures"]) if one else {} for one in results]
        for name in unique(name for column in columns for name in column):
            rows.append([task["id"], name, *[column.get(name, NOTHING) for column in columns]])
    return Table("Further figures", ("task", "figure", *agents), rows, words=(0, 1))


def _flat(figures: Values, prefix: str = "") -> dict[str, str]:
    """Return figures as text by dotted name; statistics of deals and lists, which are many, are left out."""
    flat: dict[str, str] = {}
    for name, value in figures.items():
        if name.endswith("stats") or isinstance(value, list):
            continue
        if _is_interval(value):
            flat[prefix + name] = f"{value['mean']:.4g} [{value['low']:.4g}, {value['high']:.4g}]"
        elif isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, float):
            flat[prefix + name] = f"{value:.4g}"
        else:
            flat[prefix + name] = NOTHING if value is None else str(value)
    return flat


def _definition(task: Values) -> Text:
    return Text(
        f"{task['id']} v{task['version']}, {task['title']}: {task['definition']} {task['games']:,} {task['of']}."
    )
