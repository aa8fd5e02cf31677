"""Stages: runs one after another, each in its folder; a later one may begin with an earlier one's weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from training.checkpoint import CHECKPOINT_FILE
from training.config import TrainingConfig, TrainingConfigError
from training.report import REPORT_FILE, RESULTS_FILE

Stage = Callable[[TrainingConfig, bool], Path]
"""Runs one stage, resumed or not, and returns the path of its report."""


def run_stages(configs: Sequence[TrainingConfig], runs: Path, stage: Stage, *, resume: bool = False) -> Path:
    """Run all `configs` in their order in folders below `runs`; the path of the last one's report.

    `resume` passes over stages that are finished and goes on with the one that was interrupted. A single run is
    always handed to `stage`, which knows better what is wrong with it.
    """
    names = [config.name for config in configs]
    for name in names:
        if names.count(name) > 1:
            raise TrainingConfigError(f"name is {name!r} in two configurations; allowed: a folder of its own for each")
    report = Path()
    for config in configs:
        folder = runs / config.name
        report = folder / REPORT_FILE
        if len(configs) == 1:
            report = stage(config, resume)
        elif not (resume and is_finished(folder, config)):
            report = stage(config, resume and (folder / CHECKPOINT_FILE).exists())
    return report


def is_finished(folder: Path, config: TrainingConfig) -> bool:
    """Whether the folder holds the report of a run with just this configuration."""
    try:
        results = json.loads((folder / RESULTS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(results, dict) and results.get("config") == config.model_dump()
