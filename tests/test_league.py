"""Past policies of a run at its own tables: who is drawn, who wins, and that a resumed run is none the wiser."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from small_training import small, weights  # noqa: E402

from agents.base import AgentError  # noqa: E402
from agents.registry import load_agent  # noqa: E402
from evaluation.work.backend import LOCAL  # noqa: E402
from spades_env.configs import ConfigError  # noqa: E402
from spades_env.rules import PRESETS  # noqa: E402
from training.checkpoint import CHECKPOINT_FILE, LATER, CheckpointError, load_checkpoint, save_checkpoint  # noqa: E402
from training.config import TrainingConfig  # noqa: E402
from training.crew import check_actors  # noqa: E402
from training.league import SNAPSHOTS_FOLDER, League, LeagueError, priorities, snapshot_file  # noqa: E402
from training.line_ups import LEARNER, PoolVecEnv  # noqa: E402
from training.outcome import save_policy  # noqa: E402
from training.pool import PoolConfig  # noqa: E402
from training.run import Interrupted, train  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402

CLASSIC = PRESETS["classic"]
POOL: dict[str, Any] = {"opponents": 0.5, "partners": 0.25, "snapshots": 3, "snapshot_every": 0.2, "result_rate": 0.2}


def with_league(**changes: Any) -> TrainingConfig:
    """A run of ten collections that takes a snapshot at every second one."""
    return small(**({"deals": 80, "pool": POOL} | changes))


def table(pool: PoolConfig, tmp_path: Path, snapshots: int) -> PoolVecEnv:
    """A table with the agents of `pool` and so many snapshots, of 0, 1, 2, ... deals."""
    env = PoolVecEnv(CLASSIC, 8, 1, None, [load_agent(name) for name in pool.agents], pool)
    save_policy(tmp_path / "policy.safetensors", SelfPlayPPO(small()))
    assert env.league is not None
    for deals in range(snapshots):
        env.league.add(tmp_path / "policy.safetensors", deals)
    return env


def test_priorities_by_hand() -> None:
    """(1 - x)^2 of 0.5, 0 and 0.8 is 0.25, 1 and 0.04, together 1.29; power 0 makes all equal."""
    assert priorities([0.5, 0.0, 0.8], 2) == pytest.approx([25 / 129, 100 / 129, 4 / 129])
    assert priorities([0.5, 0.0, 0.8], 1) == pytest.approx([0.5 / 1.7, 1 / 1.7, 0.2 / 1.7])
    assert priorities([0.5, 1.0], 0) == pytest.approx([0.5, 0.5])
    assert priorities([1.0, 1.0], 2) == pytest.approx([0.5, 0.5])


def test_snapshots_share_their_weight_beside_the_agents(tmp_path: Path) -> None:
    """Weights 3 and 2 of the agents and 5 of the snapshots, which share it as 1 to 4 by their win rates."""
    pool = PoolConfig(agents={"easy": 3.0, "lowest": 2.0}, snapshots=5, snapshot_weight=5.0)
    env = table(pool, tmp_path, 0)
    assert env.chances() == pytest.approx([0.6, 0.4])
    env = table(pool, tmp_path, 2)
    assert env.league is not None
    env.league.snapshots[0].win_rate, env.league.snapshots[1].win_rate = 0.6, 0.2
    assert env.chances() == pytest.approx([0.3, 0.2, 0.1, 0.4])
    assert env.facts() == pytest.approx(
        {
            "easy/chance": 0.3,
            "lowest/chance": 0.2,
            "snapshot-0/chance": 0.1,
            "snapshot-1/chance": 0.4,
            "snapshot-0/win_rate": 0.6,
            "snapshot-1/win_rate": 0.2,
        }
    )


def test_line_ups_are_functions_of_number_and_weights(tmp_path: Path) -> None:
    """The same deal with the same win rates has the same table; who is beaten more is met less."""
    env = table(PoolConfig(opponents=0.6, partners=0.2, snapshots=5), tmp_path, 2)
    assert env.league is not None
    numbers = np.arange(3000)
    even = env.owners(numbers)
    assert (even == 1).sum() / (even != LEARNER).sum() == pytest.approx(0.5, abs=0.04)
    env.league.snapshots[0].win_rate = 0.75
    odd = env.owners(numbers)
    assert (odd == 1).sum() / (odd != LEARNER).sum() == pytest.approx(0.8, abs=0.03)
    assert ((even == LEARNER) == (odd == LEARNER)).all()
    assert (env.owners(np.array([77, 5])) == odd[[77, 5]]).all()
    env.league.snapshots[0].win_rate = 0.5
    assert (env.owners(numbers) == even).all()


def test_only_deals_against_a_whole_team_say_who_wins(tmp_path: Path) -> None:
    """Two deals against snapshot 3, one won and one tied: from 0.5 by 1 - 0.9^2 of the way to 0.75."""
    env = table(PoolConfig(snapshots=5, result_rate=0.1), tmp_path, 2)
    league, me = env.league, LEARNER
    assert league is not None
    owners = np.array([[3, me, 3, me], [me, 3, me, 3], [3, me, me, me], [me] * 4, [2, me, 2, me]])
    rewards = np.array([[-1, 1, -1, 1], [0, 0, 0, 0], [9, -9, 9, -9], [9, -9, 9, -9], [2, -2, 2, -2]], np.float32)
    league.note(owners, rewards, 2)
    assert league.snapshots[1].win_rate == pytest.approx(0.5 + (1 - 0.9**2) * 0.25)
    assert league.snapshots[0].win_rate == pytest.approx(0.5 - 0.1 * 0.5)


def test_the_most_beaten_snapshot_makes_room_and_the_newest_never_does(tmp_path: Path) -> None:
    league = table(PoolConfig(snapshots=2), tmp_path, 2).league
    assert league is not None
    league.snapshots[0].win_rate, league.snapshots[1].win_rate = 0.4, 0.7
    league.add(tmp_path / "policy.safetensors", 2)
    assert [snapshot.deals for snapshot in league.snapshots] == [0, 2]
    league.snapshots[0].win_rate = league.snapshots[1].win_rate = 0.4
    league.add(tmp_path / "policy.safetensors", 3)
    assert [snapshot.deals for snapshot in league.snapshots] == [2, 3]


def test_snapshots_are_due_at_the_start_and_at_every_share(tmp_path: Path) -> None:
    league = League(PoolConfig(snapshots=9, snapshot_every=0.1))
    save_policy(tmp_path / "policy.safetensors", SelfPlayPPO(small()))
    taken = []
    for deals in range(0, 1000, 20):
        if league.is_due(deals, 1000):
            league.add(tmp_path / "policy.safetensors", deals)
            taken.append(deals)
    assert taken == list(range(0, 1000, 100))


def checkpoint_of(folder: Path) -> list[dict[str, Any]]:
    """What the checkpoint of a finished run says of its snapshots."""
    data = (folder / CHECKPOINT_FILE).read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    found: list[dict[str, Any]] = json.loads(header["__metadata__"]["spades_env"])["league"]
    return found


@pytest.mark.parametrize("named", [{}, {"agents": {"conservative": 1.0}}])
def test_an_interrupted_run_resumes_to_the_same_weights_and_win_rates(tmp_path: Path, named: dict[str, Any]) -> None:
    """Interrupted where a snapshot is taken, and where none is."""
    config = with_league(pool=POOL | named)
    train(config, tmp_path / "whole")
    whole = tmp_path / "whole" / "selfplay"
    states = checkpoint_of(whole)
    assert len(states) == 3
    assert states[-1]["deals"] == 64
    assert all(0 < state["win_rate"] < 1 for state in states)
    kept = {snapshot_file(whole / SNAPSHOTS_FOLDER, state["deals"]) for state in states}
    assert set((whole / SNAPSHOTS_FOLDER).iterdir()) == kept
    for stop in (32, 56):
        folder = tmp_path / str(stop)

        def stop_once(model: SelfPlayPPO, entry: Any, at: int = stop) -> None:
            if model.num_timesteps == at:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(Interrupted):
            train(config, folder, show=stop_once)
        train(config, folder, resume=True)
        assert weights(whole) == weights(folder / "selfplay")
        assert states == checkpoint_of(folder / "selfplay")


def test_a_run_killed_after_a_snapshot_made_room_finds_its_file(tmp_path: Path) -> None:
    """The last checkpoint still names the one that had gone from the tables when the run ended."""
    config = with_league(checkpoint_every=0.9)
    train(config, tmp_path / "whole")

    class Killed(Exception):
        pass

    def kill(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 72:
            raise Killed

    with pytest.raises(Killed):
        train(config, tmp_path / "parts", show=kill)
    train(config, tmp_path / "parts", resume=True)
    assert weights(tmp_path / "whole" / "selfplay") == weights(tmp_path / "parts" / "selfplay")


def test_a_table_without_agents_yet_is_self_play(tmp_path: Path) -> None:
    env = table(PoolConfig(opponents=1.0, snapshots=2), tmp_path, 0)
    assert (env.owners(np.arange(20)) == LEARNER).all()
    assert len(env.chances()) == 0


def test_snapshots_sit_at_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many at every collection as have been taken and kept; what was learned is another policy than without."""
    seen = []
    deal = PoolVecEnv.deal

    def spy(self: PoolVecEnv, first_game: int) -> None:
        deal(self, first_game)
        seen.append(len(self.agents))
        assert self._owners.max() < len(self.agents)

    monkeypatch.setattr(PoolVecEnv, "deal", spy)
    train(with_league(), tmp_path / "with")
    assert seen[-10:] == [1, 1, 2, 2, 3, 3, 3, 3, 3, 3]
    train(with_league(pool=None), tmp_path / "without")
    assert weights(tmp_path / "with" / "selfplay") != weights(tmp_path / "without" / "selfplay")


def test_a_snapshot_that_is_not_as_it_was_is_refused(tmp_path: Path) -> None:
    train(with_league(), tmp_path)
    folder = tmp_path / "selfplay" / SNAPSHOTS_FOLDER
    first, second, *_ = sorted(folder.iterdir())
    whole = first.read_bytes()
    first.write_bytes(whole[:-40] + bytes(byte ^ 1 for byte in whole[-40:]))
    with pytest.raises(AgentError, match="damaged"):
        train(with_league(), tmp_path, resume=True)
    shutil.copy(second, first)
    with pytest.raises(LeagueError, match="other weights than the checkpoint's"):
        train(with_league(), tmp_path, resume=True)
    first.unlink()
    with pytest.raises(AgentError, match="there is no file"):
        train(with_league(), tmp_path, resume=True)


def test_a_checkpoint_from_before_leagues_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = {"agents": {"lowest": 1.0}}
    model = SelfPlayPPO(small(pool=pool))
    dump = type(model.config).model_dump

    def old(self: Any) -> dict[str, Any]:
        data = dump(self)
        return data | {"pool": {name: value for name, value in data["pool"].items() if name not in LATER["pool"]}}

    with monkeypatch.context() as patch:
        patch.setattr(type(model.config), "model_dump", old)
        save_checkpoint(tmp_path / "old.safetensors", model, [])
    assert load_checkpoint(tmp_path / "old.safetensors", SelfPlayPPO(small(pool=pool))) == []
    with pytest.raises(CheckpointError, match="made with pool"):
        load_checkpoint(tmp_path / "old.safetensors", SelfPlayPPO(small(pool=pool | {"snapshots": 2})))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"pool": {"opponents": 0.5}}, r"pool.agents is empty; allowed without pool.snapshots: one agent or more"),
        ({"pool": {"snapshots": -1}}, r"pool.snapshots is -1"),
        ({"pool": {"snapshots": 2, "snapshot_every": 0.0}}, r"pool.snapshot_every is 0.0"),
        ({"pool": POOL, "ppo": {"games": 8, "shares": 2}}, r"ppo.shares is 2; allowed with pool.snapshots: 1"),
        ({"pool": POOL, "ppo": {"games": 8, "staleness": 1}}, r"ppo.staleness is 1; allowed with pool.snapshots: 0"),
        ({"pool": POOL, "ppo": {"games": 8, "learners": 2}}, r"ppo.learners is 2; allowed with pool.snapshots: 1"),
    ],
)
def test_leagues_that_make_no_sense_are_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        small(**changes)


def test_actors_do_not_know_a_league() -> None:
    with pytest.raises(ConfigError, match=r"pool.snapshots is 3; allowed with actors"):
        check_actors(with_league(), LOCAL, 2)
    check_actors(with_league(), LOCAL, 1)
