"""The shipped champion, the search that she guides, promotion, and the export of policies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from agents.base import AgentError
from agents.learned.champion import FOLDER, ChampionAgent, shipped_files
from agents.learned.policy import LearnedAgent, load_policy
from agents.registry import load_agent
from agents.search.agent import SearchAgent
from agents.search.guided_agent import GuidedAgent
from evaluation.duplicate import evaluate
from evaluation.intervals import Interval
from evaluation.promotion import SCREEN_DEALS, _behind, _objection, promotion
from spades_cli.main import main
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.state import PHASE_BLIND, STATE, rules_to_record
from spades_env.engine.step import apply, legal_masks, new_games
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.flat import encode_views
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act


def some_views(rules: Rules, n: int = 60, plays: int = 40) -> np.ndarray:
    """Views of games at random moments."""
    states = np.zeros(n, STATE)
    new_games(states, rules_to_record(rules), 9, 0)
    rng = np.random.default_rng(4)
    for i in range(n):
        for _ in range(int(rng.integers(plays))):
            cards, calls = legal_masks(states, i)
            legal = [a for a in range(54) if cards >> a & 1] + [54 + k for k in range(19) if calls >> k & 1]
            apply(states, i, int(rng.choice(legal)))
    views = empty_views(n)
    views_to_act(states, views)
    return views


def keys(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.uint64)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_the_champion_plays_every_preset(preset: str) -> None:
    result = evaluate("champion", "easy", preset, deals=60, matches=2, seed=3)
    assert result.to_dict()["illegal_actions"] == 0
    assert result.margin.mean > 0


def test_rules_that_no_policy_knows_are_refused_with_what_differs() -> None:
    with pytest.raises(AgentError, match=r"champion was not trained for these rules; .*classic \(bag_limit=10\)"):
        evaluate("champion", "random", PRESETS["classic"].replace(bag_limit=7), deals=2)


def test_scores_do_not_move_a_policy_that_never_met_them() -> None:
    """Its inputs for scores and bags were constant in training; what lies behind them is chance."""
    views = some_views(PRESETS["classic"])
    plain = ChampionAgent().act(views.copy(), keys(60))
    late = views.copy()
    late["known"]["scores"] = [[230, -40]]
    late["known"]["bags"] = [[7, 3]]
    late["known"]["deal"] = 5
    before = late.copy()
    assert (ChampionAgent().act(late, keys(60)) == plain).all()
    assert late.tobytes() == before.tobytes()


def test_the_champion_is_asked_under_all_names_of_the_side_suits() -> None:
    views = some_views(PRESETS["classic"])
    classic = [file for file, rules in shipped_files().items() if rules == PRESETS["classic"]]
    for text, renamings in (("champion", 6), ("champion:renamings=1", 1), ("champion:renamings=2", 2)):
        agent = load_agent(text)
        assert agent.name == text
        assert (agent.act(views, keys(60)) == load_policy(classic, renamings=renamings).act(views, keys(60))).all()
    with pytest.raises(AgentError, match=r"renamings='9' is not allowed: .* 1 to 6"):
        load_agent("champion:renamings=9")


def test_a_blind_nil_is_left_to_normal() -> None:
    rules = PRESETS["modern"].replace(blind_nil_deficit=None)
    views = some_views(PRESETS["modern"], 4, 1)
    views["known"]["phase"] = PHASE_BLIND
    assert (ChampionAgent().act(views, keys(4)) == load_agent("normal").act(views, keys(4))).all()
    assert rules.blind_nil


def test_policies_are_small_and_described() -> None:
    files = sorted(FOLDER.glob("*.safetensors"))
    assert sum(file.stat().st_size for file in files) < 20e6
    card = Path(__file__).parent.parent / "docs" / "champion.md"
    for file in files:
        assert f"`{file.stem}`" in card.read_text(encoding="utf-8")


def test_a_prior_of_nothing_is_the_plain_search() -> None:
    """Same worlds, same values: without a prior the guided search takes what `SearchAgent` takes."""
    views = some_views(PRESETS["classic"], 40)
    plain = SearchAgent(worlds=16, exact=3).act(views.copy(), keys(40))
    guided = GuidedAgent(worlds=16, exact=3, prior=0.0).act(views.copy(), keys(40))
    assert (plain == guided).all()


def test_a_prior_beyond_measure_is_the_policy_among_the_candidates() -> None:
    """With a huge prior she plays what the policy likes best, or an equal card."""
    views = some_views(PRESETS["classic"], 60)
    policy = ChampionAgent().act(views.copy(), keys(60))
    guided = GuidedAgent(worlds=4, exact=0, prior=1e6).act(views.copy(), keys(60))
    same = guided == policy
    assert same.mean() > 0.7
    for row in np.flatnonzero(~same):
        assert policy[row] < 52
        assert guided[row] // 13 == policy[row] // 13
        assert guided[row] < policy[row]


@pytest.mark.parametrize("preset", ["modern", "two_player"])
def test_guided_search_plays_other_presets(preset: str) -> None:
    result = evaluate(GuidedAgent(worlds=4, exact=2), "random", preset, deals=3)
    assert result.to_dict()["illegal_actions"] == 0


def test_options_of_the_guided_search_are_checked() -> None:
    assert load_agent("champion+search:worlds=50,prior=2").name == "champion+search:worlds=50,prior=2.0"
    assert load_agent("champion+search").name == "champion+search"
    for text, message in (("prior=-1", "prior"), ("ms=5", "ms"), ("prior=nan", "prior"), ("renamings=0", "1 to 6")):
        with pytest.raises(AgentError, match=message):
            load_agent(f"champion+search:{text}")


def test_promotion_needs_both_the_duel_and_the_pool() -> None:
    won, even, lost = Interval(2, 1, 3), Interval(0, -0.5, 0.5), Interval(-3, -4, -2)
    assert _objection(won, {"x": even}) == ""
    assert "may be 0 or less" in _objection(even, {"x": won})
    assert "against x" in _objection(won, {"x": lost})
    assert _behind(even, {"x": even}) == ""
    assert "behind the incumbent" in _behind(lost, {})
    assert "weaker against x" in _behind(won, {"x": lost})


def test_promotion_of_a_stronger_and_a_weaker_agent() -> None:
    up = promotion("easy", "conservative", ["lowest"], deals=600)
    assert up.promoted
    assert up.deals == 600
    down = promotion("conservative", "easy", ["lowest"], deals=600)
    assert not down.promoted
    assert down.deals == SCREEN_DEALS
    same = promotion("easy", "easy", [], deals=SCREEN_DEALS)
    assert not same.promoted
    with pytest.raises(ValueError, match="deals is 100; allowed: 512 or more"):
        promotion("easy", "normal", [], deals=100)


def test_the_command_promotes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["promote", "conservative", "--over", "easy", "--pool", "lowest", "--deals", "512", "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["promoted"]
    assert found["margin"]["high"] < 0
    assert main(["promote", "easy", "--over", "conservative", "--pool", "lowest", "--deals", "512"]) == 0
    assert "Promoted: ahead of the incumbent" in capsys.readouterr().out


@pytest.mark.parametrize("options", ["", ":renamings=1", ":renamings=3"])
def test_an_exported_policy_computes_the_same(tmp_path: Path, options: str) -> None:
    pytest.importorskip("onnx", reason="needs the extra `onnx`")
    runtime = pytest.importorskip("onnxruntime")
    sources = [file for file in shipped_files() if shipped_files()[file] == PRESETS["classic"]]
    text = "+".join(map(str, sources)) + options
    assert main(["export", text, str(tmp_path / "p.onnx")]) == 0
    session = runtime.InferenceSession(str(tmp_path / "p.onnx"), providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map == {"knows_match": "false", "max_deals": "0"}
    policy = load_agent(text)
    assert isinstance(policy, LearnedAgent)
    views = some_views(policy.rules, 50)
    observations = np.zeros((50, FLAT_SIZE), np.uint8)
    encode_views(views, observations)
    logits, values, nils = session.run(None, {"observation": observations[:, : int(policy.net.sizes[0])]})
    found = policy.outputs(views)
    legal = found[:, :NUM_ACTIONS] > np.finfo(np.float32).min
    assert np.allclose(found[:, :NUM_ACTIONS][legal], logits[legal], rtol=1e-4, atol=1e-4)
    assert np.allclose(found[:, NUM_ACTIONS], values[:, 0], rtol=1e-4, atol=1e-4)
    assert np.allclose(found[:, NUM_ACTIONS + 1], nils[:, 0], rtol=1e-4, atol=1e-4)
