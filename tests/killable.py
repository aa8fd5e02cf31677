"""A process that runs `spades` commands in forked children, so that hundreds can be killed at the cost of one start.

Reads a JSON request a line, answers with a number a line: {"start": [...], "log": path, "faults": {...}} with the
child's process id, {"wait": pid} with its exit status, negative for a signal. It has imported everything and runs
the first commands to compile kernels; nothing else is different from `python -m spades_cli.main`.
"""

from __future__ import annotations

import ctypes
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


def obey_permissions() -> None:
    """Let permissions bind root, too: give up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, as capset(2) of Linux does."""
    if os.getuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    words = (ctypes.c_uint32 * 6)()  # twice: effective, permitted, inheritable
    if libc.capget(header, words) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    words[0] &= ~0b110
    if libc.capset(header, words) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def child(request: dict[str, Any]) -> int:
    """Run the command of a request with its faults, in the forked child."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(log, 1)
    os.dup2(log, 2)
    faults = request["faults"]
    if faults.get("permissions"):
        obey_permissions()
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
