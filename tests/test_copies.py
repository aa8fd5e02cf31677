"""Copies of a deal in self-play: the same cards, chances of their own; their results taken out of the advantages."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from gymnasium import spaces  # noqa: E402
from small_training import collected, small  # noqa: E402

from spades_env.actions import NUM_ACTIONS  # noqa: E402
from spades_env.configs import ConfigError  # noqa: E402
from spades_env.rules import PRESETS  # noqa: E402
from training.buffer import FEWEST_FITTED, DealBuffer  # noqa: E402
from training.line_ups import ResponderVecEnv  # noqa: E402
from training.seats import SeatVecEnv  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402


def test_copies_share_a_deal_and_no_chance() -> None:
    env = SeatVecEnv(PRESETS["classic"], 12, 5, copies=3)
    env.deal(24)
    hands = env.states["hands"].reshape(4, 3, 4)
    assert (hands == hands[:, :1]).all()
    assert len(np.unique(hands[:, 0], axis=0)) == 4
    assert len(np.unique(env.keys(env.waiting()))) == 12
    # The deals are those of a table without copies, from number 24 / 3 on.
    plain = SeatVecEnv(PRESETS["classic"], 4, 5)
    plain.deal(8)
    assert (plain.states["hands"] == hands[:, 0]).all()


def test_copies_of_a_deal_go_different_ways() -> None:
    model = collected(SelfPlayPPO(small(ppo={"games": 8, "copies": 4})))
    actions = model.env.states["actions"].reshape(2, 4, -1)
    assert all(len(np.unique(table, axis=0)) == 4 for table in actions)


def test_copies_share_their_line_up() -> None:
    env = ResponderVecEnv(PRESETS["classic"], 12, 5, None, agent_that_never_plays(), copies=3)
    env.deal(0)
    owners = env._owners.reshape(4, 3, 4)
    assert (owners == owners[:, :1]).all()
    assert (owners[0] != owners[1]).all()


def agent_that_never_plays() -> object:
    """A seat-filler for line-ups that are looked at and not played."""
    return type("Never", (), {"name": "never"})()


def test_luck_is_the_mean_of_the_same_seat_in_the_other_copies() -> None:
    env = SeatVecEnv(PRESETS["classic"], 6, 5, copies=3)
    rewards = np.random.default_rng(0).normal(size=24).astype(np.float32)
    luck = env.luck(rewards)
    assert luck is not None
    for game in range(6):
        others = [other for other in range(game // 3 * 3, game // 3 * 3 + 3) if other != game]
        for seat in range(4):
            expected = np.mean([rewards[4 * other + seat] for other in others])
            assert luck[4 * game + seat] == pytest.approx(expected, abs=1e-6)
    assert SeatVecEnv(PRESETS["classic"], 6, 5).luck(rewards) is None


def buffer_with(columns: int, values: np.ndarray) -> DealBuffer:
    """A buffer of two slots whose columns hold one choice, the even ones two."""
    buffer = DealBuffer(2, spaces.Box(0, 255, (1,), np.uint8), spaces.Discrete(NUM_ACTIONS), "cpu", 1.0, 1.0, columns)
    for places in (np.arange(columns), np.arange(0, columns, 2)):
        n = len(places)
        flags = np.zeros(n, np.bool_)
        masks, seen = np.ones((n, NUM_ACTIONS), np.bool_), np.zeros((n, 1), np.uint8)
        buffer.add_choices(places, seen, masks, np.zeros(n, np.int64), values[places], values[places], flags, flags)
    return buffer


def test_what_luck_explains_is_gone_and_the_rest_stays() -> None:
    """Rewards are luck plus skill: advantages become the skill, up to the fit's error; returns keep both."""
    rng = np.random.default_rng(1)
    columns = 4000
    luck, skill = rng.normal(size=(2, columns)).astype(np.float32)
    values = rng.normal(size=columns).astype(np.float32)
    rewards = 2 * luck + skill
    plain, freed = buffer_with(columns, values), buffer_with(columns, values)
    plain.finish_deals(rewards)
    freed.finish_deals(rewards, luck)
    assert (plain.returns == freed.returns).all()
    for slot, places in ((0, np.arange(columns)), (1, np.arange(0, columns, 2))):
        assert np.abs(freed.advantages[slot, places] - skill[places]).max() < 0.4
        assert freed.advantages[slot, places].var() < 0.25 * plain.advantages[slot, places].var()
    assert (freed.advantages[1, 1::2] == plain.advantages[1, 1::2]).all()


def test_few_choices_are_not_fitted() -> None:
    columns = FEWEST_FITTED - 1
    rng = np.random.default_rng(2)
    values, rewards, luck = rng.normal(size=(3, columns)).astype(np.float32)
    plain, freed = buffer_with(columns, values), buffer_with(columns, values)
    plain.finish_deals(rewards)
    freed.finish_deals(rewards, luck)
    assert (plain.advantages == freed.advantages).all()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ppo": {"games": 8, "copies": 3}}, "ppo.copies is 3; allowed: a divisor of ppo.games, 8"),
        ({"ppo": {"games": 8, "copies": 2}, "clone": {}}, "ppo.copies is 2; allowed with clone: 1"),
    ],
)
def test_copies_that_make_no_sense_are_refused(changes: dict[str, dict[str, int]], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        small(**changes)
