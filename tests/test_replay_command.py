"""`spades replay`: what it prints of deals, what it hides from a seat, stepping, and its errors."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from record_games import drafted_game, suited_game

from spades_cli.main import main
from spades_env.game import Game
from spades_env.record import append_records, record_for_seat


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with a deal that is over, a draft before its play, and the record of seat 2 of the first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    # Said on stderr where the engine has not been compiled before, which depends on what ran before this.
    monkeypatch.setattr("spades_cli.replay.announce_compilation", lambda: None)
    deal = suited_game().to_record(players=["Ann", "[b]Bo", "Cy", "Di"])
    append_records("deals.jsonl", [deal, drafted_game().to_record(), record_for_seat(deal, 2)])
    return "deals.jsonl"


class Terminal(io.StringIO):
    """A terminal on which these keys are pressed."""

    def isatty(self) -> bool:
        return True


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `spades replay`; exit status, stdout and stderr."""
    status = main(["replay", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def rows(text: str) -> list[list[str]]:
    """Cells of all table rows."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if line.startswith("│")]


def test_a_deal_is_shown_trick_by_trick(capsys: pytest.CaptureFixture[str], file: str) -> None:
    status, out, err = run(capsys, file, "--deal", "1")
    assert (status, err) == (0, "")
    assert "deals.jsonl, line 1: classic, match 1, deal 1, dealer East\nbefore: score 0 : 0, bags 0 : 0\n" in out
    assert "calls: South bid 7, West nil, North bid 3, East bid 2" in out
    shown = rows(out)
    assert ["South", "Ann", "AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S", "7", "13"] in shown
    assert ["West", "[b]Bo", "AC KC QC JC TC 9C 8C 7C 6C 5C 4C 3C 2C", "nil", "0"] in shown
    assert ["1", ">2S*", "2C", "2D", "2H", "South"] in shown
    assert ["13", ">AS*", "AC", "AD", "AH", "South"] in shown
    assert ["0 (South & North, boston)", "+100", "+0", "3: +3", "+0", "+103", "103", "3"] in shown
    assert ["1 (West & East)", "-20", "+100", "0: +0", "+0", "+80", "80", "0"] in shown
    assert "the match goes on" in out
    assert "two_player" not in out


def test_the_last_trick_has_its_winner(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every winner shown is right: counted, they are the tricks taken."""
    for seed in range(5):
        game = Game("modern", seed=seed)
        while not game.deal_over:
            game.apply(game.legal_actions()[seed % len(game.legal_actions())])
        append_records(tmp_path / f"{seed}.jsonl", [game.to_record()])
        _, out, _ = run(capsys, str(tmp_path / f"{seed}.jsonl"))
        winners = [row[-1] for row in rows(out) if row[0].isdigit() and len(row) == 6]
        assert [winners.count(name) for name in ("South", "West", "North", "East")] == game.tricks


def test_a_draft_is_shown_with_its_exchange(capsys: pytest.CaptureFixture[str], file: str) -> None:
    status, out, _ = run(capsys, file, "--deal", "2")
    assert status == 0
    record = drafted_game().to_record()
    pile, given = record["pile"].split(), [text for _, text in record["actions"] if len(text) == 2]
    assert ["1", f"kept {pile[0]} ({pile[1]} away)", f"kept {pile[2]} ({pile[3]} away)"] in rows(out)
    assert f"exchange: seat 0 gave up {' '.join(given)}, drew {record['drawn'][0][1]}" in out
    assert "calls: seat 0 blind nil, seat 1 look, seat 1 bid 4" in out
    assert "not over: seat 1 is to act (play)" in out
    hidden = run(capsys, file, "--deal", "2", "--seat", "1")[1]
    assert "exchange: seat 0 gave up ? ?, drew ? ?" in hidden
    assert ["1", "kept", "kept"] in rows(hidden)
    assert ["seat 0", "hidden", "double nil", "0"] in rows(hidden)


def test_a_seat_sees_her_own_cards(capsys: pytest.CaptureFixture[str], file: str) -> None:
    own = ["North", "Cy", "AD KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D", "3", "0"]
    for arguments in (("--deal", "1", "--seat", "2"), ("--deal", "3"), ("--deal", "3", "--seat", "2")):
        status, out, _ = run(capsys, file, *arguments)
        assert status == 0
        assert own in rows(out)
        assert ["South", "Ann", "hidden", "7", "13"] in rows(out)
        assert ["13", ">AS*", "AC", "AD", "AH", "South"] in rows(out)


def test_cards_not_looked_at_are_not_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    append_records(tmp_path / "x.jsonl", [Game("modern", scores=(0, 150), dealer=3).to_record()])
    _, out, _ = run(capsys, str(tmp_path / "x.jsonl"), "--seat", "0")
    assert ["South", "not looked at", "-", "0"] in rows(out)
    assert "calls" not in out


def test_all_deals_are_shown_one_after_the_other(capsys: pytest.CaptureFixture[str], file: str) -> None:
    _, out, _ = run(capsys, file)
    assert [out.count(f"line {number}: ") for number in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_stepping_waits_for_enter(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("\n\nq\n"))
    status, out, err = run(capsys, file, "--step")
    assert (status, err) == (0, "")
    assert out.count("Enter: go on, q: quit") == 3
    assert "South: bid 7" in out
    assert "West: nil" in out
    assert "North: bid 3" not in out
    assert "> South" in out
    assert "AC KC QC" in out
    monkeypatch.setattr(sys, "stdin", Terminal("\n" * 60))
    _, out, _ = run(capsys, file, "--step", "--deal", "1", "--seat", "0")
    assert "East: AH" in out
    assert "last deal scored: team 0 +103" in out
    assert "AC KC QC" not in out


def test_the_end_of_the_input_ends_stepping(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    status, out, _ = run(capsys, file, "--step")
    assert status == 0
    assert out.count("Enter: go on, q: quit") == 1


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("none.jsonl",), 1, "none.jsonl: No such file or directory"),
        (("deals.jsonl", "--deal", "4"), 2, "deals.jsonl has 3 deals, and --deal is 4"),
        (("deals.jsonl", "--deal", "0"), 2, "Invalid value for '--deal'"),
        (("deals.jsonl", "--seat", "4"), 2, "Invalid value for '--seat'"),
        (("deals.jsonl", "--deal", "2", "--seat", "2"), 2, "seat is 2; allowed: an int 0..1"),
        (("deals.jsonl", "--deal", "3", "--seat", "1"), 2, "--seat is 1, but the record is one of seat 2"),
        (("deals.jsonl", "--step"), 2, "--step waits for Enter, but stdin is no terminal (see 'spades replay --help')"),
        (("empty.jsonl",), 2, "empty.jsonl has 0 deals"),
        (
            ("bad.jsonl",),
            2,
            "bad.jsonl, line 2: actions[5]: seat 1 may not do 13 (2D); legal: 0 (2C), 1 (3C)",
        ),
    ],
)
def test_errors_are_one_line(
    capsys: pytest.CaptureFixture[str], file: str, arguments: tuple[str, ...], status: int, message: str
) -> None:
    Path("empty.jsonl").write_bytes(b"")
    record = suited_game().to_record()
    good = json.dumps(record)
    record["actions"][5][1] = "2D"
    Path("bad.jsonl").write_text(f"{good}\n{json.dumps(record)}\n", encoding="utf-8")
    got, out, err = run(capsys, *arguments)
    assert got == status
    assert err.startswith("spades: error: ")
    assert err.count("\n") == 1
    assert message in err
    if arguments != ("bad.jsonl",):
        assert out == ""


def test_a_seats_record_has_no_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    status, _, err = run(capsys, file, "--step", "--deal", "3")
    assert status == 2
    assert "line 3 is the record of a seat, which has no positions in between" in err
