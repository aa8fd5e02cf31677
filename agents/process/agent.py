"""An agent whose decisions are made by another program: "process:COMMAND" (docs/external_agents.md).

A decision for which nothing legal came is -1, which evaluations count as an illegal action.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
from collections import Counter
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from agents.base import ActionArray, AgentError, KeyArray, check_views
from agents.options import Options, read_options
from agents.process.client import Client, ClientFault
from agents.process.protocol import ProtocolError, legal_masks, read_reply, request_lines
from spades_env.actions import ActionError, parse_action
from spades_env.checks import finite_number, whole_number
from spades_env.engine.state import StateArray

NO_ACTION: Final = -1
"""Instead of an action where none came; never legal."""
DEFAULT_LIMIT: Final = 10.0
DEFAULT_START: Final = 30.0
DEFAULT_RESTARTS: Final = 3
LONGEST_WAIT: Final = 86_400.0
MOST_RESTARTS: Final = 1_000_000
FORM: Final = "process:COMMAND or process[limit=SECONDS,start=SECONDS,restarts=N]:COMMAND"

_LOG: Final = logging.getLogger(__name__)
_TEXT: Final = re.compile(r"process(?:\[([^\]]*)\])?:(.*)", re.DOTALL)


OPTIONS: Final[Options] = {
    "limit": (float, f"seconds for a decision, above 0, at most {LONGEST_WAIT:g} (default {DEFAULT_LIMIT:g})"),
    "start": (float, f"seconds to say hello, above 0, at most {LONGEST_WAIT:g} (default {DEFAULT_START:g})"),
    "restarts": (int, f"times the program may be started again, 0..{MOST_RESTARTS} (default {DEFAULT_RESTARTS})"),
}


def is_process_text(text: str) -> bool:
    """Whether an agent's text is meant for here."""
    return text == "process" or text.startswith(("process:", "process["))


class ProcessAgent:
    """Asks a program for every decision. Pickles and copies start a process of their own when they first act.

    Attributes:
        counts: decisions lost, by reason: "illegal" (the program goes on), and "timeout", "ended", "garbled"
            (it was killed and is started again, at most `restarts` times in all).
    """

    def __init__(
        self,
        command: str,
        *,
        limit: float = DEFAULT_LIMIT,
        start: float = DEFAULT_START,
        restarts: int = DEFAULT_RESTARTS,
    ) -> None:
        """`command` is split into words as a POSIX shell does, and run without a shell; times in seconds."""
        self._settings: dict[str, Any] = {
            "limit": _seconds("limit", limit),
            "start": _seconds("start", start),
            "restarts": whole_number("restarts", restarts, 0, MOST_RESTARTS, AgentError),
        }
        self._command = command
        self._words = _words(command)
        self._client: Client | None = None
        self._name: str | None = None
        self._next_id = 0
        self.counts: Counter[str] = Counter()

    @classmethod
    def from_text(cls, text: str) -> ProcessAgent:
        """Return the agent of "process:COMMAND" or "process[limit=2,restarts=3]:COMMAND"."""
        match = _TEXT.fullmatch(text)
        if match is None or not match[2].strip():
            raise AgentError(f"agent {text!r} is not complete: {FORM}")
        options = read_options("process", match[1], OPTIONS) if match[1] is not None else {}
        return cls(match[2].strip(), **options)

    @property
    def name(self) -> str:
        """The name that the program gives itself."""
        if self._name is None:
            self.start()
        return self._name or ""

    def start(self) -> None:
        """Start the program if it does not run; an error if it cannot be started or says no hello."""
        self._running()

    def close(self) -> None:
        """End the program; the next decision starts it again."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _again, (self._command, self._settings, self._name)

    def __repr__(self) -> str:
        return f"ProcessAgent({self._command!r}, {', '.join(f'{k}={v!r}' for k, v in self._settings.items())})"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) of shape (n,) and `keys` (uint64).

        NO_ACTION where none came or its text is none; an action that is not legal is returned as it is.
        """
        check_views(views, keys)
        masks = legal_masks(views)
        first_id, self._next_id = self._next_id, self._next_id + len(views)
        lines = request_lines(views, keys, masks, first_id)
        out = np.full(len(views), NO_ACTION, np.int16)
        k = 0
        while k < len(lines):
            client = self._running()
            try:
                for line in client.ask(lines[k:]):
                    out[k] = self._action(client, line, first_id + k, masks[k])
                    k += 1
            except ClientFault as fault:
                self._lose(fault)
                k += 1  # the requests after the lost one are asked again, of a new process
            except BaseException:
                self.close()  # replies may be under way that nobody waits for any more
                raise
        return out

    def _action(self, client: Client, line: bytes, request_id: int, mask: npt.NDArray[np.int8]) -> int:
        """The action that a reply names; legal or not, NO_ACTION if there is none of that text."""
        try:
            text = read_reply(line, request_id)
        except ProtocolError as error:
            raise client.fault("garbled", f"broke the protocol: {error}") from None
        try:
            action = parse_action(text)
        except ActionError:
            action = NO_ACTION
        if action == NO_ACTION or not mask[action]:
            self.counts["illegal"] += 1
            if self.counts["illegal"] == 1:
                _LOG.warning("agent %r: %.60r is not legal; illegal actions are counted", self.name, text)
        return action

    def _running(self) -> Client:
        """The process, started if there is none, or if the one there is belongs to the process we were forked from."""
        if self._client is None or self._client.owner != os.getpid():
            self._client = None
            try:
                client = Client(self._words, limit=self._settings["limit"], start=self._settings["start"])
            except (OSError, ValueError) as error:
                raise AgentError(f"agent {self._command!r} cannot be started: {error}") from None
            except ClientFault as fault:
                raise AgentError(f"agent {self._command!r} cannot be started: it {fault}") from None
            self._client, self._name = client, self._name or client.name
        return self._client

    def _lose(self, fault: ClientFault) -> None:
        """Count a decision that a process failed to make; an error if it may not be started again."""
        self._client = None
        self.counts[fault.kind] += 1
        restarts = self._settings["restarts"]
        used = sum(self.counts[kind] for kind in ("timeout", "ended", "garbled"))
        if used > restarts:
            raise AgentError(
                f"agent {self._command!r} {fault}; restarts are used up ({restarts}, process[restarts=N]:...)"
            )
        _LOG.warning("agent %r %s; started again (%d of %d)", self._command, fault, used, restarts)


def _again(command: str, settings: dict[str, Any], name: str | None) -> ProcessAgent:
    """The agent of a pickle or copy, without a process yet."""
    agent = ProcessAgent(command, **settings)
    agent._name = name
    return agent


def _seconds(name: str, value: object) -> float:
    """`value` as a float above 0, or an error that names it."""
    seconds = finite_number(name, value, AgentError)
    if not 0 < seconds <= LONGEST_WAIT:
        raise AgentError(f"{name} is {value!r}; allowed: {OPTIONS[name][1]}")
    return seconds


def _words(command: str) -> list[str]:
    """The words of a command line, the first of them a program that can be found."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentError(f"agent {command!r} is no command line: {error}") from None
    if not words or shutil.which(words[0]) is None:
        raise AgentError(f"agent {command!r} cannot be started: no program {words[0] if words else ''!r} is found")
    return words
