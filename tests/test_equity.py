"""Match equity: tables against hand-reckoned cases, against simulated matches, and what must hold in any table."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents.base import AgentError
from agents.equity.files import load_table, save_table
from agents.equity.grid import grid_of, is_decided, table_shape
from agents.equity.lookup import match_equity
from agents.equity.outcomes import Outcomes, sample_outcomes, thinned
from agents.equity.table import EquityTable, equity_table, make_table
from spades_cli.main import main
from spades_env.engine.kernel import JIT_ENABLED, kernel
from spades_env.engine.scoring import match_winner
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.rules import PRESETS, Rules

needs_jit = pytest.mark.skipif(not JIT_ENABLED, reason="without JIT only the smallest tables are quickly made")


def outcomes_of(*rows: tuple[float, int, int, int, int]) -> Outcomes:
    """Outcomes of (share, points of the dealer's team, of the other, bags of the dealer's team, of the other)."""
    share = np.array([row[0] for row in rows])
    numbers = np.array([row[1:] for row in rows], np.int64)
    return Outcomes(numbers[:, :2].copy(), numbers[:, 2:].copy(), share, "hand", 1, 0)


def tiny(rows: Outcomes, **rules: Any) -> EquityTable:
    """The table for a short match without bag counts, unless `rules` say otherwise."""
    return make_table(Rules.preset("classic", **({"target": 20, "bag_limit": 0} | rules)), rows)


@pytest.fixture(scope="module")
def easy() -> Outcomes:
    """What 500 deals of `easy` come to under the classic rules."""
    return sample_outcomes(PRESETS["classic"], "easy", 500, 1)


# ---------------------------------------------------------------- reckoned by hand


def test_one_deal_decides() -> None:
    """R24: the dealer's team wins 20:10 with 3/4, loses 10:20 with 1/4."""
    table = tiny(outcomes_of((0.75, 20, 10, 0, 0), (0.25, 10, 20, 0, 0)))
    assert table.probability((0, 0), dealer=0) == pytest.approx(0.75, abs=1e-5)
    assert table.probability((0, 0), dealer=1) == pytest.approx(0.25, abs=1e-5)
    assert table.probability((0, 0), dealer=2) == table.probability((0, 0), dealer=0)


def test_the_deal_passes_on() -> None:
    """R5: nobody scores with 1/2, else the dealer's team wins; so she who deals first wins with 2/3."""
    table = tiny(outcomes_of((0.5, 0, 0, 0, 0), (0.5, 20, 0, 0, 0)))
    assert table.probability((0, 0)) == pytest.approx(2 / 3, abs=1e-4)


def test_ties_at_the_target_go_on() -> None:
    """R24: 20:20 is no end; from there and from 0:0 the dealer's team has 3/5.

    With p her chance: p = 1/2 (1 - p) + 2/5 + 0/10, so p = 3/5.
    """
    table = tiny(outcomes_of((0.5, 20, 20, 0, 0), (0.4, 30, 20, 0, 0), (0.1, 20, 30, 0, 0)))
    for score in (0, 20, 40):
        assert table.probability((score, score)) == pytest.approx(0.6, abs=1e-4)


def test_target_alone_is_not_enough_to_win() -> None:
    """R24: with both above the target the higher score wins, and below it nobody does."""
    table = tiny(outcomes_of((1.0, 20, 30, 0, 0)))
    assert table.probability((0, 0), dealer=0) == pytest.approx(0.0, abs=1e-5)
    assert table.probability((10, 0), dealer=0) == pytest.approx(1 - table.probability((0, 10), dealer=1))
    assert [table.probability(scores) for scores in ((20, 10), (10, 20), (30, 25))] == [1.0, 0.0, 1.0]


def test_mercy_ends_the_match_alone() -> None:
    """R25: at -20 a team has lost, though nobody is near the target; both at -20 go on."""
    table = tiny(outcomes_of((0.7, 0, -10, 0, 0), (0.3, -10, -10, 0, 0)), mercy=-20)
    assert table.probability((0, -20)) == 1.0
    assert table.probability((-20, 0)) == 0.0
    # 0:-10, team 0 deals: 0:-20 or -10:-20, won either way.
    assert table.probability((0, -10), dealer=0) == pytest.approx(1.0, abs=1e-5)
    # -10:-10: with 0.7 -10:-20, won; with 0.3 -20:-20, a tie which goes on with the other's deal, and there the
    # dealer's team wins with 0.7 and else the tie goes on at -30:-30: p = 0.7 + 0.3 (1 - p), so p = 10/13.
    assert table.probability((-10, -10), dealer=0) == pytest.approx(10 / 13, abs=1e-4)


@needs_jit
@pytest.mark.parametrize(
    ("rules", "bags", "chance"),
    [
        ({}, 1, 1.0),
        ({}, 2, 0.0),
        ({}, 4, 0.0),
        ({"bag_after": "reset"}, 2, 0.0),
        ({"bag_penalty": 0}, 4, 1.0),
        ({"bag_limit": 0}, 4, 1.0),
        ({"bag_limit": 8}, 4, 1.0),
    ],
)
def test_penalties(rules: dict[str, Any], bags: int, chance: float) -> None:
    """R21: team 0 has 10:-10 and gets 10 points and 3 bags in a deal of the others', who get 20.

    With that she has won 20:10; thrown back by a penalty she loses, for the others get 10 in the deal after.
    """
    kept = {"bag_limit": 5, "bag_points": 0, "bag_penalty": 100}
    table = tiny(outcomes_of((1.0, 20, 10, 0, 3)), **(kept | rules))
    assert table.probability((10, -10), (bags, 0), dealer=1) == pytest.approx(chance, abs=1e-5)


@needs_jit
def test_carry_and_reset_differ_where_bags_are_left() -> None:
    """R21: 4 + 3 bags leave 2 of a limit of 5 under `carry` and 0 under `reset`; 3 more then cost a penalty or not."""
    rows = outcomes_of((0.5, 10, 10, 3, 0), (0.5, 20, 0, 3, 0))
    prices = {}
    for after in ("carry", "reset"):
        table = tiny(rows, target=60, bag_limit=5, bag_points=0, bag_penalty=50, bag_after=after)
        prices[after] = table.probability((40, 0), (4, 0), dealer=0)
    assert prices["carry"] < prices["reset"] - 0.01


def test_penalty_free_bags_count_their_points_only() -> None:
    """R21, bag_limit 0: 10 points and 5 bags at 4 points each reach a target of 30."""
    table = tiny(outcomes_of((1.0, 10, 10, 5, 0)), target=30, bag_points=4)
    assert table.probability((0, 0), (77, 0), dealer=0) == pytest.approx(1.0, abs=1e-5)


# ---------------------------------------------------------------- against simulated matches


def simulate(rules: Rules, rows: Outcomes, start: tuple[int, int, int, int, int], matches: int) -> float:
    """Share of simulated matches from (scores, bags, dealer's team) that team 0 wins; its own R21, R24, R25."""
    rng = np.random.default_rng(5)
    scores = np.tile(np.array(start[:2]), (matches, 1))
    bags = np.tile(np.array(start[2:4]), (matches, 1))
    dealer, won = start[4], 0
    while scores.size:
        draw = rng.choice(rows.share.size, size=len(scores), p=rows.share)
        order = [0, 1] if dealer == 0 else [1, 0]
        scores = scores + rows.points[draw][:, order] + rules.bag_points * rows.bags[draw][:, order]
        bags = bags + rows.bags[draw][:, order]
        if rules.bag_limit:
            full = bags // rules.bag_limit
            if rules.bag_after == "reset":
                full, bags = np.minimum(full, 1), np.where(full > 0, 0, bags)
            else:
                bags = bags % rules.bag_limit
            scores = scores - rules.bag_penalty * full
        over = (scores >= rules.target).any(axis=1)
        if rules.mercy is not None:
            over |= (scores <= rules.mercy).any(axis=1)
        over &= scores[:, 0] != scores[:, 1]
        won += int((scores[over, 0] > scores[over, 1]).sum())
        scores, bags, dealer = scores[~over], bags[~over], 1 - dealer
    return won / matches


STARTS = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 1), (203, 108, 3, 8, 1), (109, 280, 9, 0, 0), (250, 190, 0, 0, 1))


@needs_jit
@pytest.mark.parametrize(
    ("overrides", "bias"),
    [
        ({"target": 300}, 0.0),
        ({"target": 300, "mercy": -100}, 0.0),
        # Off the grid of tens: interpolated, which costs up to half a percent.
        ({"target": 300, "bag_limit": 0}, 0.005),
        ({"target": 300, "bag_after": "reset"}, 0.005),
        ({"target": 300, "bag_limit": 25, "bag_penalty": 250}, 0.005),
        ({"target": 300, "bag_points": -10, "bag_limit": 4, "bag_penalty": 0}, 0.0),
    ],
    ids=str,
)
def test_against_simulated_matches(easy: Outcomes, overrides: dict[str, Any], bias: float) -> None:
    rules = Rules.preset("classic", **overrides)
    table, matches = make_table(rules, easy), 40_000
    for start in STARTS:
        limit = rules.bag_limit or 10
        score_0, score_1, bags_0, bags_1, dealer = (*start[:2], start[2] % limit, start[3] % limit, start[4])
        if rules.bag_points != 1 or rules.bag_limit != 10:  # keep to scores that play can reach: tens
            score_0, score_1 = score_0 // 10 * 10, score_1 // 10 * 10
        expected = table.probability((score_0, score_1), (bags_0, bags_1), dealer)
        found = simulate(rules, easy, (score_0, score_1, bags_0, bags_1, dealer), matches)
        error = np.sqrt(expected * (1 - expected) / matches)
        assert abs(found - expected) < 4 * error + bias, (start, found, expected)


# ---------------------------------------------------------------- what holds in any table


@pytest.fixture(scope="module")
def classic(easy: Outcomes) -> EquityTable:
    """The classic table of `easy`."""
    if not JIT_ENABLED:
        pytest.skip("without JIT only the smallest tables are quickly made")
    return make_table(PRESETS["classic"], easy)


def test_the_teams_are_alike(classic: EquityTable) -> None:
    """Swapping scores, bags and dealer turns a chance into its complement."""
    for scores, bags in (((0, 0), (0, 0)), ((123, 250), (3, 0)), ((-90, 409), (0, 9))):
        swapped = classic.probability(scores[::-1], bags[::-1], dealer=1)
        assert classic.probability(scores, bags, dealer=0) == pytest.approx(1 - swapped, abs=1e-12)


def test_more_points_are_never_worse(classic: EquityTable) -> None:
    """Along each axis of scores that a match can have, at every bag count."""
    live = classic.values[:80, :80]
    assert (np.diff(live, axis=0) > -2e-5).all()
    assert (np.diff(live, axis=1) < 2e-5).all()


def test_bags_cost_about_their_share_of_the_penalty(classic: EquityTable) -> None:
    """R21: +1 each and -100 every ten, so near -9 while the match is young; near its end new bags cost nothing."""
    prices = [classic.bag_price((0, 0), (bags, 0)) for bags in range(10)]
    assert all(-12 < price < -6 for price in prices)
    assert sum(prices) == pytest.approx(-90, abs=5)
    assert -1 < classic.bag_price((480, 480), (0, 0)) < 5  # a point more breaks ties
    assert classic.bag_price((470, 470), (8, 0)) < -15


def test_recomputed_tables_are_identical(easy: Outcomes) -> None:
    rules = Rules.preset("classic", target=20, bag_limit=0)
    rows = Outcomes(easy.points[:5], easy.bags[:5], np.full(5, 0.2), "easy", 5, 1)
    first, second = make_table(rules, rows), make_table(rules, rows)
    assert (first.values == second.values).all()
    again = sample_outcomes(PRESETS["classic"], "easy", 500, 1)
    for name in ("points", "bags", "share"):
        assert (getattr(again, name) == getattr(easy, name)).all()


@needs_jit
def test_tables_are_remembered() -> None:
    rules = Rules.preset("table", target=100, bag_limit=0)
    table = equity_table(rules, "easy", deals=50)
    assert equity_table(rules.replace(max_deals=100), "easy", deals=50) is table
    assert equity_table(rules, "easy", deals=51) is not table
    assert table.rules.max_deals is None


def test_thinning_keeps_the_common_and_the_means() -> None:
    """The half that is most common stays; shares sum to 1 and mean points hardly move."""
    rng = np.random.default_rng(3)
    rows = np.unique(
        np.concatenate([rng.integers(-12, 13, (900, 2)) * 10, rng.integers(0, 5, (900, 2))], axis=1), axis=0
    )
    share = rng.random(len(rows)) ** 3
    share /= share.sum()
    kept, weights = thinned(rows, share, 200)
    assert len(kept) == len(weights) == 200
    assert weights.sum() == pytest.approx(1.0)
    common = np.argsort(-share, kind="stable")[:100]
    assert (kept[:100] == rows[common]).all()
    assert (weights[:100] == share[common]).all()
    margins, full = kept[:, 0] - kept[:, 1], rows[:, 0] - rows[:, 1]
    assert weights @ margins == pytest.approx(share @ full, abs=0.5)
    same = thinned(rows, share, len(rows))
    assert (same[0] == rows).all()
    assert (same[1] == share).all()


def test_outcomes_are_seen_from_the_dealer(easy: Outcomes) -> None:
    assert easy.share.sum() == pytest.approx(1.0)
    assert easy.points.shape == easy.bags.shape == (easy.share.size, 2)
    assert (easy.bags >= 0).all()
    # R18 without nil, which easy never bids: ten points a trick bid.
    assert (easy.points % 10 == 0).all()


@pytest.mark.parametrize("name", PRESETS)
def test_presets_lie_on_the_grid(name: str) -> None:
    """With bags worth a point, scores less bags are tens: every situation is a node, for one team and both."""
    grid = grid_of(PRESETS[name])[0]
    assert int(grid["shift"]) == 1
    assert int(grid["floor"]) % 10 == 0
    assert table_shape(grid_of(PRESETS[name]))[2:] == (10, 10)


@kernel
def winner_by_engine(states: StateArray, score_0: int, score_1: int) -> int:
    """`match_winner` of the engine with these scores in the first of `states`."""
    states[0]["scores"][0] = score_0
    states[0]["scores"][1] = score_1
    return match_winner(states[0])


@kernel
def decided(grid: StateArray, score_0: int, score_1: int) -> bool:
    """`is_decided` for Python."""
    return is_decided(grid[0], score_0, score_1)


@pytest.mark.parametrize("mercy", [None, -30])
def test_the_end_is_the_engines(mercy: int | None) -> None:
    """R24, R25: whether a match is over is as in the engine, for all scores around target and mercy."""
    rules = Rules.preset("classic", target=20, mercy=mercy)
    states, grid = np.zeros(1, STATE), grid_of(rules)
    states["rules"] = rules_to_record(rules)
    for score_0 in range(-40, 30, 5):
        for score_1 in range(-40, 30, 5):
            over = winner_by_engine(states, score_0, score_1) >= 0
            assert decided(grid, score_0, score_1) == over


@pytest.mark.parametrize("target", [1, 500, 1200, 1201, 5000, 1_000_000])
def test_grids_stay_small(target: int) -> None:
    """Long matches are cut: the table reaches 1500 points below the target, and leads are kept."""
    grid = grid_of(Rules.preset("classic", target=target))
    assert table_shape(grid)[0] <= 160
    values = np.zeros(table_shape(grid), np.float32)
    values += np.linspace(0, 1, values.shape[0], dtype=np.float32)[:, None, None, None]
    low = match_equity(values, grid, 0, 0, 0, 0, 0)
    assert match_equity(values, grid, 0, -200, 0, 0, 0) == low
    if target > 1200:
        assert match_equity(values, grid, target - 1000, target - 1000, 0, 0, 0) == pytest.approx(low)


@pytest.mark.parametrize(
    ("scores", "bags", "dealer"),
    [((0, 0), (10, 0), 0), ((0, 0), (-1, 0), 0), ((0, 0), (0, 0), 4), ((0.5, 0), (0, 0), 0)],
)
def test_impossible_situations_are_refused(classic: EquityTable, scores: Any, bags: Any, dealer: int) -> None:
    with pytest.raises(AgentError, match="allowed: an int"):
        classic.probability(scores, bags, dealer)


# ---------------------------------------------------------------- files


@pytest.fixture(scope="module")
def small() -> EquityTable:
    """A table that is quickly made."""
    return tiny(outcomes_of((0.75, 20, 10, 0, 0), (0.25, 10, 20, 0, 0)))


def test_files_keep_everything(small: EquityTable, tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    save_table(small, path)
    again = load_table(path, small.rules.replace(max_deals=3))
    assert (again.values == small.values).all()
    for name in ("rules", "agent", "deals", "seed", "outcomes", "sweeps", "change"):
        assert getattr(again, name) == getattr(small, name)
    assert [file.name for file in tmp_path.iterdir()] == ["table.npz"]


def rewrite(path: Path, values: npt.NDArray[Any] | None, changes: dict[str, Any]) -> None:
    """Change the values or facts of the description in an equity table's file."""
    with np.load(path) as file:
        old, description = file["values"], json.loads(file["description"].tobytes())
    description |= changes
    text = np.frombuffer(json.dumps(description).encode(), np.uint8)
    np.savez(path, values=old if values is None else values, description=text)


@pytest.mark.parametrize(
    ("values", "changes", "message"),
    [
        (None, {"format": "x"}, "format is 'x'"),
        (None, {"version": 99}, "version is 99"),
        (None, {"agent": 5}, "agent is 5"),
        (None, {"rules": {"target": 20}}, "do not name every field"),
        (None, {"rules": Rules.preset("classic", target=300).to_dict()}, "values are float32"),
        (None, {"rules": Rules().to_dict() | {"target": -5}}, "target=-5 is not allowed"),
        (np.zeros((2, 2)), {}, "values are float64"),
    ],
)
def test_foreign_files_are_refused(
    small: EquityTable, tmp_path: Path, values: npt.NDArray[Any] | None, changes: dict[str, Any], message: str
) -> None:
    path = tmp_path / "table.npz"
    save_table(small, path)
    rewrite(path, values, changes)
    with pytest.raises(AgentError, match=message):
        load_table(path)


def test_damaged_files_are_refused(small: EquityTable, tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    save_table(small, path)
    whole = path.read_bytes()
    for cut in (b"", b"rubbish", whole[: len(whole) // 2], whole[:60] + bytes(40) + whole[100:]):
        path.write_bytes(cut)
        with pytest.raises(AgentError, match="damaged or no"):
            load_table(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.npy", b"")
    with pytest.raises(AgentError, match="not an equity table"):
        load_table(path)
    with pytest.raises(AgentError, match="no such file"):
        load_table(tmp_path / "none.npz")


def test_pickles_and_impossible_values_are_refused(small: EquityTable, tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    save_table(small, path)
    buffer = io.BytesIO()
    np.savez(buffer, values=np.array([{}], dtype=object), description=np.zeros(1, np.uint8))
    path.write_bytes(buffer.getvalue())
    with pytest.raises(AgentError, match="damaged"):
        load_table(path)
    for wrong in (np.nan, 1.5, -0.1):
        save_table(small, path)
        values = small.values.copy()
        values[0, 0, 0, 0] = wrong
        rewrite(path, values, {})
        with pytest.raises(AgentError, match="no chances"):
            load_table(path)


def test_other_rules_are_named(small: EquityTable, tmp_path: Path) -> None:
    save_table(small, tmp_path / "table.npz")
    with pytest.raises(AgentError, match="made for other rules: target, bag_limit differ"):
        load_table(tmp_path / "table.npz", PRESETS["classic"])


# ---------------------------------------------------------------- the command


@pytest.fixture
def short_match(tmp_path: Path) -> str:
    """A rules file whose table is quickly made."""
    path = tmp_path / "short.yaml"
    path.write_text("target: 100\nbag_limit: 0\nhand_size: 3\n", encoding="utf-8")
    return str(path)


@needs_jit
def test_the_command_prints_tables(capsys: pytest.CaptureFixture[str], short_match: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = {name: str(tmp_path / name) for name in ("t.npz", "t.svg", "t.png", "t.json")}
    options = ["equity", "--rules", short_match, "--agent", "easy", "--deals", "40"]
    assert main([*options, "--out", files["t.npz"], "--plot", files["t.svg"], "--json", files["t.json"]]) == 0
    assert main([*options, "--plot", files["t.png"]]) == 0
    shown = capsys.readouterr().out
    assert "Chance to win the match" in shown
    assert "Points that one more bag is worth" in shown
    table = load_table(files["t.npz"])
    found = json.loads(Path(files["t.json"]).read_text(encoding="utf-8"))
    assert (found["agent"], found["deals"], table.deals) == ("easy", 40, 40)
    assert found["scores"] == [0, 20, 40, 60, 80]
    assert found["win"][1][2] == table.fair_probability((20, 40))
    assert found["win_dealing"][0][4] == table.probability((0, 80), dealer=0)
    assert Path(files["t.svg"]).read_text(encoding="utf-8").startswith("<?xml")
    assert Path(files["t.png"]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plot", "x.pdf"], "must end in .svg or .png"),
        (["--out", "nowhere/x.npz"], "nowhere/x.npz: No such file or directory"),
        (["--agent", "nobody"], "agent 'nobody' does not exist"),
        (["--agent", "easy", "--deals", "0"], "deals is 0"),
        (["--agent", "easy", "--seed", "-1"], "seed is -1"),
    ],
)
def test_the_command_refuses(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["equity", *options]) in (1, 2)
    assert message in capsys.readouterr().err
