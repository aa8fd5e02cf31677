"""docs/examples/ray_cluster.yaml: what Ray's cluster launcher reads, and what docs/cluster.md says of it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "examples" / "ray_cluster.yaml"


@pytest.fixture(scope="module")
def cluster() -> dict[str, Any]:
    found = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_launcher_takes_it(cluster: dict[str, Any]) -> None:
    """Ray's own schema, which is checked before anything is started."""
    found = importlib.util.find_spec("ray")
    if found is None or found.origin is None:
        pytest.skip("needs the extra `ray`")
    import jsonschema

    schema = json.loads((Path(found.origin).parent / "autoscaler" / "ray-schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(cluster, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**cluster, "workers": 2}, schema)


def test_it_installs_what_the_commands_need(cluster: dict[str, Any]) -> None:
    """The checkout is copied, not fetched; its extras exist; every node compiles before work comes."""
    setup = "\n".join(cluster["setup_commands"])
    assert list(cluster["file_mounts"].values()) == ["."]
    extras = re.search(r"\.\[([\w,]+)\]", setup)
    assert extras is not None
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "ray" in extras[1].split(",")
    assert all(re.search(rf"^{extra} = \[", declared, flags=re.M) for extra in extras[1].split(","))
    assert "spades evaluate easy random" in setup
    assert cluster["max_workers"] == len(cluster["provider"]["worker_ips"])


def test_the_commands_in_its_head_are_ours() -> None:
    head = FILE.read_text(encoding="utf-8").partition("cluster_name")[0]
    assert "--backend ray:auto" in head
    for command in ("up", "exec", "down"):
        assert f"ray {command} docs/examples/{FILE.name}" in head
    assert "examples/ray_cluster.yaml" in (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
