"""Line-ups seat by seat: rotations, agreement with two agents, who counts as A, statistics by seat, the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.duplicate import evaluate, evaluate_line_up
from evaluation.line_up import rotations, shares_of, split_line_up
from evaluation.result import results_of_matches
from spades_cli.main import main
from spades_env.record import read_records
from spades_env.rules import PRESETS

FOUR = ("easy", "random", "lowest", "conservative")


def test_a_line_up_as_text() -> None:
    assert split_line_up("easy, normal,easy,random") == ("easy", "normal", "easy", "random")
    assert split_line_up("hard:worlds=5,exact=3,easy:error=0,mine:Agent,runs/lr=3/policy.safetensors") == (
        *("hard:worlds=5,exact=3", "easy:error=0", "mine:Agent", "runs/lr=3/policy.safetensors"),
    )
    for text in ("", "easy,,easy", "easy,"):
        with pytest.raises(ValueError, match="line_up is"):
            split_line_up(text)


def test_rotations_are_the_distinct_ones() -> None:
    assert rotations([0, 1, 2, 3]) == ((0, 1, 2, 3), (3, 0, 1, 2), (2, 3, 0, 1), (1, 2, 3, 0))
    assert rotations([0, 1, 0, 1]) == ((0, 1, 0, 1), (1, 0, 1, 0))
    assert rotations([0, 1, 1, 0]) == ((0, 1, 1, 0), (0, 0, 1, 1), (1, 0, 0, 1), (1, 1, 0, 0))
    assert rotations([0, 0, 0, 0]) == ((0, 0, 0, 0),) * 2  # both orientations, so that she comes to 0
    assert rotations([0, 1]) == ((0, 1, 0, 1), (1, 0, 1, 0))
    one = object()
    assert shares_of(["a", one, "a", one]) == (0, 1, 0, 1)  # type: ignore[list-item]


@pytest.mark.parametrize("preset", PRESETS)
def test_two_agents_as_a_line_up_are_what_evaluate_finds(preset: str) -> None:
    line_up = ["easy", "random"] * (PRESETS[preset].players // 2)
    options: dict[str, Any] = {"deals": 60, "matches": 4, "seed": 2, "bag_price": -0.1}
    found, expected = evaluate_line_up(line_up, preset, **options), evaluate("easy", "random", preset, **options)
    assert found.log.tobytes() == expected.log.tobytes()
    assert found.match_log.tobytes() == expected.match_log.tobytes()
    assert found.margins.tobytes() == expected.margins.tobytes()
    one, other = found.to_dict(), expected.to_dict()
    for name in ("margin", "margin_raw", "match_win_rate", "deals", "matches", "stats", "match_stats"):
        assert one[name] == other[name]
    assert one["illegal_actions_by_seat"] == [0] * len(line_up)


def test_one_agent_on_every_seat_is_exactly_zero() -> None:
    found = evaluate_line_up(["easy"] * 4, deals=50, matches=3)
    assert (found.margins == 0).all()
    assert (found.match_results == 0.5).all()


def test_margins_and_seats_by_hand() -> None:
    """Rotation k turns the line-up by k chairs: its seat j sits on chair j + k, its seats 0 and 2 are team k % 2."""
    deals = 30
    found = evaluate_line_up(FOUR, deals=deals, matches=5, seed=4)
    assert found.log.shape == (4 * deals,)
    margins = np.zeros(deals)
    tricks, nils = np.zeros(4), np.zeros(4)
    for row in found.log:
        turn, team = int(row["row"]), int(row["row"]) % 2
        assert row["team_of_a"] == team
        margins[row["game"]] += (int(row["scores"][team]) - int(row["scores"][1 - team])) / 4
        for seat in range(4):
            tricks[seat] += row["tricks"][(seat + turn) % 4] / (4 * deals)
            nils[seat] += row["bids"][(seat + turn) % 4] == 0
    assert (found.margins_raw == margins).all()
    stats = found.to_dict()["seat_stats"]
    assert [each["tricks_mean"] for each in stats] == pytest.approx(tricks)
    assert [each["nil_attempts"] for each in stats] == nils.tolist()
    assert [each["seat_deals"] for each in stats] == [4 * deals] * 4
    # Seats 0 and 2 of the line-up are A's team, whatever chair they sit on.
    assert found.stats(0)["bid_mean"] == pytest.approx((stats[0]["bid_mean"] + stats[2]["bid_mean"]) / 2)
    # Who bids which way shows who sat where: `lowest` bids 1, and no other seat always does.
    assert stats[2]["bid_histogram"][1] == 4 * deals
    assert found.match_results.shape == (5,)
    assert (results_of_matches(found.match_log, 5, 4) == found.match_results).all()


def test_all_rotations_have_the_same_cards_and_dealer() -> None:
    """Four agents that are alike as they play, told apart as objects: all rotations are one and the same deal."""
    from agents.rules.extremes import LowestAgent

    log = evaluate_line_up([LowestAgent() for _ in range(4)], deals=20).log.reshape(4, 20)
    for name in ("dealer", "bids", "tricks", "scores"):
        assert (log[name] == log[name][0]).all()


def test_the_wrong_number_of_agents_is_refused() -> None:
    with pytest.raises(ValueError, match="line_up has 3 agents; allowed under these rules: 4"):
        evaluate_line_up(["easy"] * 3)
    with pytest.raises(ValueError, match="line_up has 4 agents; allowed under these rules: 2"):
        evaluate_line_up(["easy"] * 4, "two_player")


# --- The command --------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `spades evaluate` and return exit status, stdout and stderr."""
    status = main(["evaluate", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_plays_a_line_up_and_records_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    arguments = ("--lineup", "easy,random,lowest,easy", "--deals", "10", "--matches", "2")
    status, out, _ = run(capsys, *arguments, "--record", str(path), "--record-deals", "3", "--json", "-")
    assert status == 0
    found = json.loads(out)
    line_up = evaluate_line_up(["easy", "random", "lowest", "easy"], deals=10, matches=2)
    assert found["line_up"] == list(line_up.agents)
    assert (found["rotations"], found["margin"]) == (4, line_up.margin.to_dict())
    records = list(read_records(path))
    assert [(record["game"], record["meta"]["row"]) for record in records] == [
        (g, r) for g in range(3) for r in range(4)
    ]
    for record in records:
        row = line_up.log[record["meta"]["row"] * 10 + record["game"]]
        assert record["outcome"]["scores"] == row["scores"].tolist()
        assert record["players"][(2 + record["meta"]["row"]) % 4] == "lowest"
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert "Seat by seat" in out


def test_records_of_two_agents_are_written_whole(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    path.write_text("something old", encoding="utf-8")
    status, _, _ = run(capsys, "easy", "random", "--rules", "two_player", "--deals", "4", "--record", str(path))
    assert status == 0
    records = list(read_records(path))
    assert [record["players"] for record in records] == [["easy", "random"], ["random", "easy"]] * 4


def test_a_record_goes_with_a_measurement_of_luck(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The deals are the same; what luck there was in them is not measured again for the record."""
    path = tmp_path / "deals.jsonl"
    status, _, err = run(capsys, "easy", "random", "--luck", "2", "--deals", "3", "--record", str(path))
    assert status == 0, err
    assert len(list(read_records(path))) == 6


def test_an_agent_that_does_not_repeat_herself_gets_no_record(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one may that is given milliseconds: a record would tell deals that were not played."""
    (tmp_path / "moody.py").write_text(
        "import numpy as np\nfrom agents.rules.uniform import RandomAgent\nkey = 0\n\n"
        "class Moody(RandomAgent):\n    def act(self, views, keys):\n        global key\n        key += 1\n"
        "        return super().act(views, keys + np.uint64(key))\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    status, out, err = run(capsys, "moody:Moody", "easy", "--deals", "9", "--record", str(tmp_path / "x"))
    assert (status, out) == (2, "")
    assert "played again for the record, some deal came out otherwise" in err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lineup", "easy,easy,easy"), "line_up has 3 agents"),
        (("--lineup", "easy,easy,easy,eazy"), "did you mean 'easy'?"),
        (("easy", "--lineup", "easy,easy,easy,easy"), "--lineup stands instead of A and B"),
        (("easy", "easy", "easy"), "got 3 agents; allowed: A and B"),
        (("easy", "easy", "--half-width", "0"), "half_width is 0.0"),
        (("easy", "easy", "--half-width", "1", "--deals", "9"), "deals is 9; allowed with half_width: None"),
        (("easy", "easy", "--max-deals", "9"), "max_deals is 9; allowed without half_width: None"),
        (("easy", "easy", "--workers", "0"), "workers is 0"),
        (("easy", "easy", "--bag-price", "1e308"), "bag_price is 1e+308; allowed: -10,000..10,000 points"),
        (("easy", "easy", "--record", "no/such/x"), "no/such/x: No such file"),
        (("easy", "easy", "--record-deals", "5"), "give both"),
        (("easy", "easy", "--record", "x", "--record-deals", "9000"), "record_deals is 9000; allowed: an int 1..4000"),
    ],
)
def test_errors_are_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert status in (1, 2)
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
