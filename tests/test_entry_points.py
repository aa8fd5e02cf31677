"""Agents that installed packages offer by name, and `spades agents`, which lists them beside ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.base import AgentError
from agents.registry import AGENTS, ORACLES, load_agent
from evaluation.duplicate import evaluate
from spades_cli.main import main

BOTS = '''
"""Agents of a package that is not ours."""
from agents.rules.extremes import HighestAgent, LowestAgent

class Mine(LowestAgent):
    """Plays low, and says how deep."""
    def __init__(self, depth=1, *, style="plain"):
        self.name = f"mine {depth!r} {style!r}"

def make(**options):
    agent = HighestAgent()
    agent.name = f"any {options!r}"
    return agent

def broken(depth=1):
    raise RuntimeError("out of\\norder")

def nothing():
    """Makes no agent."""

instance = LowestAgent()
number = 5
'''

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install("package", name="module:attribute")` offers agents as an installed package does."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "outside_bots", raising=False)
    (tmp_path / "outside_bots.py").write_text(BOTS, encoding="utf-8")

    def install(package: str, **agents: str) -> None:
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name.replace('_', '-')} = {value}\n" for name, value in agents.items()]
        (folder / "entry_points.txt").write_text("[spades_env.agents]\n" + "".join(lines))

    return install


def test_an_installed_agent_is_found_by_name(install: Install) -> None:
    install("bots", mybot="outside_bots:Mine", anybot="outside_bots:make", one="outside_bots:instance")
    assert load_agent("mybot").name == "mine 1 'plain'"
    assert load_agent("mybot:depth=3,style=careful").name == "mine 3 'careful'"
    assert load_agent("anybot:a=0.5,b=true,c=x y").name == "any {'a': 0.5, 'b': True, 'c': 'x y'}"
    assert load_agent("one").name == "lowest"
    result = evaluate("mybot", "lowest", deals=5)
    assert result.log.tobytes() == evaluate("lowest", "lowest", deals=5).log.tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mybot:dept=3", "agent 'mybot': unknown option 'dept': one of depth, style"),
        ("mybot:depth=", "option 'depth=' must be key=value"),
        ("mybot:depth=1,depth=2", "option 'depth' is given twice"),
        ("mybot:depth=[1", "agent 'mybot': depth='[1' is not allowed: "),
        ("one:depth=1", "agent 'one': unknown option 'depth': it has no options"),
        ("nothing:depth=1", "agent 'nothing': unknown option 'depth': it has no options"),
        ("nothing", "agent 'nothing' is no agent: needs a name and act(views, keys)"),
        ("broken", "agent 'broken' of bots: making it failed: RuntimeError: out of order"),
        ("number", "agent 'number' of bots: 'outside_bots:number' makes no agent: 5"),
        ("gone", "agent 'gone' of bots: 'outside_bots:gone' cannot be loaded: AttributeError: "),
        ("nowhere", "agent 'nowhere' of bots: 'no_such_module:x' cannot be loaded: ModuleNotFoundError: "),
        ("mybt", "agent 'mybt' does not exist: did you mean 'mybot'?"),
        ("unlike anything", "highest, suit_odds, broken, gone, mybot, nothing, nowhere, number, one, a policy file"),
    ],
)
def test_errors_are_one_line(install: Install, text: str, message: str) -> None:
    install(
        "bots",
        mybot="outside_bots:Mine",
        one="outside_bots:instance",
        nothing="outside_bots:nothing",
        broken="outside_bots:broken",
        number="outside_bots:number",
        gone="outside_bots:gone",
        nowhere="no_such_module:x",
    )
    with pytest.raises(AgentError) as refused:
        load_agent(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_our_names_win(install: Install) -> None:
    install("bots", easy="outside_bots:broken", cheating="outside_bots:instance", process="outside_bots:instance")
    assert load_agent("easy").name == "easy"
    assert load_agent("easy:error=0.2").name.startswith("easy")
    with pytest.raises(AgentError, match="sees the hidden cards"):
        load_agent("cheating")
    with pytest.raises(AgentError, match="is not complete"):
        load_agent("process")


def test_a_name_of_two_packages_is_refused(install: Install) -> None:
    install("bots", mybot="outside_bots:Mine", other="outside_bots:Mine")
    install("zebra", mybot="outside_bots:make")
    with pytest.raises(AgentError, match=r"offered by bots \(outside_bots:Mine\) and zebra \(outside_bots:make\)"):
        load_agent("mybot")
    assert load_agent("other").name == "mine 1 'plain'"
    assert load_agent("outside_bots:instance").name == "lowest"


def test_a_module_of_the_same_name_is_still_found(install: Install) -> None:
    install("bots", outside_bots="outside_bots:Mine")
    assert load_agent("outside-bots").name == "mine 1 'plain'"
    assert load_agent("outside_bots:Mine").name == "mine 1 'plain'"


# --- spades agents ------------------------------------------------------------------------------------------


def listed(capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, object]]:
    """The list as JSON, by name and package."""
    assert main(["agents", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["agents"]
    assert all(set(agent) == {"name", "options", "help", "source", "usable"} for agent in found)
    return {(agent["name"], agent["source"]): agent for agent in found}


def test_the_list_has_ours_and_the_installed_ones(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("bots", mybot="outside_bots:Mine", anybot="outside_bots:make", twice="outside_bots:Mine")
    install("zebra", gone="no_such_module:x", easy="outside_bots:Mine", twice="outside_bots:Mine")
    found = listed(capsys)
    assert {name for name, source in found if source == "spades-env"} == {
        *AGENTS,
        *ORACLES,
        "process:COMMAND",
        "FILE or FOLDER",
        "MODULE:ATTRIBUTE",
    }
    assert found["easy", "spades-env"]["options"] == {"error": AGENTS["easy"].options["error"][1]}
    assert found["mybot", "bots"] == {
        "name": "mybot",
        "options": {"depth": "", "style": ""},
        "help": "Plays low, and says how deep.",
        "source": "bots",
        "usable": True,
    }
    assert found["anybot", "bots"]["options"] == {}
    for name, source, why in (
        ("gone", "zebra", "cannot be loaded: ModuleNotFoundError"),
        ("easy", "zebra", "the name is ours"),
        ("twice", "bots", "more than one package offers the name"),
        ("twice", "zebra", "more than one package offers the name"),
    ):
        assert found[name, source]["usable"] is False
        assert why in str(found[name, source]["help"])


@pytest.mark.parametrize("options", [[], ["--options"]])
def test_the_table_shows_them_all(
    install: Install, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    install("bots", mybot="outside_bots:Mine")
    assert main(["agents", *options]) == 0
    out = capsys.readouterr().out
    for name in (*AGENTS, *ORACLES, "process:COMMAND", "mybot"):
        assert f" {name} " in out
    assert "process[limit=2]:COMMAND" in out  # no markup of the table's
    assert ("tricks left or fewer worlds" in out) == bool(options)
