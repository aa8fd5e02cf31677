"""The tasks of the benchmark suite: zeros for the reference, worse for the bad, and values checked by other means."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from layouts import Layouts, card_values, possible_layouts
from light_agents import SPECS

from agents.base import ActionArray, Agent, Believer, FloatArray, ForeignRulesError, KeyArray, NilForecaster
from agents.registry import load_agent
from agents.rules.normal.agent import NormalAgent
from agents.search.sampler import new_plans, view_marginals
from agents.search.solver.workspace import new_workspace
from agents.stakes import POINTS
from evaluation.exploit.bounds import exploitability_bounds
from evaluation.exploit.exact import exact_exploitability
from evaluation.exploit.games import small_game
from evaluation.exploit.policies import AgentPolicy
from evaluation.play import Players
from evaluation.suite import endgames, nil_decision, nil_play, partners
from evaluation.suite.beliefs import TRICKS
from evaluation.suite.duels import BAGS, TRANSFER, with_bags
from evaluation.suite.positions import FOLDER, columns_of, load, save, states_from
from evaluation.suite.reference import bids_made, cards_played, played_otherwise, possible_worlds, scratch_states
from evaluation.suite.tables import Split, dealer, margins, play_tables
from evaluation.suite.task import Meter, Run, Task, TaskResult, run_task
from evaluation.suite.tasks import TASKS
from spades_env import Game
from spades_env.actions import FIRST_BID
from spades_env.cards import NUM_CARDS, cards_of
from spades_env.engine import step
from spades_env.engine.state import PHASE_BID, PHASE_PLAY, STATE, StateArray
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act

BY_ID = {task.id: task for task in TASKS}
FILES = ("nil_decision", "nil_cover", "nil_attack", "endgames")
AGAINST_NORMAL = ("bid_only", "play_only", "bag_control", "one_deal", "two_player", "transfer", "ad_hoc")


def run(name: str, agent: str | Agent, games: int, batch_size: int = 1024, pool: Sequence[str] = ()) -> TaskResult:
    """A task with so many games."""
    task, loaded = BY_ID[name], load_agent(agent)
    others = tuple(load_agent(text) for text in pool)
    return run_task(task, loaded, scale=games / task.games, batch_size=batch_size, pool=others)


def headline(result: TaskResult) -> tuple[float, float, float]:
    """Mean, low, high."""
    found = result.outcome.headline
    assert found is not None
    return found.mean, found.low, found.high


def without_times(result: TaskResult) -> dict[str, Any]:
    """A result without what depends on the clock."""
    return {k: v for k, v in result.to_dict().items() if k not in ("seconds", "ms_per_decision")}


# --- Against the reference ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AGAINST_NORMAL)
def test_the_reference_against_herself_is_exactly_zero(name: str) -> None:
    assert headline(run(name, "normal", 20)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", ["match", "endings"])
def test_the_reference_wins_exactly_half_of_her_own_matches(name: str) -> None:
    assert headline(run(name, "normal", 6))[0] == 0.5


@pytest.mark.parametrize("name", AGAINST_NORMAL)
def test_a_bad_agent_is_worse(name: str) -> None:
    """Random bids and cards lose clearly wherever they count."""
    assert headline(run(name, "random", 30))[2] < -5.0


@pytest.mark.parametrize("name", ["match", "endings"])
def test_a_bad_agent_loses_matches(name: str) -> None:
    assert headline(run(name, "random", 10))[2] < 0.5


@pytest.mark.parametrize("task", [t for t in TASKS if t.id not in ("beliefs", "exploit_trained")], ids=lambda t: t.id)
def test_results_do_not_depend_on_the_batches(task: Task) -> None:
    """`easy` slips by the key of the decision: another key or order would show."""
    games = 12 if task.of.endswith("positions") else 5
    one = run(task.id, "easy:error=0.3", games)
    assert without_times(one) == without_times(run(task.id, "easy:error=0.3", games, batch_size=2))


@pytest.mark.parametrize("task", [t for t in TASKS if t.id not in ("beliefs", "exploit_trained")], ids=lambda t: t.id)
def test_the_decisions_a_task_takes_are_as_declared(task: Task) -> None:
    result = run(task.id, "easy", 60)
    assert result.decisions / result.games == pytest.approx(task.decisions, rel=0.25)


def test_illegal_actions_are_counted() -> None:
    @dataclass(frozen=True)
    class Wrong:
        name = "wrong"

        def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
            return np.full(len(views), -1, np.int16)

    for name in ("bid_only", "nil_cover", "endgames", "ad_hoc"):
        result = run(name, Wrong(), 4)
        assert 0 < result.outcome.illegal <= result.decisions


def test_illegal_actions_of_both_seats_are_counted() -> None:
    """In cross-play she sits on both seats of a team beside herself."""

    @dataclass(frozen=True)
    class Wrong:
        name = "wrong"

        def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
            return np.full(len(views), -1, np.int16)

    for task in ("ad_hoc", "cross_play"):
        result = run(task, Wrong(), 3)
        assert result.outcome.illegal == result.decisions


def test_cross_play_does_not_depend_on_the_order_of_the_command() -> None:
    others = ["lowest", "conservative", "random"]
    found = run("cross_play", "highest", 7, pool=others).outcome
    assert found == run("cross_play", "highest", 7, pool=others[::-1]).outcome
    assert list(found.figures["by_partner"]) == [*partners.POOL, *sorted(others)]


# --- Exploitability ----------------------------------------------------------------------------------------------


def test_who_ignores_her_keys_has_one_exact_figure() -> None:
    result = run("exploit_small", "lowest", 2)
    for name in ("two_8", "four_8"):
        exact = exact_exploitability("lowest", name, samples=1).exploitability
        found = result.outcome.figures["by_game"][name]
        assert [found[end] for end in ("low", "mean", "high")] == pytest.approx([exact] * 3)
    assert result.outcome.figures["keys"] == {"two_8": 2, "four_8": 2}
    assert headline(result)[0] == pytest.approx(result.outcome.figures["by_game"]["two_8"]["mean"])


def test_bounds_hold_the_figure_of_many_keys_on_average() -> None:
    """`random` asked by a few keys: the exact figure lies between the bounds, which come closer with more keys."""
    game = small_game("two_6")
    exact = exact_exploitability("random", game).exploitability
    shares: list[float] = []
    widths = []
    for keys in (2, 20):
        found = []
        for draw in range(12):
            policies = [AgentPolicy(load_agent("random"), game.width, keys, 2 * draw + k) for k in range(2)]
            found.append(exploitability_bounds(game, (policies[0], policies[1]), shares.append))
        low, high = (float(np.mean([getattr(each, end) for each in found])) for end in ("low", "high"))
        assert low < exact < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2
    assert shares[:10] == pytest.approx([k / 10 for k in range(1, 11)])


# --- Tables -------------------------------------------------------------------------------------------------


def test_a_split_seat_bids_with_one_and_plays_with_the_other() -> None:
    """`easy` bids alike whatever her slips, so that a seat split between two of her plays as the one with the cards."""

    def log_of(agent: Agent) -> np.ndarray:
        players = Players([agent], 64)
        return play_tables(players, [(0, 0, 0, 0)], dealer(Rules(), 5), 60, 64, lambda _: None)[0]

    normal, sure, slips = (load_agent(text) for text in ("normal", "easy:error=0", "easy:error=0.5"))
    assert (log_of(Split(sure, slips)) == log_of(slips)).all()
    assert (log_of(Split(sure, slips)) != log_of(sure)).any()
    mixed = log_of(Split(normal, sure))
    assert (mixed["bids"] == log_of(normal)["bids"]).all()
    assert (mixed["tricks"] != log_of(normal)["tricks"]).any()


def test_every_seating_plays_the_same_cards() -> None:
    """Two seatings of the same agents are the same deal twice, in any batches; margins follow the team."""
    players = Players([load_agent("easy"), load_agent("normal")], 3 * 10)
    seatings = [(0, 1, 0, 1), (0, 1, 0, 1), (1, 0, 1, 0)]
    log = play_tables(players, seatings, dealer(Rules(), 6), 25, 10, lambda _: None)
    assert log.shape == (3, 25)
    assert (log[0] == log[1]).all()
    assert log["game"][2].tolist() == list(range(25))
    points = margins(log, -9.0)
    own = log["contract"] + log["nil"] - 9 * log["bags"]
    assert points[2, 0] == own[2, 0, 0] - own[2, 0, 1]


def test_rotations_put_partners_opposite_and_every_chair_once() -> None:
    for rotation in partners.ROTATIONS:
        assert sorted(rotation) == [0, 1, 1, 2]
        assert abs(rotation.index(0) - rotation.index(2)) == 2
    assert sorted(rotation.index(0) for rotation in partners.ROTATIONS) == [0, 1, 2, 3]


def test_bags_at_the_start_are_close_to_the_penalty_and_stay_the_same() -> None:
    few, many = with_bags(dealer(Rules()), 5), with_bags(dealer(Rules()), 400)
    assert (few(0, 5)["bags"] == many(0, 5)["bags"]).all()
    assert (many(7, 20)["bags"] == many(0, 400)["bags"][7:27]).all()
    assert sorted(set(many(0, 400)["bags"].reshape(-1).tolist())) == list(range(BAGS[0], BAGS[1] + 1))


def test_bag_control_counts_penalties() -> None:
    figures = run("bag_control", "lowest", 60).outcome.figures
    assert figures["penalty_per_deal"] < -10.0
    assert figures["bags_per_deal"] > figures["opponent_bags_per_deal"]


def test_transfer_lists_every_rule_set() -> None:
    result = run("transfer", "easy", 20)
    by_rules = result.outcome.figures["by_rules"]
    assert list(by_rules) == list(TRANSFER)
    assert headline(result)[0] == pytest.approx(np.mean([each["mean"] for each in by_rules.values()]))
    assert len({each["mean"] for each in by_rules.values()}) > 5


def test_transfer_of_an_agent_that_refuses_rules_has_no_figure_but_those_it_plays() -> None:
    result = run("transfer", "champion", 20)
    assert result.outcome.headline is None
    by_rules = result.outcome.figures["by_rules"]
    assert {"table", "modern"} <= set(by_rules) < set(TRANSFER)
    refused = len(TRANSFER) - len(by_rules)
    assert result.outcome.reason is not None
    assert result.outcome.reason.startswith(
        f"the agent refuses {refused} of {len(TRANSFER)} rule sets: champion was not"
    )


def test_a_task_under_rules_that_an_agent_does_not_know_says_so() -> None:
    class Stranger:
        name = "stranger"

        def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
            raise ForeignRulesError("stranger plays whist alone")

    outcome = run("bid_only", Stranger(), 2).outcome
    assert (outcome.headline, outcome.reason) == (None, "stranger plays whist alone")


# --- Partners -----------------------------------------------------------------------------------------------


def test_ad_hoc_names_the_worst_partner() -> None:
    figures = run("ad_hoc", "lowest", 40).outcome.figures
    gains = {name: each["gain"]["mean"] for name, each in figures["by_partner"].items()}
    assert set(gains) == set(partners.PARTNERS)
    assert figures["worst_gain"]["mean"] == gains[figures["worst_partner"]] == min(gains.values())
    for each in figures["by_partner"].values():
        assert each["gain"]["mean"] == pytest.approx(each["margin"]["mean"] - each["reference_margin"]["mean"])


def test_cross_play_leaves_herself_out_of_the_pool() -> None:
    result = run("cross_play", "easy", 20, pool=["lowest", "easy", "normal"])
    row = result.outcome.figures["by_partner"]
    assert list(row) == ["normal", "suit_odds", "lowest"]
    own = result.outcome.figures["self_play"]["mean"]
    gaps = [each["gap"]["mean"] for each in row.values()]
    assert headline(result)[0] == pytest.approx(np.mean(gaps))
    for each, gap in zip(row.values(), gaps, strict=True):
        assert gap == pytest.approx((own + each["partner_self_play"]["mean"]) / 2 - each["margin"]["mean"])


def test_the_gap_between_two_agents_is_the_same_from_both_sides() -> None:
    one = run("cross_play", "lowest", 10).outcome.figures["by_partner"]["normal"]
    two = run("cross_play", "normal", 10, pool=["lowest"]).outcome.figures["by_partner"]["lowest"]
    assert one["gap"] == pytest.approx(two["gap"])


def test_a_team_of_two_references_against_two_is_worth_what_the_deals_are() -> None:
    """Over the four rotations both teams hold the same cards twice: nothing is left."""
    figures = run("cross_play", "normal", 10).outcome.figures
    assert figures["self_play"] == {"mean": 0.0, "low": 0.0, "high": 0.0}


# --- Frozen positions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_positions_are_as_many_as_the_task_says_and_legal(name: str) -> None:
    """Every position is reached by legal actions, and by another way of replaying them."""
    columns, task = load(name), BY_ID[name]
    assert {len(column) for column in columns.values()} == {task.games}
    states = states_from(columns, task.games)
    assert (states["phase"] == (PHASE_BID if name == "nil_decision" else PHASE_PLAY)).all()
    for i in range(0, task.games, 25):
        game = game_at(columns, i)
        assert (game.states["hands"] == states["hands"][i]).all()
        assert (game.states["tricks"] == states["tricks"][i]).all()
        assert int(game.states["turn"][0]) == int(states["turn"][i])


def test_the_files_are_small_and_written_again_the_same(tmp_path: Any) -> None:
    assert sum((FOLDER / f"{name}.npz").stat().st_size for name in FILES) < 2**20
    path = FOLDER / "nil_cover.npz"
    save(tmp_path / "again.npz", load("nil_cover"))
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


def test_columns_make_the_same_states_again() -> None:
    states = dealer(Rules(), 9)(0, 6)
    cards_played(states, 17)
    again = states_from(columns_of(states), 6)
    for name in ("hands", "played", "tricks", "bids", "turn", "trick_len", "broken", "voids", "dealer"):
        assert (again[name] == states[name]).all()


def game_at(columns: dict[str, np.ndarray], i: int) -> Game:
    """Position `i` of a file, every action checked."""
    actions = columns["actions"][i][: columns["length"][i]].tolist()
    hands = [cards_of(int(hand)) for hand in columns["dealt"][i]]
    return Game.from_position("classic", dealer=int(columns["dealer"][i]), hands=hands, actions=actions)


def test_possible_worlds_are_those_in_which_the_others_bid_and_play_the_same() -> None:
    """Each world, dealt and replayed with `normal` as an agent, leads to the same bids and cards of the others."""
    states, worlds = dealer(Rules(), 11)(0, 6), np.zeros((20, 4), np.int64)
    cards_played(states, 9)
    for i in range(6):
        found, drawn = possible_worlds(
            states, i, new_plans(1), np.uint64(3), 60_000, empty_views(1), scratch_states(), POINTS, worlds
        )
        assert 0 < found < drawn
        columns = {name: np.repeat(column[i : i + 1], found, axis=0) for name, column in columns_of(states).items()}
        columns["dealt"] = worlds[:found] | states["played"][i]
        for n in range(int(states["n_actions"][i])):
            before = states_from({**columns, "length": np.full(found, n)}, found)
            views = empty_views(found)
            views_to_act(before, views)
            if int(before["turn"][0]) != int(states["turn"][i]):
                assert (NormalAgent().act(views, np.zeros(found, np.uint64)) == states["actions"][i, n]).all()


def test_the_true_layout_is_always_possible() -> None:
    """With one card left to each seat few layouts are left, and the truth is among those found."""
    states, worlds = dealer(Rules(), 12)(0, 12), np.zeros((200, 4), np.int64)
    cards_played(states, 45)
    for i in range(12):
        found, _ = possible_worlds(
            states, i, new_plans(1), np.uint64(3), 400, empty_views(1), scratch_states(), POINTS, worlds
        )
        assert (worlds[:found] == states["hands"][i]).all(axis=1).any()


# --- Nil decisions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Knowing:
    """Takes the best (or worst) choice by the file's values, looked up by hand and course of the deal.

    Elsewhere (she is tried out before a task) she plays as `normal`.
    """

    values: dict[bytes, np.ndarray]
    first: int
    best: bool = True
    name: str = "knowing"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """See `Agent`."""
        actions = NormalAgent().act(views, keys)
        for k, known in enumerate(views["known"]):
            row = self.values.get(place_of(known))
            if row is not None:
                worst = np.argmin(np.where(row == endgames.NO_CARD, 2**31 - 1, row))
                actions[k] = self.first + int(row.argmax() if self.best else worst)
        return actions

    def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Always one half."""
        return np.full(len(views), 0.5)


def place_of(known: np.void) -> bytes:
    """Hand of the seat to act and the course of the deal."""
    course = known["actions"][: known["n_actions"]]
    return int(known["hands"][known["turn"]]).to_bytes(8, "little") + course.tobytes()


def knowing(name: str, best: bool) -> Knowing:
    """The agent that knows the values of a file."""
    columns = load(name)
    states = states_from(columns, BY_ID[name].games)
    values = {place_of(game): row.astype(np.int64) for game, row in zip(states, columns["values"], strict=True)}
    return Knowing(values, FIRST_BID if name == "nil_decision" else 0, best)


@pytest.mark.parametrize("name", ["nil_decision", "endgames"])
def test_who_knows_the_values_has_no_regret(name: str) -> None:
    games = BY_ID[name].games
    assert headline(run(name, knowing(name, True), games)) == (0.0, 0.0, 0.0)
    worst, normal, rand = (headline(run(name, a, games)) for a in (knowing(name, False), "normal", "random"))
    assert 0.0 <= normal[0] < normal[2] < rand[1] < rand[0] < worst[0]


def test_nil_decisions_are_counted() -> None:
    games = BY_ID["nil_decision"].games
    counts = run("nil_decision", knowing("nil_decision", True), games).outcome.figures["nil_decision"]
    assert counts["missed_nil"] == counts["wrong_nil"] == 0
    assert counts["right_nil"] + counts["right_other"] == games
    assert min(counts["right_nil"], counts["right_other"]) > games / 10
    never = run("nil_decision", "easy", games).outcome.figures["nil_decision"]
    assert never == {
        "right_nil": 0,
        "missed_nil": counts["right_nil"],
        "wrong_nil": 0,
        "right_other": counts["right_other"],
    }


def test_values_of_bids_are_what_normal_makes_of_the_worlds() -> None:
    """The kernel's means against the same worlds bid and played on by agents, table by table."""
    states = dealer(Rules(), 13)(0, 4)
    for place in range(4):
        bids_made(states[place : place + 1], place)
    for i in range(4):
        worlds = np.zeros((6, 4), np.int64)
        possible_worlds(
            states, i, new_plans(1), np.uint64(1), 100_000, empty_views(1), scratch_states(), POINTS, worlds
        )
        out = np.zeros(nil_decision.BIDS)
        made = nil_decision.bid_values(states, i, worlds, 6, scratch_states(), POINTS, out)
        seat = int(states["turn"][i])
        for bid in (0, 3):
            games = np.repeat(states[i : i + 1], 6)
            games["hands"] = worlds
            for k in range(6):
                step.apply(games, k, FIRST_BID + bid)
            Players([NormalAgent()], 6).play_deals(games, np.zeros((6, 4), np.int8))
            points = games["scores"][:, seat % 2] - games["scores"][:, 1 - seat % 2]
            points = points - 10 * (games["result"]["bags"][:, seat % 2] - games["result"]["bags"][:, 1 - seat % 2])
            assert out[bid] == pytest.approx(points.mean())
            if bid == 0:
                assert made == (games["tricks"][:, seat] == 0).sum()


def test_calibration_by_hand() -> None:
    """Two bins: 0.1 and 0.15 said against 0 and 0.5; 0.8 said against 1."""
    said, made = np.array([0.1, 0.15, 0.8]), np.array([0.0, 0.5, 1.0])
    assert nil_decision.calibration_error(said, made) == pytest.approx((0.25 + 0.2) / 3)
    assert nil_decision.calibration_error(np.array([1.0]), np.array([1.0])) == 0.0
    half = run("nil_decision", knowing("nil_decision", True), 600).outcome.figures["calibration"]
    assert half["brier"] == pytest.approx(0.25)
    assert half["ece"] == pytest.approx(abs(0.5 - half["mean_made"]))
    assert half["bins"] == [{"predicted": 0.5, "observed": pytest.approx(half["mean_made"]), "n": 600}]


def test_bins_of_a_reliability_diagram_by_hand() -> None:
    """0.1 begins the second bin, 1 belongs to the last; empty bins are left out."""
    said, made = np.array([0.1, 0.15, 0.05, 1.0]), np.array([0.0, 0.5, 0.25, 1.0])
    assert nil_decision.reliability(said, made) == [
        {"predicted": 0.05, "observed": 0.25, "n": 1},
        {"predicted": pytest.approx(0.125), "observed": 0.25, "n": 2},
        {"predicted": 1.0, "observed": 1.0, "n": 1},
    ]


def test_bins_tell_the_calibration_error() -> None:
    found = run("nil_decision", "normal", 600).outcome.figures["calibration"]
    gaps = [b["n"] * abs(b["predicted"] - b["observed"]) for b in found["bins"]]
    assert sum(b["n"] for b in found["bins"]) == 600
    assert sum(gaps) / 600 == pytest.approx(found["ece"])


def test_who_forecasts_is_asked_and_who_does_not_is_not() -> None:
    normal = run("nil_decision", "normal", 600).outcome.figures["calibration"]
    assert 0.0 < normal["brier_floor"] < normal["brier"] < 0.25
    assert normal["ece"] < 0.1
    assert run("nil_decision", "easy", 8).outcome.figures["calibration"]["brier"] is None

    class Odd(NormalAgent):
        def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
            return np.full(len(views), 1.5)

    assert "no chances" in run("nil_decision", Odd(), 8).outcome.figures["calibration"]["reason"].replace("not", "no")


def test_a_nan_leaves_out_its_position_only() -> None:
    """`agents.base.NilForecaster`: NaN, she cannot say."""

    class Unsure(NormalAgent):
        def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
            said = NormalAgent.nil_chances(self, views, keys)
            said[20:] = np.nan
            return said

    class Silent(NormalAgent):
        def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
            return np.full(len(views), np.nan)

    found = run("nil_decision", Unsure(), 40).outcome.figures["calibration"]
    first = run("nil_decision", "normal", 20).outcome.figures["calibration"]
    assert found == first
    assert found["n"] == 20
    none = run("nil_decision", Silent(), 40).outcome.figures["calibration"]
    assert none == {"brier": None, "ece": None, "reason": "the agent cannot say it of any position"}


def test_answers_that_fail_leave_the_rest_of_the_task() -> None:
    class Raises(NormalAgent):
        def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
            raise ZeroDivisionError("by hand")

        def beliefs(self, views: StateArray, keys: KeyArray) -> FloatArray:
            raise ZeroDivisionError("by hand")

    class Flat(NormalAgent):
        def beliefs(self, views: StateArray, keys: KeyArray) -> FloatArray:
            return np.zeros((len(views), 54))

    class Without(NormalAgent):
        def nil_chances(self) -> Any:  # type: ignore[override]
            return None

        def beliefs(self) -> Any:
            return None

    for agent, kind in ((Raises(), "ZeroDivisionError"), (Without(), "TypeError")):
        result = run("nil_decision", agent, 8)
        assert headline(result)[0] >= 0.0
        reason = result.outcome.figures["calibration"]["reason"]
        assert reason.startswith(f"agent 'normal': nil_chances failed: {kind}: ")
        outcome = run("beliefs", agent, 4).outcome
        assert outcome.headline is None
        assert outcome.reason is not None
        assert outcome.reason.startswith(f"agent 'normal': beliefs failed: {kind}: ")
    reason = run("beliefs", Flat(), 4).outcome.reason
    assert reason == "after 0 tricks: beliefs have shape (4, 54); allowed: (4, 54, 4)"


@pytest.mark.parametrize("name", ["normal", "hard"])
def test_forecasts_come_from_the_view_alone_and_in_any_batch(name: str) -> None:
    agent = load_agent(SPECS[name])
    assert isinstance(agent, NilForecaster)
    states = states_from(load("nil_decision"), 8)
    views, keys = empty_views(8), np.arange(8, dtype=np.uint64)
    views_to_act(states, views)
    said = agent.nil_chances(views, keys)
    assert ((said >= 0.0) & (said <= 1.0)).all()
    assert len(set(said.tolist())) > 3
    one_by_one = [agent.nil_chances(views[k : k + 1], keys[k : k + 1])[0] for k in range(8)]
    assert said.tolist() == one_by_one
    full = copy.deepcopy(views)
    full["known"]["hands"] = states["hands"]
    assert agent.nil_chances(full, keys).tolist() == one_by_one


# --- Nils in the play ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nil_cover", "nil_attack"])
def test_a_nil_hangs_on_the_card_by_plain_minimax(name: str) -> None:
    """The positions with four cards a hand, every line played through the engine with a nil worth everything."""
    columns = load(name)
    states = states_from(columns, BY_ID[name].games)
    four = [i for i in range(len(states)) if np.array([bin(int(h)).count("1") for h in states["hands"][i]]).max() <= 4]
    assert len(four) > 5
    for i in four[:6]:
        game, turn = states[i : i + 1].copy(), int(states["turn"][i])
        game["rules"]["nil_value"] = nil_play.NIL_WORTH
        cards = np.array(Game.legal_actions(game_at(columns, i)), np.int64)
        out, stack = np.empty((1, len(cards)), np.int64), np.empty(17, STATE)
        card_values(game, game["hands"].astype(np.int64), cards, 0, stack, out)
        good = [int(card) for card, value in zip(cards, out[0], strict=True) if value > 0]
        # To cover is to be on the nil's side; to attack is to be against it.
        assert good == cards_of(int(columns["good"][i]) & sum(1 << int(card) for card in cards))
        assert 0 < len(good) < len(cards)
        assert (turn - nil_of(states, i)) % 4 == 2 if name == "nil_cover" else (turn - nil_of(states, i)) % 2 == 1


def nil_of(states: StateArray, i: int) -> int:
    """The seat of the one living nil."""
    nils = np.flatnonzero(states["bids"][i] == 0)
    assert len(nils) == 1
    assert int(states["tricks"][i, nils[0]]) == 0
    return int(nils[0])


@pytest.mark.parametrize("name", ["nil_cover", "nil_attack"])
def test_good_cards_are_some_of_the_legal_ones(name: str) -> None:
    columns = load(name)
    states = states_from(columns, BY_ID[name].games)
    for i in range(len(states)):
        legal, _ = step.legal_masks(states, i)
        good = int(columns["good"][i])
        assert good & ~legal == 0
        assert 0 < good < legal
        nil_of(states, i)


def test_making_nil_positions_again_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more = nil_play.make("nil_attack", 2), nil_play.make("nil_attack", 3)
    assert all((more[name][:2] == few[name]).all() for name in few)


@pytest.mark.parametrize(
    ("name", "better", "worse"), [("nil_cover", "normal", "easy"), ("nil_attack", "normal", "easy")]
)
def test_nil_play_tells_who_cares_about_nils(name: str, better: str, worse: str) -> None:
    good, bad = run(name, better, 500), run(name, worse, 500)
    assert headline(good)[1] > headline(bad)[2]
    figures = good.outcome.figures
    assert figures["success_after_right_card"] > figures["success_after_wrong_card"]
    assert 0.5 < figures["first_card_right"] < 1.0


def test_success_in_nil_play_is_what_happened_at_the_table() -> None:
    """Played again by hand: `easy` beside the nil, `normal` elsewhere."""
    columns = load("nil_cover")
    states = states_from(columns, 40)
    nils = np.array([nil_of(states, i) for i in range(40)])
    line_ups = (np.arange(4)[None] != (nils[:, None] + 2) % 4).astype(np.int8)
    Players([load_agent("easy"), load_agent("normal")], 40).play_deals(states, line_ups)
    made = (states["tricks"][np.arange(40), nils] == 0).mean()
    assert headline(run("nil_cover", "easy", 40))[0] == pytest.approx(made)


# --- Endgames -----------------------------------------------------------------------------------------------


def test_positions_that_the_reference_plays_otherwise_now_are_counted() -> None:
    figures = run("endgames", "lowest", 300).outcome.figures
    assert figures["played_otherwise"] == 19
    states = dealer(Rules())(0, 3)
    cards_played(states, 20)
    assert played_otherwise(states, scratch_states(), POINTS) == 0
    # With another card on the table than the one she played, it is not her course.
    states["actions"][1, states["n_actions"][1] - 1] = states["actions"][1, 4]
    assert played_otherwise(states, scratch_states(), POINTS) == 1


def test_endgame_values_agree_with_all_layouts_by_plain_minimax() -> None:
    """Three tricks left: every layout that fits, those `normal` rules out struck off, every line played through."""
    states = dealer(Rules(), endgames.MADE_SEED + 3)(0, 40)
    checked = 0
    for i in range(40):
        one = states[i : i + 1].copy()
        cards_played(one, 40 + i % 4)
        if not endgames.has_choice(one, 0) or checked == 2:
            continue
        columns = columns_of(one)
        game = game_at(columns, 0)
        kept = [row for row in possible_layouts(game) if replays(columns, row)]
        cards = np.array(game.legal_actions(), np.int64)
        exact = np.empty((len(kept), len(cards)), np.int64)
        card_values(one, np.array(kept, np.int64), cards, 10, np.empty(17, STATE), exact)
        worlds, out = np.zeros((300, 4), np.int64), np.zeros(NUM_CARDS)
        found, _ = possible_worlds(
            one, 0, new_plans(1), np.uint64(i), 20_000, empty_views(1), scratch_states(), POINTS, worlds
        )
        endgames.mean_values(one, 0, worlds, found, scratch_states(), new_workspace(), POINTS, out)
        error = exact.std(axis=0) / found**0.5 + 1e-6
        assert (np.abs(out[cards] - exact.mean(axis=0)) < 4.5 * error).all()
        assert {tuple(row) for row in worlds[:found].tolist()} <= {tuple(row) for row in np.array(kept).tolist()}
        checked += 1
    assert checked == 2


def replays(columns: dict[str, np.ndarray], hands: Layouts) -> bool:
    """Whether `normal` on the other seats would have acted the same with these hands left."""
    length, actions = int(columns["length"][0]), columns["actions"][0]
    true = states_from(columns, 1)
    dealt = {**columns, "dealt": (np.array([hands]) | true["played"])}
    before = np.concatenate([states_from({**dealt, "length": np.array([n])}, 1) for n in range(length)])
    views = empty_views(length)
    views_to_act(before, views)
    same = NormalAgent().act(views, np.zeros(length, np.uint64)) == actions[:length]
    return bool((same | (before["turn"] == true["turn"][0])).all())


def test_endgame_values_stand_beside_legal_cards_only() -> None:
    columns = load("endgames")
    states = states_from(columns, BY_ID["endgames"].games)
    for i in range(len(states)):
        legal, _ = step.legal_masks(states, i)
        assert np.flatnonzero(columns["values"][i] != endgames.NO_CARD).tolist() == cards_of(legal)
    left = 13 - states["trick"]
    assert {int(k): int((left == k).sum()) for k in np.unique(left)} == dict.fromkeys(
        endgames.TRICKS_LEFT, endgames.PER_SIZE
    )


# --- Beliefs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Uniform:
    """Thinks all layouts alike; with `sure` the last seat surely has everything."""

    sure: bool = False
    name: str = "uniform"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """See `Agent`."""
        return NormalAgent().act(views, keys)

    def beliefs(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """See `Believer`."""
        out, plans = np.zeros((len(views), NUM_CARDS, 4)), new_plans(1)
        for row in range(len(views)):
            view_marginals(views, row, plans, out[row])
            if self.sure:
                unseen = out[row].sum(axis=1) > 0.0
                out[row] = 0.0
                out[row, unseen, (int(views["seat"][row]) + 1) % 4] = 1.0
        return out


def test_uniform_beliefs_gain_nothing_and_false_certainty_has_no_figure() -> None:
    result = run("beliefs", Uniform(), 6)
    assert result.outcome.figures["gain_over_uniform"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert result.outcome.figures["by_trick"]["0"] == pytest.approx(np.log(3.0))
    assert list(result.outcome.figures["by_trick"]) == [str(trick) for trick in TRICKS]
    sure = run("beliefs", Uniform(sure=True), 3).outcome
    assert sure.headline is None
    assert sure.reason is not None
    assert "impossible" in sure.reason


def test_who_does_not_believe_has_no_figure() -> None:
    outcome = run("beliefs", "normal", 4).outcome
    assert outcome.headline is None
    assert outcome.reason == "the agent does not say (agents.base.Believer)"


def test_a_search_reads_bids_and_plays() -> None:
    agent = load_agent(SPECS["hard"])
    assert isinstance(agent, Believer)
    one, two = run("beliefs", agent, 6), run("beliefs", agent, 6, batch_size=4)
    assert without_times(one) == without_times(two)
    assert one.outcome.figures["gain_over_uniform"]["mean"] > 0.02


def test_the_meter_counts_and_changes_nothing() -> None:
    states = dealer(Rules(), 3)(0, 5)
    views, keys = empty_views(5), np.arange(5, dtype=np.uint64)
    views_to_act(states, views)
    meter = Meter(load_agent("random"))
    assert (meter.act(views, keys) == load_agent("random").act(views, keys)).all()
    assert (meter.decisions, meter.name) == (5, "random")
    assert meter.seconds > 0.0


def test_parts_of_a_run_share_the_progress() -> None:
    seen: list[float] = []
    whole = Run(load_agent("easy"), Meter(load_agent("easy")), 2, 2, seen.append)
    whole.part(1, 4)(0.5)
    whole.part(3, 4)(1.0)
    assert seen == [0.375, 1.0]
