"""A training run from configuration to report: folder, lock, resume, evaluations on the way, interruption."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
import yaml
from filelock import FileLock, Timeout
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from agents.learned.network import PolicyNetwork
from agents.learned.policy import LearnedAgent, load_policy
from agents.learned.weights import POLICY_FILE, Description, input_size, policy_bytes, read_policy
from agents.registry import load_agent
from evaluation.duplicate import Evaluation, evaluate
from evaluation.work.backend import LOCAL, Backend
from spades_env import __version__
from spades_env.files import write_atomically
from training.checkpoint import CHECKPOINT_FILE, load_checkpoint, save_checkpoint
from training.clone import Cloner
from training.collected import CollectionLog
from training.config import TrainingConfig
from training.crew import check_actors, with_crew
from training.distill import Distiller
from training.labels import make_shards
from training.nils import NilLearner
from training.report import CONFIG_FILE, History, write_report
from training.selfplay import SelfPlayPPO

AVERAGE_FILE = "policy-average.safetensors"
"""The policy of the averaged weights, where a run keeps any."""
EARLY = 0.1
"""The final policy is also measured against itself at this share of the training."""
LOG_EVERY = 10
"""Collections between two entries of the TensorBoard log."""
MOST_COMMON_BID, FEWEST_NILS = 0.6, 0.005
"""Alarms: a bid more common, or nils of seats rarer, than this mean that the bidding has collapsed."""


class RunError(ValueError):
    """A run that cannot start; the message says what to do."""


class Interrupted(Exception):
    """The run was stopped by a signal; its checkpoint is saved."""


Report = Callable[[SelfPlayPPO, dict[str, Any] | None], None]
"""Called between collections with the model and, after an evaluation, its entry of the history."""


def train(
    config: TrainingConfig,
    runs: Path = Path("runs"),
    *,
    resume: bool = False,
    show: Report | None = None,
    prepare: Callable[[int], None] | None = None,
    backend: Backend = LOCAL,
    actors: int = 1,
) -> Path:
    """Train as `config` says in `runs/<name>`, evaluate, and return the path of the report.

    A folder that holds a run is refused unless `resume`, which goes on from the last checkpoint and ends with the
    same weights as a run that was never stopped (same machine, threads and library versions). Labels to distill that
    are missing are made first; `prepare` is called with the number of each shard that is there.

    Shares of the deals (`ppo.shares`) are played by so many `actors` of the `backend`, which changes nothing in the
    result; one local actor is this process. Clones and distillers learn from others' deals and stay here.
    """
    check_actors(config, backend, actors)
    folder = runs / config.name
    checkpoint = folder / CHECKPOINT_FILE
    if resume and not checkpoint.exists():
        raise RunError(f"{folder} has no {CHECKPOINT_FILE} to resume from")
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        if checkpoint.exists() and not resume:
            raise RunError(f"{folder} holds a run already: --resume goes on with it, --set name=... starts another")
        torch.set_num_threads(config.learner_threads)
        _check_device(config)
        for name in (*config.evaluation.opponents, *config.evaluation.final_opponents):
            load_agent(name)
        if config.distill is not None:
            make_shards(config.distill.labels, config.rule_set(), Path(config.distill.folder), show=prepare)
        model = _learner(config)
        history = load_checkpoint(checkpoint, model) if resume else []
        if config.start is not None and not resume:
            _begin_with(model, config.start_path(runs))
        write_atomically(folder / CONFIG_FILE, yaml.safe_dump(config.model_dump(), sort_keys=False))
        model.set_logger(configure(str(folder / "tensorboard"), ["tensorboard"]))
        keeper = Keeper(folder, model, history, show)
        if model.num_timesteps < config.deals:
            with with_crew(model, backend, actors), keeper.catching_signals():
                left = config.deals - model.num_timesteps
                model.learn(left, callback=keeper, log_interval=LOG_EVERY, reset_num_timesteps=False)
        keeper.after_training()
        if keeper.stopped:
            raise Interrupted(
                f"stopped after {model.num_timesteps:,} of {config.deals:,} deals; to go on: "
                f"spades train {folder / CONFIG_FILE} --runs {runs} --resume"
            )
        save_policy(folder / POLICY_FILE, model)
        if model.policy.average is not None:
            save_policy(folder / AVERAGE_FILE, model, model.policy.average)
        return write_report(folder, config, history, final_results(model, folder))


def _learner(config: TrainingConfig) -> SelfPlayPPO:
    if config.clone is not None:
        return Cloner(config)
    if config.nils is not None:
        return NilLearner(config)
    return SelfPlayPPO(config) if config.distill is None else Distiller(config)


def _begin_with(model: SelfPlayPPO, start: Path) -> None:
    """Give `model` the weights of the policy `start`, which must have the same inputs and widths."""
    tensors, description = read_policy(start)
    rules, hidden = model.config.rule_set(), tuple(model.config.network.hidden)
    if input_size(description.rules) != input_size(rules):
        raise RunError(
            f"start is {str(start)!r}, a policy for deal={description.rules.deal}; allowed: deal={rules.deal}"
        )
    if description.hidden != hidden:
        raise RunError(f"start is {str(start)!r} with hidden widths {description.hidden}; allowed: {hidden}")
    model.policy.begin_with(tensors)


def save_policy(path: Path, model: SelfPlayPPO, network: PolicyNetwork | None = None) -> None:
    """Write the weights for playing: those learned last, or of another `network` of the same shape."""
    config = model.config
    trained = {
        "deals": model.num_timesteps,
        "seed": config.seed,
        "config": config.model_dump(),
        "spades_env": __version__,
        "date": datetime.now(UTC).date().isoformat(),
    }
    description = Description(config.rule_set(), model.policy.hidden, model.policy.precision, trained)
    write_atomically(path, policy_bytes((network or model.policy.network()).tensors(), description))


def final_results(model: SelfPlayPPO, folder: Path) -> dict[str, Any]:
    """The trained policy against the final opponents and against itself at a tenth of the training."""
    config = model.config
    agent = load_policy(folder / POLICY_FILE)
    opponents: dict[str, Any] = {name: name for name in config.evaluation.final_opponents}
    if config.opponent is None and snapshot_path(folder, EARLY).exists():
        opponents[f"itself at {EARLY:.0%}"] = load_policy(snapshot_path(folder, EARLY))
    found: dict[str, Any] = {}
    for name, opponent in opponents.items():
        result = evaluate(
            agent,
            opponent,
            config.rule_set(),
            deals=config.evaluation.final_deals,
            seed=config.evaluation.seed + 1,
            bag_price=config.bag_price,
        )
        found[name] = _entry(result)
    return {
        "deals": model.num_timesteps,
        "minutes": model.seconds["all"] / 60,
        "threads": torch.get_num_threads(),
        "precision": model.policy.precision,
        "bag_price": model.env.bag_price,
        "opponents": found,
        "warnings": collapse_warnings(next(iter(found.values()))["stats"]),
        "speed": _speed(model),
    }


def collapse_warnings(stats: dict[str, Any]) -> list[str]:
    """What looks like collapsed bidding in an agent's evaluation statistics."""
    shares = np.array(stats["bid_histogram"]) / sum(stats["bid_histogram"])
    warnings = []
    if shares.max() > MOST_COMMON_BID:
        warnings.append(f"the bid {shares.argmax()} makes up {shares.max():.0%} of all bids")
    if stats["nil_rate"] < FEWEST_NILS:
        warnings.append(f"only {stats['nil_rate']:.2%} of seats bid nil")
    return warnings


def snapshot_path(folder: Path, progress: float) -> Path:
    """Where the policy at this share of the training lies."""
    return folder / f"policy-{round(100 * progress):03d}.safetensors"


def _entry(result: Evaluation) -> dict[str, Any]:
    return {
        "margin": result.margin.to_dict(),
        "margin_raw": result.margin_raw.to_dict(),
        "stats": result.stats(0),
    }


def _speed(model: SelfPlayPPO) -> dict[str, float]:
    total = max(model.seconds["all"], 1e-9)
    engine, network = model.seconds["engine"] / total, model.seconds["network"] / total
    return {
        "deals_per_second": model.num_timesteps / total,
        "choices_per_second": model.choices_made / total,
        "decisions_per_second": model.decisions_made / total,
        "engine_share": engine,
        "network_share": network,
        "rest_share": 1 - engine - network,
    }


def _check_device(config: TrainingConfig) -> None:
    device, learners = config.device, config.ppo.learners
    if device != "cpu" and not torch.cuda.is_available():
        raise RunError(f"device is {device!r}, but torch finds no GPU here; allowed: cpu")
    if ":" in device and int(device.split(":")[1]) >= torch.cuda.device_count():
        raise RunError(f"device is {device!r}; allowed: cuda:0..cuda:{torch.cuda.device_count() - 1}")
    if device != "cpu" and learners > torch.cuda.device_count():
        raise RunError(f"ppo.learners is {learners}; allowed with device cuda: up to {torch.cuda.device_count()} here")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder against a second run; the system frees the lock when the process ends, however it ends."""
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(f"{folder} is in use by another run") from None
    try:
        yield
    finally:
        lock.release()


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
        if EARLY <= self.model.progress < 2 * EARLY and not snapshot_path(self.folder, EARLY).exists():
            save_policy(snapshot_path(self.folder, EARLY), self.model)
        step = max(1, round(self.config.checkpoint_every * self.config.deals))
        if self.stopped or entry is not None or self.model.num_timesteps - self._saved_at >= step:
            self._save()
        if self.show:
            self.show(self.model, entry)
        self._since = perf_counter()

    def _on_step(self) -> bool:
        return not self.stopped

    def _on_rollout_end(self) -> None:
        if self.model.last_collection:
            self._collections.add(self.model.last_collection)

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

    def _add_time(self) -> None:
        self.model.seconds["all"] += perf_counter() - self._since

    def _save(self) -> None:
        save_checkpoint(self.folder / CHECKPOINT_FILE, self.model, self.history)
        self._saved_at = self.model.num_timesteps

    def _is_due(self, share: float) -> bool:
        """Whether the training has passed the next multiple of `share`."""
        done = len(self.history)
        return done * share <= self.model.progress + 1e-9 and self.model.num_timesteps < self.config.deals

    def _evaluate(self) -> dict[str, Any]:
        """Measure the greedy policy against the opponents, keep a snapshot, write both to the history."""
        agent = LearnedAgent(self.model.policy.network().tensors(), self.config.rule_set(), name=self.config.name)
        settings = self.config.evaluation
        found = {
            opponent: _entry(
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
            "deals_log": self.model.last_deals,
        }
        self.history.append(entry)
        for opponent, result in found.items():
            self.model.logger.record(f"evaluation/{opponent}/margin", result["margin"]["mean"])
            self.model.logger.record(f"evaluation/{opponent}/nil_rate", result["stats"]["nil_rate"])
        self.model.logger.dump(self.model.num_timesteps)
        save_policy(snapshot_path(self.folder, min(1.0, self.model.progress)), self.model)
        return entry
