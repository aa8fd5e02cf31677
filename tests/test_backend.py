"""`--backend`: what may be asked for, what is said where it cannot be had, and what goes with the work."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from agents.base import AgentError
from evaluation.dataset.spec import DatasetError, dataset_spec
from evaluation.duplicate import evaluate
from evaluation.suite import orders
from evaluation.work import origin
from evaluation.work.backend import LOCAL, Backend, BackendError, PoisonedError, check_workers
from evaluation.work.origin import Parcel, check_identity, identity
from evaluation.work.part import PartError
from spades_cli.benchmark import find_task
from spades_cli.main import main

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = {
    "evaluate": ["easy", "random"],
    "tournament": ["easy", "random"],
    "benchmark": ["easy"],
    "generate": ["--out", "d"],
}


@pytest.mark.parametrize(
    ("text", "kind", "address"),
    [
        ("local", "local", None),
        ("ray", "ray", None),
        ("ray:auto", "ray", "auto"),
        ("ray:10.0.0.1:6379", "ray", "10.0.0.1:6379"),
        ("ray:head.example-1.org:1", "ray", "head.example-1.org:1"),
        ("ray:[::1]:6379", "ray", "[::1]:6379"),
        ("ray:ray://10.0.0.1:10001", "ray", "ray://10.0.0.1:10001"),
    ],
)
def test_backends(text: str, kind: str, address: str | None) -> None:
    backend = Backend.of(text)
    assert (backend.kind, backend.address, str(backend)) == (kind, address, text)
    assert Backend.of(backend) is backend
    assert backend.is_local == (text == "local")


WRONG = ["", "Local", "local:", "local:x", "ray:", "ray:x", "ray:x:", "ray:x:0", "ray:x:65536", "ray:x y:1", "dask"]
WRONG += ["ray:a:1:2", "ray:ray:auto", "rays", "ray:x:１", "ray://x:1", "ray:ray://x", "ray:http://x:1"]


@pytest.mark.parametrize("text", WRONG)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(BackendError) as caught:
        Backend.of(text)
    assert str(caught.value).startswith(f"backend is {text!r}; allowed: local, ray (of its own, on this machine), ray:")


def test_workers_of_a_backend() -> None:
    assert check_workers(256) == 256
    assert check_workers(1000, Backend("ray")) == 1000
    with pytest.raises(ValueError, match=r"workers is 257; allowed: an int 1\.\.256"):
        check_workers(257)
    with pytest.raises(ValueError, match=r"workers is 5000; allowed: an int 1\.\.4096"):
        check_workers(5000, Backend("ray"))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_refuse_what_is_no_backend(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([command, *COMMANDS[command], "--backend", "rat"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("spades: error: backend is 'rat'; allowed: local, ray")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_without_ray_the_extra_is_named(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "ray" else found(name, *more))
    assert main([command, *COMMANDS[command], "--backend", "ray:auto"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    wanted = "backend is 'ray:auto', which needs Ray, and that is not installed: pip install 'spades-env[ray]'"
    assert err == f"spades: error: {wanted}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_explains_it(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "--backend local|ray[:ADDRESS]" in out
    assert "docs/cluster.md" in out


# --- What must be the same, and what is sent ----------------------------------------------------------------


def test_another_version_or_source_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    here = identity()
    assert {"spades_env", "python", "numpy", "numba", "source code of hash"} <= set(here)
    check_identity(here)
    with pytest.raises(
        BackendError, match=r"^node .* has numpy .* where 0\.1 is at work; allowed: the same on all nodes"
    ):
        check_identity(here | {"numpy": "0.1"})
    monkeypatch.setattr(origin, "SOURCES", origin.SOURCES[:-1])
    with pytest.raises(BackendError, match="has source code of hash"):
        check_identity(here)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with agents of each kind that has files."""
    folder = tmp_path / "project"
    (folder / "bots").mkdir(parents=True)
    (folder / "bots" / "__init__.py").write_text("from bots.deep import Bot\n")
    (folder / "bots" / "deep.py").write_text("from agents.rules.extremes import LowestAgent as Bot\n")
    (folder / "bot.sh").write_text("echo\n")
    (folder / "bot.sh").chmod(0o750)
    (folder / "run").mkdir()
    (folder / "run" / "policy.safetensors").write_bytes(b"weights")
    (folder / "run" / "checkpoint.safetensors").write_bytes(b"not needed")
    monkeypatch.chdir(folder)
    return folder


TEXTS = ["bots:Bot", "process:sh bot.sh", "run", "easy", "hard:worlds=4"]


def test_files_behind_agents_are_packed(project: Path) -> None:
    parcel = Parcel.of(TEXTS)
    assert sorted(parcel.files) == ["bot.sh", "bots/__init__.py", "bots/deep.py", "run/policy.safetensors"]
    assert parcel.files["run/policy.safetensors"][1] == b"weights"
    assert sorted(parcel.expected) == ["bots:Bot", "process:sh bot.sh", "run"]


def test_a_worker_in_the_same_folder_gets_nothing(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel = Parcel.of(TEXTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Parcel, "_unpacked", lambda self: pytest.fail("it has the files"))
    parcel.open()
    assert Path.cwd() == project


LOADED = """
import pickle, sys
sys.path.insert(0, {folder!r})  # as Ray does
parcel = pickle.loads(sys.stdin.buffer.read())
parcel.open()
from pathlib import Path
from agents.registry import load_agent
print(Path.cwd())
print(load_agent("bots:Bot").name, sys.modules["bots"].__file__)
"""


@pytest.mark.parametrize("there", ["nothing", "others"])
def test_a_worker_elsewhere_finds_them_where_they_are_unpacked(project: Path, tmp_path: Path, there: str) -> None:
    """Elsewhere the folder of the orders is missing, or has the same names with other contents."""
    import pickle

    folder = tmp_path / "elsewhere"
    if there == "others":
        (folder / "bots").mkdir(parents=True)
        (folder / "bots" / "__init__.py").write_text("raise RuntimeError('the wrong one')\n")
    parcel = dataclasses.replace(Parcel.of(TEXTS), folder=str(folder))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    found = set()
    for _ in range(2):  # the second finds what the first has unpacked
        done = subprocess.run(
            [sys.executable, "-c", LOADED.format(folder=str(folder))],
            input=pickle.dumps(parcel),
            capture_output=True,
            env=environment,
            cwd=ROOT,
            check=True,
        )
        place, agent = done.stdout.decode().splitlines()
        found.add(place)
        assert agent == f"lowest {place}/bots/__init__.py"
    assert len(found) == 1
    assert (Path(place) / "bot.sh").stat().st_mode & 0o777 == 0o750
    assert (Path(place) / "run" / "policy.safetensors").read_bytes() == b"weights"


def test_files_from_outside_the_folder_must_be_on_every_node(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside.safetensors").write_bytes(b"one")
    text = str(tmp_path / "outside.safetensors")
    parcel = Parcel.of([text])
    assert parcel.files == {}
    parcel.open()
    (tmp_path / "outside.safetensors").write_bytes(b"two")
    with pytest.raises(BackendError, match=f"agent '{text}': its files on node .* are not those here; allowed: "):
        parcel.open()


# --- An order that costs too many workers is named ----------------------------------------------------------


class Poisonous:
    """Workers whose first order, or which each order, is given up."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __enter__(self) -> Poisonous:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, *_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(PoisonedError("3 workers ended abruptly over it"))
        return future


def test_poisoned_orders_are_named_with_their_seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("evaluation.work.together.open_workers", Poisonous)
    with pytest.raises(PartError, match=r"^deals \d+\.\.\d+ of seed 7: 3 workers ended abruptly over it$"):
        evaluate("easy", "random", deals=20, batch_size=4, seed=7, workers=2)
    monkeypatch.setattr("evaluation.suite.orders.open_workers", Poisonous)
    order = orders.Order("bid_only", "easy", (), {}, 0.01, 1e-6, 1.0)
    with pytest.raises(AgentError, match=r"^task bid_only of seed 20261130 with 'easy': 3 workers ended"):
        next(orders.run_orders([order], 2, find_task, lambda *_: None, LOCAL))
    pytest.importorskip("pyarrow", reason="needs the extra `data`")
    from evaluation.dataset.generate import generate

    monkeypatch.setattr("evaluation.dataset.generate.open_workers", Poisonous)
    spec = dataset_spec("easy", 30, part_deals=10, seed=5)
    with pytest.raises(DatasetError, match=r"^part \d, deals \d*0\.\.\d*9 of seed 5: 3 workers ended"):
        generate(spec, tmp_path, workers=2, backend="local")
