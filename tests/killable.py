"""A process that runs `spades` commands in forked children, so that hundreds can be killed at the cost of one start.

Reads a JSON request a line, answers with a number a line: {"start": [...], "log": path, "faults": {...}} with the
child's process id, {"wait": pid} with its exit status, negative for a signal. It has imported everything and runs
the first commands to compile kernels; nothing else is different from `python -m spades_cli.main`.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
from typing import Any

from spades_cli.main import main

EVERYTHING = ("evaluate", "tournament", "ladder", "benchmark")


def fail_at(name: str, number: int, error: int | None) -> None:
    """Make call `number` of `os.<name>` or `tempfile.mkstemp` raise OSError(error), or kill the process."""
    module = importlib.import_module("tempfile" if name == "mkstemp" else "os")
    original, calls = getattr(module, name), 0

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls - 1 == number:
            if error is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                raise OSError(error, os.strerror(error))
        return original(*arguments, **options)

    setattr(module, name, counted)


def run_clock_back() -> None:
    """Let the clock of the wall be an hour earlier whenever it is asked for."""
    start, asked = time.time(), 0

    def earlier() -> float:
        nonlocal asked
        asked += 1
        return start - 3600.0 * asked

    time.time = earlier


def become_nobody(folder: str) -> None:
    """Go into a folder and give up the right to write where permissions say no."""
    os.chdir(folder)
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def child(request: dict[str, Any]) -> int:
    """Run the command of a request with its faults, in the forked child."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(log, 1)
    os.dup2(log, 2)
    faults = request["faults"]
    if "folder" in faults:
        become_nobody(faults["folder"])
    if "bytes" in faults:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (faults["bytes"], resource.RLIM_INFINITY))
    if "call" in faults:
        fail_at(faults["call"], faults["number"], faults.get("error"))
    if faults.get("clock"):
        run_clock_back()
    return main(request["start"])


def serve() -> None:
    """Answer requests until there are no more."""
    for name in sys.argv[1:] or EVERYTHING:
        importlib.import_module(f"spades_cli.{name}")
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = os.fork()
            if answer == 0:
                try:
                    status = child(request)
                except BaseException:
                    import traceback

                    traceback.print_exc()
                    status = 70
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        print(answer, flush=True)


if __name__ == "__main__":
    serve()
