"""The api cases of tests/data/cases.json that concern the environment, each under its id."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import warnings
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

import spades_env
from spades_env import IllegalActionError, SpadesAECEnv
from spades_env.actions import bid_action
from spades_env.observation import ENCODERS
from spades_env.rules import PRESETS

ROOT = Path(__file__).resolve().parent.parent
_FILE = ROOT / "tests" / "data" / "cases.json"
CASES = {case["id"]: case for case in json.loads(_FILE.read_text(encoding="utf-8"))}
DICT_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
"""What PettingZoo's api_test says about every Dict observation that is not on its own list (docs/env.md)."""


def random_step(env: SpadesAECEnv, rng: random.Random) -> None:
    """One random legal action, or None at a dead step."""
    agent = env.agent_selection
    over = env.terminations[agent] or env.truncations[agent]
    env.step(None if over else rng.choice(np.flatnonzero(env.infos[agent]["action_mask"]).tolist()))


def play_deal(env: SpadesAECEnv, seed: int) -> list[int]:
    """Random play to the end of the deal; its actions. The choices depend on `seed` and the history alone."""
    deal = env.game.deal
    actions: list[int] = []
    while env.game.deal == deal and not any(env.terminations.values()):
        mask = env.infos[env.agent_selection]["action_mask"]
        action = random.Random(f"{seed} {actions}").choice(np.flatnonzero(mask).tolist())
        actions.append(action)
        env.step(action)
    return actions


def test_the_cases_are_those_we_know() -> None:
    api = {case_id for case_id, case in CASES.items() if case["kind"] == "api"}
    assert api == {f"A{number:02}" for number in range(1, 14)}


@pytest.mark.parametrize("episode", ["match", "deal"])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("rules", PRESETS)
def test_a01_official_checks(rules: str, dtype: Any, episode: Any) -> None:
    def make() -> SpadesAECEnv:
        return spades_env.env(rules, episode=episode, dtype=dtype)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # A match of random bidders can take 5,600 steps: a quarter of the cycles keeps the suite short.
        api_test(make(), num_cycles=1000 if (rules, dtype) == ("classic", "float32") else 250)
        seed_test(make, num_cycles=500)
    assert {str(warning.message) for warning in caught} == DICT_WARNINGS


@pytest.mark.parametrize("episode", ["match", "deal"])
@pytest.mark.parametrize("observation", [name for name in ENCODERS if name != "flat"])
@pytest.mark.parametrize("rules", ["modern", "two_player"])
def test_a01_official_checks_with_the_other_encoders(rules: str, observation: str, episode: Any) -> None:
    def make() -> SpadesAECEnv:
        return spades_env.env(rules, episode=episode, observation=observation)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=250)
        seed_test(make, num_cycles=100)
    assert {str(warning.message) for warning in caught} == DICT_WARNINGS


def test_a02_copies_play_on_independently() -> None:
    env = spades_env.env()
    env.reset(seed=7)
    play_deal(env, 1)
    twin = pickle.loads(pickle.dumps(env))
    spoiled = pickle.loads(pickle.dumps(env))
    for _ in range(3):
        spoiled.reset()
    assert env.game == twin.game
    assert play_deal(env, 2) == play_deal(twin, 2)
    assert env.game == twin.game
    assert env.game.deal == 2


def test_a03_end_of_an_episode() -> None:
    env, rng = spades_env.env(episode="deal"), random.Random(1)
    env.reset(seed=4)
    for _ in range(56):
        random_step(env, rng)
    agents = [f"player_{seat}" for seat in range(4)]
    assert env.terminations == dict.fromkeys(agents, True)
    assert env.truncations == dict.fromkeys(agents, False)
    final = dict(env.rewards)
    assert final["player_0"] == -final["player_1"] != 0
    came_up = []
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        came_up.append(agent)
        assert (reward, terminated, truncated) == (final[agent], True, False)
        assert env.observation_space(agent).contains(seen)
        with pytest.raises(ValueError, match="when an agent is dead, the only valid action is None"):
            env.step(0)
        env.step(None)
    assert came_up == agents
    assert env.agents == []
    with pytest.raises(ValueError, match=r"the episode is over .* allowed: reset\(\)"):
        env.step(None)
    assert not env.observe("player_2")["action_mask"].any()


def test_a04_turn_order_follows_the_tricks() -> None:
    env, rng = spades_env.env(), random.Random(4)
    env.reset(seed=4)
    left = (env.game.dealer + 1) % 4
    order, leads = [], []
    for _ in range(56):
        game = env.game
        order.append(int(env.agent_selection[-1]))
        if game.phase == "play" and not game.trick:
            leads.append((order[-1], game.tricks))
        random_step(env, rng)
    assert order[:4] == [(left + k) % 4 for k in range(4)]
    assert len(leads) == 13
    assert leads[0] == (left, [0, 0, 0, 0])
    for (_, before), (leader, after) in pairwise(leads):
        winner = next(seat for seat in range(4) if after[seat] != before[seat])
        assert leader == winner
    for trick in range(13):
        start = 4 + 4 * trick
        assert order[start : start + 4] == [(leads[trick][0] + k) % 4 for k in range(4)]


def test_a05_illegal_action() -> None:
    raising = spades_env.raw_env(on_illegal="raise")
    ending = spades_env.raw_env(on_illegal="terminate")
    for env in (raising, ending):
        env.reset(seed=5)
        for _ in range(6):
            random_step(env, random.Random(5))
    offender = raising.agent_selection
    seat = int(offender[-1])
    foreign = next(card for card in range(52) if card not in raising.game.hands[seat])
    before = raising.game, raising.observe(offender)
    message = rf"{offender}: seat {seat} may not do {foreign} .*; legal: \d+"
    with pytest.raises(IllegalActionError, match=message):
        raising.step(foreign)
    after = raising.game, raising.observe(offender)
    assert before[0] == after[0]
    assert raising.agent_selection == offender
    for name in ("observation", "action_mask"):
        assert np.array_equal(before[1][name], after[1][name])

    ending.step(foreign)
    assert ending.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in ending.possible_agents}
    assert set(ending.terminations.values()) == {True}
    assert set(ending.truncations.values()) == {False}
    assert ending.infos[offender]["illegal_action"] == foreign
    assert ending.game == before[0]
    assert {agent: ending.last()[1] for agent in _dead_steps(ending)} == {
        agent: -1.0 if agent == offender else 0.0 for agent in ending.possible_agents
    }


def _dead_steps(env: SpadesAECEnv) -> Any:
    for agent in env.agent_iter():
        yield agent
        env.step(None)


@pytest.mark.parametrize("rules", PRESETS)
def test_a06_observing_off_turn(rules: str) -> None:
    """Observed at random, twice, or not at all: the same course; zeros off turn; inside the space."""
    quiet, watched = spades_env.env(rules), spades_env.env(rules)
    rng = random.Random(6)
    for env in (quiet, watched):
        env.reset(seed=6)
    for _ in range(200):
        if any(quiet.terminations.values()):
            break
        for agent in rng.choices(watched.possible_agents, k=rng.randrange(4)):
            first, second = watched.observe(agent), watched.observe(agent)
            assert watched.observation_space(agent).contains(first)
            assert np.array_equal(first["observation"], second["observation"])
            assert np.array_equal(first["action_mask"], second["action_mask"])
            assert first["action_mask"].any() == (agent == watched.agent_selection)
        mask = quiet.infos[quiet.agent_selection]["action_mask"]
        assert np.array_equal(mask, watched.infos[watched.agent_selection]["action_mask"])
        action = rng.choice(np.flatnonzero(mask).tolist())
        quiet.step(action)
        watched.step(action)
        assert quiet.game == watched.game


def test_a07_seeds_and_global_generators() -> None:
    courses = []
    for global_seed in (1, 2):
        np.random.seed(global_seed)
        random.seed(global_seed)
        before = pickle.dumps((np.random.get_state(), random.getstate()))
        env = spades_env.env()
        env.reset(seed=5)
        courses.append((env.game, play_deal(env, 0), env.game))
        assert pickle.dumps((np.random.get_state(), random.getstate())) == before
    assert courses[0] == courses[1]

    alone = {seed: courses[0] if seed == 5 else None for seed in (5, 6)}
    other = spades_env.env()
    other.reset(seed=6)
    alone[6] = (other.game, play_deal(other, 0), other.game)
    envs = {seed: spades_env.env() for seed in (5, 6)}
    for seed, env in envs.items():
        env.reset(seed=seed)
        course = alone[seed]
        assert course is not None
        assert env.game == course[0]
    for step in range(56):
        for seed, env in envs.items():
            course = alone[seed]
            assert course is not None
            env.step(course[1][step])
    for seed, env in envs.items():
        course = alone[seed]
        assert course is not None
        assert env.game == course[2]


@pytest.mark.parametrize(
    ("rules", "scores", "ends_by"),
    [
        ({"mercy": -200}, (10, 0), "win"),
        ({"mercy": -200}, (0, 10), "win"),
        # Both teams lose 260 a deal, so from 0:0 the scores stay level and nobody wins (R24).
        ({"mercy": -200}, (0, 0), "cap"),
        ({"max_deals": 100}, (10, 0), "cap"),
    ],
)
def test_a08_a_long_losing_match_stops(rules: dict[str, Any], scores: tuple[int, int], ends_by: str) -> None:
    env = spades_env.env(rules, reward="win")
    sizes = set()
    for seed in range(50 if ends_by == "win" else 8):
        env.reset(seed=seed, options={"scores": scores})
        rng = random.Random(seed)
        while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            mask = env.infos[env.agent_selection]["action_mask"]
            env.step(bid_action(13) if mask[bid_action(13)] else rng.choice(np.flatnonzero(mask).tolist()))
        game = env.game
        sizes.add(len(pickle.dumps(env._states)))
        assert set(env.terminations.values()) == {ends_by == "win"}
        assert set(env.truncations.values()) == {ends_by == "cap"}
        if ends_by == "win":
            assert (game.deal, game.winner) == (0, 0 if scores[0] > scores[1] else 1)
            assert env.rewards["player_0"] == (1.0 if game.winner == 0 else -1.0)
        else:
            assert (game.deal, game.winner, env.rewards["player_0"]) == (99, None, 0.0)
    assert len(sizes) == 1


@pytest.mark.parametrize("way", ["dummy", pytest.param("subproc", marks=pytest.mark.slow)])
def test_a09_masks_through_sb3_wrappers(way: str) -> None:
    """On single games in SB3's own vector environments; tests/test_sb3.py has the native one."""
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    def make(seat: int) -> Monitor:
        env = spades_env.SpadesEnv(seat=seat, episode="deal", on_illegal="raise", dict_observation=False)
        return Monitor(env)

    makers = [partial(make, seat) for seat in range(4)]
    venv = DummyVecEnv(makers) if way == "dummy" else SubprocVecEnv(makers, start_method="spawn")  # type: ignore[arg-type]
    try:
        venv.reset()
        rng = np.random.default_rng(9)
        ends = 0
        for _ in range(500):
            masks = np.stack(venv.env_method("action_masks"))
            assert masks.shape == (4, 73)
            # An illegal action would raise, also right after an automatic reset.
            _, _, dones, _ = venv.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
            ends += int(dones.sum())
        assert ends == 4 * (500 // 14)
        model = MaskablePPO("MlpPolicy", venv, n_steps=512, n_epochs=4, device="cpu", seed=1)
        model.learn(2048)
        assert model.num_timesteps == 2048
        observation = model.env.reset()
        action, _ = model.predict(observation, action_masks=get_action_masks(venv))
        assert action.shape == (4,)
        weights = [parameter.detach().numpy() for parameter in model.policy.parameters()]
        assert all(np.isfinite(weight).all() for weight in weights)
    finally:
        venv.close()


_LIGHT = """
import sys
blocked = {"pygame", "torch", "stable_baselines3", "sb3_contrib", "fastapi", "matplotlib", "safetensors",
           "pydantic", "tensorboard", "open_spiel", "pyspiel", "pandas"}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r} (blocked)", name=name)

sys.meta_path.insert(0, Blocker())
import spades_env
heavy = {"numba"} & set(sys.modules)
env = spades_env.env(episode="deal", render_mode="ansi")
env.reset(seed=1)
steps = 0
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    env.step(None if terminated else int(observation["action_mask"].argmax()))
    steps += 1
assert "Spades (classic)" in env.render()
print(steps, blocked & set(sys.modules), heavy)
"""


def test_a10_light_import() -> None:
    """Without any extra the package imports and plays a deal; Numba waits until it is needed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _LIGHT]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(maxsplit=1) == ["60", "set() set()\n"]
