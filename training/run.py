"""A training run from configuration to report: folder, lock, resume, evaluations on the way, interruption."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import yaml
from filelock import FileLock, Timeout
from stable_baselines3.common.logger import configure

from agents.learned.weights import POLICY_FILE, Description, Tensors, input_size, read_policy
from agents.registry import load_agent
from evaluation.work.backend import LOCAL, Backend
from spades_env.files import write_atomically
from training.bid_values import BidLearner, bid_learner
from training.checkpoint import CHECKPOINT_FILE, load_checkpoint
from training.clone import Cloner
from training.config import TrainingConfig
from training.crew import check_actors, with_crew
from training.distill import Distiller
from training.keeper import Keeper, Report
from training.labels import make_shards
from training.match import open_to_scores
from training.nils import NilLearner
from training.outcome import AVERAGE_FILE, final_results, save_policy
from training.report import CONFIG_FILE, write_report
from training.seats import SeatVecEnv
from training.selfplay import SelfPlayPPO
from training.shards import ShowShards

LOG_EVERY = 10
"""Collections between two entries of the TensorBoard log."""


class RunError(ValueError):
    """A run that cannot start; the message says what to do."""


class Interrupted(Exception):
    """The run was stopped by a signal; its checkpoint is saved."""


def train(
    config: TrainingConfig,
    runs: Path = Path("runs"),
    *,
    resume: bool = False,
    show: Report | None = None,
    prepare: ShowShards | None = None,
    backend: Backend = LOCAL,
    actors: int = 1,
) -> Path:
    """Train as `config` says in `runs/<name>`, evaluate, and return the path of the report.

    A folder that holds a run is refused unless `resume`, which goes on from the last checkpoint and ends with the
    same weights as a run that was never stopped (same machine, threads and library versions). Labels to learn from
    that are missing are made first, and `prepare` is told how many shards are there.

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
        model = _learner(config, runs, prepare)
        history = load_checkpoint(checkpoint, model) if resume else []
        if config.start is not None and not resume:
            model.policy.begin_with(_start(config, runs)[0])
        write_atomically(folder / CONFIG_FILE, yaml.safe_dump(config.model_dump(), sort_keys=False))
        model.set_logger(configure(str(folder / "tensorboard"), ["tensorboard"]))
        keeper = Keeper(folder, model, history, show)
        keeper.guard.resume()
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
        final = final_results(model, folder)
        if isinstance(model, BidLearner):
            final["bid_values"] = model.findings()
        return write_report(folder, config, history, final)


def _learner(config: TrainingConfig, runs: Path, prepare: ShowShards | None) -> SelfPlayPPO:
    if config.distill is not None:
        make_shards(config.distill.labels, config.rule_set(), Path(config.distill.folder), show=prepare)
        return Distiller(config)
    if config.bid_values is not None:
        return bid_learner(config, _start(config, runs), prepare)
    if config.clone is not None:
        return Cloner(config)
    if config.nils is not None:
        return NilLearner(config)
    return SelfPlayPPO(config)


def _start(config: TrainingConfig, runs: Path) -> tuple[Tensors, Description]:
    """The policy to begin with, which must have the inputs and widths of the run's."""
    start = config.start_path(runs)
    tensors, description = read_policy(start)
    rules, hidden = config.rule_set(), tuple(config.network.hidden)
    if input_size(description.rules) != input_size(rules):
        raise RunError(
            f"start is {str(start)!r}, a policy for deal={description.rules.deal}; allowed: deal={rules.deal}"
        )
    if description.hidden != hidden:
        raise RunError(f"start is {str(start)!r} with hidden widths {description.hidden}; allowed: {hidden}")
    if config.match is None and description.knows_match:
        # What is learned at 0:0 is saved as a policy of 0:0, which would forget the scores without a word.
        raise RunError(f"start is {str(start)!r}, a policy that plays the score; allowed without match: one of 0:0")
    if config.match is not None and not description.knows_match:
        table = SeatVecEnv(rules, 1, 0)
        table.deal(0)
        tensors = open_to_scores(tensors, table.observe(table.waiting())[0][0])
    return tensors, description


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
