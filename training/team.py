"""Team: learners that share every gradient step, each in a process, and on a GPU, of its own (torch.distributed).

All hold the same weights and optimizer moments and see the same collection; each computes the gradient of every
`size`-th row of a minibatch, and the sum of these is what all of them step by. So the result is that of one learner up
to the order of additions.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
import torch.distributed as dist
from stable_baselines3.common.logger import Logger
from torch import Tensor, nn

from evaluation.work.processes import ProcessWorkers
from training.buffer import Choices
from training.config import TrainingConfig, config_from
from training.shares import PlayedShare, put_together

if TYPE_CHECKING:
    from training.selfplay import SelfPlayPPO

PATIENCE: Final = timedelta(minutes=10)
"""How long a learner waits for the others in a gradient step."""
LOST: Final = "a learner was lost; --resume goes on from the last checkpoint"

Loss = Callable[[Choices], tuple[Tensor, dict[str, Tensor]]]

_helper: SelfPlayPPO | None = None
"""In a helping process."""


class TeamError(ValueError):
    """A learner that was lost; the run goes on with --resume."""


class Member:
    """One of `size` learners."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def gradient(
        self, loss: Loss, parameters: Iterable[nn.Parameter], choices: Choices
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Give `parameters` the gradient of the mean `loss` of all rows; the loss, and parts of it for own rows."""
        own = Choices(*(field[self.rank :: self.size] for field in choices))
        share = len(own.actions) / len(choices.actions)
        value = torch.zeros(1, device=choices.actions.device)
        parts: dict[str, Tensor] = {}
        if share:
            total, parts = loss(own)
            (total * share).backward()
            value = (total.detach() * share).reshape(1)
        parameters = [parameter for parameter in parameters if parameter.requires_grad]
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = torch.cat([value, *(grad.reshape(-1) for grad in grads)])
        try:
            dist.all_reduce(flat)
        except RuntimeError as error:
            raise TeamError(LOST) from error
        at = 1
        for parameter in parameters:
            parameter.grad = flat[at : at + parameter.numel()].view_as(parameter)
            at += parameter.numel()
        return flat[0], parts

    def learn(self, model: SelfPlayPPO) -> None:
        """Make all steps over the last collection, together with the others."""
        model.update()


class Team(Member, AbstractContextManager["Team"]):
    """The first learner, and the processes of the others; leaving the context ends them."""

    def __init__(self, model: SelfPlayPPO) -> None:
        """`model`: as it stands before its first step here; the others begin with its state."""
        super().__init__(0, model.config.ppo.learners)
        self._exit = ExitStack()
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            self._others = [
                stack.enter_context(ProcessWorkers(1, _begin, (rank, model.config.model_dump(), str(folder))))
                for rank in range(1, self.size)
            ]
            # Imported here: checkpoints know the learner, who knows her team.
            from training.checkpoint import CHECKPOINT_FILE, save_checkpoint

            save_checkpoint(folder / CHECKPOINT_FILE, model, [])
            # Whoever cannot begin says so here, and nobody waits for her at the meeting.
            for future in [other.submit(_prepare) for other in self._others]:
                future.result()
            joined = [other.submit(_join) for other in self._others]
            _meet(0, self.size, folder, model.device)
            stack.callback(dist.destroy_process_group)
            for future in joined:
                future.result()
            self._exit = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def learn(self, model: SelfPlayPPO) -> None:
        """Let the others learn from the last collection, too; what went wrong there is raised here."""
        first, left = model.num_timesteps - model.env.games, model._current_progress_remaining
        try:
            told = [other.submit(_learn, first, model.last_shares, left) for other in self._others]
            model.update()
            for future in told:
                future.result()
        except BrokenExecutor as error:
            raise TeamError(LOST) from error


def _meet(rank: int, size: int, folder: Path, device: torch.device) -> None:
    """Join the others of the team, who all do this at the same time."""
    backend = "nccl" if device.type == "cuda" else "gloo"
    place = (folder / "meeting").as_uri()
    dist.init_process_group(backend, init_method=place, rank=rank, world_size=size, timeout=PATIENCE)


_place: tuple[int, TrainingConfig, Path] | None = None
"""In a helping process: its rank, the run's configuration, and where the team meets."""


def _begin(rank: int, config: dict[str, Any], folder: str) -> None:
    """In a helping process: remember what for."""
    global _place
    _place = rank, config_from(config, "the run's configuration"), Path(folder)


def _prepare() -> None:
    """In a helping process: be what the first learner is."""
    from training.checkpoint import CHECKPOINT_FILE, load_checkpoint
    from training.selfplay import SelfPlayPPO

    global _helper
    assert _place is not None
    rank, config, folder = _place
    torch.set_num_threads(config.learner_threads)
    _helper = SelfPlayPPO(config, rank=rank)
    _helper.set_logger(Logger(folder=None, output_formats=[]))
    load_checkpoint(folder / CHECKPOINT_FILE, _helper)


def _join() -> None:
    """In a helping process: meet the others."""
    assert _place is not None
    assert _helper is not None
    rank, config, folder = _place
    _meet(rank, config.ppo.learners, folder, _helper.device)
    _helper.team = Member(rank, config.ppo.learners)


def _learn(first: int, shares: list[PlayedShare], left: float) -> None:
    """In a helping process: make the same steps as the first learner, with other rows."""
    model = _helper
    assert model is not None
    model.rollout_buffer.reset()
    put_together(shares, first, model.env, model.rollout_buffer)
    rewards = model.env.rewards()
    model.rollout_buffer.finish_deals(rewards, model.env.luck(rewards))
    model.num_timesteps = first + model.env.games
    model._current_progress_remaining = left
    model.train()
