"""Keeper: what happens between the collections of a run."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from agents.learned.policy import LearnedAgent
from evaluation.duplicate import evaluate
from training.checkpoint import CHECKPOINT_FILE, save_checkpoint
from training.collected import CollectionLog
from training.guard import Guard
from training.league import SNAPSHOTS_FOLDER, snapshot_file
from training.line_ups import PoolVecEnv
from training.outcome import EARLY, entry_of, save_policy, snapshot_path
from training.report import History
from training.selfplay import SelfPlayPPO

Report = Callable[[SelfPlayPPO, dict[str, Any] | None], None]
"""Called between collections with the model and, after an evaluation, its entry of the history."""


class Keeper(BaseCallback):
    """Between collections: checkpoints, evaluations, time, progress, and the wish to stop."""

    model: SelfPlayPPO

    def __init__(self, folder: Path, model: SelfPlayPPO, history: History, show: Report | None) -> None:
        super().__init__()
        self.folder = folder
        self.config = model.config
        self.history = history
        self.show = show
        self.stopped = False
        self.model = model
        self.guard = Guard(folder, model, history)
        self._collections = CollectionLog(folder, model.num_timesteps)
        self._saved_at = model.num_timesteps
        self._since = perf_counter()

    @contextmanager
    def catching_signals(self) -> Iterator[None]:
        """Let Ctrl-C and SIGTERM stop the run at the next collection; a second one stops at once."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def stop(number: int, frame: Any) -> None:
            self.stopped = True
            signal.signal(number, before[signal.Signals(number)])

        try:
            for number in before:
                signal.signal(number, stop)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_training_start(self) -> None:
        self._since = perf_counter()

    def _on_rollout_start(self) -> None:
        self._add_time()
        entry = self._evaluate() if self._is_due(self.config.evaluation.every) else None
        if entry is None or entry["alarm_action"] != "stop":
            self._take_snapshot()
        if EARLY <= self.model.progress < 2 * EARLY and not snapshot_path(self.folder, EARLY).exists():
            save_policy(snapshot_path(self.folder, EARLY), self.model)
        step = max(1, round(self.config.checkpoint_every * self.config.deals))
        if self.stopped or entry is not None or self.model.num_timesteps - self._saved_at >= step:
            self._save()
        if self.show:
            self.show(self.model, entry)
        self.guard.check(entry)
        self._since = perf_counter()

    def _on_step(self) -> bool:
        return not self.stopped

    def _on_rollout_end(self) -> None:
        if self.model.last_collection:
            self._collections.add(self.model.last_collection)
        table = self.model.env
        if isinstance(table, PoolVecEnv) and table.league:
            table.note_results()
            for name, value in table.facts().items():
                self.model.logger.record(f"pool/{name}", value)

    def after_training(self) -> None:
        """The last evaluation and checkpoint; a run that was stopped keeps just its checkpoint."""
        if self.model.num_timesteps > self._saved_at:
            self._add_time()
            self._save()
        if self.stopped or (self.history and self.history[-1]["deals"] == self.model.num_timesteps):
            return
        entry = self._evaluate()
        self._save()
        if self.show:
            self.show(self.model, entry)
        self.guard.check(entry)

    def _take_snapshot(self) -> None:
        """Let the policy as it is now be one of its own opponents, if it is time for that."""
        table = self.model.env
        if not isinstance(table, PoolVecEnv) or table.league is None:
            return
        deals = self.model.num_timesteps
        if table.league.is_due(deals, self.config.deals):
            file = snapshot_file(self.folder / SNAPSHOTS_FOLDER, deals)
            file.parent.mkdir(exist_ok=True)
            save_policy(file, self.model)
            table.league.add(file, deals)

    def _add_time(self) -> None:
        self.model.seconds["all"] += perf_counter() - self._since

    def _save(self) -> None:
        save_checkpoint(self.folder / CHECKPOINT_FILE, self.model, self.history)
        self._saved_at = self.model.num_timesteps
        table = self.model.env
        if isinstance(table, PoolVecEnv) and table.league:
            table.league.forget_files(self.folder / SNAPSHOTS_FOLDER)

    def _is_due(self, share: float) -> bool:
        """Whether the training has passed the next multiple of `share`."""
        done = len(self.history)
        return done * share <= self.model.progress + 1e-9 and self.model.num_timesteps < self.config.deals

    def _evaluate(self) -> dict[str, Any]:
        """Measure the greedy policy against the opponents, keep it, write the figures to the history, heed alarms."""
        agent = LearnedAgent(
            self.model.policy.network().tensors(),
            self.config.rule_set(),
            name=self.config.name,
            knows_match=self.config.match is not None,
        )
        settings = self.config.evaluation
        found = {
            opponent: entry_of(
                evaluate(
                    agent,
                    opponent,
                    self.config.rule_set(),
                    deals=settings.deals,
                    seed=settings.seed,
                    bag_price=self.config.bag_price,
                )
            )
            for opponent in settings.opponents
        }
        entry = {
            "deals": self.model.num_timesteps,
            "minutes": self.model.seconds["all"] / 60,
            "opponents": found,
            # JSON has no NaN, which stands for a share of nothing.
            "deals_log": {name: None if isnan(value) else value for name, value in self.model.last_deals.items()},
        }
        self.history.append(entry)
        for opponent, result in found.items():
            self.model.logger.record(f"evaluation/{opponent}/margin", result["margin"]["mean"])
            self.model.logger.record(f"evaluation/{opponent}/nil_rate", result["stats"]["nil_rate"])
        self.model.logger.dump(self.model.num_timesteps)
        save_policy(snapshot_path(self.folder, min(1.0, self.model.progress)), self.model)
        self.guard.judge(entry)
        return entry
