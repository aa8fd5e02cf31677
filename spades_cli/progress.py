"""The progress bar of the commands: on stderr, gone when its work is done; a log file gets none."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

SPEED_SECONDS = 600.0
"""Batches of slow agents are far apart: the time left is judged by the last ten minutes, not by rich's 30 seconds."""


class Rate(ProgressColumn):
    """Steps per second."""

    def render(self, task: Task) -> Text:
        """Return the rate of `task`, once it is known."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.{0 if speed >= 100 else 1}f}/s")


def progress_bar(*more: ProgressColumn, counts: bool = False) -> Progress:
    """Return a bar with the time left: steps done and their rate if they `counts`, else the share and the time taken.

    `more` are columns at its end.
    """
    console = Console(stderr=True)
    middle = (MofNCompleteColumn(), Rate()) if counts else (TaskProgressColumn(), TimeElapsedColumn())
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *middle,
        TimeRemainingColumn(),
        *more,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=SPEED_SECONDS,
    )
