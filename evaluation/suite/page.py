"""The results of the suite as plain values and as a page in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluation.machine import machine, versions
from evaluation.results import Values
from evaluation.suite.task import REFERENCE, Task

NOTHING: Final = "–"
MARK: Final = " †"


@dataclass(frozen=True)
class Board:
    """Results of agents in tasks: `results[agent, task id]`, as `TaskResult.to_dict` and the store give them."""

    tasks: Sequence[Task]
    agents: Sequence[str]
    results: dict[tuple[str, str], Values]
    suite: str
    scale: float
    command: str

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON contract of `spades benchmark`, described in docs/benchmark.md."""
        return {
            "command": self.command,
            "suite": self.suite,
            "scale": self.scale,
            "comparable": self.scale == 1.0,
            "reference": REFERENCE,
            "tasks": [task_values(task) for task in self.tasks],
            "results": [
                {"agent": agent, "task": task.id, "task_version": task.version, **self.results[agent, task.id]}
                for agent in self.agents
                for task in self.tasks
            ],
            "versions": versions(),
            "machine": machine(),
        }


def task_values(task: Task) -> dict[str, Any]:
    """Return a task as plain values."""
    names = ("id", "version", "title", "definition", "metric", "unit", "higher_is_better", "rules", "games", "of")
    return {**{name: getattr(task, name) for name in names}, "suites": list(task.suites)}


def markdown(board: Board) -> str:
    """Return the page: the table, what the tasks are, further figures, times, and what it was measured on."""
    parts = ["# The benchmark suite", *_warning(board), table(board), _legend(board), *reasons(board)]
    parts += ["## What else was found", figures_table(board)] if figures_table(board) else []
    parts += ["## Tasks", *[describe(task) for task in board.tasks]]
    parts += ["## Times", times_table(board), *_measured_on(board), f"```\n{board.command}\n```"]
    return "\n\n".join(parts) + "\n"


def _warning(board: Board) -> list[str]:
    """Say that a quick look is no result."""
    if board.scale == 1.0:
        return []
    return [f"**Scale {board.scale:g}: a quick look, not comparable with results at scale 1.**"]


def table(board: Board) -> str:
    """Return the main table, a line for each task and a column for each agent."""
    lines = [
        [f"`{task.id}` v{task.version}", f"{task.metric}, {task.unit} {_arrow(task)}"]
        + [cell(task, board.results[agent, task.id]) for agent in board.agents]
        for task in board.tasks
    ]
    return _table(["task", "metric", *[f"`{agent}`" for agent in board.agents]], lines)


def cell(task: Task, result: Values) -> str:
    """Return a headline with its interval; `reasons` says why there is none."""
    headline = result["headline"]
    if headline is None:
        return NOTHING
    old = MARK if not result.get("same_code", True) else ""
    illegal = f" **illegal actions {result['illegal_actions']}**" if result["illegal_actions"] else ""
    return interval_text(headline, task.unit) + old + illegal


def reasons(board: Board) -> list[str]:
    """Return a line for each result without a headline."""
    return [
        f"No figure in {task.id} for {agent}: {board.results[agent, task.id]['reason']}."
        for task in board.tasks
        for agent in board.agents
        if board.results[agent, task.id]["headline"] is None
    ]


def interval_text(interval: dict[str, float], unit: str) -> str:
    """Return an estimate and its interval in its unit: percent for shares, else figures that count."""
    low, mean, high = interval["low"], interval["mean"], interval["high"]
    if unit == "share":
        return f"{100 * mean:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    if unit.startswith("nats"):
        return f"{mean:.4f} [{low:.4f}, {high:.4f}]"
    return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"


def figures_table(board: Board) -> str:
    """Return the plain numbers and intervals among the further figures, a line for each; empty without any."""
    lines = []
    for task in board.tasks:
        found = [_flat(board.results[agent, task.id]["figures"]) for agent in board.agents]
        names = dict.fromkeys(name for figures in found for name in figures)
        for name in names:
            lines.append([f"`{task.id}`", f"`{name}`", *[figures.get(name, NOTHING) for figures in found]])
    return _table(["task", "figure", *[f"`{agent}`" for agent in board.agents]], lines) if lines else ""


def _flat(figures: Values, prefix: str = "") -> dict[str, str]:
    """Return the figures of a result as text by dotted name; not reasons and statistics of deals."""
    found: dict[str, str] = {}
    for name, value in figures.items():
        if name.endswith("stats") or name == "reason":
            continue
        if isinstance(value, dict) and set(value) == {"mean", "low", "high"}:
            found[prefix + name] = f"{value['mean']:.4g} [{value['low']:.4g}, {value['high']:.4g}]"
        elif isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, float):
            found[prefix + name] = f"{value:.4g}"
        elif not isinstance(value, list):
            found[prefix + name] = NOTHING if value is None else str(value)
    return found


def describe(task: Task) -> str:
    """Return a task as a section of a page; docs/benchmark.md has the same text."""
    better = "higher" if task.higher_is_better else "lower"
    return (
        f"### `{task.id}`: {task.title}\n\n{task.definition}\n\n"
        f"Version {task.version}; suite {', '.join(task.suites)}; rules {task.rules}; {task.games:,} {task.of}; "
        f"about {task.games * task.decisions:,.0f} decisions of the agent. Headline: {task.metric}, {task.unit}, "
        f"{better} is better."
    )


def times_table(board: Board) -> str:
    """Return seconds and milliseconds per decision of every task."""
    lines = []
    for task in board.tasks:
        results = [board.results[agent, task.id] for agent in board.agents]
        lines.append([f"`{task.id}`", *[f"{r['seconds']:.1f} s, {_ms(r['ms_per_decision'])}" for r in results]])
    total = [sum(board.results[agent, task.id]["seconds"] for task in board.tasks) for agent in board.agents]
    lines.append(["all", *[f"{seconds:.1f} s" for seconds in total]])
    return _table(["task", *[f"`{agent}`" for agent in board.agents]], lines)


def _ms(value: float | None) -> str:
    """Return milliseconds in two figures that count, without an exponent."""
    if not value:
        return NOTHING
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f} ms"


def _legend(board: Board) -> str:
    """Return how to read the table."""
    text = (
        f"Brackets: 95 % intervals. Frozen roles are played by `{REFERENCE}` of the version that is measured; "
        "the hash of the source of rules and agents stands as `code` in the JSON. ↑ higher is better, ↓ lower."
    )
    if any(not result.get("same_code", True) for result in board.results.values()):
        text += " **†**: run before the source last changed; without `results.json` it is run again."
    return text


def _measured_on(board: Board) -> list[str]:
    """Return each machine, set of versions and hash of the source that results come from."""
    places: dict[str, int] = {}
    for result in board.results.values():
        on, found = result["machine"], result["versions"]
        text = f"{on['processor']}, {on['cores']} cores, {on['system']}; "
        text += ", ".join(f"{name} {version}" for name, version in found.items() if version)
        places[f"{text}; code {result['code']}"] = places.get(f"{text}; code {result['code']}", 0) + 1
    return [f"Measured on {text}{f' ({n} results)' if len(places) > 1 else ''}." for text, n in places.items()]


def _arrow(task: Task) -> str:
    return "↑" if task.higher_is_better else "↓"


def _table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table with cells padded to equal width, so that it reads well as text, too."""
    lines = [columns, *[[text.replace("|", "\\|") for text in row] for row in rows]]
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |" for line in lines
    )
