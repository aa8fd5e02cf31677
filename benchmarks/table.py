"""Load on the server of `spades table`: rooms of two people and two agents over real sockets, and how fast it answers.

    python -m benchmarks.table --rooms 200 --seconds 600

The people are coroutines of this process; the server is a process of its own. Each person waits a moment before she
acts, sends her action with a number, and the time until the state with that number is back is the latency. Reported are
its percentiles, what went wrong, the server's memory and processor time, and how long server and people waited for a
processor that others were using (shares of the time; near 0 on a machine that does nothing else).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

SEATS = ["you", "normal", "open", "normal"]


@dataclass
class Tally:
    """What was measured so far."""

    latencies: list[float] = field(default_factory=list)
    """Seconds, one an action."""
    errors: list[str] = field(default_factory=list)
    states: int = 0
    bytes: int = 0
    late: int = 0
    """Actions that the table had moved past (`stale`)."""
    measuring: bool = False


class Person:
    """Somebody at a table, who thinks `think` seconds on average."""

    def __init__(self, port: int, name: str, think: float, tally: Tally, seed: int) -> None:
        self.port, self.name, self.think, self.tally = port, name, think, tally
        self.random = random.Random(seed)
        self.asked: dict[int, float] = {}
        self.number = 0
        self.acted = -1

    async def sit(self, code: str | None) -> str:
        """Make a room, or come to one; its code."""
        self.socket: ClientConnection = await connect(
            f"ws://127.0.0.1:{self.port}/ws", compression=None, proxy=None, open_timeout=60
        )
        await self.send(t="hello", v=1)
        if code is None:
            await self.send(t="create", settings={"seats": SEATS, "speed": "normal"}, name=self.name)
        else:
            await self.send(t="join", code=code, name=self.name)
        while (message := json.loads(await self.socket.recv()))["t"] != "joined":
            if message["t"] == "error":
                raise RuntimeError(message["text"])
        return str(message["code"])

    async def send(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def play(self) -> None:
        """Play until cancelled."""
        async for text in self.socket:
            message = json.loads(text)
            self.tally.states += message["t"] == "state"
            self.tally.bytes += len(text)
            self._note(message)
            if message["t"] == "state":
                await self._answer(message)
        self.tally.errors.append("closed")

    def _note(self, message: dict[str, Any]) -> None:
        sent = self.asked.pop(message.get("r", -1), None)
        if message["t"] == "error":
            if message["code"] == "stale":
                self.tally.late += 1
            else:
                self.tally.errors.append(message["code"])
        elif sent is not None and self.tally.measuring:
            self.tally.latencies.append(time.perf_counter() - sent)

    async def _answer(self, state: dict[str, Any]) -> None:
        """Do what the state asks for, once, after a moment."""
        n = state["n"]
        if n <= self.acted or not state["begun"]:
            return
        if state["phase"] == "match over":
            if state["you"] == 0:
                self.acted = n
                asyncio.get_running_loop().call_later(self.think, self._later, {"t": "again"})
        elif state["phase"] == "deal over":
            self.acted = n
            asyncio.get_running_loop().call_later(self.think, self._later, {"t": "next", "n": n})
        elif state["turn"] == state["you"]:
            self.acted = n
            frame = {"t": "act", "n": n, "action": self.random.choice(state["legal"])}
            asyncio.get_running_loop().call_later(self.random.uniform(0.2, 2) * self.think, self._later, frame)

    def _later(self, frame: dict[str, Any]) -> None:
        self.number += 1
        self.asked[self.number] = time.perf_counter()
        task = asyncio.ensure_future(self.send(**frame, r=self.number))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())


def memory_of(pid: int) -> float:
    """Resident memory of a process in MB."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_of(pid: int) -> float:
    """Processor seconds that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def waited_of(pid: int) -> float:
    """Seconds that a process (its first thread) was ready to run and had no processor: how busy the machine was."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


async def measure(port: int, pid: int, rooms: int, seconds: float, think: float) -> dict[str, Any]:
    """Seat everybody, let them play, and look at the server as they do."""
    tally = Tally()
    people = [[Person(port, f"P{2 * k + j}", think, tally, 2 * k + j) for j in (0, 1)] for k in range(rooms)]
    for first, second in people:
        code = await first.sit(None)
        await second.sit(code)
    tasks = [asyncio.create_task(person.play()) for pair in people for person in pair]
    for first, _ in people:
        await first.send(t="begin")
    await asyncio.sleep(min(10.0, seconds / 4))
    tally.measuring, start, memory = True, time.perf_counter(), []
    before = (cpu_of(pid), waited_of(pid), waited_of(os.getpid()))
    while time.perf_counter() < start + seconds:
        memory.append(memory_of(pid))
        await asyncio.sleep(min(10.0, seconds / 6))
    wall = time.perf_counter() - start
    after = (cpu_of(pid), waited_of(pid), waited_of(os.getpid()))
    shares = [round((late - early) / wall, 2) for early, late in zip(before, after, strict=True)]
    memory.append(memory_of(pid))
    failed = [task for task in tasks if task.done() and not task.cancelled() and task.exception() is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    busy = dict(zip(("server_cpu", "server_waited_for_cpu", "people_waited_for_cpu"), shares, strict=True))
    return {"rooms": rooms, "people": 2 * rooms} | report(tally, wall, memory, len(failed)) | busy


def report(tally: Tally, wall: float, memory: list[float], failed: int) -> dict[str, Any]:
    """The figures; latencies in milliseconds."""
    times = sorted(1_000 * latency for latency in tally.latencies)
    share = (
        {f"p{p}": round(times[min(len(times) - 1, len(times) * p // 100)], 1) for p in (50, 95, 99)} if times else {}
    )
    return {
        "seconds": round(wall, 1),
        "actions": len(times),
        "actions_per_second": round(len(times) / wall, 1),
        **share,
        "max": round(times[-1], 1) if times else None,
        "stale": tally.late,
        "errors": len(tally.errors) + failed,
        "error_codes": sorted(set(tally.errors)),
        "mean_message_bytes": round(tally.bytes / max(1, tally.states)),
        "memory_mb": [round(value, 1) for value in memory],
    }


def main() -> None:
    """Start a server, load it, print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=1.5, help="seconds that a person thinks on average")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "table.sqlite")
        command = [sys.executable, "-m", "spades_cli.main", "table", "--no-open", "--port", "0", "--database", database]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            port = int(line.split("127.0.0.1:")[1].split("/")[0])
            figures = asyncio.run(measure(port, server.pid, options.rooms, options.seconds, options.think))
            print(json.dumps(figures, indent=2))
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
