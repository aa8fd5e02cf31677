"""Who works on a run beside its own process: actors that play its deals, and learners that share its steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from evaluation.work.backend import Backend, check_installed
from spades_env.checks import whole_number
from training.config import TrainingConfig, TrainingConfigError
from training.selfplay import SelfPlayPPO


def plays_elsewhere(config: TrainingConfig, backend: Backend, actors: int) -> bool:
    """Whether other processes than this one play the deals."""
    return config.policy_plays and not (backend.is_local and actors == 1)


def check_actors(config: TrainingConfig, backend: Backend, actors: int) -> None:
    """Refuse a backend that is not installed, and actors that would play other deals than this process."""
    check_installed(backend)
    whole_number("actors", actors, 1, backend.most_workers)
    if config.pool is not None and config.pool.snapshots and plays_elsewhere(config, backend, actors):
        raise TrainingConfigError(
            f"pool.snapshots is {config.pool.snapshots}; allowed with actors, who do not know a run's results: 0"
        )
    ppo = config.ppo
    plays_on_device = ppo.shares == 1 and ppo.staleness == 0 and ppo.learners == 1
    if plays_elsewhere(config, backend, actors) and plays_on_device and config.device != "cpu":
        raise TrainingConfigError(
            f"ppo.shares is 1 and device {config.device!r}; allowed with actors, who play on CPUs: 2 or more, "
            "which plays on the CPU here, too"
        )


@contextmanager
def with_crew(model: SelfPlayPPO, backend: Backend, actors: int) -> Iterator[None]:
    """Let actors and further learners work on the run of `model` for as long as the context lasts."""
    with ExitStack() as stack:
        # Imported late: other processes are for those who ask for them.
        if plays_elsewhere(model.config, backend, actors):
            from training.actors import WorkerPlayers

            model.let_play(stack.enter_context(WorkerPlayers(model.config, model.policy.precision, backend, actors)))
        if model.config.ppo.learners > 1:
            from training.team import Team

            model.team = stack.enter_context(Team(model))
        yield
