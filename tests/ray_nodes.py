"""A Ray cluster of three nodes on this machine, for tests; and how to kill its workers and nodes.

Only processes below the cluster's own raylets are ever killed.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
STORE_BYTES = 100 * 2**20
"""Of a node's object store. Nothing is spilled to disk: what is not freed fills it, and the next result fails."""
SYSTEM_CONFIG = {
    "automatic_object_spilling_enabled": False,
    # A dead node is noticed in a second or two, not in half a minute.
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 300,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}


class Nodes:
    """The cluster: a head, where this process is connected and that is never killed, and others that may be.

    Attributes:
        address: as `--backend ray:ADDRESS` takes it.
    """

    def __init__(self, count: int = 3) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args={**head, "_system_config": SYSTEM_CONFIG})
        self.others: list[Any] = []
        for _ in range(count - 1):
            self.add()
        self.address = str(self._cluster.address)

    def add(self) -> Any:
        """Start a node."""
        node = self._cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        self.others.append(node)
        return node

    def kill(self, node: Any) -> None:
        """Kill a node's raylet, and with it its workers."""
        self.others.remove(node)
        self._cluster.remove_node(node, allow_graceful=False)

    @contextmanager
    def client_server(self) -> Iterator[str]:
        """A server for drivers that are on no node, and its address."""
        with socket.create_server(("127.0.0.1", 0)) as place:
            port = str(place.getsockname()[1])
        options = ["--host", "127.0.0.1", "--port", port, "--address", self.address, "--mode", "proxy"]
        command = [sys.executable, "-m", "ray.util.client.server", *options]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: _listens(int(port)))
            yield f"ray://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(60)

    def actors(self) -> list[int]:
        """Process ids of all actors at the moment."""
        raylets = {pid for node in (self._cluster.head_node, *self.others) for pid in _raylets(node)}
        return sorted(pid for pid, parent, name in _processes() if parent in raylets and name.startswith("ray::_Actor"))

    def close(self) -> None:
        """End everything."""
        self._cluster.shutdown()


def _listens(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def _raylets(node: Any) -> list[int]:
    return [info.process.pid for info in node.all_processes.get("raylet", ())]


def _processes() -> Iterator[tuple[int, int, str]]:
    """Yield (process id, parent, command line) of all processes."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):  # it has just ended
            continue
        yield int(folder.name), parent, name


@contextmanager
def ray_nodes(count: int = 3) -> Iterator[Nodes]:
    """A cluster, and this process connected to it; its workers find the modules of tests."""
    # Imported late: conftest.py imports this module, and what is ours must wait until it has said where Numba caches.
    from evaluation.work.backend import Backend, prepare

    prepare(Backend("ray"))
    import ray

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS.parent), str(TESTS), *filter(None, [before])])
    nodes = Nodes(count)
    try:
        ray.init(nodes.address, log_to_driver=False, logging_level=logging.ERROR)
        try:
            yield nodes
        finally:
            ray.shutdown()
    finally:
        nodes.close()
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


class Killer(threading.Thread):
    """Kills actors at random moments, until it is stopped or has killed enough.

    Attributes:
        killed: how many it has killed.
    """

    def __init__(self, nodes: Nodes, seed: int, most: int, pause: tuple[float, float]) -> None:
        """`pause`: shortest and longest seconds between two kills."""
        super().__init__(daemon=True)
        self._nodes, self._chance, self._most, self._pause = nodes, random.Random(seed), most, pause
        self._stopped = threading.Event()
        self.killed = 0

    def run(self) -> None:
        while self.killed < self._most and not self._stopped.wait(self._chance.uniform(*self._pause)):
            actors = self._nodes.actors()
            if actors:
                try:
                    os.kill(self._chance.choice(actors), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.killed += 1

    def __enter__(self) -> Killer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self.join()


def wait_for(happens: Any, seconds: float = 120.0) -> None:
    """Wait until `happens()` is true."""
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)
