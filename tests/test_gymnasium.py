"""The Gymnasium environments: one learner among agents, and the same in lock-step."""

from __future__ import annotations

import copy
import importlib.metadata
import inspect
import pickle
import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from test_game import SUITED

import spades_env
from agents.registry import load_agent
from spades_env import IllegalActionError, SpadesEnv, SpadesVectorEnv
from spades_env.actions import FIRST_BID, LOOK, NUM_ACTIONS
from spades_env.engine.batch import SpadesBatch
from spades_env.engine.lockstep import decision_keys
from spades_env.engine.state import PHASE_BID, StateArray
from spades_env.envs.players import PlayerError, RandomPlayer
from spades_env.game import PositionError
from spades_env.observation.decode import decode_flat
from spades_env.rules import PRESETS, RulesError
from spades_env.view import empty_views, views_to_act, write_view_masks

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "wrappers.md").read_text(encoding="utf-8")
NAME = "spades_env/Spades-v0"
EASY = load_agent("easy")


class Scripted:
    """Bids what the table says for her seat and plays her lowest legal card."""

    name = "scripted"

    def __init__(self, bids: dict[int, int]) -> None:
        self.bids = bids

    def act(self, views: StateArray, keys: np.ndarray) -> np.ndarray:
        masks = np.zeros((len(views), NUM_ACTIONS), np.int8)
        write_view_masks(views, masks)
        lowest = masks.argmax(axis=1)
        wanted = np.array([FIRST_BID + self.bids[int(seat)] for seat in views["seat"]])
        return np.where(views["known"]["phase"] == PHASE_BID, wanted, lowest)


class Always:
    """Answers every question with the same thing, of any kind."""

    name = "always"

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self.answer = answer

    def act(self, views: StateArray, keys: np.ndarray) -> Any:
        return self.answer(len(views))


def pick(rng: np.random.Generator, mask: np.ndarray) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def play(env: Any, rng: np.random.Generator, steps: int) -> list[Any]:
    """Answers to `steps` random legal actions, over resets."""
    answers = []
    mask = env.unwrapped.action_masks()
    for _ in range(steps):
        answer = env.step(pick(rng, mask))
        answers.append(answer)
        if answer[2] or answer[3]:
            answers.append(env.reset())
        mask = env.unwrapped.action_masks()
    return answers


# ---------------------------------------------------------------- Gymnasium's own checks


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": "uint8", "episode": "deal", "opponents": EASY},
        {"dict_observation": False, "seat": 1, "reward": "points"},
    ],
)
def test_check_env_passes_without_a_warning(rules: str, options: dict[str, Any]) -> None:
    check_env(gymnasium.make(NAME, rules=rules, **options).unwrapped)


def test_check_env_passes_for_a_team() -> None:
    check_env(gymnasium.make(NAME, team=True, seat=3, opponents=EASY).unwrapped)


def test_it_is_found_by_name() -> None:
    env = gymnasium.make("spades_env:spades_env/Spades-v0", rules="modern", seat=2)
    assert isinstance(env.unwrapped, SpadesEnv)
    assert env.unwrapped.rules == PRESETS["modern"].replace(max_deals=100)
    assert gymnasium.make(gymnasium.spec(NAME)).unwrapped.seat == 0
    assert '"vector_entry_point": "spades_env.envs.vector:SpadesVectorEnv"' in gymnasium.spec(NAME).to_json()


# ---------------------------------------------------------------- one learner


def reference(seats: set[int], table: dict[int, Any], seed: int, steps: int, **options: Any) -> list[tuple[Any, float]]:
    """What a learner on `seats` of the PettingZoo environment sees, and her reward since her last action.

    The others are played by `table`; None stands for the end of an episode.
    """
    env = spades_env.env(**options)
    env.reset(seed=seed)
    seen: list[tuple[Any, float]] = []
    owed = 0.0
    while len(seen) < steps:
        agent = env.agent_selection
        seat = int(agent[-1])
        observation, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.reset()
            seen.append((None, owed))
            owed = 0.0
            continue
        if seat in seats:
            seen.append((observation["observation"], owed))
            owed = 0.0
            legal = np.flatnonzero(info["action_mask"])
            action = int(legal[len(seen) % len(legal)])
        else:
            keys = np.zeros(1, np.uint64)
            decision_keys(env.game.states, keys)
            action = int(table[seat].act(env.view(agent).views, keys)[0])
        env.step(action)
        owed += env.rewards[f"player_{min(seats)}"]
    return seen


@pytest.mark.parametrize(
    ("seat", "team", "options"),
    [
        (0, False, {"rules": "classic"}),
        (1, False, {"rules": "modern", "dtype": "uint8", "max_deals": 2}),
        (2, False, {"rules": "table", "episode": "deal", "reward": "points"}),
        (1, True, {"rules": "classic", "episode": "deal"}),
        (0, True, {"rules": "modern", "reward": "win", "max_deals": 3}),
        (1, False, {"rules": "two_player", "max_deals": 2}),
    ],
)
def test_it_is_the_pettingzoo_game_seen_by_the_learner(seat: int, team: bool, options: dict[str, Any]) -> None:
    """Same deals, same moves of the agents, and every reward since her last action, none lost, none twice."""
    partner, left, right = load_agent("easy:error=0.5"), EASY, load_agent("conservative")
    if options["rules"] == "two_player":
        players: dict[str, Any] = {"opponents": left}
        table, seats = {1 - seat: left}, {seat}
    else:
        players = {"opponents": (left, right)} | ({} if team else {"partner": partner})
        table = {(seat + 1) % 4: left, (seat + 2) % 4: partner, (seat + 3) % 4: right}
        seats = {seat, (seat + 2) % 4} if team else {seat}
    expected = reference(seats, table, 11, 120, **options)

    env = SpadesEnv(seat=seat, team=team, **players, **options)
    observation, info = env.reset(seed=11)
    owed = 0.0
    for number, (row, reward) in enumerate(expected, start=1):
        assert owed == pytest.approx(reward, abs=1e-12)
        if row is None:
            assert env.table.terminations["player_0"] or env.table.truncations["player_0"]
            observation, info = env.reset()
            owed = 0.0
            continue
        assert np.array_equal(observation["observation"], row)
        assert info["seat"] in seats
        legal = np.flatnonzero(observation["action_mask"])
        observation, owed, _, _, info = env.step(int(legal[number % len(legal)]))


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({"seat": 0}, 131),
        ({"seat": 1}, -131),
        ({"seat": 2, "reward": "points"}, 221),
        ({"seat": 3, "reward": "points"}, 90),
        ({"seat": 3, "episode": "deal"}, -121),
        ({"seat": 0, "team": True, "episode": "deal"}, 121),
    ],
)
def test_the_reward_of_a_known_deal(options: dict[str, Any], own: float) -> None:
    """South holds all spades, bids 12 and takes all tricks; West and North bid nil, East 1 (see test_aec.py)."""
    bids = {0: 12, 1: 0, 2: 0, 3: 1}
    player = Scripted(bids)
    partner = {} if options.get("team") else {"partner": player}
    env = SpadesEnv(opponents=player, **partner, **options)
    _, info = env.reset(seed=0, options={"hands": SUITED, "dealer": 3})
    rewards = []
    while "points" not in info:
        mask = info["action_mask"]
        action = FIRST_BID + bids[info["seat"]] if mask[FIRST_BID] else int(mask.argmax())
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
    assert rewards[:-1] == [0.0] * (27 if options.get("team") else 13)
    assert rewards[-1] == pytest.approx(own / 100)
    assert info["points"].tolist() == [221, 90]
    assert info["scores"].tolist() == [221, 90]
    assert (terminated, truncated) == (options.get("episode") == "deal", False)


def test_a_match_ends_with_its_winner() -> None:
    env = SpadesEnv(opponents=EASY, partner=EASY, reward="win")
    env.reset(seed=1, options={"scores": (-400, 490)})
    answers = play(env, np.random.default_rng(0), 400)
    ends = [answer for answer in answers if len(answer) == 5 and answer[2]]
    assert ends
    for _, reward, _, truncated, info in ends:
        assert not truncated
        assert reward == (1.0 if info["winner"] == 0 else -1.0)


def test_a_match_without_a_winner_is_truncated() -> None:
    env = SpadesEnv(opponents=EASY, max_deals=1)
    env.reset(seed=1)
    _, _, terminated, truncated, info = play(env, np.random.default_rng(0), 14)[-2]
    assert (terminated, truncated, info["winner"]) == (False, True, -1)


def test_both_seats_of_a_team_see_their_own_hands() -> None:
    env = SpadesEnv(team=True, seat=3, episode="deal")
    observation, info = env.reset(seed=5)
    seats = []
    done = False
    while not done:
        seats.append(info["seat"])
        assert decode_flat(observation["observation"]).hand == tuple(env.game.hands[info["seat"]])
        observation, _, done, _, info = env.step(int(info["action_mask"].argmax()))
    assert set(seats) == {1, 3}
    assert len(seats) == 28


def test_masks_are_the_learners_and_open_at_the_end() -> None:
    env = SpadesEnv(episode="deal")
    observation, info = env.reset(seed=2)
    done = False
    while not done:
        assert observation["action_mask"] is info["action_mask"]
        assert np.array_equal(env.action_masks(), observation["action_mask"].astype(bool))
        assert env.action_masks().dtype == np.bool_
        assert np.flatnonzero(info["action_mask"]).tolist() == env.table.view("player_0").legal_actions()
        observation, _, done, _, info = env.step(int(info["action_mask"].argmax()))
    assert observation["action_mask"].tolist() == [1] * NUM_ACTIONS
    assert env.action_masks().all()
    with pytest.raises(ValueError, match=r"the episode is over; allowed: reset\(\)"):
        env.step(0)


def test_illegal_actions() -> None:
    env = SpadesEnv(illegal_penalty=-7)
    env.reset(seed=2)
    assert env.step(np.int64(70))[1:4] == (-7.0, True, False)
    env.reset(seed=2)
    assert env.step(-(10**30))[4]["illegal_action"] == -(10**30)
    env.reset()
    with pytest.raises(TypeError, match=r"action is 2\.0; allowed: an int"):
        env.step(2.0)
    env = SpadesEnv(on_illegal="raise")
    _, info = env.reset(seed=2)
    with pytest.raises(IllegalActionError, match="player_0: seat 0 may not do 70"):
        env.step(70)
    assert np.array_equal(env.action_masks(), info["action_mask"].astype(bool))
    env.step(int(info["action_mask"].argmax()))


def test_seeds_decide_everything() -> None:
    """Also after resets without a seed, and without touching anybody's global generators."""
    before = np.random.get_state()[1].copy(), random.getstate()

    def run() -> list[Any]:
        env = SpadesEnv("modern", episode="deal", opponents=EASY)
        return [env.reset(seed=9), *play(env, np.random.default_rng(1), 40)]

    assert data_equivalence(run(), run(), exact=True)
    fresh = [SpadesEnv().reset()[0]["observation"].tobytes() for _ in range(3)]
    assert len(set(fresh)) == 3
    assert np.array_equal(np.random.get_state()[1], before[0])
    assert random.getstate() == before[1]


def test_a_refused_reset_changes_nothing() -> None:
    env = SpadesEnv(episode="deal")
    env.reset(seed=4)
    twin = copy.deepcopy(env)
    for arguments in ({"seed": -1}, {"options": {"hand": []}}, {"seed": 3, "options": {"dealer": 9}}):
        with pytest.raises(PositionError):
            env.reset(**arguments)
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    assert data_equivalence(play(env, rng, 30), play(twin, other, 30), exact=True)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_stay_live(clone: Callable[[Any], Any]) -> None:
    env = gymnasium.make(NAME, rules="two_player", opponents=EASY)
    env.reset(seed=4)
    play(env, np.random.default_rng(0), 25)
    twin = clone(env)
    one = play(env, np.random.default_rng(1), 40)
    assert data_equivalence(one, play(twin, np.random.default_rng(1), 40), exact=True)


def test_before_reset_it_says_so() -> None:
    with pytest.raises(AttributeError, match=r"reset\(\) needs to be called before"):
        SpadesEnv().step(0)


def test_rendering_is_the_tables() -> None:
    env = SpadesEnv(render_mode="ansi", render_seat=0)
    env.reset(seed=1)
    assert env.render() == env.table.render()
    assert "South to act" in env.render()


# ---------------------------------------------------------------- agents


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 4}, "seat is 4; allowed: an int 0..3"),
        ({"seat": True}, "seat is True; allowed: an int 0..3"),
        ({"rules": "two_player", "seat": 2}, "seat is 2; allowed: an int 0..1"),
        ({"team": 1}, "team is 1; allowed: False, True"),
        ({"dict_observation": None}, "dict_observation is None; allowed: False, True"),
        ({"rules": "two_player", "team": True}, "team is True; allowed with two players: False"),
        ({"rules": "two_player", "partner": "random"}, "two players have no partners"),
        ({"team": True, "partner": "random"}, "the learner plays both seats"),
        ({"opponents": ("random",)}, "allowed: one agent, or two: seats 1 and 3"),
        ({"rules": "two_player", "opponents": ("random", "random")}, "allowed: one agent"),
        ({"opponents": None}, "opponents is None; allowed: a name, or an object with a name and act"),
        ({"partner": RandomPlayer}, "partner is the class RandomPlayer; allowed: an instance"),
        ({"episode": "hand"}, "episode is 'hand'; allowed: 'match', 'deal'"),
        ({"rules": "bridge"}, "bridge"),
        ({"seats": 3}, "unexpected keyword argument 'seats'"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    for make in (SpadesEnv, SpadesVectorEnv):
        with pytest.raises((PlayerError, PositionError, RulesError, ValueError, TypeError), match=re.escape(message)):
            make(**arguments)


def test_an_agent_that_sees_the_hidden_cards_is_refused() -> None:
    class Oracle:
        name = "oracle"

        def act_on_states(self, states: StateArray, keys: np.ndarray) -> np.ndarray:
            raise AssertionError

    with pytest.raises(PlayerError, match="which sees the hidden cards; allowed: agents that act on views"):
        SpadesEnv(partner=Oracle())


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda n: np.full(n, LOOK), IllegalActionError, "agent 'always'.*seat 1 may not do 69"),
        (lambda n: np.zeros(n + 1, int), PlayerError, r"act returned int64 of shape \(\d,\); allowed: integers"),
        (lambda n: np.zeros(n), PlayerError, r"act returned float64 of shape"),
    ],
)
def test_an_agent_that_plays_foul_is_named(answer: Any, error: type[Exception], message: str) -> None:
    for env in (SpadesEnv(opponents=Always(answer)), SpadesVectorEnv(num_envs=2, opponents=Always(answer))):
        with pytest.raises(error, match=message):
            env.reset(seed=0, options={"dealer": 0})


def test_a_step_that_was_broken_off_needs_a_reset() -> None:
    """Else the learner's next action would be taken for the agent whose turn it is."""

    class Interrupted(RandomPlayer):
        calls = 0

        def act(self, views: StateArray, keys: np.ndarray) -> np.ndarray:
            self.calls += 1
            if self.calls == 6:
                raise KeyboardInterrupt
            return super().act(views, keys)

    def step(env: Any, times: int = 1) -> None:
        for _ in range(times):
            env.step(env.action_masks().argmax(axis=-1))

    for env in (SpadesEnv(partner=Interrupted()), SpadesVectorEnv(num_envs=1, partner=Interrupted())):
        env.reset(seed=0)
        with pytest.raises(KeyboardInterrupt):
            step(env, times=9)
        with pytest.raises(ValueError, match="reset"):
            step(env)
        env.reset(seed=0)
        step(env)


def declared_entry_points(**wanted: str) -> importlib.metadata.EntryPoints:
    """The entry points that pyproject.toml declares, whether or not this checkout is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = [
        importlib.metadata.EntryPoint(name, value, group)
        for group, entries in project["entry-points"].items()
        for name, value in entries.items()
    ]
    return importlib.metadata.EntryPoints(points).select(**wanted)


def test_names_are_looked_up_among_the_installed_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spades_env.envs.players.entry_points", declared_entry_points)
    env = SpadesEnv(opponents="easy", partner="easy:error=0.5")
    assert [player and player.name for player in env.players] == [None, "easy", "easy:error=0.5", "easy"]
    assert env.players[1] is env.players[3]
    with pytest.raises(ValueError, match="did you mean 'easy'"):
        SpadesEnv(opponents="eassy")


def test_without_a_package_that_knows_names_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spades_env.envs.players.entry_points", lambda **_: ())
    assert SpadesEnv().players[1].name == "random"
    with pytest.raises(PlayerError, match="partner is 'easy', but no installed package knows agents by name"):
        SpadesEnv(partner="easy")


def test_a_foreign_package_of_that_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = importlib.metadata.EntryPoint("load_agent", "no_such_room.registry:load_agent", "spades_env")
    monkeypatch.setattr("spades_env.envs.players.entry_points", lambda **_: (foreign,))
    with pytest.raises(PlayerError, match=r"'no_such_room\.registry:load_agent' cannot be loaded"):
        SpadesEnv(partner="easy")


def test_every_decision_has_a_key_of_its_own() -> None:
    """Of seat, decision, deal, match and game; the built-in player does with it what the registry's `random` does."""
    batch = SpadesBatch(16, PRESETS["modern"].replace(max_deals=2), seed=3)
    seen: set[int] = set()
    keys, views = np.zeros(16, np.uint64), empty_views(16)
    for n in range(200):
        decision_keys(batch.states, keys)
        seen.update(keys.tolist())
        views_to_act(batch.states, views)
        assert np.array_equal(RandomPlayer().act(views, keys), load_agent("random").act(views, keys))
        batch.step(batch.sample_actions(1, n))
    assert len(seen) == 16 * 200


# ---------------------------------------------------------------- documentation


def test_the_page_names_every_argument() -> None:
    section = PAGE.split("## Arguments\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (`[^|]*)\|", section, flags=re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert named == list(inspect.signature(SpadesEnv).parameters)


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spades_env.envs.players.entry_points", declared_entry_points)
    blocks = [block.split("```", 1)[0] for block in PAGE.split("```python\n")[1:]]
    assert len(blocks) >= 3
    for block in blocks:
        if not any(library in block for library in ("stable_baselines3", "sb3_contrib", "pyspiel")):
            exec(compile(block, "docs/wrappers.md", "exec"), {})
