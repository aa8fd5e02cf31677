"""The results of the suite as plain values and as a page in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluation.machine import machine, versions
from evaluation.results import Values
from evaluation.suite.exploit import EXPLOIT_SMALL
from evaluation.suite.task import REFERENCE, Task
from evaluation.text import NOTHING, interval_text, markdown_table, milliseconds, places_text

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
    parts += ["## Times", times_table(board), *places_text(board.results.values(), "results")]
    parts.append(f"```\n{board.command}\n```")
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
    return markdown_table([_heading(board, "task", "metric"), *lines])


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


def figures_table(board: Board) -> str:
    """Return the plain numbers and intervals among the further figures, a line for each; empty without any."""
    lines = []
    for task in board.tasks:
        found = [_flat(board.results[agent, task.id]["figures"]) for agent in board.agents]
        names = dict.fromkeys(name for figures in found for name in figures)
        for name in names:
            lines.append([f"`{task.id}`", f"`{name}`", *[figures.get(name, NOTHING) for figures in found]])
    return markdown_table([_heading(board, "task", "figure"), *lines]) if lines else ""


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
    return markdown_table([_heading(board, "task"), *lines])


def _ms(value: float | None) -> str:
    return f"{milliseconds(value)} ms" if value else NOTHING


def _heading(board: Board, *columns: str) -> list[str]:
    """Return the first line of a table with a column for each agent."""
    return [*columns, *[f"`{agent}`" for agent in board.agents]]


def _legend(board: Board) -> str:
    """Return how to read the table."""
    text = (
        f"Brackets: 95 % intervals. Frozen roles are played by `{REFERENCE}` of the version that is measured; "
        "the hash of the source of rules and agents stands as `code` in the JSON. ↑ higher is better, ↓ lower."
    )
    if EXPLOIT_SMALL.id in {task.id for task in board.tasks}:
        text += f" In `{EXPLOIT_SMALL.id}` they are bounds."
    if any(not result.get("same_code", True) for result in board.results.values()):
        text += " **†**: run before the source last changed; without `results.json` it is run again."
    return text


def _arrow(task: Task) -> str:
    return "↑" if task.higher_is_better else "↓"
