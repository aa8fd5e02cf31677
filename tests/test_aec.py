"""The PettingZoo environment: rewards of known deals, ends, observations, copies, pictures."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from typing import Any

import click
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import performance_benchmark, render_test
from pettingzoo.utils import BaseWrapper, OrderEnforcingWrapper
from test_game import SUITED

import spades_env
from spades_env import SpadesAECEnv
from spades_env.cards import card_text
from spades_env.envs.aec import RENDER_MODES
from spades_env.game import Game
from spades_env.rules import PRESETS, Rules


def random_step(env: SpadesAECEnv, rng: random.Random) -> None:
    """One random legal action, or None at a dead step."""
    _, _, terminated, truncated, info = env.last(observe=False)
    over = terminated or truncated
    env.step(None if over else rng.choice(np.flatnonzero(info["action_mask"]).tolist()))


def play_script(env: SpadesAECEnv, actions: list[str]) -> None:
    """Step through actions given as text."""
    for text in actions:
        env.step(spades_env.parse_action(text))


def suited_env(bids: list[str], **options: Any) -> SpadesAECEnv:
    """South holds all spades, leads and takes all 13 tricks; bids are made, one card is left to play."""
    reset_options = options.pop("reset", {})
    env = spades_env.env(**options)
    env.reset(seed=0, options={"hands": SUITED, "dealer": 3, **reset_options})
    play_script(env, bids)
    for _ in range(51):
        env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))
    return env


def finish(env: SpadesAECEnv) -> None:
    env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))


BIDS = ["bid 12", "nil", "nil", "bid 1"]
"""Team 0: 12 made with one bag and a nil made; team 1: a nil made and 1 set."""


# ---------------------------------------------------------------- rewards and ends


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({}, (121 + 100) - (100 - 10)),
        ({"reward": "points"}, 121 + 100),
        ({"episode": "deal"}, (120 - 9 + 100) - (100 - 10)),
        ({"episode": "deal", "reward": "points"}, 120 - 9 + 100),
        ({"episode": "deal", "bag_price": 1.0}, (121 + 100) - (100 - 10)),
        ({"reset": {"bags": (9, 0)}}, (121 + 100 - 100) - (100 - 10)),
        ({"episode": "deal", "reset": {"bags": (9, 0)}}, (120 - 9 + 100) - (100 - 10)),
        ({"rules": {"bag_limit": 0}, "episode": "deal"}, (121 + 100) - (100 - 10)),
    ],
)
def test_the_reward_of_a_known_deal(options: dict[str, Any], own: float) -> None:
    """Given in the step that scores the deal, the same to both seats of a team, 0 before."""
    env = suited_env(BIDS, **copy.deepcopy(options))
    assert set(env.rewards.values()) == {0.0}
    assert set(env._cumulative_rewards.values()) == {0.0}
    finish(env)
    other = (100 - 10) if options.get("reward") == "points" else -own
    expected = [own / 100, other / 100, own / 100, other / 100]
    assert list(env.rewards.values()) == pytest.approx(expected)
    assert list(env._cumulative_rewards.values()) == pytest.approx(expected)


def test_a_reward_waits_for_its_seat() -> None:
    """Each seat meets it in her first `last()` after the deal, once."""
    env = suited_env(BIDS)
    finish(env)
    assert [env.infos[agent]["deal_result"][0].boston for agent in env.agents] == [True] * 4
    assert env.infos["player_1"]["scores"] == (221, 90)
    seen: dict[str, list[float]] = {agent: [] for agent in env.agents}
    rng = random.Random(0)
    for number in range(12):
        agent = env.agent_selection
        seen[agent].append(env.last(observe=False)[1])
        random_step(env, rng)
        if number == 0:
            assert set(env.rewards.values()) == {0.0}
            assert all(set(info) == {"action_mask"} for info in env.infos.values())
    assert [rewards[0] for rewards in seen.values()] == pytest.approx([1.31, -1.31, 1.31, -1.31])
    assert all(not any(rewards[1:]) for rewards in seen.values())


@pytest.mark.parametrize(
    ("reward", "expected"), [("margin", [1.31, -1.31, 1.31, -1.31]), ("win", [1.0, -1.0, 1.0, -1.0])]
)
def test_the_end_of_a_match(reward: str, expected: list[float]) -> None:
    env = suited_env(BIDS, reward=reward, reset={"scores": (400, 100)})
    finish(env)
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert list(env.rewards.values()) == pytest.approx(expected)
    assert {info["winner"] for info in env.infos.values()} == {0}
    assert env.infos["player_0"]["scores"] == (621, 190)


def test_a_match_without_a_winner_is_truncated() -> None:
    """R26: no win for anybody; the deal counts as ever under the other rewards."""
    for reward, first in (("win", 0.0), ("points", 2.21)):
        env = suited_env(BIDS, reward=reward, max_deals=3, reset={"deal": 2})
        finish(env)
        assert set(env.terminations.values()) == {False}
        assert set(env.truncations.values()) == {True}
        assert env.rewards["player_0"] == pytest.approx(first)
        assert {info["winner"] for info in env.infos.values()} == {None}


def test_matches_are_capped_at_100_deals_unless_the_rules_say_otherwise() -> None:
    assert spades_env.env().rules.max_deals == 100
    assert spades_env.env({"max_deals": 7}).rules.max_deals == 7
    assert spades_env.env({"max_deals": 7}, max_deals=9).rules.max_deals == 9


# ---------------------------------------------------------------- masks and observations


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_masks_and_observations_are_those_of_the_views(rules: str, dtype: str) -> None:
    """A seat's own mask alone, int8, zeros off turn, the same array in her info; all in their spaces."""
    env, rng = spades_env.env(rules, dtype=dtype), random.Random(3)
    env.reset(seed=8)
    for _ in range(300):
        if not env.agents or env.terminations[env.agent_selection]:
            break
        for agent in env.agents:
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            assert seen["observation"].dtype == dtype
            assert seen["action_mask"] is env.infos[agent]["action_mask"]
            assert np.flatnonzero(seen["action_mask"]).tolist() == env.view(agent).legal_actions()
            assert seen["action_mask"].any() == (agent == env.agent_selection)
        assert env.state_space.contains(env.state())
        random_step(env, rng)


def test_stored_observations_stay_as_they_were() -> None:
    env, rng = spades_env.env(episode="deal"), random.Random(1)
    env.reset(seed=1)
    kept, copies = [], []
    while env.agents:
        seen, _, _, _, info = env.last()
        kept.append((seen, info))
        copies.append(copy.deepcopy((seen, info)))
        random_step(env, rng)
    for (seen, info), (seen_then, info_then) in zip(kept, copies, strict=True):
        assert np.array_equal(seen["observation"], seen_then["observation"])
        assert np.array_equal(seen["action_mask"], seen_then["action_mask"])
        assert np.array_equal(info["action_mask"], info_then["action_mask"])


def test_what_a_seat_cannot_know_does_not_reach_her() -> None:
    """R30, in short: others' cards exchanged, what all other seats observe stays the same, byte for byte."""
    rng = random.Random(2)
    for seed in range(10):
        game = Game(seed=seed)
        hands = game.hands
        swap_a, swap_b = rng.sample(range(4), 2)
        i, j = rng.randrange(13), rng.randrange(13)
        other = copy.deepcopy(hands)
        other[swap_a][i], other[swap_b][j] = hands[swap_b][j], hands[swap_a][i]
        envs = [spades_env.env(), spades_env.env()]
        for env, cards in zip(envs, (hands, other), strict=True):
            env.reset(seed=1, options={"hands": cards, "dealer": game.dealer})
        for _ in range(4):
            for seat in {0, 1, 2, 3} - {swap_a, swap_b}:
                agent = f"player_{seat}"
                first, second = (env.observe(agent) for env in envs)
                assert first["observation"].tobytes() == second["observation"].tobytes()
                assert first["action_mask"].tobytes() == second["action_mask"].tobytes()
                assert envs[0].view(agent) == envs[1].view(agent)
            for env in envs:
                env.step(57)


# ---------------------------------------------------------------- copies


@pytest.mark.parametrize("make", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("steps", [0, 5, 40, 56, 57, 58, 60, 150])
def test_copies_are_alive_and_on_their_own(make: Any, steps: int) -> None:
    """PettingZoo's own classic environments give a fresh game here; steps 57-60 are dead steps of a deal."""
    env = spades_env.env("classic", episode="deal" if 56 <= steps <= 60 else "match")
    env.reset(seed=11)
    rng = random.Random(0)
    for _ in range(steps):
        random_step(env, rng)
    twin = make(env)
    assert twin.game == env.game
    assert twin.agents == env.agents
    for _ in range(70):
        if not env.agents:
            break
        for mine, other in zip(env.last(), twin.last(), strict=True):
            assert_same(mine, other)
        random_step(env, random.Random(str(env.game.actions)))
        random_step(twin, random.Random(str(twin.game.actions)))
    assert twin.agents == env.agents
    twin.reset()
    env.reset()
    assert twin.game == env.game


def assert_same(first: Any, second: Any) -> None:
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for key in first:
            assert_same(first[key], second[key])
    elif isinstance(first, np.ndarray):
        assert np.array_equal(first, second)
    else:
        assert first == second


def test_a_copy_never_reset_can_be_reset() -> None:
    twin = copy.deepcopy(spades_env.env())
    twin.reset(seed=1)
    assert twin.game == Game(twin.rules, seed=1)


# ---------------------------------------------------------------- rendering, registry, wrappers


def shown(env: SpadesAECEnv) -> str:
    """The picture as text, its colours taken off."""
    text = env.render()
    assert isinstance(text, str)
    return click.unstyle(text)


@pytest.mark.parametrize("rules", PRESETS)
def test_pettingzoo_render_test(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(SpadesAECEnv.metadata, "render_fps", 10_000)
    render_test(lambda render_mode: spades_env.env(rules, render_mode=render_mode))
    assert tuple(SpadesAECEnv.metadata["render_modes"]) == RENDER_MODES


def test_the_text_shows_the_table() -> None:
    env = spades_env.env(render_mode="ansi")
    env.reset(options={"hands": SUITED, "dealer": 3, "scores": (210, -40), "bags": (2, 9)})
    play_script(env, ["bid 13", "nil", "bid 2", "bid 1", "AS", "2C"])
    assert shown(env).splitlines() == [
        "Spades (classic), match 1, deal 1: play, North to act",
        "score 210 : -40 (target 500)   bags 2 : 9 (penalty at 10)",
        "",
        "  South           bid 13         tricks 0   team needs 15  KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S",
        "  West            bid nil        tricks 0   team needs 1   AC KC QC JC TC 9C 8C 7C 6C 5C 4C 3C",
        "> North           bid 2          tricks 0   team needs 15  AD KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D",
        "  East (dealer)   bid 1          tricks 0   team needs 1   AH KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H",
        "",
        "trick 1: South AS, West 2C   (spades are not broken)",
    ]


def test_the_text_has_colours() -> None:
    """Red suits, trumps, the first line and the seat to act; a name of two words is bold as a whole."""
    env = spades_env.env(render_mode="ansi")
    env.reset(options={"hands": SUITED, "dealer": 3})
    text = env.render()
    assert isinstance(text, str)
    for piece in ("\x1b[31mAD\x1b[0m", "\x1b[31mTH\x1b[0m", "\x1b[36m2S\x1b[0m", "\x1b[1m> South\x1b[0m", " KC "):
        assert piece in text
    two = spades_env.env("two_player", render_mode="ansi")
    two.reset(options={"dealer": 1})
    assert "\x1b[1m> seat 1\x1b[0m" in str(two.render())


def test_render_seat_shows_her_hand_alone() -> None:
    env = spades_env.env(render_mode="ansi", render_seat=1)
    env.reset(options={"hands": SUITED, "dealer": 3})
    text = shown(env)
    assert SUITED[1] in text
    assert not any(hand in text for hand in (SUITED[0], SUITED[2], SUITED[3]))


def test_a_draft_and_its_result_are_shown_to_a_seat() -> None:
    env = spades_env.env("two_player", render_mode="ansi", render_seat=0)
    env.reset(seed=1, options={"dealer": 0})  # the dealer draws first (R27)
    play_script(env, ["draw"])
    card = env.view("player_0").shown
    assert card is not None
    assert f"pile 52, exchanged 0 and 0, shown {card_text(card)}, rejected -" in shown(env)
    play_script(env, ["take next"])
    assert f"pile 50, exchanged 0 and 0, rejected {card_text(card)}" in shown(env)
    rng = random.Random(1)
    while env.game.deal == 0:
        random_step(env, rng)
    points = [result.points for result in env.infos["player_0"]["deal_result"]]
    last = shown(env).splitlines()[-1]
    assert last.startswith(f"last deal scored: team 0 {points[0]:+d} (contract ")
    assert f"; team 1 {points[1]:+d} (contract " in last


def test_cards_not_looked_at_are_not_shown() -> None:
    """R10: an eligible seat's cards stay hidden from her own picture until she has looked."""
    env = spades_env.env("modern", render_mode="ansi", render_seat=0)
    env.reset(options={"hands": SUITED, "dealer": 3, "scores": (0, 100)})
    assert "(not looked at)" in shown(env)
    play_script(env, ["look"])
    assert SUITED[0] in shown(env)


def test_render_without_a_mode_warns() -> None:
    env = spades_env.env()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode=None"):
        assert env.render() is None


def test_the_registry_makes_it() -> None:
    env = pettingzoo.make("aec", "spades_env/Spades-v0", rules="modern", episode="deal")
    assert isinstance(env, SpadesAECEnv)
    assert env.rules == Rules.preset("modern", max_deals=100)
    assert str(env) == "spades_v0"


def test_stock_wrappers_fit() -> None:
    env: Any = OrderEnforcingWrapper(BaseWrapper(spades_env.raw_env(episode="deal")))
    env.reset(seed=1)
    rng = random.Random(1)
    count = 0
    for _ in env.agent_iter():
        _, _, terminated, _, info = env.last()
        env.step(None if terminated else rng.choice(np.flatnonzero(info["action_mask"]).tolist()))
        count += 1
    assert count == 56 + 4


@pytest.mark.parametrize("rules", PRESETS)
def test_pettingzoo_performance_benchmark(
    rules: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It runs for five seconds by its own clock, which is wound forward here."""
    from pettingzoo.test import performance_benchmark as module

    ticks = iter(range(10_000))
    clock = getattr(module, "__globals__", None) or vars(module)
    monkeypatch.setattr(clock["time"], "time", lambda: next(ticks) / 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        performance_benchmark(spades_env.env(rules))
    assert "turns per second" in capsys.readouterr().out
