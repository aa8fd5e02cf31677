"""Who plays parts: this process, or several. A crew takes orders and gives back futures; it cuts and keeps nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from agents.base import Agent, AgentError, OracleAgent
from evaluation.work.backend import LOCAL, Backend, check_workers
from evaluation.work.files import files_of
from evaluation.work.job import AgentSpec, Job, Part, load
from evaluation.work.keys import play_rows
from evaluation.work.part import warm_up


class Desk:
    """Jobs in one process and their agents: each text is loaded once, each job's agents warmed up at its first part."""

    def __init__(self, jobs: Sequence[Job], expected: Mapping[str, str] | None = None) -> None:
        """`expected`: what `files` of whoever ordered the work says; an agent whose files differ is refused."""
        self.jobs = tuple(jobs)
        self._files: dict[str, str] = {}
        self._expected = expected
        self._loaded: dict[tuple[Any, bool], Agent | OracleAgent] = {}
        self._warm: set[int] = set()

    def agents(self, job: int) -> tuple[Agent | OracleAgent, ...]:
        """Return the agents of job number `job`, loaded; AgentError says why one is not available."""
        which = self.jobs[job]
        return tuple(self._agent(spec, which.oracles) for spec in which.agents)

    def files(self) -> dict[str, str]:
        """Return a hash of the files behind each agent's text that has any, as they were when it was loaded."""
        for job in range(len(self.jobs)):
            self.agents(job)
        return dict(self._files)

    def texts(self) -> set[str]:
        """Return the texts of all jobs' agents, but of those that are objects."""
        return {str(spec) for job in self.jobs for spec in job.agents if isinstance(spec, str | Path)}

    def expected(self) -> dict[str, str]:
        """Return what workers must find behind the texts of all jobs, also of agents that are not loaded here."""
        return files_of(self.texts()) | self._files

    def play(self, job: int, first: int, count: int) -> Part:
        """Play a part of job number `job`."""
        agents = self.agents(job)
        if job not in self._warm:
            warm_up(self.jobs[job], agents)
            self._warm.add(job)
        return play_rows(self.jobs[job], agents, first, count)

    def _agent(self, spec: AgentSpec, oracles: bool) -> Agent | OracleAgent:
        if not isinstance(spec, str | Path):
            return load(spec, oracles)
        text = str(spec)
        if (text, oracles) not in self._loaded:
            self._note_files(text)
            self._loaded[text, oracles] = load(spec, oracles)
        return self._loaded[text, oracles]

    def _note_files(self, text: str) -> None:
        """Remember what is behind an agent's text at the moment."""
        found = files_of([text])
        if self._expected is not None and found.get(text) != self._expected.get(text):
            raise AgentError(f"agent {text!r}: its files have changed since the start; start again")
        self._files |= found


class Crew(AbstractContextManager["Crew"], Protocol):
    """Plays parts of the jobs of a desk; leaving the context stops it.

    Attributes:
        in_flight: parts to order at a time, so that no worker waits.
    """

    desk: Desk
    in_flight: int

    def submit(self, job: int, first: int, count: int) -> Future[Part]:
        """Order a part of job number `job` of the desk; PartError comes out of the future."""
        ...


class LocalCrew(Crew):
    """This process: a part is played when it is ordered."""

    in_flight = 1

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def __exit__(self, *_: object) -> None:
        return None

    def submit(self, job: int, first: int, count: int) -> Future[Part]:
        """Play the part; errors are raised at once."""
        done: Future[Part] = Future()
        done.set_result(self.desk.play(job, first, count))
        return done


def open_crew(desk: Desk, workers: int = 1, backend: Backend = LOCAL) -> Crew:
    """Return a crew of one or more processes of `backend` for the jobs of `desk`; one local one is this process."""
    if check_workers(workers, backend) == 1 and backend.is_local:
        return LocalCrew(desk)
    # Imported late: processes of their own are for those who ask for them.
    from evaluation.work.together import WorkersCrew

    return WorkersCrew(desk, workers, backend)
