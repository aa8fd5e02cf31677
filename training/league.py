"""League: past policies of a run that sit at its tables, the rarer the more often the policy wins against them.

Prioritised fictitious self-play (Vinyals et al. 2019, "Grandmaster level in StarCraft II", Methods): a snapshot is
drawn with a chance in proportion to (1 - x)^p, where x is how often the policy wins against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.learned.policy import LearnedAgent, load_policy
from agents.learned.weights import content_digest, read_policy
from evaluation.report.shape import NUMBER
from training.pool import PoolConfig

SNAPSHOTS_FOLDER: Final = "snapshots"
"""In a run's folder."""
STATE_FORM: Final = {"deals": int, "win_rate": NUMBER, "sha256": str}
"""What a checkpoint says of a snapshot, whose weights are in a file of its own."""
AT_FIRST: Final = 0.5
"""Win rate against a snapshot that has just been taken: it is the policy itself."""
NEARLY: Final = 1e-9
"""Of a share of training, what rounding may take off."""

Floats = npt.NDArray[np.float64]


class LeagueError(ValueError):
    """A snapshot's file that is not what the checkpoint knows; the message names it."""


@dataclass
class Snapshot:
    """A past policy, greedy; `win_rate`: the policy's moving average of deals won against it, a tie is half a win."""

    deals: int
    agent: LearnedAgent
    digest: str
    win_rate: float = AT_FIRST


class League:
    """The snapshots of a run, the oldest first."""

    def __init__(self, pool: PoolConfig) -> None:
        self.pool = pool
        self.snapshots: list[Snapshot] = []

    @property
    def agents(self) -> tuple[LearnedAgent, ...]:
        """The snapshots as agents."""
        return tuple(snapshot.agent for snapshot in self.snapshots)

    def chances(self) -> Floats:
        """How likely each snapshot is, (snapshots,), where one is drawn."""
        return priorities([snapshot.win_rate for snapshot in self.snapshots], self.pool.hardness)

    def is_due(self, deals: int, whole: int) -> bool:
        """Whether a snapshot is to be taken after `deals` of `whole`: at the start, and at every share of training."""
        if not self.snapshots:
            return True
        passed, then = ((n / whole + NEARLY) // self.pool.snapshot_every for n in (deals, self.snapshots[-1].deals))
        return bool(passed > then)

    def add(self, file: Path, deals: int) -> None:
        """Take in the policy in `file`; where there are too many, the most often beaten goes, of equals the oldest."""
        self.snapshots.append(_read(file, deals))
        if len(self.snapshots) > self.pool.snapshots:
            self.snapshots.remove(max(self.snapshots[:-1], key=lambda snapshot: snapshot.win_rate))

    def note(self, owners: npt.NDArray[np.int64], rewards: npt.NDArray[np.float32], first: int) -> None:
        """Learn from finished deals who wins: `owners` and `rewards` (n, players), snapshots own from index `first` on.

        Deals count in which a snapshot had a whole team against the policy. All deals of a collection weigh the same:
        with n of them and mean result r, x moves to r by 1 - (1 - result_rate)^n of the way.
        """
        for index, snapshot in enumerate(self.snapshots, start=first):
            results = np.concatenate([_results(owners, rewards, index, team) for team in range(2)])
            if len(results):
                share = 1 - (1 - self.pool.result_rate) ** len(results)
                snapshot.win_rate += share * (float(results.mean()) - snapshot.win_rate)

    def state(self) -> list[dict[str, Any]]:
        """What a checkpoint keeps, of the form STATE_FORM."""
        return [{"deals": s.deals, "win_rate": s.win_rate, "sha256": s.digest} for s in self.snapshots]

    def forget_files(self, folder: Path) -> None:
        """Remove the files in `folder` of snapshots that are gone; for when a checkpoint no longer needs them."""
        kept = {snapshot_file(folder, snapshot.deals) for snapshot in self.snapshots}
        for file in folder.glob("policy-*.safetensors"):
            if file not in kept:
                file.unlink()


def priorities(win_rates: Sequence[float], hardness: float) -> Floats:
    """Chances in proportion to (1 - x)^hardness, (n,); equal where all of these are 0."""
    weights = (1 - np.array(win_rates, np.float64)) ** hardness
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / max(1, len(weights)))


def snapshot_file(folder: Path, deals: int) -> Path:
    """Where in the folder of snapshots the policy after so many deals lies."""
    return folder / f"policy-{deals}.safetensors"


def read_snapshots(folder: Path, states: Sequence[Mapping[str, Any]]) -> list[Snapshot]:
    """The snapshots that a checkpoint names; a file that is missing, damaged or another is refused with one line."""
    found = []
    for state in states:
        file = snapshot_file(folder, state["deals"])
        snapshot = _read(file, state["deals"])
        if snapshot.digest != state["sha256"]:
            raise LeagueError(f"snapshot {str(file)!r}: other weights than the checkpoint's; --resume needs those")
        if not 0 <= state["win_rate"] <= 1:
            raise LeagueError(f"snapshot {str(file)!r}: win_rate is {state['win_rate']}; allowed: 0 to 1")
        snapshot.win_rate = float(state["win_rate"])
        found.append(snapshot)
    return found


def _read(file: Path, deals: int) -> Snapshot:
    return Snapshot(deals, load_policy(file), content_digest({}, read_policy(file)[0]))


def _results(
    owners: npt.NDArray[np.int64], rewards: npt.NDArray[np.float32], index: int, team: int
) -> npt.NDArray[np.float64]:
    """Results of the other team where all seats of `team` are the agent's of this index: 1 won, 0.5 tied, 0 lost."""
    whole = (owners[:, team::2] == index).all(axis=1)
    return (np.sign(rewards[whole, 1 - team]).astype(np.float64) + 1) / 2
