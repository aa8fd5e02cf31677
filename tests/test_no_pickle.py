"""What comes from a stranger is never unpickled: no source can do it, and a bomb in any file does not go off."""

from __future__ import annotations

import ast
import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz_readers import Reader, readers

import agents
import benchmarks
import evaluation
import spades_cli
import spades_env
import training

ROOMS = (spades_env, agents, evaluation, training, spades_cli, benchmarks)
UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
OWN_BYTES = {"evaluation/work/actors.py", "evaluation/work/together.py"}
"""Send work to their own worker processes, and read what they have sent."""
LOADERS = {"load": {"torch", "np", "numpy", "joblib"}, "read_pickle": {"pd", "pandas"}, "load_all": {"yaml"}}


def sources() -> list[tuple[str, ast.Module]]:
    """Every module of the project, parsed, by its path."""
    found = []
    for room in ROOMS:
        root = Path(str(room.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            found.append((path.relative_to(root.parent).as_posix(), ast.parse(path.read_text(encoding="utf-8"))))
    return found


def unpickles(tree: ast.Module) -> list[str]:
    """What in a module could unpickle, run text as code, or make objects of YAML."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"import {name.name}" for name in node.names if name.name.partition(".")[0] in UNPICKLERS]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in UNPICKLERS:
            found.append(f"from {node.module} import")
        elif isinstance(node, ast.Call):
            found += _suspicious(node)
    return found


def _suspicious(call: ast.Call) -> list[str]:
    """A call that loads objects, unless it says that it does not."""
    said = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
    if said.get("allow_pickle") or said.get("weights_only") is False:
        return ["allow_pickle=True"]
    if isinstance(call.func, ast.Name):
        return [call.func.id] if call.func.id in ("eval", "exec") else []
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return []
    owner, name = call.func.value.id, call.func.attr
    if (owner, name) == ("yaml", "load") or owner in LOADERS.get(name, ()):
        safe = said.get("allow_pickle") is False or said.get("weights_only") is True
        return [] if safe else [f"{owner}.{name}"]
    return []


def test_no_source_unpickles() -> None:
    found = {path: what for path, tree in sources() if (what := unpickles(tree))}
    assert found == {path: ["import pickle"] for path in OWN_BYTES}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import pickle", ["import pickle"]),
        ("from joblib import load", ["from joblib import"]),
        ("torch.load(p)", ["torch.load"]),
        ("torch.load(p, weights_only=True)", []),
        ("np.load(p)", ["np.load"]),
        ("np.load(p, allow_pickle=False)", []),
        ("read_array(p, allow_pickle=True)", ["allow_pickle=True"]),
        ("yaml.load(t)", ["yaml.load"]),
        ("eval(t)", ["eval"]),
        ("json.load(f)", []),
    ],
)
def test_the_scan_finds(text: str, what: list[str]) -> None:
    assert unpickles(ast.parse(text)) == what


class Bomb:
    """Makes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def bombs(mark: Path) -> list[bytes]:
    """A pickle that makes the file `mark`, plain and in the wrappings in which pickles travel."""
    plain = pickle.dumps(Bomb(mark))
    array = np.empty(1, object)
    array[0] = Bomb(mark)
    npy, npz, torch_file = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(npy, array, allow_pickle=True)
    np.savez(npz, values=array, description=array)
    with zipfile.ZipFile(torch_file, "w") as archive:
        archive.writestr("archive/data.pkl", plain)
        archive.writestr("archive/version", "3\n")
    return [plain, pickle.dumps(Bomb(mark), 0), npy.getvalue(), npz.getvalue(), torch_file.getvalue()]


def all_readers(folder: Path) -> list[Reader]:
    """Every reader there is."""
    found = readers(folder)
    try:
        from fuzz_learned import learned_readers
    except ModuleNotFoundError:
        return found
    return found + [reader for reader in learned_readers(folder) if "description" not in reader.name]


def test_a_bomb_does_not_go_off(tmp_path: Path) -> None:
    mark = tmp_path / "boom"
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists(), "it is a bomb"
    mark.unlink()
    for reader in all_readers(tmp_path):
        for bomb in bombs(mark):
            with pytest.raises((ValueError, OSError)):
                reader.read(bomb, tmp_path)
            assert not mark.exists(), reader.name
