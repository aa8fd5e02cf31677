"""The native vector environment: byte for byte the single games, in all autoreset modes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from test_gymnasium import EASY, NAME, pick

from agents.registry import load_agent
from spades_env import IllegalActionError, SpadesVectorEnv
from spades_env.engine.lockstep import OUTCOME


def sync(n: int, mode: str, **options: Any) -> Any:
    return gymnasium.make_vec(
        NAME, num_envs=n, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options
    )


def assert_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    """Equal in every byte, dtype and key."""
    for ours, theirs in zip(one, other, strict=True):
        assert data_equivalence(ours, theirs, exact=True)


VECTOR_CASES: list[dict[str, Any]] = [
    {"rules": "classic", "opponents": EASY, "partner": EASY},
    {"rules": "classic", "episode": "deal", "opponents": (EASY, load_agent("conservative")), "dtype": "uint8"},
    {"rules": "modern", "episode": "deal", "team": True, "seat": 1, "reward": "points", "dict_observation": False},
    {"rules": "modern", "max_deals": 2, "seat": 2, "reward": "win", "partner": EASY},
    {"rules": "table", "max_deals": 1, "seat": 3, "illegal_penalty": -0.25, "observation": "sequence"},
    {"rules": "two_player", "max_deals": 2, "opponents": EASY},
    {
        "rules": {"turn_direction": "counter_clockwise", "max_deals": 1},
        "team": True,
        "observation": "features",
        "dtype": "uint8",
    },
]


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("options", VECTOR_CASES)
def test_lock_step_equals_single_games(options: dict[str, Any], mode: str) -> None:
    """Observations, rewards, ends and infos, byte by byte against SyncVectorEnv; also after illegal actions."""
    n, rng = 4, np.random.default_rng(8)
    native = gymnasium.make_vec(NAME, num_envs=n, autoreset_mode=mode, **options)
    single = sync(n, mode, **options)
    assert native.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert native.observation_space == single.observation_space
    assert native.action_space == single.action_space
    assert_same(native.reset(seed=40), single.reset(seed=40))
    ends = 0
    for _ in range(90):
        actions = np.array([pick(rng, mask) for mask in native.unwrapped.action_masks()])
        if rng.random() < 0.1:
            actions[rng.integers(n)] = 72
        ours, theirs = native.step(actions), single.step(actions)
        assert_same(ours, theirs)
        assert native.states.tobytes() == b"".join(env.unwrapped.table._states.tobytes() for env in single.envs)
        done = ours[2] | ours[3]
        ends += int(done.sum())
        if mode == "Disabled" and done.any():
            assert_same(native.reset(options={"reset_mask": done}), single.reset(options={"reset_mask": done}))
    assert ends > 5
    assert_same(native.reset(), single.reset())
    assert_same(native.reset(seed=[3, None, 1, None]), single.reset(seed=[3, None, 1, None]))
    given = {"dealer": 1, "scores": (-100, 100)}
    assert_same(native.reset(seed=2, options=given), single.reset(seed=2, options=given))
    assert_same(native.reset(options=given), single.reset(options=given))


def test_after_its_last_match_a_game_goes_on_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("aec", "vector"):
        monkeypatch.setattr(f"spades_env.envs.{module}.HIGHEST_COUNT", 2)
    options = {"episode": "deal", "rules": "two_player"}
    native, single = SpadesVectorEnv(num_envs=2, **options), sync(2, "SameStep", **options)
    assert_same(native.reset(seed=0), single.reset(seed=0))
    for _ in range(4 * 60):
        lowest = native.action_masks().argmax(axis=1)
        assert_same(native.step(lowest), single.step(lowest))
    assert native._numbers.min() >= 1
    for given in ({}, {"dealer": 0}) * 4:
        assert_same(native.reset(options=dict(given)), single.reset(options=dict(given)))


def test_same_step_is_the_default() -> None:
    env = gymnasium.make_vec(NAME, num_envs=2)
    assert isinstance(env, SpadesVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_a_game_does_not_depend_on_its_batch() -> None:
    wide = SpadesVectorEnv(num_envs=6, episode="deal", opponents=EASY)
    narrow = SpadesVectorEnv(num_envs=2, episode="deal", opponents=EASY)
    wide.reset(seed=10)
    narrow.reset(seed=13)
    for _ in range(30):
        lowest = wide.action_masks().argmax(axis=1)
        ours, theirs = wide.step(lowest), narrow.step(lowest[3:5])
        assert np.array_equal(ours[0]["observation"][3:5], theirs[0]["observation"])
        assert np.array_equal(ours[1][3:5], theirs[1])
        assert wide.states[3:5].tobytes() == narrow.states.tobytes()


def test_what_copy_means() -> None:
    for keeps in (True, False):
        env = SpadesVectorEnv(num_envs=3, copy=keeps)
        first, _ = env.reset(seed=0)
        kept = copy.deepcopy(first)
        second = env.step(first["action_mask"].argmax(axis=1))[0]
        assert np.shares_memory(first["observation"], second["observation"]) is not keeps
        assert data_equivalence(first, kept, exact=True) is keeps


def test_copies_of_many_games_stay_live() -> None:
    env = SpadesVectorEnv("modern", num_envs=5, opponents=EASY, episode="deal")
    env.reset(seed=3)
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(20):
        lowest = env.action_masks().argmax(axis=1)
        assert_same(env.step(lowest), twin.step(lowest))


def test_statistics_of_episodes() -> None:
    """Gymnasium's own wrapper, which reads the autoreset mode."""
    env = RecordEpisodeStatistics(SpadesVectorEnv(num_envs=4, episode="deal", opponents=EASY))
    env.reset(seed=1)
    total, lengths = 0.0, []
    for _ in range(42):
        _, rewards, terminated, _, infos = env.step(env.env.action_masks().argmax(axis=1))
        total += rewards.sum()
        lengths += infos["episode"]["l"][terminated].tolist() if terminated.any() else []
    assert lengths == [14] * 12
    assert sum(env.return_queue) == pytest.approx(total)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs is 0; allowed: an int 1.."),
        ({"autoreset_mode": "never"}, "autoreset_mode is 'never'; allowed: 'NextStep', 'SameStep', 'Disabled'"),
        ({"render_mode": "ansi"}, "render_mode is 'ansi'; allowed: None"),
    ],
)
def test_wrong_arguments_of_many_games(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SpadesVectorEnv(**arguments)


def test_wrong_actions_and_resets_of_many_games() -> None:
    env = SpadesVectorEnv(num_envs=3, on_illegal="raise")
    with pytest.raises(ValueError, match=r"reset\(\) needs to be called before step\(\)"):
        env.step([0, 0, 0])
    with pytest.raises(ValueError, match=r"reset_mask is given, but reset\(\) of all games"):
        env.reset(options={"reset_mask": np.ones(3, bool)})
    env.reset(seed=0)
    before = env.states.tobytes()
    for actions in ([0, 0], [0.0, 0.0, 0.0], [[0, 0, 0]], [True, True, True], "abc"):
        with pytest.raises(ValueError, match=r"allowed: integers of shape \(3,\)"):
            env.step(actions)
    lowest = env.action_masks().argmax(axis=1)
    with pytest.raises(IllegalActionError, match="game 1: seat 0 may not do 71"):
        env.step([lowest[0], 71, lowest[2]])
    for seed in (-1, [1, 2], 2**63 - 2, "1"):
        with pytest.raises(ValueError, match="seed"):
            env.reset(seed=seed)
    for options in ({"reset_mask": [True] * 3}, {"reset_mask": np.zeros(3, bool)}, {"hand": 1}, {"dealer": 7}):
        with pytest.raises(ValueError, match="allowed"):
            env.reset(options=options)
    assert env.states.tobytes() == before


def test_a_finished_game_is_not_stepped_on() -> None:
    env = SpadesVectorEnv(num_envs=2, autoreset_mode="Disabled", episode="deal")
    env.reset(seed=0)
    env.step(np.array([env.action_masks()[0].argmax(), 72]))
    with pytest.raises(ValueError, match="game 1 is over; allowed: reset"):
        env.step(env.action_masks().argmax(axis=1))


def test_outcomes_have_no_hidden_padding() -> None:
    """Numba copies padding and NumPy does not: field sizes must sum to the record's."""
    assert sum(OUTCOME[name].itemsize for name in OUTCOME.names or ()) == OUTCOME.itemsize


def test_async_vector_env_of_single_games() -> None:
    """Workers are spawned, and get environment and agents by pickle."""
    options = {"episode": "deal", "opponents": EASY}
    other = gymnasium.make_vec(
        NAME,
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"context": "spawn", "autoreset_mode": "SameStep"},
        **options,
    )
    native = SpadesVectorEnv(num_envs=2, **options)
    try:
        (ours, _), (theirs, _) = native.reset(seed=1), other.reset(seed=1)
        assert data_equivalence(ours, theirs, exact=True)
        for _ in range(40):
            lowest = native.action_masks().argmax(axis=1)
            one, two = native.step(lowest), other.step(lowest)
            assert data_equivalence(one[0], two[0], exact=True)
            assert all(np.array_equal(a, b) for a, b in zip(one[1:4], two[1:4], strict=True))
    finally:
        other.close()
