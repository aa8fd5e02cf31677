"""Wrong input at the command line: every command says it in one line, ends with status 2 (1: the system refused)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.rules.easy import DEFAULT_ERROR
from spades_cli.main import SUBCOMMANDS, main

NAN, HUGE = "nan", "9" * 30
OFTEN = [
    ("evaluate", "A B"),
    ("tournament", "A B --deals 400"),
    ("benchmark", "A --only bid_only"),
    ("exploit", "A"),
    ("play", "--deals 1 --partner A"),
]

LIBRARIES = {
    "train": ("torch", "sb3_contrib"),
    "export": ("torch", "onnx"),
    "generate": ("pyarrow",),
    "minari": ("pyarrow", "minari"),
    "table": ("starlette", "pebble"),
}
"""What a command cannot do without."""

FILES: dict[str, bytes] = {
    "empty.yaml": b"",
    "list.yaml": b"[1]",
    "twice.yaml": b"target: 1\ntarget: 2\n",
    "unknown.yaml": b"targt: 5\n",
    "open.yaml": b"target: [1, 2\n",
    "tag.yaml": b"target: !!bool maybe\n",
    "python.yaml": b"target: !!python/name:os.system\n",
    "bomb.yaml": b"target: &a [1, 1]\nmercy: [*a, *a, *a]\n",
    "deep.yaml": b"target: " + b"[" * 30_000,
    "latin.yaml": b"target: \xe4\n",
    "long.yaml": b"#" * 70_000,
    "sections.yaml": b"sections: 5\n",
    "agents.yaml": b"agents: easy\n",
    "junk.json": b'{"a": 1}',
    "cut.json": b'{"margin": {"mea',
    "deep.json": b"[" * 100_000,
    "huge.json": b'{"margin": ' + b"9" * 5000 + b"}",
    "cut.jsonl": b'{"format": "spades-deal", "ver',
    "empty.jsonl": b"",
    "other.jsonl": b'{"format": "pbn"}\n',
    "junk.safetensors": b"\x80\x04junk" * 50,
    "huge.safetensors": (2**63 - 1).to_bytes(8, "little") + b"{}",
}

# (arguments, what the line says); nothing among them begins any play.
LINES: list[tuple[list[str], str]] = [
    (["nope"], "No such command 'nope'"),
    (["--nope"], "No such option"),
    (["rules", "classik"], "did you mean 'classic'?"),
    (["rules", "\x1b[2J"], r"\x1b[2J' does not exist"),
    (["rules", "classic", "extra"], "unexpected extra argument"),
    (["rules", "--set", "target"], "must be FIELD=VALUE"),
    (["rules", "--set", "target="], "must be FIELD=VALUE"),
    (["rules", "--set", "target=5", "--set", "target=6"], "is set twice"),
    (["rules", "--set", "target=5.5"], "target=5.5 is not allowed: an int 1..1000000"),
    (["rules", "--set", "target=nan"], "target='nan' is not allowed"),
    (["rules", "--set", "target=.nan"], "target=nan is not allowed"),
    (["rules", "--set", "target=" + "9" * 4000], "an int of 13288 bits"),
    (["rules", "--set", "target=" + "9" * 5000], "not valid YAML"),
    (["rules", "--set", "target=5\nmercy: -5"], "more than one value"),
    (["rules", "--set", "target=!!bool maybe"], "a value does not fit its tag"),
    (["rules", "--set", "target=" + "[" * 5000], "nested deeper"),
    (["rules", "--set", "tarjet=5"], "did you mean 'target'?"),
    (["rules", "two_player", "--set", "contract=individual"], "contract='individual' is refused with players=2"),
    (["rules", "--yaml", "--json", "-"], "give one"),
    (["rules", "empty.yaml"], "holds nothing"),
    (["rules", "list.yaml"], "holds a list"),
    (["rules", "twice.yaml"], "key 'target' is given twice"),
    (["rules", "unknown.yaml"], "did you mean 'target'?"),
    (["rules", "open.yaml"], "line"),
    (["rules", "tag.yaml"], "a value does not fit its tag"),
    (["rules", "python.yaml"], "could not determine a constructor"),
    (["rules", "bomb.yaml"], "nested deeper than 1 level"),
    (["rules", "deep.yaml"], "nested deeper than 1 level"),
    (["rules", "latin.yaml"], "not UTF-8 text"),
    (["rules", "long.yaml"], "larger than 65536 bytes"),
    (["rules", "pipe.yaml"], "a pipe or a device; allowed: an ordinary file"),
    (["evaluate"], "Missing argument 'A' and 'B'"),
    (["evaluate", "easy"], "Missing argument 'B'"),
    (["evaluate", "easy", "easy", "easy"], "got 3 agents; allowed: A and B"),
    (["evaluate", "easy", "--lineup", "easy,easy,easy,easy"], "give one or the other"),
    (["evaluate", "--lineup", "easy,easy"], "4"),
    (["evaluate", "easy", "easi"], "did you mean 'easy'?"),
    (["evaluate", "easy", "easy", "--deals", "x"], "'x' is not a valid integer"),
    (["evaluate", "easy", "easy", "--deals", "0"], "deals is 0; allowed: an int 2.."),
    (["evaluate", "easy", "easy", "--deals", HUGE], "deals is an int of"),
    (["evaluate", "easy", "easy", "--deals", "10", "--half-width", "1"], "half_width"),
    (["evaluate", "easy", "easy", "--half-width", NAN], "half_width is nan"),
    (["evaluate", "easy", "easy", "--half-width", "-1"], "half_width is -1.0"),
    (["evaluate", "easy", "easy", "--max-deals", "10"], "half_width"),
    (["evaluate", "easy", "easy", "--matches", "-1"], "matches is -1"),
    (["evaluate", "easy", "easy", "--luck", "-1"], "playouts is -1"),
    (["evaluate", "easy", "easy", "--seed", "-1"], "seed is -1"),
    (["evaluate", "easy", "easy", "--seed", HUGE], "seed is an int of"),
    (["evaluate", "easy", "easy", "--bag-price", NAN], "bag_price is nan"),
    (["evaluate", "easy", "easy", "--workers", "0"], "workers is 0"),
    (["evaluate", "easy", "easy", "--workers", "1000"], "workers is 1000"),
    (["evaluate", "easy", "easy", "--batch-size", "0"], "batch_size is 0"),
    (["evaluate", "easy", "easy", "--rules", "chess"], "preset 'chess' does not exist"),
    (["evaluate", "easy", "easy", "--rules", "tag.yaml"], "a value does not fit its tag"),
    (["evaluate", "easy", "easy", "--record-deals", "5"], "give both"),
    (["evaluate", "easy", "easy", "--record", "r.jsonl", "--record-deals", "0"], "record_deals is 0"),
    (["evaluate", "easy", "easy", "--record", "pipe.jsonl"], "a pipe or a device"),
    (["evaluate", "easy", "easy", "--json", "pipe.json"], "a pipe or a device"),
    (["tournament", "easy"], "agents are 1; allowed: 2 to 100"),
    (["tournament", "easy", "easy"], "stands there twice"),
    (["tournament", "easy", f"easy:error={DEFAULT_ERROR}"], "same player"),
    (["tournament", "easy", "random", "--deals", "1"], "games is 1"),
    (["tournament", "easy", "random", "--min-deals", "1"], "min_games is 1"),
    (["tournament", "easy", "random", "--indifference", NAN], "indifference is nan"),
    (["tournament", "easy", "random", "--seat-games", "5"], "seat_games is 5"),
    (["tournament", "easy", "random", "--reference", "nobody"], "reference is 'nobody'"),
    (["tournament", "easy", "random", "--seed", "-1"], "seed is -1"),
    (["tournament", "easy", "random", "--config", "x.yaml"], "one of them"),
    (["tournament", "--config", "agents.yaml"], "agents is a str; allowed: a list"),
    (["tournament", "--config", "unknown.yaml"], "unknown field 'targt'"),
    (["tournament", "--config", "../tournament"], "is not shipped"),
    (["benchmark"], "no AGENT is given"),
    (["benchmark", "easy", "--suite", "x"], "'x' is not one of"),
    (["benchmark", "easy", "--scale", NAN], "not a finite number"),
    (["benchmark", "easy", "--scale", "0"], "0.0 is not in the range"),
    (["benchmark", "easy", "--only", "("], "regular expression"),
    (["benchmark", "easy", "--only", "zzz"], "zzz"),
    (["ladder", "--only", "["], "is no regular expression"),
    (["ladder", "--only", "a[[b]"], "is no regular expression: Possible nested set"),
    (["ladder", "--only", "zzz"], "is in none of the"),
    (["ladder", "--scale", "inf"], "range"),
    (["ladder", "--workers", "0"], "workers is 0"),
    (["ladder", "--config", "sections.yaml"], "sections is an int; allowed: a list"),
    (["ladder", "--config", "pipe.yaml"], "a pipe or a device"),
    (["exploit"], "Missing argument"),
    (["exploit", "easy", "--set", "a=1"], "--budget is missing"),
    (["exploit", "easy", "--budget", "5", "--game", "two_8"], "without --game"),
    (["exploit", "easy", "--samples", "0"], "samples is 0"),
    (["exploit", "easy", "--game", "two_99"], "two_99"),
    (["exploit", "easy", "--game", "tag.yaml"], "a value does not fit its tag"),
    (["equity", "--deals", "0"], "deals is 0"),
    (["equity", "--seed", "-1"], "seed is -1"),
    (["equity", "--rules", "chess"], "does not exist"),
    (["equity", "--plot", "x.gif"], "must end in .svg or .png"),
    (["equity", "--out", "pipe.npz"], "a pipe or a device"),
    (["bench", "--rounds", "0"], "0 is not in the range"),
    (["bench", "--seconds", NAN], "not a finite number"),
    (["bench", "--only", "x"], "is not one of"),
    (["play", "--seat", "4"], "seat is 4; allowed: an int 0..3"),
    (["play", "--deals", "0"], "deals is 0"),
    (["play", "--match", "--deals", "1"], "give one"),
    (["play", "--partner", "nobody"], "'nobody' does not exist"),
    (["play", "--opponents", "easy,easy,easy"], "opponents"),
    (["play", "--record", "pipe.jsonl"], "a pipe or a device"),
    (["table", "--port", "-1"], "port is -1; allowed: an int 0..65535"),
    (["table", "--host", ""], "host is ''; allowed: an address or a name of this machine, such as 127.0.0.1"),
    (["table", "--host", "\0"], r"host is '\x00'; allowed: an address"),
    (["table", "--host", "a..b"], "host is 'a..b'; allowed: an address"),
    (["table", "--host", "x" * 300], "allowed: an address"),
    (["table", "--database", "pipe.jsonl"], "a pipe or a device"),
    (["table", "--no-open", "--agent", "nobody"], "'nobody' does not exist"),
    (["table", "--export", "pipe.jsonl"], "a pipe or a device"),
    (["replay"], "Missing argument"),
    (["replay", "empty.jsonl"], "has 0 deals"),
    (["replay", "cut.jsonl"], "line 1: line is not valid JSON"),
    (["replay", "other.jsonl"], 'format is "pbn"'),
    (["replay", "pipe.jsonl"], "a pipe or a device"),
    (["replay", "empty.jsonl", "--deal", "0"], "0 is not in the range"),
    (["replay", "empty.jsonl", "--seat", "4"], "4 is not in the range"),
    (["replay", "empty.jsonl", "--step"], "stdin is no terminal"),
    (["report"], "Missing argument"),
    (["report", "junk.json"], "is no result: it has none of their fields"),
    (["report", "cut.json"], "is no JSON text"),
    (["report", "deep.json"], "is no JSON text"),
    (["report", "huge.json"], "is no JSON text"),
    (["report", "pipe.json"], "a pipe or a device"),
    (["report", "pipe.jsonl"], "a pipe or a device"),
    (["report", "."], "has no results.json"),
    (["report", "junk.json", "--deals", "-1"], "-1 is not in the range"),
    (["report", "junk.json", "--out", "pipe.json"], "a pipe or a device"),
    (["leaderboard", "--results", "nowhere"], "allowed: a folder of result files"),
    (["leaderboard", "--check", "junk.json"], "is no result"),
    (["leaderboard", "--check", "pipe.json"], "a pipe or a device"),
    (["leaderboard", "--check", "junk.json", "--seconds", NAN], "not a finite number"),
    (["promote"], "Missing argument 'CANDIDATE'"),
    (["promote", "easy", "--deals", "5"], "deals is 5; allowed: 512 or more"),
    (["promote", "easy", "--over", "random", "--workers", "0"], "workers is 0"),
    (["promote", "easy", "--over", "easi"], "did you mean 'easy'?"),
    (["export", "easy"], "Missing argument 'OUT.onnx'"),
    (["export", "none.safetensors", "x.onnx"], "there is no file"),
    (["export", "junk.safetensors", "x.onnx"], "damaged or no safetensors file"),
    (["export", "junk.safetensors", "pipe.json"], "a pipe or a device"),
    (["generate"], "Missing option '--out'"),
    (["generate", "--out", "d", "--deals", "0"], "deals is 0"),
    (["generate", "--out", "d", "--epsilon", NAN], "epsilon is nan"),
    (["generate", "--out", "d", "--epsilon", "2"], "epsilon is 2.0"),
    (["generate", "--out", "d", "--seed", "-1"], "seed is -1"),
    (["generate", "--out", "d", "--part-deals", "0"], "part_deals is 0"),
    (["generate", "--out", "d", "--workers", "0"], "workers is 0"),
    (["generate", "--out", "d", "--encoder", "pixels"], "encoder is 'pixels'"),
    (["generate", "--out", "d", "--bag-price", "inf"], "bag_price is inf"),
    (["generate", "--out", "d", "--agent", "easi"], "did you mean 'easy'?"),
    (["generate", "--out", "d", "--agent", "easy", "--lineup", "easy"], "give one or the other"),
    (["minari", "none", "x"], "is no dataset"),
    (["agents", "x"], "unexpected extra argument"),
    (["train", "nowhere.yaml"], "is not shipped"),
    (["train", "empty.yaml"], "holds nothing"),
    (["train", "unknown.yaml"], "targt"),
    (["train", "pipe.yaml"], "a pipe or a device"),
    (["train", "train/scratch.yaml", "--seed", "-1"], "seed is -1"),
    (["train", "train/scratch.yaml", "--set", "deals=.nan"], "deals is nan"),
    (["train", "train/scratch.yaml", "--set", "deals=" + HUGE], "deals is"),
    (["train", "train/scratch.yaml", "--set", "deals.x=1"], "'deals' is no section"),
    (["train", "train/scratch.yaml", "--set", "ppo=" + "[" * 5000], "nested deeper"),
    (["train", "train/scratch.yaml", "--set", "ppo=&a [*a]"], "--set"),
    (["train", "train/scratch.yaml", "--set", "name=../up"], "name is"),
    (["train", "train/scratch.yaml", "--device", "tpu"], "device is 'tpu'"),
    (["train", "train/scratch.yaml", "--resume"], "has no checkpoint.safetensors to resume from"),
]

REFUSED_BY_THE_SYSTEM: list[tuple[list[str], str]] = [
    (["rules", "folder.yaml"], "folder.yaml: Is a directory"),
    (["rules", "loop.yaml"], "loop.yaml: Too many levels of symbolic links"),
    (["rules", "none.yaml"], "none.yaml: No such file or directory"),
    (["rules", "--json", "none/x.json"], "none/x.json: No such file or directory"),
    (["rules", "--json", "folder.yaml"], "folder.yaml: Is a directory"),
    (["replay", "none.jsonl"], "none.jsonl: No such file or directory"),
    (["replay", "."], "Is a directory"),
    (["report", "none.json"], "none.json: No such file or directory"),
    (["report", "junk.json", "--out", "none/x.html"], "No such file or directory"),
    (["leaderboard", "--check", "none.json"], "No such file or directory"),
    (["tournament", "easy", "random", "--out", "junk.json"], "junk.json: File exists"),
    (["evaluate", "easy", "easy", "--record", "none/x.jsonl"], "none/x.jsonl: No such file or directory"),
    (["play", "--record", "none/x.jsonl"], "none/x.jsonl: No such file or directory"),
]

AGENTS: list[tuple[str, str]] = [
    ("nobody", "agent 'nobody' does not exist"),
    ("easi", "did you mean 'easy'?"),
    ("easy:", "must be key=value"),
    ("easy:error", "must be key=value"),
    ("easy:error=2", "error"),
    ("easy:error=nan", "error"),
    ("easy:error=0.1,error=0.2", "is given twice"),
    ("easy:worlds=5", "unknown option 'worlds'"),
    ("hard:worlds=0", "worlds"),
    ("hard:worlds=1e9", "is not allowed"),
    ("hard:worlds=" + "9" * 5000, "is not allowed"),
    ("hard:exact=99", "exact"),
    ("hard:doubt=nan", "doubt"),
    ("hard:ms=inf", "ms"),
    ("hard:objective=fame", "objective"),
    ("cheating", "sees the hidden cards"),
    ("junk.safetensors", "damaged or no safetensors file"),
    ("huge.safetensors", "damaged or no safetensors file"),
    ("none.safetensors", "there is no such file"),
    ("pipe.safetensors", "there is no file"),
    ("loop.safetensors", "there is no such file"),
    (".", "there is no file policy.safetensors"),
    ("no_such_module:x", "cannot import module"),
    ("json:nothing", "has no 'nothing'"),
    ("json:loads", "failed: TypeError"),
    ("sys:exit", "failed: SystemExit"),
    ("process:", "process:"),
    ("process:no-such-program", "no-such-program"),
    ('process:"', "is no command line: No closing quotation"),
    ("process:true", "ended with status 0 without a hello"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with files of all wrong kinds."""
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder.yaml").mkdir()
    for name in ("loop.yaml", "loop.safetensors"):
        (tmp_path / name).symlink_to(name)
    for ending in ("yaml", "json", "jsonl", "npz", "safetensors"):
        os.mkfifo(tmp_path / f"pipe.{ending}")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], arguments: list[str], status: int) -> str:
    """The one line that a refused command writes to stderr; stdout stays empty.

    Before it, on a machine that has compiled nothing yet, it may be said that compiling takes a minute.
    """
    assert main(arguments) == status
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("Compiling the engine for this machine")]
    assert out == ""
    assert len(lines) == 1
    assert lines[0].startswith("spades: error: ")
    assert lines[0].isprintable()
    assert len(lines[0]) < 2100
    return lines[0]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("arguments", "text"), LINES, ids=lambda part: ascii(" ".join(part) if isinstance(part, list) else part)[:60]
)
def test_wrong_arguments(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str) -> None:
    for library in LIBRARIES.get(arguments[0], ()):
        pytest.importorskip(library, reason="the command needs it")
    before = sorted(os.listdir(folder))
    assert text in said(capsys, arguments, 2)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("arguments", "text"),
    REFUSED_BY_THE_SYSTEM,
    ids=lambda part: ascii(" ".join(part) if isinstance(part, list) else part)[:60],
)
def test_paths_that_the_system_refuses(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    assert text in said(capsys, arguments, 1)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("agent", "text"), AGENTS, ids=[agent[:40] for agent, _ in AGENTS])
def test_wrong_agents(folder: Path, capsys: pytest.CaptureFixture[str], agent: str, text: str) -> None:
    """Everywhere an agent is asked for; pipes stay as they are."""
    if agent.endswith(".safetensors") or agent == ".":
        pytest.importorskip("torch", reason="needs the extra `train`")
    for command, rest in OFTEN:
        arguments = [{"A": agent, "B": "easy"}.get(word, word) for word in rest.split()]
        assert text in said(capsys, [command, *arguments], 2)
    assert (folder / "pipe.json").is_fifo()


def test_every_command_is_in_the_table() -> None:
    assert {arguments[0] for arguments, _ in LINES if arguments} >= set(SUBCOMMANDS)
    assert len(LINES) + len(REFUSED_BY_THE_SYSTEM) + len(AGENTS) > 150
