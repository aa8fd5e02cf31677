"""The command `spades table`: help, one-line errors, and a server that starts, answers and ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `table`")

from table_sockets import Client

import spades_cli.table
from spades_cli.main import main

ROOT = Path(__file__).resolve().parent.parent


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.splitlines()[-1]


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--host", "--port", "--database", "--no-open", "--agent", "--time-limit", "--workers", "--origin"):
        assert option in text
    for option in ("--log", "--export", "--speed", "--seed", "--quick-wait"):
        assert option in text


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--port", "70000"], "port is 70000; allowed: an int 0..65535"),
        (["--workers", "0"], "workers is 0"),
        (["--time-limit", "0"], "time-limit is 0"),
        (["--time-limit", "nan"], "time-limit is"),
        (["--quick-wait", "-1"], "quick-wait is -1"),
        (["--agent", "nobody"], "agent 'nobody' does not exist"),
        (["--agent", "cheating"], "sees the hidden cards"),
        (["--speed", "warp"], "warp"),
        (["--origin", "cards.example"], "origin is 'cards.example'"),
        (["--origin", "https://cards.example/table"], "origin is 'https://cards.example/table'"),
        (["--origin", "https://[::1"], "origin is"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    arguments: list[str], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", "--no-open", "--database", str(tmp_path / "a.sqlite"), *arguments]) == 2
    assert word in last_line(capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_database_nowhere_and_one_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--database", str(tmp_path / "no" / "a.sqlite")]) == 1
    assert "a.sqlite" in last_line(capsys)
    (tmp_path / "a.txt").write_text("notes " * 1000)
    assert main(["table", "--no-open", "--port", "0", "--database", str(tmp_path / "a.txt")]) == 2
    assert "a.txt" in last_line(capsys)


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["table", "--no-open", "--port", str(port), "--database", str(tmp_path / "a.sqlite")]) == 1
    assert "in use" in last_line(capsys)


def test_without_the_extra_it_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spades_cli.table, "EXTRA", ("starlette_of_another_world",))
    assert main(["table", "--database", str(tmp_path / "a.sqlite")]) == 1
    assert "pip install 'spades-env[table]'" in last_line(capsys)


@pytest.mark.timeout(600)
def test_a_server_starts_answers_and_ends(tmp_path: Path) -> None:
    """Ctrl-C ends it, whatever its workers are at; no worker is left."""
    command = [sys.executable, "-m", "spades_cli.main", "table", "--no-open", "--port", "0"]
    command += ["--database", str(tmp_path / "a.sqlite"), "--speed", "instant"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    client = Client(int(line.split("127.0.0.1:")[1].split("/")[0]))
    assert {"easy", "normal", "hard", "expert", "champion"} == {agent["name"] for agent in client.welcome["agents"]}
    client.create(seats=["you", "easy", "easy", "normal"])
    client.play(2)
    client.close()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode in (0, 130, -signal.SIGINT), error
    assert "Traceback" not in error
