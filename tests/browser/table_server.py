"""`spades table` as a process for tests: started on a free port, stopped or killed, started again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


class TableServer:
    """A server with a database of its own; `options` are those of `spades table`."""

    def __init__(self, database: Path, *options: str) -> None:
        self._database, self._options = database, options
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self.url = ""

    def __enter__(self) -> TableServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start, on the same port as before if there was one, and wait until it serves."""
        arguments = ["table", "--no-open", "--port", str(self._port), "--database", str(self._database)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "spades_cli.main", *arguments, *self._options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"http://[\d.]+:(\d+)/", line):
                self._port, self.url = int(found[1]), found[0]
                return
        self.stop()
        raise RuntimeError("the server ended before it served")

    def stop(self, *, kill: bool = False) -> None:
        """End it; with `kill` at once, as a power cut would."""
        process, self._process = self._process, None
        if process is None:
            return
        if kill:
            process.kill()
        else:
            process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
