"""Duplicate evaluation: exact zeros and symmetries, statistics on hand-made logs, intervals, the command."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from light_agents import SPECS
from random_rules import random_rules

from agents.rules.easy import EasyAgent
from agents.rules.uniform import RandomAgent
from evaluation.duplicate import evaluate
from evaluation.intervals import mean_interval, pair_win_interval
from evaluation.play import DEAL_LOG, LogArray
from evaluation.result import Evaluation, results_of_matches
from evaluation.statistics import deal_statistics, match_statistics
from spades_cli.main import main
from spades_env.engine.step import legal_masks
from spades_env.envs.players import PlayerError
from spades_env.files import write_atomically
from spades_env.rules import PRESETS, Rules

ROOT = Path(__file__).resolve().parent.parent
CASES = {case["id"]: case for case in json.loads((ROOT / "tests" / "data" / "cases.json").read_text(encoding="utf-8"))}

# --- Exactness ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("preset", PRESETS)
def test_an_agent_against_itself_is_exactly_zero_on_every_deal(name: str, preset: str) -> None:
    result = evaluate(name, name, preset, deals=100, matches=3, seed=7, batch_size=64)
    assert (result.margins == 0).all()
    assert (result.margins_raw == 0).all()
    assert (result.match_results == 0.5).all()
    assert result.margin.to_dict() == {"mean": 0.0, "low": 0.0, "high": 0.0}
    # Not because nothing happens: the two teams of a table do differ.
    points = sum(result.log[part] for part in ("contract", "nil", "bag_points", "penalty"))
    assert (points[:, 0] != points[:, 1]).mean() > 0.5


@pytest.mark.parametrize("preset", PRESETS)
def test_swapping_the_agents_negates_everything_exactly(preset: str) -> None:
    forth = evaluate("easy", "random", preset, deals=100, matches=5, seed=3, bag_price=-0.1)
    back = evaluate("random", "easy", preset, deals=100, matches=5, seed=3, bag_price=-0.1)
    assert (forth.margins == -back.margins).all()
    assert (forth.margins_raw == -back.margins_raw).all()
    assert (forth.match_results == 1.0 - back.match_results).all()
    assert forth.stats(0) == back.stats(1)
    assert forth.match_stats(1) == back.match_stats(0)
    assert forth.margin.mean != 0


def test_the_result_does_not_depend_on_the_batch_size() -> None:
    for rules in ("modern", "two_player"):
        first, *others = (
            evaluate("easy", "conservative", rules, deals=50, matches=9, seed=5, batch_size=size)
            for size in (1000, 7, 1)
        )
        for other in others:
            assert other.log.tobytes() == first.log.tobytes()
            assert other.match_log.tobytes() == first.match_log.tobytes()
            assert (other.margins == first.margins).all()
            assert [tally.decisions for tally in other.tallies] == [t.decisions for t in first.tallies]


def test_fewer_deals_are_a_prefix_and_seeds_differ() -> None:
    many = evaluate("easy", "random", deals=60, seed=1)
    assert (evaluate("easy", "random", deals=20, seed=1).margins == many.margins[:20]).all()
    assert (evaluate("easy", "random", deals=60, seed=2).margins != many.margins).any()


class Recorder(RandomAgent):
    """Plays at random and notes the hand at every opening decision by its key: (match, deal, seat)."""

    def __init__(self) -> None:
        self.hands: dict[int, list[int]] = {}

    def act(self, views: Any, keys: Any) -> Any:
        """As `random`."""
        known = views["known"]
        for k in np.flatnonzero(known["n_actions"] == 0):
            self.hands.setdefault(int(keys[k]), []).append(int(known["hands"][k, views["seat"][k]]))
        return super().act(views, keys)


def test_both_orientations_have_the_same_cards_and_dealer_in_every_deal() -> None:
    a, b = Recorder(), Recorder()
    result = evaluate(a, b, "table", deals=30, matches=6, seed=2)
    # Before anything is counted each agent looks at the first deal, and at the first match at 0:0 and near its end.
    decisions = sum(len(hands) for hands in (*a.hands.values(), *b.hands.values())) - 6
    assert decisions == len(result.log) + len(result.match_log)
    assert set(a.hands) & set(b.hands)
    for key in set(a.hands) & set(b.hands):
        assert len({*a.hands[key], *b.hands[key]}) == 1
    both = {(int(r["game"]), int(r["deal"]), int(r["team_of_a"])): int(r["dealer"]) for r in result.match_log}
    shared = [(game, deal) for game, deal, team in both if team == 0 and (game, deal, 1) in both]
    assert len(shared) > 20
    assert all(both[game, deal, 0] == both[game, deal, 1] for game, deal in shared)
    # In a deal that both matches of a pair reached, the same seat decided first, once as A and once as B.
    assert len(set(a.hands) & set(b.hands)) == 30 + len(shared)
    # Deals are new in every match: no opening hand occurs under two keys but by rare chance.
    hands = [next(iter(hands)) for hands in a.hands.values()]
    assert len(set(hands)) == len(hands)


# --- Margins ------------------------------------------------------------------------------------------------


def test_margins_are_made_of_the_log() -> None:
    result = evaluate("easy", "conservative", deals=40, seed=9)
    dearer = evaluate("easy", "conservative", deals=40, seed=9, bag_price=-5)
    for deal in range(40):
        priced, raw, at_five = [], [], []
        for row in (result.log[deal], result.log[40 + deal]):
            a = int(row["team_of_a"])
            assert row["game"] == deal
            fixed = [int(row["contract"][team]) + int(row["nil"][team]) for team in (a, 1 - a)]
            bags = [int(row["bags"][team]) for team in (a, 1 - a)]
            priced.append(fixed[0] - fixed[1] - 9 * (bags[0] - bags[1]))
            at_five.append(fixed[0] - fixed[1] - 5 * (bags[0] - bags[1]))
            raw.append(int(row["scores"][a]) - int(row["scores"][1 - a]))
        assert result.margins[deal] == sum(priced) / 2
        assert dearer.margins[deal] == sum(at_five) / 2
        assert result.margins_raw[deal] == dearer.margins_raw[deal] == sum(raw) / 2
    assert (result.log["team_of_a"] == np.repeat([0, 1], 40)).all()
    assert result.bag_price == -9
    assert evaluate("easy", "easy", Rules(bag_penalty=50, bag_limit=5, bag_points=-1), deals=2).bag_price == -11


def test_easy_beats_conservative_beats_random() -> None:
    result = evaluate("easy", "conservative", deals=1500)
    assert result.margin.low > 15
    assert evaluate("conservative", "random", deals=300).margin.low > 120
    # Slips cost her little, as they should.
    assert -4 < evaluate("easy", EasyAgent(0.0), deals=1500).margin.mean < 0


# --- Agents that misbehave ----------------------------------------------------------------------------------


class Wrong:
    """Answers what it was told to, whatever is asked."""

    name = "wrong"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, views: Any, keys: Any) -> Any:
        """Return the same for every view."""
        return np.full(len(keys), self.answer)


class Lowest:
    """The lowest legal id."""

    name = "lowest"

    def act(self, views: Any, keys: Any) -> Any:
        """Return the lowest legal action of each view."""
        states = np.ascontiguousarray(views["known"])
        masks = (legal_masks(states, i) for i in range(len(states)))
        lowest = [(cards | calls << 54) & -(cards | calls << 54) for cards, calls in masks]
        return np.array([mask.bit_length() - 1 for mask in lowest], np.int16)


@pytest.mark.parametrize("answer", [-1, 70, 73, 2**40])
def test_illegal_actions_are_counted_and_replaced_by_the_lowest_legal_one(answer: int) -> None:
    result = evaluate(Wrong(answer), "easy", "classic", deals=10, seed=4)
    found = result.to_dict()
    assert found["illegal_actions"] == found["illegal_actions_by_agent"]["A"] == 10 * 2 * 28
    assert found["illegal_actions_by_agent"]["B"] == 0
    assert result.log.tobytes() == evaluate(Lowest(), "easy", "classic", deals=10, seed=4).log.tobytes()


@pytest.mark.parametrize("answer", [1.5, [1, 2], "AS"])
def test_answers_that_are_no_integers_one_a_view_are_refused(answer: Any) -> None:
    class Broken(Wrong):
        """Returns something else."""

        def act(self, views: Any, keys: Any) -> Any:
            """Return the answer as it is."""
            return np.full(len(keys), answer) if isinstance(answer, float) else answer

    with pytest.raises(PlayerError, match="agent 'wrong': act returned"):
        evaluate(Broken(answer), "easy", deals=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deals": 1}, "deals is 1; allowed: an int 2"),
        ({"matches": -1}, "matches is -1; allowed: an int 0"),
        ({"seed": -1}, "seed is -1; allowed: an int 0"),
        ({"batch_size": 0}, "batch_size is 0; allowed: an int 1"),
        ({"bag_price": math.nan}, "bag_price is nan; allowed: a finite number"),
        ({"bag_price": -10_001}, "bag_price is -10001; allowed: -10,000..10,000 points"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate("easy", "easy", **options)


# --- Statistics ---------------------------------------------------------------------------------------------


def hand_made(rows: list[dict[str, Any]]) -> LogArray:
    """A log of four-seat deals; what a row leaves out is 3 trick bids, 3 tricks, contracts made."""
    log = np.zeros(len(rows), DEAL_LOG)
    log["players"], log["hand_size"], log["boston"] = 4, 13, -1
    log["bids"], log["tricks"], log["contract"] = 3, 3, 60
    for k, row in enumerate(rows):
        for name, value in row.items():
            log[name][k] = value
    return log


def test_case_a12_statistics_on_a_hand_made_log() -> None:
    assert CASES["A12"]["steps"] == [
        "two matches: seat 0 bids nil 5 times and makes 3, takes 2 bags in all over 9 hands"
    ]
    nil = {"bids": [0, 4, 4, 4], "contract": [40, 80]}
    made, failed = nil | {"tricks": [0, 5, 4, 4]}, nil | {"tricks": [1, 4, 4, 4], "bags": [1, 0]}
    rows = [made, failed, {}, made, {}, failed, {}, {}, made]
    log = hand_made([row | {"game": k // 5, "deal": k % 5} for k, row in enumerate(rows)])
    stats = match_statistics(log, np.zeros(9, np.int64))
    assert (stats["nil_attempts"], stats["nil_made"], stats["nil_success"]) == (5, 3, 0.6)
    assert (stats["matches"], stats["bags_per_match"], stats["bags_per_deal"]) == (2, 1.0, 2 / 9)
    assert stats["deals_per_match"] == 4.5
    assert stats["nil_rate"] == 5 / 18  # of two seats in nine deals
    other = match_statistics(log, np.ones(9, np.int64))
    assert (other["nil_attempts"], other["nil_success"], other["bags_per_match"]) == (0, None, 0.0)


def test_every_statistic_of_a_hand_made_log() -> None:
    log = hand_made(
        [
            {"bids": [4, 2, 3, 2], "tricks": [4, 2, 4, 3], "contract": [70, 40], "bags": [1, 1]},
            {"bids": [0, 2, 5, 2], "blind": [1, 0, 0, 0], "tricks": [0, 6, 4, 3], "contract": [-50, 40]},
            {"bids": [0, 2, 0, 2], "tricks": [0, 6, 2, 5], "contract": [0, 40], "bags": [2, 7]},
            {"bids": [6, 1, 7, 1], "tricks": [6, 0, 7, 0], "contract": [130, -20], "boston": 0},
        ]
    )
    assert deal_statistics(log, np.zeros(4, np.int64)) == {
        "bid_mean": 25 / 8,
        "team_bid_mean": 25 / 4,
        "table_bid_mean": (11 + 9 + 4 + 15) / 4,
        "bid_histogram": [3, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
        "nil_attempts": 3,
        "nil_made": 2,
        "nil_rate": 3 / 8,
        "nil_success": 2 / 3,
        "blind_nil_attempts": 1,
        "blind_nil_made": 1,
        "blind_nil_rate": 1 / 8,
        "opponent_nil_attempts": 0,
        "opponent_nils_set": 0,
        "opponent_nil_set_rate": None,
        "set_rate": 1 / 3,  # of the three deals with a contract
        "contract_rate": 2 / 3,
        "points_per_deal": None,
        "points_raw_per_deal": (70 - 50 + 0 + 130) / 4,
        "over_bid_mean": (0 + 1 - 1 + 0 + 0) / 5,
        "bags_per_deal": 3 / 4,
        "bostons": 1,
        "team_deals": 4,
    }
    mixed = deal_statistics(log, np.array([1, 0, 1, 1]))  # the team may change from deal to deal
    assert (mixed["team_bid_mean"], mixed["set_rate"], mixed["bostons"]) == ((4 + 5 + 4 + 2) / 4, 2 / 4, 0)
    only_nils = deal_statistics(log[2:3], np.zeros(1, np.int64))
    assert (only_nils["set_rate"], only_nils["over_bid_mean"]) == (None, None)


def slow_statistics(result: Evaluation, side: int) -> dict[str, float]:
    """Some statistics again, seat by seat, from rules and tricks instead of points."""
    bids, sets, contracts, nils, seats = 0, 0, 0, 0, 0
    for row in result.log:
        team = int(row["team_of_a"]) if side == 0 else 1 - int(row["team_of_a"])
        own = [seat for seat in (team, team + 2) if seat < result.rules.players]
        bid = {seat: int(row["bids"][seat]) for seat in own}
        tricks = {seat: int(row["tricks"][seat]) for seat in own}
        seats += len(own)
        bids += sum(bid.values())
        nils += sum(b == 0 for b in bid.values())
        bidders = [seat for seat in own if bid[seat] > 0]
        helpers = own if result.rules.failed_nil == "help_partner" else bidders
        if bidders:
            contracts += 1
            if result.rules.contract == "individual":
                sets += any(tricks[seat] < bid[seat] for seat in bidders)
            else:
                sets += sum(tricks[seat] for seat in helpers) < sum(bid[seat] for seat in bidders)
    return {"bid_mean": bids / seats, "set_rate": sets / contracts, "nil_rate": nils / seats}


@pytest.mark.parametrize("case", range(12))
def test_statistics_agree_with_a_slow_count_under_any_rules(case: int) -> None:
    rules = random_rules(np.random.default_rng(case))
    result = evaluate("random", "easy", rules, deals=40, seed=case)
    for side in (0, 1):
        found = result.stats(side)
        assert {name: found[name] for name in ("bid_mean", "set_rate", "nil_rate")} == pytest.approx(
            slow_statistics(result, side)
        )


# --- Matches and intervals ----------------------------------------------------------------------------------


def test_a_match_goes_to_the_higher_score_of_its_last_deal_and_a_tie_is_half() -> None:
    ends = {(0, 0): (510, 400), (0, 1): (510, 400), (1, 0): (90, 120), (1, 1): (70, 70)}
    rows = [
        {
            "game": game,
            "deal": deal,
            "row": team,
            "team_of_a": team,
            "scores": ends[game, team] if deal == 2 else (0, 999),
        }
        for team in (0, 1)
        for game in (0, 1)
        for deal in range(3)
    ]
    # A: match 0 won as team 0 and lost as team 1; match 1 lost as team 0 and tied as team 1.
    assert results_of_matches(hand_made(rows), 2).tolist() == [0.5, 0.25]


def test_matches_end_by_the_rules_or_are_cut_off_at_max_deals() -> None:
    result = evaluate("easy", "random", Rules(max_deals=2), deals=2, matches=40)
    assert result.match_log["deal"].max() == 1
    last = result.match_log[result.match_log["deal"] == 1]
    assert len(last) == 80
    assert (np.abs(last["scores"]) < 500).any()  # truncated, and counted all the same
    whole = evaluate("easy", "conservative", Rules(target=150), deals=2, matches=20)
    final = whole.match_log[np.flatnonzero(np.diff(whole.match_log["deal"], append=0) <= 0)]
    assert len(final) == 40
    assert (final["scores"].max(axis=1) >= 150).all()
    wins = [row["scores"][row["team_of_a"]] > row["scores"][1 - row["team_of_a"]] for row in final]
    assert whole.match_win_rate is not None
    assert whole.match_win_rate.mean == np.mean(wins)


def test_the_interval_of_a_mean_by_hand() -> None:
    found = mean_interval(np.array([1.0, 2.0, 3.0, 6.0]))
    half = 1.959964 * math.sqrt((4 + 1 + 0 + 9) / 3) / 2
    assert found.mean == 3.0
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), abs=1e-5)
    with pytest.raises(ValueError, match="at least 2"):
        mean_interval(np.zeros(1))


def test_the_interval_of_match_wins() -> None:
    # Pairs that agree are as one match each: Wilson's interval for 8 of 10 is 0.4902 to 0.9433.
    found = pair_win_interval(np.array([1.0] * 8 + [0.0] * 2))
    assert found.mean == 0.8
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=2e-2)
    # Pairs that always split count as two matches each, never more: 10 of 20 is 0.2993 to 0.7007.
    split = pair_win_interval(np.full(10, 0.5))
    assert (split.low, split.mean, split.high) == pytest.approx((0.2993, 0.5, 0.7007), abs=1e-4)
    # All won: 0.8389 to 1 for 20 of 20, and a single pair counts once.
    assert pair_win_interval(np.ones(10)).low == pytest.approx(0.8389, abs=1e-4)
    assert pair_win_interval(np.ones(1)).low == pytest.approx(0.2065, abs=1e-4)


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_the_interval_of_match_wins_covers_the_truth(shared: float) -> None:
    """Pairs whose two matches are one and the same result with chance `shared`, else independent."""
    rng, truth, pairs, hits, n = np.random.default_rng(0), 0.7, 60, 0, 2000
    for _ in range(n):
        first, second = rng.random(pairs) < truth, rng.random(pairs) < truth
        second = np.where(rng.random(pairs) < shared, first, second)
        found = pair_win_interval((first + second.astype(np.float64)) / 2)
        hits += found.low <= truth <= found.high
    assert hits / n > 0.93  # Wilson's own coverage wavers about 0.95 by a point or two


# --- Files, command, no JIT ---------------------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    write_atomically(path, "old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk gone")))
        with pytest.raises(OSError, match="disk gone"):
            write_atomically(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]
    write_atomically(path, b"\x00new")
    assert path.read_bytes() == b"\x00new"


CONTRACT = {
    "agents",
    "margin",
    "margin_raw",
    "match_win_rate",
    "deals",
    "matches",
    "seed",
    "bag_price",
    "rules",
}
CONTRACT |= {
    "preset",
    "illegal_actions",
    "illegal_actions_by_agent",
    "ms_per_decision",
    "stats",
    "match_stats",
}
CONTRACT |= {"seconds", "code", "versions", "machine", "half_width_asked", "stopped", "control"}
STATS = {"bid_mean", "table_bid_mean", "nil_rate", "nil_success", "set_rate", "bags_per_deal"}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `spades evaluate` and return exit status, stdout and stderr."""
    status = main(["evaluate", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_json_on_stdout_is_the_contract_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "easy", "random", "--rules", "modern", "--deals", "20", "--json", "-")
    found = json.loads(out)
    assert status == 0
    assert err == "" or err.startswith("Compiling the engine")
    assert found.pop("command") == "spades evaluate --rules modern --deals 20 easy random"
    assert set(found) == CONTRACT
    assert (found["deals"], found["seed"], found["preset"]) == (20, 0, "modern")
    assert found["match_win_rate"] is found["match_stats"]["A"] is None
    assert Rules.from_dict(found["rules"]) == PRESETS["modern"]
    for side in "AB":
        assert set(found["stats"][side]) >= STATS
        assert 0 < found["ms_per_decision"][side] < 1000
    for name in ("margin", "margin_raw"):
        assert found[name]["low"] < found[name]["mean"] < found[name]["high"]
    assert found == json.loads(json.dumps(evaluate("easy", "random", "modern", deals=20).to_dict())) | {
        name: found[name] for name in ("ms_per_decision", "seconds")
    }


def test_tables_and_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    arguments = ["--deals", "20", "--matches", "4", "--seed", "5", "--bag-price", "-4", "--batch-size", "8"]
    status, out, err = run(capsys, "easy", "random", *arguments, "--json", str(path))
    assert (status, err) == (0, "")
    found = json.loads(path.read_text(encoding="utf-8"))
    expected = evaluate("easy", "random", deals=20, matches=4, seed=5, bag_price=-4)
    assert found["margin"] == expected.margin.to_dict()
    assert expected.match_win_rate is not None
    assert found["match_win_rate"] == expected.match_win_rate.to_dict()
    for text in (
        "A = easy against B = random",
        f"{expected.margin.mean:+.2f}",
        "matches won by A",
        "nils made",
    ):
        assert text in out


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["eazy", "random"], ("'eazy'", "did you mean 'easy'?")),
        (["easy", "random", "--rules", "moden"], ("'moden'", "did you mean 'modern'?")),
        (["easy", "random", "--deals", "0"], ("deals is 0",)),
        (["easy", "random", "--deals", "2", "--json", "no/such/x.json"], ("No such file or directory", "no/such")),
        (["easy"], ("'B'",)),
    ],
)
def test_errors_are_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], parts: tuple[str, ...]) -> None:
    status, out, err = run(capsys, *arguments)
    assert status in (1, 2)
    assert out == ""
    assert err.count("\n") == 1
    assert all(part in err for part in parts)


def test_without_jit_everything_comes_out_the_same() -> None:
    """The plain Python of every kernel that plays and evaluates gives the same deals as the compiled one."""
    code = (
        "from evaluation.duplicate import evaluate\n"
        "for rules in ('modern', 'two_player'):\n"
        "    result = evaluate('easy', 'random', rules, deals=3, matches=1, seed=1)\n"
        "    print(result.log.tobytes().hex(), result.match_log.tobytes().hex())\n"
    )
    logs = []
    for disabled in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        logs.append(done.stdout)
    assert logs[0] == logs[1]
    assert len(logs[0]) > 1000
