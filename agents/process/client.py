"""One running process of an agent: lines in, lines out, each within its time, and nothing kept without bound.

Threads do the reading and writing, because pipes cannot be waited for with a time limit on every system.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import IO, Final

from agents.process.protocol import MAX_REPLY, ProtocolError, hello_line, read_hello

WINDOW: Final = 64
"""Most requests that a process has been sent and not answered."""
TAIL: Final = 4096
"""Bytes kept of what a process wrote last to stderr."""
SHOWN: Final = 1000
"""Characters of those in an error."""
GRACE: Final = 1.0
"""Seconds that a process has to end after its input was closed, before it is killed."""
AFTERMATH: Final = 0.5
"""Seconds to wait, when output ended, for the exit status and the last of stderr."""

_ENDED: Final = "ended"
_TOO_LONG: Final = f"a line of more than {MAX_REPLY} bytes"
_TOO_MANY: Final = "more lines than there were requests"


class ClientFault(Exception):
    """What a process did wrong, as a predicate ("ended with status 1 ..."); it is gone and must be replaced.

    `kind` is "timeout", "ended" or "garbled".
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Tail:
    """The end of what a process wrote to stderr."""

    def __init__(self) -> None:
        self._bytes = b""

    def follow(self, pipe: IO[bytes]) -> None:
        """Read `pipe` to its end."""
        with contextlib.suppress(OSError, ValueError), pipe:
            while chunk := pipe.read1(TAIL):  # type: ignore[attr-defined]
                self._bytes = (self._bytes + chunk)[-TAIL:]

    def text(self) -> str:
        """The last characters on one line, without control characters, which could garble a terminal."""
        line = " ".join(self._bytes.decode("utf-8", "replace").split())
        return "".join(c if c.isprintable() else "?" for c in line)[-SHOWN:]


def _read_lines(pipe: IO[bytes], inbox: queue.SimpleQueue[bytes | str]) -> None:
    """Put every line of `pipe` into `inbox`, and last the reason why there are no more, as str."""
    with contextlib.suppress(OSError, ValueError), pipe:
        while True:
            line = pipe.readline(MAX_REPLY + 1)
            if not line.endswith(b"\n"):
                inbox.put(_TOO_LONG if len(line) > MAX_REPLY else _ENDED)
                return
            if inbox.qsize() >= WINDOW:
                inbox.put(_TOO_MANY)
                return
            inbox.put(line)
    inbox.put(_ENDED)


def _write_lines(pipe: IO[bytes], outbox: queue.SimpleQueue[bytes | None]) -> None:
    """Write what comes through `outbox` until None, then close `pipe`; a process that does not listen is let be."""
    with contextlib.suppress(OSError, ValueError), pipe:
        while (data := outbox.get()) is not None:
            pipe.write(data)
            pipe.flush()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process, and on POSIX what it started in its group (`sh -c ...` is one process more)."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)


def _shut(process: subprocess.Popen[bytes], outbox: queue.SimpleQueue[bytes | None], owner: int, grace: float) -> None:
    """Close the process's input, give it `grace` seconds, then kill it. Does nothing in a forked child."""
    if os.getpid() != owner:
        return
    outbox.put(None)
    if grace > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    _kill(process)


class Client:
    """A process that has said hello; it ends with `close`, with this object, or with the interpreter."""

    def __init__(self, command: Sequence[str], *, limit: float, start: float) -> None:
        """Start `command`; `start` seconds for its hello, `limit` seconds for each reply."""
        self.owner = os.getpid()
        """The operating system's number of the process that may use this object: a forked child must not."""
        self._limit = limit
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own: Ctrl-C is for us, and killing the group reaches what the command started.
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._inbox: queue.SimpleQueue[bytes | str] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._tail = _Tail()
        self._finalizer = weakref.finalize(self, _shut, self._process, self._outbox, self.owner, GRACE)
        self._stderr_thread = _thread(self._tail.follow, self._process.stderr)
        _thread(_read_lines, self._process.stdout, self._inbox)
        _thread(_write_lines, self._process.stdin, self._outbox)
        self.name = self._greet(start)

    def _greet(self, start: float) -> str:
        """Say hello and return the name that the process gives; it is killed if it fails to."""
        self._outbox.put(hello_line())
        try:
            return read_hello(self._next_line(start, "hello"))
        except ProtocolError as error:
            raise self.fault("garbled", f"broke the protocol: {error}") from None

    def ask(self, lines: Sequence[bytes]) -> Iterator[bytes]:
        """Send every request and yield the reply to each, in order; a few are under way at a time.

        The time for a reply counts from the reply before, or from sending.
        """
        sent = 0
        for k in range(len(lines)):
            if sent - k <= WINDOW // 2 and sent < len(lines):
                self._outbox.put(b"".join(lines[sent : k + WINDOW]))
                sent = min(k + WINDOW, len(lines))
            yield self._next_line(self._limit, "reply")

    def _next_line(self, seconds: float, what: str) -> bytes:
        """The next line within `seconds`, or a fault, after which the process is gone."""
        try:
            line = self._inbox.get(timeout=seconds)
        except queue.Empty:
            raise self.fault("timeout", f"gave no {what} within {seconds:g} s") from None
        if isinstance(line, bytes):
            return line
        if line != _ENDED:
            raise self.fault("garbled", f"wrote {line}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(AFTERMATH)
        status = self._process.returncode
        how = "closed its output" if status is None else f"ended with status {status}"
        raise self.fault("ended", f"{how} without a {what}")

    def fault(self, kind: str, message: str) -> ClientFault:
        """Kill the process and return the fault, with the end of its stderr."""
        self._end(0.0)
        self._stderr_thread.join(AFTERMATH)
        said = self._tail.text()
        return ClientFault(kind, message + (f"; stderr: {said}" if said else ""))

    def close(self) -> None:
        """Let the process end by closing its input; one that does not is killed."""
        self._end(GRACE)

    def _end(self, grace: float) -> None:
        if self._finalizer.detach() is not None:
            _shut(self._process, self._outbox, self.owner, grace)


def _thread(target: object, *arguments: object) -> threading.Thread:
    """Start a thread that does not keep the interpreter alive; it holds none of `Client`, so that can be collected."""
    thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread
