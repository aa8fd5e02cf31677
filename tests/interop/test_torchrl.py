"""TorchRL: its checks, rollouts of whole deals against the bare environment, groups, and the example."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import MarlGroupMapType, check_env_specs

import spades_env

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "torchrl_self_play.py"
PLAYERS = [f"player_{seat}" for seat in range(4)]
TEAMS = {"south_north": PLAYERS[0::2], "west_east": PLAYERS[1::2]}
GROUPS: list[Any] = [
    None,
    MarlGroupMapType.ALL_IN_ONE_GROUP,
    TEAMS,
]


def wrapped(rules: str = "classic", group_map: Any = None, **options: Any) -> Any:
    env = spades_env.env(rules, **{"episode": "deal"} | options)
    return PettingZooWrapper(env, use_mask=True, group_map=group_map)


@pytest.mark.parametrize("group_map", GROUPS)
def test_check_env_specs(group_map: Any) -> None:
    check_env_specs(wrapped(group_map=group_map))


@pytest.mark.parametrize("rules", ["table", "modern", "two_player"])
def test_check_env_specs_of_other_rules(rules: str) -> None:
    check_env_specs(wrapped(rules))


def test_state_for_a_critic() -> None:
    env = spades_env.env(episode="deal")
    check_env_specs(PettingZooWrapper(env, use_mask=True, return_state=True))


@pytest.mark.parametrize("group_map", GROUPS)
@pytest.mark.parametrize("rules", ["classic", "modern"])
def test_a_rollout_is_the_same_game(rules: str, group_map: Any) -> None:
    """Step by step the observation, mask, turn and rewards of the bare environment under the same actions."""
    env, twin = wrapped(rules, group_map), spades_env.env(rules, episode="deal")
    torch.manual_seed(3)
    env.set_seed(11)
    rollout = env.rollout(1000)
    twin.reset(seed=11)
    twin.reset()  # a rollout begins with a reset of its own: the next match under the seed
    where = {agent: (group, k) for group, agents in env.group_map.items() for k, agent in enumerate(agents)}
    for step in rollout:
        acting = [agent for agent, (group, k) in where.items() if step[group, "mask"][k]]
        assert acting == [twin.agent_selection]
        group, k = where[twin.agent_selection]
        seen = twin.observe(twin.agent_selection)
        assert torch.equal(step[group, "observation", "observation"][k], torch.from_numpy(seen["observation"]))
        assert torch.equal(step[group, "action_mask"][k], torch.from_numpy(seen["action_mask"]).bool())
        twin.step(int(step[group, "action"][k]))
        for agent, (group, k) in where.items():
            assert float(step["next", group, "reward"][k]) == pytest.approx(twin.rewards[agent])
    assert bool(rollout["next", "done"][-1])
    assert not bool(rollout["next", "done"][:-1].any())
    assert all(twin.terminations.values())


def test_a_match_goes_over_its_deals() -> None:
    """Rewards come after every deal; under `max_deals` the match is truncated (R26)."""
    rollout = wrapped(episode="match", max_deals=2).rollout(1000)
    paid = rollout["next", "player_0", "reward"].squeeze() != 0
    assert int(paid.sum()) == 2
    assert bool(rollout["next", "truncated"][-1])


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    losses = runpy.run_path(str(EXAMPLE), run_name="example")["main"](updates=2, deals=2)
    assert all(abs(loss) < 100 for loss in losses)
    assert "update 2" in capsys.readouterr().out
