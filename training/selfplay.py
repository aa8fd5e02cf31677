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
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from agents.learned.network import has_fast_bfloat16
from agents.learned.sampling import sample_rows, uniforms
from agents.registry import load_agent
from spades_env.actions import NIL
from training.buffer import Choices, DealBuffer
from training.config import TrainingConfig
from training.diagnostics import deal_summary
from training.line_ups import PoolVecEnv, ResponderVecEnv
from training.losses import Coefficients, minibatch_loss
from training.policy import SeatPolicy
from training.seats import SeatVecEnv, most_choices


class TrainingDiverged(ValueError):
    """The loss became NaN or infinite; the message says when."""


def _annealed(final: float, left: float) -> float:
    """A factor that falls from 1 to `final` as `left` falls from 1 to 0; the last collection may overshoot."""
    return final + (1 - final) * max(0.0, left)


def _table(config: TrainingConfig) -> SeatVecEnv:
    """The deals to learn from: all seats the policy's, some with a pool's agents, or one team's against an opponent."""
    games = config.rule_set(), config.ppo.games, config.seed, config.bag_price
    copies = config.ppo.copies
    if config.opponent is not None:
        return ResponderVecEnv(*games, load_agent(config.opponent), copies=copies)
    if config.pool is not None:
        agents = [load_agent(name) for name in config.pool.agents]
        return PoolVecEnv(*games, agents, config.pool, copies=copies)
    return SeatVecEnv(*games, copies=copies)


class SelfPlayPPO(MaskablePPO):
    """PPO in which one policy plays all seats, or those of one team, and each learns from what she saw and won."""

    policy: SeatPolicy
    rollout_buffer: DealBuffer
    env: SeatVecEnv

    def __init__(self, config: TrainingConfig, **kwargs: Any) -> None:
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
        super().__init__(
            SeatPolicy,
            _table(config),
            learning_rate=lambda left: ppo.learning_rate * _annealed(ppo.final_rate, left),
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
                "nil_head": config.nils is not None,
                "averaged": ppo.average_rate > 0,
            },
            seed=config.seed,
            device=config.device,
            **kwargs,
        )

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
        with self.timed("engine"):
            env.deal(self.num_timesteps)
            games = env.waiting()
        while len(games):
            self._choose_for(env, games, rollout_buffer)
            with self.timed("engine"):
                games = env.waiting()
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

    def _choose_for(self, env: SeatVecEnv, games: npt.NDArray[np.int64], buffer: DealBuffer) -> None:
        """One choice in each of `games`: observe, draw an action, remember it, play it."""
        with self.timed("engine"):
            observations, masks = env.observe(games)
            keys, is_bid, columns = env.keys(games), env.is_bid(games), env.columns(games)
        with self.timed("network"), torch.inference_mode():
            logits, values = self.policy.logits_and_values(
                torch.from_numpy(observations).to(self.device), torch.from_numpy(masks).to(self.device)
            )
            log_probs = torch.log_softmax(logits, dim=1).cpu()
        actions = np.empty(len(games), np.int64)
        sample_rows(log_probs.exp().numpy(), keys, actions)
        explored = self._explore(actions, masks, keys)
        chosen = log_probs.gather(1, torch.from_numpy(actions)[:, None]).squeeze(1).numpy()
        buffer.add_choices(columns, observations, masks, actions, chosen, values.cpu().numpy(), is_bid, explored)
        with self.timed("engine"):
            env.choose(games, actions)

    def _explore(
        self, actions: npt.NDArray[np.int64], masks: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.bool_]:
        """Replace some bids of 1 in `actions` by nil (see `ExploreConfig`); which were replaced."""
        explore = self.config.explore
        chance = explore.nil * max(0.0, 1 - self.progress / explore.until)
        weak = (actions == NIL + 1) & masks[:, NIL]
        if chance <= 0 or not weak.any():
            return np.zeros(len(keys), np.bool_)
        luck = np.empty(len(keys), np.float64)
        uniforms(keys, 1, luck)
        explored = weak & (luck < chance)
        actions[explored] = NIL
        return np.asarray(explored)

    def train(self) -> None:
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
        total, parts = self._loss(choices, now)
        if not torch.isfinite(total):
            raise TrainingDiverged(f"the loss is {float(total.detach())} after {self.num_timesteps} deals")
        self.policy.optimizer.zero_grad()
        total.backward()
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
