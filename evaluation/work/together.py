"""A crew of several workers, in whatever processes: each has its own copy of the agents, loaded from their texts."""

from __future__ import annotations

import pickle
from concurrent.futures import Future

from agents.base import AgentError
from evaluation.work.backend import AHEAD, Backend, open_workers
from evaluation.work.crew import Crew, Desk
from evaluation.work.job import Job, Part

_desk: Desk | None = None
"""In a worker: its jobs and their agents."""


class WorkersCrew(Crew):
    """A crew of `workers` processes of a backend; each loads an agent when it first needs it."""

    def __init__(self, desk: Desk, workers: int, backend: Backend) -> None:
        jobs = tuple(_picklable(job) for job in desk.jobs)
        self.desk = desk
        self.in_flight = AHEAD * workers
        self._workers = open_workers(backend, workers, _take_desk, (jobs, desk.expected()), agents=desk.texts())

    def __exit__(self, *error: object) -> None:
        self._workers.__exit__(*error)

    def submit(self, job: int, first: int, count: int) -> Future[Part]:
        """Order a part."""
        return self._workers.submit(_play, job, first, count)


def _picklable(job: Job) -> bytes:
    """Return the job as bytes; an agent that cannot be sent is refused by name."""
    for agent in job.agents:
        try:
            pickle.dumps(agent)
        except Exception as error:  # pickling runs code of the agent's
            name = getattr(agent, "name", agent)
            raise AgentError(
                f"agent {name!r} cannot be sent to another process ({type(error).__name__}: {error}); "
                "allowed with more than one worker: texts, and agents that can be pickled"
            ) from error
    return pickle.dumps(job)


def _take_desk(jobs: tuple[bytes, ...], files: dict[str, str]) -> None:
    """In a worker: make the desk it plays for."""
    global _desk
    _desk = Desk([pickle.loads(job) for job in jobs], files)  # our own bytes, from whoever began this process


def _play(job: int, first: int, count: int) -> Part:
    """In a worker: play a part."""
    assert _desk is not None
    return _desk.play(job, first, count)
