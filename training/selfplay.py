"""SelfPlayPPO: sb3-contrib's MaskablePPO with whole-deal collection and a trajectory for every seat.

The stock loop pairs one seat's observation with whatever reward and next value the following step brings, which in a
turn game belong to other seats. Here each seat's choices form her own column (see `buffer.py`). One timestep of
stable-baselines3's counters is one deal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from agents.learned.network import has_fast_bfloat16
from training.apart import Apart, Facts
from training.buffer import Choices, DealBuffer
from training.choosing import draw, explorer, judge
from training.config import TrainingConfig
from training.diagnostics import deal_summary
from training.losses import Coefficients, minibatch_loss
from training.players import LocalPlayers, Players
from training.policy import SeatPolicy
from training.seats import SeatVecEnv, most_choices
from training.shares import PlayedShare
from training.tables import make_table

if TYPE_CHECKING:
    from training.team import Member


class TrainingDiverged(ValueError):
    """The loss became NaN or infinite; the message says when."""


def _annealed(final: float, left: float) -> float:
    """A factor that falls from 1 to `final` as `left` falls from 1 to 0; the last collection may overshoot."""
    return final + (1 - final) * max(0.0, left)


class SelfPlayPPO(MaskablePPO):
    """PPO in which one policy plays all seats, or those of one team, and each learns from what she saw and won."""

    policy: SeatPolicy
    rollout_buffer: DealBuffer
    env: SeatVecEnv

    def __init__(self, config: TrainingConfig, rank: int = 0, *, nil_head: bool = False, **kwargs: Any) -> None:
        """`rank`: which of `ppo.learners` this is. `nil_head`: whether to keep one that is not learned."""
        rules = config.rule_set()
        ppo = config.ppo
        precision = config.network.precision
        if precision == "auto":
            precision = "bfloat16" if config.device == "cpu" and has_fast_bfloat16() else "float32"
        self.config = config
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.last_deals: dict[str, float] = {}
        self.choices_made = 0
        self.decisions_made = 0
        self.last_collection: Facts = {}
        self.rate_factor = 1.0
        """Of the learning rate; less once the run has gone back to earlier weights."""
        super().__init__(
            SeatPolicy,
            make_table(config, ppo.games),
            learning_rate=lambda left: self.rate_factor * ppo.learning_rate * _annealed(ppo.final_rate, left),
            n_steps=most_choices(rules),
            batch_size=ppo.minibatch,
            n_epochs=ppo.epochs,
            gamma=1.0,
            gae_lambda=ppo.gae_lambda,
            clip_range=ppo.clip,
            rollout_buffer_class=DealBuffer,
            policy_kwargs={
                "hidden": config.network.hidden,
                "precision": precision,
                "nil_head": nil_head or config.nils is not None,
                "averaged": ppo.average_rate > 0,
            },
            seed=config.seed,
            device=f"cuda:{rank}" if ppo.learners > 1 and config.device == "cuda" else config.device,
            **kwargs,
        )
        self.team: Member | None = None
        self.last_shares: list[PlayedShare] = []
        self.apart: Apart | None = None
        if ppo.shares > 1 or ppo.staleness > 0 or ppo.learners > 1:
            self.let_play(LocalPlayers(config, precision))

    def let_play(self, players: Players) -> None:
        """Have all deals from now on played by `players`."""
        before = self.apart
        self.apart = Apart(self.config, players, before.behind if before else None)
        self.apart.renewed = before is not None and before.renewed

    @property
    def progress(self) -> float:
        """Share of the deals already learned from."""
        return self.num_timesteps / self.config.deals

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of the block to `seconds[part]`."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[part] += perf_counter() - start

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play one whole deal in every game of `env` and fill `rollout_buffer` with each seat's choices."""
        assert isinstance(env, SeatVecEnv)
        assert isinstance(rollout_buffer, DealBuffer)
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        callback.update_locals(locals())
        if not callback.on_step():
            return False
        rollout_buffer.reset()
        if self.apart is None:
            self._play(env, rollout_buffer)
        else:
            self._have_played(self.apart, env, rollout_buffer)
        rewards = env.rewards()
        rollout_buffer.finish_deals(rewards, env.luck(rewards))
        self.num_timesteps += env.games
        self.decisions_made += int(env.states["n_actions"].sum())
        self.choices_made += int(rollout_buffer.counts.sum())
        self.last_deals = deal_summary(env.states)
        for name, value in self.last_deals.items():
            self.logger.record(f"deals/{name}", value)
        callback.on_rollout_end()
        return True

    def _play(self, env: SeatVecEnv, buffer: DealBuffer) -> None:
        """Play the next deals in this process, all of them in lock-step."""
        with self.timed("engine"):
            env.deal(self.num_timesteps)
            games = env.waiting()
        while len(games):
            self._choose_for(env, games, buffer)
            with self.timed("engine"):
                games = env.waiting()

    def _have_played(self, apart: Apart, env: SeatVecEnv, buffer: DealBuffer) -> None:
        """Have the next deals played in shares."""
        begun = perf_counter()
        found, self.last_collection = apart.collect(self.num_timesteps, self.policy, env, buffer)
        self.last_shares = found.shares
        spent = perf_counter() - begun - found.waited
        if apart.players.here:
            network = sum(share.network for share in found.shares)
            self.seconds["network"] += network
            spent -= network
        self.seconds["engine"] += spent
        self.seconds["waiting"] += found.waited
        for name, value in self.last_collection.items():
            self.logger.record(f"collection/{name}", value)

    def _choose_for(self, env: SeatVecEnv, games: npt.NDArray[np.int64], buffer: DealBuffer) -> None:
        """One choice in each of `games`: observe, draw an action, remember it, play it."""
        with self.timed("engine"):
            observations, masks = env.observe(games)
            keys, is_bid, columns = env.keys(games), env.is_bid(games), env.columns(games)
        with self.timed("network"):
            log_probs, values = judge(self.policy.logits_and_values, observations, masks, self.device)
        drawn = draw(log_probs, masks, keys, explorer(self.config, self.progress))
        buffer.add_choices(columns, observations, masks, drawn.actions, drawn.log_probs, values, is_bid, drawn.explored)
        with self.timed("engine"):
            env.choose(games, drawn.actions)

    def train(self) -> None:
        """Learn from the last collection, alone or together with others."""
        if self.team is None:
            self.update()
        else:
            self.team.learn(self)

    def update(self) -> None:
        """`epochs` passes over the choices of the last collection."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        ppo = self.config.ppo
        share = _annealed(ppo.final_entropy, self._current_progress_remaining)
        now = Coefficients(ppo.play_entropy * share, ppo.bid_entropy * share)
        sums: defaultdict[str, float] = defaultdict(float)
        steps = 0
        with self.timed("network"):
            for epoch in range(self.n_epochs):
                rng = np.random.default_rng([self.config.seed, self.num_timesteps, epoch])
                for choices in self.rollout_buffer.minibatches(ppo.minibatch, rng, ppo.sure, ppo.sure_share):
                    for name, value in self._gradient_step(choices, now).items():
                        sums[name] += float(value.detach())
                    steps += 1
        self.policy.move_average(ppo.average_rate)
        self._n_updates += self.n_epochs
        for name, total in sums.items():
            self.logger.record(f"train/{name}", total / steps)

    def _gradient_step(self, choices: Choices, now: Coefficients) -> dict[str, torch.Tensor]:
        self.policy.optimizer.zero_grad()
        if self.team is None:
            total, parts = self._loss(choices, now)
            total.backward()
        else:
            total, parts = self.team.gradient(lambda own: self._loss(own, now), self.policy.parameters(), choices)
        if not torch.isfinite(total):
            raise TrainingDiverged(f"the loss is {float(total.detach())} after {self.num_timesteps} deals")
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.ppo.max_grad_norm)
        self.policy.optimizer.step()
        return parts

    def _loss(self, choices: Choices, now: Coefficients) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The loss of a minibatch, and its parts for the log."""
        logits, values = self.policy.logits_and_values(choices.observations, choices.masks)
        ppo = self.config.ppo
        anchor = self.policy.average_log_probs(choices.observations, choices.masks) if ppo.anchor > 0 else None
        loss = minibatch_loss(logits, values, choices, ppo, self.config.explore, now, anchor)
        return loss.total, loss.parts
