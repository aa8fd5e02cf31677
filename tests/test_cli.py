"""The `spades` command: lazy subcommands, one-line errors, and `spades rules`."""

from __future__ import annotations

import json
import shlex
import sys
import types
from pathlib import Path
from typing import Any

import click
import pytest

from spades_cli.main import SUBCOMMANDS, main
from spades_cli.output import command_line, json_option
from spades_env import __version__
from spades_env.rules import FIELD_NAMES, PRESETS, Rules


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command and return exit status, stdout and stderr."""
    status = main(list(arguments))
    out, err = capsys.readouterr()
    return status, out, err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"spades, version {__version__}\n", "")
    for arguments in ((), ("--help",), ("-h",)):
        status, out, err = run(capsys, *arguments)
        assert (status, err) == (0, "")
        for name, text in SUBCOMMANDS.items():
            assert name in out
            assert text in out


def test_listing_imports_no_subcommand(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SUBCOMMANDS:
        monkeypatch.setitem(sys.modules, f"spades_cli.{name}", None)  # an import of it would now fail
    assert run(capsys, "--help")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("rules", "clasic"), 2, "preset 'clasic' does not exist: did you mean 'classic'?"),
        (("rules", "--set", "target=0"), 2, "target=0 is not allowed: an int 1..1000000"),
        (("rules", "--set", "target"), 2, "--set 'target': must be FIELD=VALUE, as target=300"),
        (("rules", "--set", "jokers=yes", "--set", "jokers=no"), 2, "field 'jokers' is set twice"),
        (("rules", "--set", "mercy=[1"), 2, "nested deeper than 1 level(s)"),
        (("rules", "none.yaml"), 1, "none.yaml: No such file or directory"),
        (("rules", "--json", "none/x.json"), 1, "none/x.json: No such file or directory"),
        (("rules", "--json", "-", "--yaml"), 2, "give one (see 'spades rules --help')"),
        (("rules", "--sett"), 2, "(see 'spades rules --help')"),
        (("ruls",), 2, "No such command 'ruls'"),
    ],
)
def test_errors_are_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    got, out, err = run(capsys, *arguments)
    assert (got, out) == (status, "")
    assert err.startswith("spades: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADES_DEBUG", "1")
    with pytest.raises(ValueError, match="target=0"):
        main(["rules", "--set", "target=0"])


def _fake_command(error: BaseException) -> types.ModuleType:
    """Return a subcommand's module whose command raises `error`."""
    module = types.ModuleType("spades_cli.bench")

    @click.command()
    def command() -> None:
        raise error

    module.command = command  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (
            ModuleNotFoundError("No module named 'torch'", name="torch"),
            1,
            "'torch' is needed and not installed",
        ),
        (ValueError("two\nlines"), 2, "two lines"),
        (OSError("disk"), 1, "disk"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_of_a_subcommand(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    status: int,
    message: str,
) -> None:
    ours = types.ModuleType("agents")
    ours.__spades_env__ = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agents", ours)
    monkeypatch.setitem(sys.modules, "spades_cli.bench", _fake_command(error))
    got, out, err = run(capsys, "bench")
    assert (got, out) == (status, "")
    assert message in err.strip()
    assert err.strip().count("\n") == 0


def test_a_foreign_package_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = types.ModuleType("agents")
    foreign.__file__ = "elsewhere/agents/__init__.py"
    monkeypatch.setitem(sys.modules, "agents", foreign)
    status, _, err = run(capsys, "evaluate")
    assert status == 1
    assert err.startswith("spades: error: package 'agents' is not the one of spades-env but another's (elsewhere/")


# ---------------------------------------------------------------- spades rules


@pytest.mark.parametrize("name", PRESETS)
def test_rules_table_shows_every_field(capsys: pytest.CaptureFixture[str], name: str) -> None:
    status, out, err = run(capsys, "rules", name)
    assert (status, err) == (0, "")
    assert f"Spades rules: {name}" in out
    for field in FIELD_NAMES:
        assert f" {field} " in out


def test_rules_json_on_stdout_is_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "rules", "modern", "--set", "mercy=none", "--set", "jokers=yes", "--json", "-")
    assert status == 0
    assert Rules.from_dict(json.loads(out)) == Rules.preset("modern", mercy=None, jokers=True)


def test_rules_json_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    status, out, _ = run(capsys, "rules", "table", "--json", str(path))
    assert status == 0
    assert "Spades rules: table" in out
    assert json.loads(path.read_text(encoding="utf-8")) == PRESETS["table"].to_dict()


def test_rules_yaml_is_read_back(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    _, out, _ = run(capsys, "rules", "two_player", "--set", "target=250", "--yaml")
    path.write_text(out, encoding="utf-8")
    status, shown, _ = run(capsys, "rules", str(path))
    assert status == 0
    assert "Spades rules: custom" in shown
    assert Rules.from_yaml(path) == Rules.preset("two_player", target=250)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a", "spades tell a"),
        ("--half 0.25 --count 7 a b", "spades tell --half 0.25 --count 7 a b"),
        ("--half 2 --loud --name x --name 'y z' a", "spades tell --half 2 --loud --name x --name 'y z' a"),
        ("--half 1 --count 3 a", "spades tell a"),  # the defaults
        ("--half 0.30000000000000004 a", "spades tell --half 0.30000000000000004 a"),
        ("--workers 2 --json - --resume d 'process:x y'", "spades tell 'process:x y'"),
    ],
)
def test_the_command_line_is_told_without_what_changes_no_figure(
    capsys: pytest.CaptureFixture[str], given: str, told: str
) -> None:
    @click.command(name="tell")
    @click.argument("agents", nargs=-1)
    @click.option("--half", default=1.0)
    @click.option("--number", "--count", "count", default=3)
    @click.option("--loud", is_flag=True)
    @click.option("--name", "names", multiple=True)
    @click.option("--workers", default=1)
    @click.option("--resume")
    @json_option
    def command(**_: Any) -> None:
        click.echo(command_line(("resume",)))

    command.main(shlex.split(given), prog_name="tell", standalone_mode=False)
    assert capsys.readouterr().out == told + "\n"


def test_values_stand_for_those_that_were_given(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command(name="tell")
    @click.argument("agents", nargs=-1)
    def command(agents: tuple[str, ...]) -> None:
        click.echo(command_line(agents=list(dict.fromkeys(agents))))

    command.main(["b", "a", "b"], prog_name="tell", standalone_mode=False)
    assert capsys.readouterr().out == "spades tell b a\n"
