"""Training at the scores of a match: where deals begin, what they are worth, what a policy makes of scores."""

from __future__ import annotations

import itertools
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from small_training import small, weights  # noqa: E402

from agents.equity.outcomes import Outcomes, play_deals  # noqa: E402
from agents.equity.table import equity_table  # noqa: E402
from agents.learned.network import PolicyNetwork  # noqa: E402
from agents.learned.policy import LearnedAgent, load_policy  # noqa: E402
from agents.learned.weights import input_size, read_policy  # noqa: E402
from agents.registry import load_agent  # noqa: E402
from evaluation.duplicate import evaluate  # noqa: E402
from spades_env.configs import ConfigError  # noqa: E402
from spades_env.engine.state import PHASE_MATCH_OVER, STATE, rules_to_record  # noqa: E402
from spades_env.engine.step import advance, new_games  # noqa: E402
from spades_env.rules import PRESETS, Rules  # noqa: E402
from spades_env.view import empty_views, views_to_act  # noqa: E402
from training.line_ups import PoolVecEnv, ResponderVecEnv  # noqa: E402
from training.match import MatchStakes, open_to_scores, points_scale, situations_of  # noqa: E402
from training.run import Interrupted, RunError, train  # noqa: E402
from training.seats import SeatVecEnv  # noqa: E402

CLASSIC = PRESETS["classic"]


@pytest.fixture(scope="module")
def stakes() -> MatchStakes:
    return MatchStakes(CLASSIC, 1.0, 7)


def outcome(dealers: tuple[int, int], others: tuple[int, int]) -> Outcomes:
    """Every deal ends alike: (points, bags) of the dealer's team and of the other."""
    points, bags = np.array([[dealers[0], others[0]]]), np.array([[dealers[1], others[1]]])
    return Outcomes(points, bags, np.ones(1), "by hand", 1, 0)


def test_situations_of_a_match_by_hand() -> None:
    """R21, R24: dealers make 90 and three bags, the others 30 and four; the teams deal in turn."""
    found = situations_of(CLASSIC, outcome((90, 3), (30, 4)), 0)
    second = {0: ([93, 34], [3, 4], 1), 1: ([34, 93], [4, 3], 0)}
    #  93:34 -> 127:127 (7, 7); a dealer at 127 and 7 goes to 220 - 100 = 120 and 0, the other to 161 - 100 = 61 and 1.
    fourth = {0: ([120, 61], [0, 1], 1), 1: ([61, 120], [1, 0], 0)}
    starts = np.flatnonzero(found["deal"] == 0)
    assert len(starts) == 4096
    for start, end in itertools.pairwise([*starts, len(found)]):
        match = found[start:end]
        first = int(match["dealer"][0])
        assert match["deal"].tolist() == list(range(len(match)))
        assert match["dealer"].tolist() == [(first + d) % 2 for d in range(len(match))]
        assert (match["scores"][0].tolist(), match["bags"][0].tolist()) == ([0, 0], [0, 0])
        scores, bags, dealer = second[first]
        assert (match["scores"][1].tolist(), match["bags"][1].tolist(), match["dealer"][1]) == (scores, bags, dealer)
        assert (match["scores"][2].tolist(), match["bags"][2].tolist()) == ([127, 127], [7, 7])
        scores, bags, dealer = fourth[first]
        assert (match["scores"][3].tolist(), match["bags"][3].tolist(), match["dealer"][3]) == (scores, bags, dealer)
        # Tied at 516 they play on; the deal after that decides.
        assert match["scores"][-1].tolist() == [516, 516]
    assert 1900 < sum(found["dealer"][starts] == 0) < 2200


def test_no_situation_is_beyond_the_last_deal_of_the_rules() -> None:
    """R26: with `max_deals` 3 a match has deals 0, 1 and 2."""
    found = situations_of(CLASSIC.replace(max_deals=3), outcome((90, 3), (30, 4)), 0)
    assert found["deal"].tolist() == [0, 1, 2] * 4096


def test_no_situation_is_a_match_that_is_won(stakes: MatchStakes) -> None:
    """R24: below target, or tied."""
    scores = stakes.situations["scores"]
    assert ((scores.max(axis=1) < 500) | (scores[:, 0] == scores[:, 1])).all()
    assert stakes.situations["bags"].max() == 9


@pytest.mark.parametrize("rules", ["classic", "modern", "two_player"])
def test_worth_is_the_equity_before_and_after_every_deal_of_whole_matches(rules: str) -> None:
    """What the deals of a match bring adds up to the way from its start to 1 or 0 (R24)."""
    known = MatchStakes(PRESETS[rules], 1.0, 7)
    table = equity_table(PRESETS[rules])
    agent = load_agent("normal:objective=points")
    states = np.zeros(40, STATE)
    new_games(states, rules_to_record(PRESETS[rules]), 5, 0)
    start = known.worth(states)
    total = np.zeros(40)
    going = np.arange(40)
    while len(going):
        before = known.worth(states[going])
        for k, i in enumerate(going):
            now = states[i]
            chance = table.probability(tuple(now["scores"].tolist()), tuple(now["bags"].tolist()), int(now["dealer"]))
            assert before[k] == pytest.approx(chance * known.scale, abs=1e-5)
        playing = states[going]
        play_deals(playing, agent)
        states[going] = playing
        total[going] += known.worth(states[going]) - before
        going = going[states["phase"][going] != PHASE_MATCH_OVER]
        for i in going:
            advance(states, int(i))
    won = (states["winner"] == 0) * points_scale(table)
    assert np.allclose(total, won - start, atol=1e-4)
    assert 0.2 < (states["winner"] == 0).mean() < 0.8


def test_a_hundred_points_at_the_start_are_worth_one() -> None:
    table = equity_table(CLASSIC)
    lead = table.fair_probability((100, 0)) - table.fair_probability((0, 0))
    assert lead * points_scale(table) == pytest.approx(1, abs=0.05)


def test_begin_changes_scores_and_cards_and_keeps_the_rest(stakes: MatchStakes) -> None:
    """Each deal's beginning follows from its key: alone or among many, it is the same."""
    states = np.zeros(500, STATE)
    new_games(states, rules_to_record(CLASSIC), 5, 0)
    fresh = states.copy()
    stakes.begin(states)
    listed = {tuple(s["scores"]) + tuple(s["bags"]) + (s["deal"], s["dealer"]) for s in stakes.situations}
    for game in states:
        assert tuple(game["scores"]) + tuple(game["bags"]) + (game["deal"], game["dealer"] % 2) in listed
    assert len({tuple(game["scores"]) for game in states}) > 300
    assert set(states["dealer"].tolist()) == {0, 1, 2, 3}
    assert (states["key"] == fresh["key"]).all()
    assert (np.bitwise_or.reduce(states["hands"], axis=1) == (1 << 52) - 1).all()
    alone = fresh[37:38].copy()
    stakes.begin(alone)
    assert alone.tobytes() == states[37:38].tobytes()


def test_the_share_of_deals_at_the_start() -> None:
    states = np.zeros(2000, STATE)
    new_games(states, rules_to_record(CLASSIC), 5, 0)
    fresh = states.copy()
    MatchStakes(CLASSIC, 0.0, 7).begin(states)
    assert states.tobytes() == fresh.tobytes()
    MatchStakes(CLASSIC, 0.5, 7).begin(states)
    assert 0.5 < (states["deal"] == 0).mean() < 0.62  # every eighth situation is a start, too


def test_copies_of_a_deal_begin_alike_and_pools_begin_as_self_play(stakes: MatchStakes) -> None:
    plain = SeatVecEnv(CLASSIC, 6, 3, match=stakes)
    plain.deal(0)
    copied = SeatVecEnv(CLASSIC, 12, 3, copies=2, match=stakes)
    copied.deal(0)
    assert np.repeat(plain.states, 2).tobytes() == copied.states.tobytes()
    pool = small(pool={"agents": {"random": 1.0}}).pool
    assert pool is not None
    for table in (
        PoolVecEnv(CLASSIC, 6, 3, None, [load_agent("random")], pool, match=stakes),
        ResponderVecEnv(CLASSIC, 6, 3, None, load_agent("random"), match=stakes),
    ):
        table.deal(0)
        assert table.states.tobytes() == plain.states.tobytes()


def test_rewards_are_changes_of_equity_seat_by_seat(stakes: MatchStakes) -> None:
    table = SeatVecEnv(CLASSIC, 30, 3, match=stakes)
    table.deal(0)
    before = stakes.worth(table.states)
    play_deals(table.states, load_agent("easy"))
    gained = stakes.worth(table.states) - before
    assert (table.rewards().reshape(30, 4) == gained[:, None] * np.array([1, -1, 1, -1])).all()
    assert np.abs(gained).max() > 0.5


def at_scores(rules: Rules, scores: tuple[int, int], n: int = 50) -> Any:
    """Views at the first bid of `n` deals at these scores."""
    states = np.zeros(n, STATE)
    new_games(states, rules_to_record(rules), 9, 0)
    states["scores"] = scores
    states["bags"] = (4, 7)
    states["deal"] = 5
    views = empty_views(n)
    views_to_act(states, views)
    return views


@pytest.mark.parametrize("rules", ["classic", "modern", "two_player"])
def test_opened_to_scores_a_policy_plays_them_all_as_it_played_the_start(rules: str) -> None:
    own = PRESETS[rules]
    torch.manual_seed(1)
    tensors = PolicyNetwork(input_size(own), [32, 16]).tensors()
    table = SeatVecEnv(own, 1, 0)
    table.deal(0)
    opened = open_to_scores(tensors, table.observe(table.waiting())[0][0])
    blind, seeing = LearnedAgent(tensors, own), LearnedAgent(opened, own, knows_match=True)
    unchanged = LearnedAgent(tensors, own, knows_match=True)
    views = at_scores(own, (340, -120))
    expected = blind.outputs(views)
    legal = expected > -1e30
    assert np.allclose(seeing.outputs(views)[legal], expected[legal], atol=1e-4)
    assert not np.allclose(unchanged.outputs(views)[legal], expected[legal], atol=1e-2)


def test_a_run_at_match_scores_resumes_and_leaves_a_policy_that_sees_them(tmp_path: Path) -> None:
    """The same bytes whole and in two sittings; the policy chooses by the score."""
    match = {"share": 0.7}
    train(small(match=match), tmp_path / "whole")
    with pytest.raises(Interrupted):
        _stop_after(16, small(match=match), tmp_path / "parts")
    train(small(match=match), tmp_path / "parts", resume=True)
    whole = weights(tmp_path / "whole" / "selfplay")
    assert whole == weights(tmp_path / "parts" / "selfplay")
    assert whole != weights(train(small(), tmp_path / "points").parent)
    file = tmp_path / "whole" / "selfplay" / "policy.safetensors"
    assert read_policy(file)[1].knows_match
    agent = load_policy(file)
    low, high = (agent.outputs(at_scores(CLASSIC, scores)) for scores in ((0, 0), (450, 0)))
    assert not np.array_equal(low, high)


def _stop_after(deals: int, config: Any, runs: Path) -> None:
    def show(model: Any, entry: Any) -> None:
        if model.num_timesteps == deals:
            os.kill(os.getpid(), signal.SIGINT)

    train(config, runs, show=show)


def test_a_policy_that_only_knows_the_start_begins_a_match_run_as_it_was(tmp_path: Path) -> None:
    """`start` opens it; one that knows matches is taken as it is."""
    report = train(small(), tmp_path / "first")
    start = {"start": str(report.parent), "match": {}, "ppo": {"games": 8, "minibatch": 64, "learning_rate": 1e-9}}
    second = train(small(**start), tmp_path / "second").parent
    views = at_scores(CLASSIC, (340, -120))
    blind, seeing = load_policy(report.parent), load_policy(second)
    legal = blind.outputs(views) > -1e30
    assert np.allclose(blind.outputs(views)[legal], seeing.outputs(views)[legal], atol=1e-3)
    start["start"] = str(second)
    third = load_policy(train(small(**start), tmp_path / "third").parent)
    assert np.allclose(third.outputs(views)[legal], seeing.outputs(views)[legal], atol=1e-3)


def test_what_goes_with_match_and_what_does_not() -> None:
    for changes, message in (
        ({"match": {"share": 1.5}}, "match.share is 1.5"),
        ({"match": {"scores": 1}}, "match.scores"),
        ({"match": {}, "distill": {}}, "match and distill are given"),
        ({"match": {}, "bid_values": {}, "start": "champion"}, "match and bid_values are given"),
    ):
        with pytest.raises(ConfigError, match=message):
            small(**changes)


def test_without_match_a_policy_that_plays_the_score_is_refused(tmp_path: Path) -> None:
    """What comes of it would be marked as a policy of 0:0; with nils, whose other weights stay, for no gain at all."""
    clone = train(small(clone={"teacher": "easy"}, match={}, name="clone"), tmp_path).parent
    labels = {"folder": str(tmp_path / "labels")}
    for way in ({"bid_values": labels}, {"nils": {}}, {"opponent": "easy"}, {}):
        with pytest.raises(RunError, match="a policy that plays the score; allowed without match: one of 0:0"):
            train(small(start=str(clone), name="next", **way), tmp_path)


def test_clones_and_nils_learn_at_match_scores_too(tmp_path: Path) -> None:
    clone = train(small(clone={"teacher": "easy"}, match={}, name="clone"), tmp_path).parent
    assert read_policy(clone)[1].knows_match
    nils = train(small(nils={}, match={}, start=str(clone), name="nils"), tmp_path).parent
    before, after = load_policy(clone), load_policy(nils)
    views = at_scores(CLASSIC, (340, -120))
    assert np.array_equal(before.outputs(views)[:, :73], after.outputs(views)[:, :73])


def test_final_matches_stand_in_report_and_results(tmp_path: Path) -> None:
    evaluation = {"every": 1.0, "deals": 2, "opponents": ["random"], "final_deals": 2, "final_opponents": ["random"]}
    report = train(small(match={}, evaluation=evaluation | {"final_matches": 3}), tmp_path)
    found = json.loads((report.parent / "results.json").read_text(encoding="utf-8"))["final"]["opponents"]["random"]
    expected = evaluate(load_policy(report.parent), "random", deals=2, matches=3, seed=20_001).match_win_rate
    assert expected is not None
    assert found["match_win_rate"] == expected.to_dict()
    assert f"Matches won, of 3 played twice with the same cards, teams swapped: random {expected.mean:.1%}" in (
        report.read_text(encoding="utf-8")
    )
