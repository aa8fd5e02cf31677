"""How `normal` bids: its measured tables, what a hand promises by them, nil, legal bids; and the fit itself."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents.registry import load_agent
from agents.rules.normal import tables
from agents.rules.normal.bid import MOST_FOR_NIL
from agents.rules.normal.draft import normal_draft, normal_exchange
from agents.rules.normal.fit import main, new_states
from agents.rules.normal.regression import (
    NIL_READ,
    NIL_SIDE_COLUMNS,
    NIL_SPADE_COLUMNS,
    SIDE_ROWS,
    SPADE_ROWS,
    TRICKS_READ,
    chance_of_logit,
    fit_before,
    fit_nil,
    fit_team,
    fit_tricks,
    log_loss,
    nil_columns,
    trick_columns,
)
from agents.rules.normal.self_play import WEIGHED, play_nils
from agents.rules.normal.strength import expected_tricks, nil_chance, nil_logit, table_number, top_run
from agents.stakes import POINTS
from spades_env.actions import DONE, FIRST_BID, KEEP, TAKE_NEXT
from spades_env.cards import parse_card, parse_hand
from spades_env.engine.bidding import legal_bids
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_BID, PHASE_PLAY, STATE, StateArray, rules_to_record
from spades_env.engine.step import apply, is_legal, new_games
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

IntArray = npt.NDArray[np.int64]
SETS = [(4, 0), (4, 1), (2, 0), (2, 1)]
RULES = [PRESETS[name].replace(jokers=jokers) for name in ("classic", "two_player") for jokers in (False, True)]
NORMAL = load_agent("normal:objective=points")


def bid_all(rules: Rules, games: int, seed: int) -> tuple[StateArray, list[tuple[int, int, int, int]]]:
    """Games up to the opening lead with `normal` in every seat, and (hand, bid, legal bids, mask of tops) per bid."""
    states, views = np.zeros(games, STATE), empty_views(games)
    new_games(states, rules_to_record(rules), seed, 0)
    made = []
    while (states["phase"] != PHASE_PLAY).any():
        views_to_act(states, views)
        actions = NORMAL.act(views.copy(), np.zeros(games, np.uint64))
        for i in np.flatnonzero(states["phase"] != PHASE_PLAY):
            action = int(actions[i])
            assert is_legal(states, i, action)
            if states["phase"][i] == PHASE_BID:
                hand = int(states["hands"][i, states["turn"][i]])
                made.append((hand, action - FIRST_BID, legal_of(states, i), top_run(hand, int(rules.jokers))))
            apply(states, i, action)
    return states, made


@kernel
def legal_of(states: StateArray, i: int) -> int:
    """`legal_bids` of game `i`."""
    return legal_bids(states[i])


def dealt(rules: Rules, games: int, seed: int) -> IntArray:
    """Hands at the opening lead, int64 (games, players)."""
    states, _ = bid_all(rules, games, seed)
    hands: IntArray = states["hands"][:, : rules.players].astype(np.int64)
    return hands


# --- Tables and hands -----------------------------------------------------------------------------------------


def check_shapes(found: dict[str, Any]) -> None:
    """The shapes and types that the header of tables.py promises."""
    for name, shape in (
        ("TRICKS_SIDE", (4, SIDE_ROWS)),
        ("TRICKS_SPADES", (4, SPADE_ROWS)),
        ("NIL_SIDE", (4, 5, 14)),
        ("NIL_SPADES", (4, 4, 16)),
    ):
        assert found[name].shape == shape, name
        assert found[name].dtype == np.int32, name
    assert found["NIL_BEFORE"].shape == (4, 4, WEIGHED)
    assert found["TEAM_TRICKS"].shape == (2, 2, WEIGHED + 1)
    assert (found["TEAM_TRICKS"][:, :, WEIGHED] > 0.0).all()
    assert len(found["BLIND_CHANCE"]) == 2
    assert all(0.0 <= share <= 1.0 for share in found["BLIND_CHANCE"])


def test_the_tables_are_as_documented() -> None:
    check_shapes(vars(tables))
    assert [table_number(*each) for each in SETS] == [0, 1, 2, 3]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_expected_tricks_sum_to_thirteen(rules: Rules) -> None:
    """R12: every trick is somebody's; with two players the hands that `normal` drafts share them."""
    hands = dealt(rules, 3_000, 71)
    sums = [sum(expected_tricks(int(hand), rules.players, int(rules.jokers)) for hand in row) for row in hands]
    assert np.mean(sums) == pytest.approx(13.0, abs=0.1)


@pytest.mark.parametrize(("players", "jokers"), SETS)
@pytest.mark.parametrize("better", ["AC", "KC", "QD", "AH", "KS", "AS"])
def test_a_higher_card_promises_more_tricks_and_fewer_nils(players: int, jokers: int, better: str) -> None:
    low = parse_hand("3C 5C 7C 3D 5D 7D 3H 5H 7H 8H 3S 4S 5S")
    replaced = parse_card(f"{'5' if better[1] == 'S' else '7'}{better[1]}")
    hand = low ^ (1 << replaced) | (1 << parse_card(better))
    assert expected_tricks(hand, players, jokers) > expected_tricks(low, players, jokers) + 0.05
    assert nil_chance(hand, players, jokers) < nil_chance(low, players, jokers)


@pytest.mark.parametrize(("players", "jokers"), SETS)
def test_sure_tricks_and_no_more_than_all(players: int, jokers: int) -> None:
    thirteen = sum(1 << card for card in range(39 + 2 * jokers, 52 + 2 * jokers))
    assert top_run(thirteen, jokers) == 13
    assert expected_tricks(thirteen, players, jokers) == 13.0
    assert nil_chance(thirteen, players, jokers) == 0.0


def test_the_shift_moves_the_log_odds() -> None:
    hand = parse_hand("3C 5C 7C 3D 5D 7D 3H 5H 7H 8H 3S 4S 5S")
    for shift in (-1.0, 0.0, 0.5):
        assert nil_chance(hand, 4, 0, shift) == pytest.approx(1.0 / (1.0 + np.exp(-nil_logit(hand, 4, 0) - shift)))


# --- Bids -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [
        *RULES,
        PRESETS["classic"].replace(max_team_bid=6),
        PRESETS["classic"].replace(max_team_bid=9, min_bid=4),
        PRESETS["classic"].replace(nil_allowed=False, min_bid=3),
        PRESETS["classic"].replace(opening_lead="low_club", contract="individual"),
        PRESETS["two_player"].replace(min_bid=5, draft_second_card_seen=True),
        PRESETS["modern"].replace(blind_nil_deficit=None),
        Rules(suits=2, ranks=6, hand_size=3),
    ],
    ids=lambda rules: rules.preset_name or f"changed-{rules.players}-{rules.min_bid}-{rules.max_team_bid}",
)
def test_every_bid_is_legal_and_no_nil_holds_the_top_trump(rules: Rules) -> None:
    """R8: nil where allowed, ordinary bids between min_bid and what max_team_bid leaves."""
    states, made = bid_all(rules, 300, 5)
    assert len(made) == 300 * rules.players
    for _, bid, legal, tops in made:
        assert (legal >> bid) & 1 == 1
        assert bid > 0 or (rules.nil_allowed and tops == 0)
        assert bid == 0 or bid >= rules.min_bid
    if rules.max_team_bid is not None:
        assert (states["bids"][:, :2] + states["bids"][:, 2:]).max() <= rules.max_team_bid


def test_bids_are_sensible_and_nils_happen() -> None:
    """Four players together bid somewhat fewer than the 13 tricks, and a hand in twenty or more is a nil."""
    _, made = bid_all(PRESETS["classic"], 1_000, 6)
    bids = np.array([bid for _, bid, _, _ in made])
    assert 8.0 < bids.sum() / 1_000 < 12.5
    assert 0.05 < (bids == 0).mean() < 0.3


def test_the_partners_strength_makes_a_nil_safer() -> None:
    """A partner's high bid covers, a partner who bids nil herself does not; opponents who bid much hold high cards."""
    for table, place in ((0, 2), (0, 3), (1, 2), (1, 3)):
        weights = tables.NIL_BEFORE[table, place]
        assert weights[2] > 0.0
        assert weights[3] < weights[2] * 3 * 2
    assert tables.NIL_BEFORE[2, 1, 4] > 0.0
    assert tables.NIL_BEFORE[3, 1, 4] > 0.0


# --- Draft and exchange ---------------------------------------------------------------------------------------


@kernel
def draft_choice(states: StateArray, i: int, shown: int) -> int:
    """`normal_draft` of the seat to act in game `i`."""
    return normal_draft(states[i], shown)


@kernel
def exchange_choice(states: StateArray, i: int) -> int:
    """`normal_exchange` of the seat to act in game `i`."""
    return normal_exchange(states[i])


def test_the_draft_keeps_what_is_played_for() -> None:
    """R27, R28: spades, aces and kings for tricks; low cards for a double nil, whose worst cards are given up."""
    states = np.zeros(1, STATE)
    new_games(states, rules_to_record(PRESETS["two_player"]), 3, 0)
    for nil, kept, gone in (
        (False, ("AS", "2S", "AC", "KD"), ("QH", "2C")),
        (True, ("2C", "9D", "2S"), ("AC", "KH", "JD", "AS", "4S")),
    ):
        states["bids"][0] = 0 if nil else -1
        assert {draft_choice(states, 0, parse_card(text)) for text in kept} == {KEEP}
        assert {draft_choice(states, 0, parse_card(text)) for text in gone} == {TAKE_NEXT}
    states["hands"][0] = parse_hand("2C 4C 6C AC 3D 5D 2H 4H KH 2S 3S QS 4D")
    assert exchange_choice(states, 0) == parse_card("QS")
    states["hands"][0] = parse_hand("2C 4C 6C 8C 3D 5D 2H 4H 7H 2S 3S 4D 6D")
    assert exchange_choice(states, 0) == DONE


# --- The fit --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(4))
def test_the_fit_reads_what_the_bidding_reads(number: int) -> None:
    """The columns of the regressions against `expected_tricks` and `nil_logit`, which read the tables themselves."""
    players, jokers = SETS[number]
    hands = np.ascontiguousarray(dealt(RULES[number], 200, 9).ravel())
    columns, beyond = np.zeros((hands.size, TRICKS_READ), np.int64), np.zeros(hands.size)
    trick_columns(hands, jokers, columns, beyond)
    table = np.concatenate([tables.TRICKS_SIDE[number], tables.TRICKS_SPADES[number]])
    found = table[columns].sum(axis=1) / 10_000 + beyond
    for hand, tricks in zip(hands.tolist(), found, strict=True):
        assert expected_tricks(hand, players, jokers) == pytest.approx(min(13.0, max(tricks, top_run(hand, jokers))))
    nil_reads = np.zeros((hands.size, NIL_READ), np.int64)
    nil_columns(hands, nil_reads)
    table = np.concatenate([tables.NIL_SIDE[number].ravel(), tables.NIL_SPADES[number].ravel()])
    assert table.size == NIL_SIDE_COLUMNS + NIL_SPADE_COLUMNS
    logits = [nil_logit(hand, players, jokers) for hand in hands.tolist()]
    np.testing.assert_allclose(table[nil_reads].sum(axis=1) / 10_000, logits)


def test_regressions_find_what_was_put_in() -> None:
    rng = np.random.default_rng(1)
    columns = np.column_stack([rng.integers(0, 20, (6_000, 3)), SIDE_ROWS + rng.integers(0, 30, 6_000)])
    truth = rng.normal(0.0, 0.5, SIDE_ROWS + SPADE_ROWS)
    tricks = truth[columns].sum(axis=1)
    assert np.abs(fit_tricks(columns, tricks)[columns].sum(axis=1) - tricks).max() < 0.15
    size = NIL_SIDE_COLUMNS + NIL_SPADE_COLUMNS
    columns = rng.integers(0, size, (20_000, NIL_READ))
    truth = rng.normal(0.0, 0.5, size)
    chance = chance_of_logit(truth[columns].sum(axis=1))
    made = (rng.random(chance.size) < chance).astype(float)
    assert np.abs(chance_of_logit(fit_nil(columns, made)[columns].sum(axis=1)) - chance).mean() < 0.05


def test_small_regressions_find_what_was_put_in() -> None:
    rng = np.random.default_rng(2)
    known = np.column_stack([np.ones(20_000), rng.normal(0.0, 1.0, (20_000, WEIGHED - 1))])
    known[:, 3] = 0.0  # never happens: weight 0
    weights = np.array([0.3, -0.5, 0.8, 0.0, -0.2, 0.1])
    model = fit_team(known, known @ weights + rng.normal(0.0, 0.7, 20_000))
    np.testing.assert_allclose(model, [*weights, 0.7], atol=0.03)
    logits = rng.normal(0.0, 1.0, 20_000)
    made = (rng.random(20_000) < chance_of_logit(logits + known @ weights)).astype(float)
    np.testing.assert_allclose(fit_before(known, logits, made), weights, atol=0.1)


def test_log_loss_by_hand() -> None:
    assert log_loss(np.array([0.5, 0.25]), np.array([1.0, 0.0])) == pytest.approx(-(np.log(0.5) + np.log(0.75)) / 2)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "deals"), [(0, 12_000), (1, 12_000), (2, 150_000), (3, 150_000)])
def test_nil_chances_are_calibrated(number: int, deals: int) -> None:
    """On deals that the fit has not seen, nils thought likely to this and that degree are made as often."""
    rules = RULES[number]
    hands, places, known, made = _nils(rules, deals)
    shifts = (tables.NIL_BEFORE[number][places] * known).sum(axis=1)
    found = zip(hands.tolist(), shifts.tolist(), strict=True)
    chances = np.array([nil_chance(hand, rules.players, int(rules.jokers), shift) for hand, shift in found])
    decile = np.minimum((chances * 10).astype(int), 9)
    checked = [each for each in range(10) if (decile == each).sum() >= 300]
    assert len(checked) >= 3
    for each in checked:
        assert made[decile == each].mean() == pytest.approx(chances[decile == each].mean(), abs=0.08), each


def _nils(rules: Rules, deals: int) -> tuple[IntArray, IntArray, np.ndarray, np.ndarray]:
    """What `play_nils` finds in deals that the fit has not seen."""
    most = deals * rules.players
    hands, places = np.zeros(most, np.int64), np.zeros(most, np.int64)
    known, made = np.zeros((most, WEIGHED)), np.zeros(most)
    count = play_nils(new_states(), rules_to_record(rules), 987_654, deals, hands, places, known, made, POINTS)
    assert (known[:count, 1] < MOST_FOR_NIL).all()
    return hands[:count], places[:count], known[:count], made[:count]


@pytest.mark.slow
def test_the_fit_is_deterministic_and_its_tables_load(tmp_path: Path) -> None:
    paths = tmp_path / "one.py", tmp_path / "two.py"
    for path in paths:
        main(["--deals", "60", "--out", str(path)])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    found = runpy.run_path(str(paths[0]))
    check_shapes(found)
    assert "--deals 60" in found["__doc__"]
    assert max(len(line) for line in paths[0].read_text(encoding="utf-8").splitlines()) <= 120
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.py", "two.py"]


def test_too_few_deals_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--deals", "3"])
    assert "at least" in capsys.readouterr().err
