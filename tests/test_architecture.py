"""The rooms and the arrows between them: who may import whom, and which libraries live where.

The whole tree is read, so a file that is added tomorrow is held to the same rules.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from spades_cli.main import ROOMS as COMMAND_ROOMS

ROOT = Path(__file__).resolve().parent.parent

# Each room may import itself and the rooms named here.
ROOMS: dict[str, set[str]] = {
    "spades_env": set(),
    "agents": {"spades_env"},
    "evaluation": {"spades_env", "agents"},
    "training": {"spades_env", "agents", "evaluation"},
    "table": {"spades_env", "agents"},
    "benchmarks": {"spades_env", "agents", "evaluation", "training"},
    "spades_cli": {"spades_env", "agents", "evaluation", "training", "table", "benchmarks"},
}

# Inside spades_env a module may import those of its own layer and of the layers before it.
LAYERS: tuple[set[str], ...] = (
    {"configs", "checks", "files"},
    {"cards", "rules", "actions"},
    {"engine"},
    {"view"},
    {"observation"},
    {"game", "record"},
    {"render"},
    {"envs"},
)

# Where a library may be imported: prefixes of module names. Everything not named here is free, and so is
# benchmarks, which runs other people's environments beside ours.
FENCES: dict[str, tuple[str, ...]] = {
    "torch": ("agents.learned", "training"),
    "safetensors": ("agents.learned", "training"),
    "numba": ("spades_env.engine", "spades_env.view", "spades_env.observation", "agents"),
    "llvmlite": ("spades_env.engine", "spades_env.view", "spades_env.observation", "agents"),
    "pettingzoo": ("spades_env.envs", "training"),
    "gymnasium": ("spades_env.envs", "training"),
    "stable_baselines3": ("spades_env.envs", "training"),
    "sb3_contrib": ("spades_env.envs", "training"),
    "pygame": ("spades_env.render",),
    "onnx": ("agents.learned",),
    "click": ("spades_cli",),
    "starlette": ("table",),
    "uvicorn": ("table",),
    "websockets": ("table",),
    "babel": ("table",),
    "pebble": ("table",),
    "sqlite3": ("table",),
    "tests": (),
}

# Needed by extras only: the core must import and work without them.
OPTIONAL = ("torch", "stable_baselines3", "sb3_contrib", "onnx", "pygame", "matplotlib", "pydantic")
OPTIONAL += ("tensorboard", "pyspiel", "open_spiel", "pyarrow", "minari", "h5py")
# Modules that are about one optional library, which they may import at the top.
NEEDS_EXTRA = ("spades_env.envs.sb3", "spades_env.envs.openspiel", "spades_env.render.rgb", "agents.learned")

Import = tuple[str, int]
"""Absolute name of an imported module, and the line of the import."""


def project_files() -> list[Path]:
    """Return all Python files of the rooms, relative to the repository."""
    return [path.relative_to(ROOT) for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def module_name(path: Path) -> str:
    """Return the dotted name of a module's file."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, source: str) -> Iterator[Import]:
    """Yield every import in a file, also those inside functions and of constant names at run time."""
    package = path.parent.parts
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join((*base, *filter(None, (node.module,))))
            # spades_env/__init__.py sets the version before it imports: asking for it makes no cycle.
            names = [alias.name for alias in node.names if alias.name != "__version__"]
            yield from ((_target(start, name), node.lineno) for name in names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            name = node.args[0] if node.args else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value, node.lineno


def _target(module: str, name: str) -> str:
    """Return `module.name` where that is a module of the project, else `module`."""
    path = ROOT.joinpath(*module.split("."), name)
    return f"{module}.{name}" if path.is_dir() or path.with_suffix(".py").is_file() else module


def faults(path: Path, source: str) -> list[str]:
    """Return what is wrong with the imports of one file, as "path:line: ..." lines."""
    importer = module_name(path)
    found = []
    for target, line in imports_of(path, source):
        fault = _room_fault(importer, target) or _layer_fault(importer, target) or _fence_fault(importer, target)
        if fault:
            found.append(f"{path.as_posix()}:{line}: {importer} imports {target}: {fault}")
    return found


def _room_fault(importer: str, target: str) -> str | None:
    """Check the arrow between two rooms."""
    room, other = importer.split(".")[0], target.split(".")[0]
    if other not in ROOMS or other == room or other in ROOMS[room]:
        return None
    return f"{room} may import {', '.join(sorted(ROOMS[room])) or 'no other room'}"


def _layer_fault(importer: str, target: str) -> str | None:
    """Check the arrow between two modules of spades_env; its __init__ may import all of them."""
    here, there = importer.split("."), target.split(".")
    if here[0] != "spades_env" or there[0] != "spades_env" or len(here) == 1:
        return None
    if len(there) == 1:
        return "inside spades_env import the module itself, not the package (it would be a cycle)"
    if _layer(here[1]) < _layer(there[1]):
        return f"{there[1]} lies above {here[1]}"
    return None


def _layer(module: str) -> int:
    """Return the layer of a module of spades_env; every module has one."""
    layers = [number for number, names in enumerate(LAYERS) if module in names]
    assert layers, f"spades_env.{module} has no layer: add it to LAYERS where it belongs"
    return layers[0]


def _fence_fault(importer: str, target: str) -> str | None:
    """Check that a fenced library is imported only where it may be."""
    allowed = FENCES.get(target.split(".")[0])
    if allowed is None or _below(importer, "benchmarks") or any(_below(importer, prefix) for prefix in allowed):
        return None
    return f"only {', '.join(allowed) or 'no room'} may"


def _below(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(f"{prefix}.")


# ---------------------------------------------------------------- the tree


@pytest.mark.parametrize("path", project_files(), ids=lambda path: path.as_posix())
def test_imports_follow_the_arrows(path: Path) -> None:
    found = faults(path, (ROOT / path).read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


def test_the_walk_sees_the_tree() -> None:
    seen = {module_name(path) for path in project_files()}
    assert {"spades_env", "spades_env.rules", "spades_env.engine.play", "spades_cli.main"} <= seen


def test_every_package_is_a_room() -> None:
    """A new top-level package gets its arrows here before it gets code."""
    others = {"tests", "examples", "docs"}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - others <= set(ROOMS)


def test_the_wheel_carries_the_rooms() -> None:
    """The wheel has every room that the command needs, and configs/ where `config_path` looks for it."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = config["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(wheel["only-include"]) == set(ROOMS) | {"configs"}
    assert wheel["sources"] == {"configs": "spades_env/_configs"}


@pytest.mark.parametrize("room", sorted({room for rooms in COMMAND_ROOMS.values() for room in rooms}))
def test_rooms_are_marked_as_ours(room: str) -> None:
    """The command tells our `agents` from a foreign one by this attribute."""
    tree = ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))
    marks = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    assert "__spades_env__ = True" in marks


# ---------------------------------------------------------------- the checker itself


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        ("spades_env/engine/x.py", "import agents", "may import no other room"),
        ("spades_env/engine/x.py", "from spades_env.view import VIEW", "view lies above engine"),
        ("spades_env/engine/x.py", "from ..view import VIEW", "view lies above engine"),
        ("spades_env/engine/x.py", "from spades_env import rules, view", "view lies above engine"),
        ("spades_env/engine/x.py", "from spades_env import Rules", "not the package"),
        ("spades_env/rules.py", "import spades_env.engine.play", "engine lies above rules"),
        ("spades_env/engine/x.py", "def f():\n    import gymnasium", "only spades_env.envs, training may"),
        ("spades_env/game.py", "from numba import njit", "only spades_env.engine"),
        ("spades_env/game.py", "import torch.nn as nn", "only agents.learned, training may"),
        ("spades_env/render/x.py", "from spades_env.envs.aec import env", "envs lies above render"),
        ("agents/rules/x.py", "import torch", "only agents.learned, training may"),
        ("agents/learned2/x.py", "import torch", "only agents.learned, training may"),
        (
            "agents/x.py",
            "import importlib\nimportlib.import_module('training.ppo')",
            "agents may import spades_env",
        ),
        ("evaluation/x.py", "from training import league", "evaluation may import agents, spades_env"),
        ("evaluation/x.py", "import pettingzoo", "only spades_env.envs, training may"),
        ("training/x.py", "import spades_cli.main", "training may import agents, evaluation, spades_env"),
        ("training/x.py", "from tests.referee import play", "only no room may"),
        ("benchmarks/x.py", "import spades_cli", "benchmarks may import agents, evaluation, spades_env, training"),
        ("table/x.py", "import evaluation", "table may import agents, spades_env"),
    ],
)
def test_forbidden_imports_are_found(path: str, source: str, fault: str) -> None:
    found = faults(Path(path), source)
    assert len(found) == 1
    assert fault in found[0]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("spades_env/__init__.py", "from spades_env.envs.aec import env"),
        ("spades_env/record.py", "from spades_env import __version__"),
        ("spades_env/engine/x.py", "import numba\nfrom spades_env import rules\nfrom .state import STATE"),
        ("spades_env/envs/x.py", "import pettingzoo, gymnasium\nfrom spades_env.render import ansi"),
        ("agents/learned/x.py", "import torch\nfrom spades_env.observation import flat"),
        ("training/x.py", "import torch, stable_baselines3\nimport evaluation, agents, spades_env"),
        ("spades_cli/x.py", "import click\nimport training, table"),
        ("benchmarks/x.py", "import pettingzoo, torch, pyspiel\nfrom evaluation import duplicate"),
        ("agents/x.py", "import numpy as np\nimport agents.rules"),
    ],
)
def test_allowed_imports_are_let_pass(path: str, source: str) -> None:
    assert faults(Path(path), source) == []


def test_a_module_without_a_layer_is_reported() -> None:
    with pytest.raises(AssertionError, match=r"spades_env\.novelty has no layer"):
        faults(Path("spades_env/novelty.py"), "import spades_env.cards")


# ---------------------------------------------------------------- without the extras

_BLOCKED_IMPORT = """
import importlib, sys
blocked, modules = {blocked!r}, {modules!r}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {{name!r}} (blocked)", name=name)

sys.meta_path.insert(0, Blocker())
for module in modules:
    importlib.import_module(module)
print(len(modules), "imported")
"""


def _run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that finds this checkout."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=250)


def _core_modules(room: str) -> list[str]:
    """Return the modules of a room that must import without any extra."""
    names = [module_name(path) for path in project_files() if path.parts[0] == room]
    return [name for name in names if not any(_below(name, prefix) for prefix in NEEDS_EXTRA)]


def test_the_core_imports_without_the_extras() -> None:
    """`import spades_env` first and alone, then every module of it and of the agents that need no torch."""
    modules = ["spades_env", *_core_modules("spades_env"), *_core_modules("agents")]
    done = _run_python(_BLOCKED_IMPORT.format(blocked=OPTIONAL, modules=modules))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(modules)} imported\n"


def test_the_blocker_blocks() -> None:
    done = _run_python(_BLOCKED_IMPORT.format(blocked=("json",), modules=["json"]))
    assert done.returncode == 1
    assert "No module named 'json' (blocked)" in done.stderr


def test_rules_command_needs_no_other_room() -> None:
    blocked = (*OPTIONAL, "agents", "evaluation", "training")
    code = _BLOCKED_IMPORT.format(blocked=blocked, modules=["spades_cli.main", "spades_cli.rules"])
    code += "\nfrom spades_cli.main import main\nsys.exit(main(['rules', 'classic', '--json', '-']))"
    done = _run_python(code)
    assert done.returncode == 0, done.stderr
    assert '"target": 500' in done.stdout


def test_numba_caches_where_conftest_says() -> None:
    """Numba reads the folder at its first import; a plugin that imports it earlier would undo conftest.py."""
    import numba

    assert os.environ["NUMBA_CACHE_DIR"] == numba.config.CACHE_DIR
    assert "spades_env-numba-" in numba.config.CACHE_DIR
