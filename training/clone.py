"""Cloner: supervised warm start. A teacher plays all seats, and the policy learns her choices and the deals' results.

The deals are made as they are needed, so nothing is stored and no decision is seen twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.base import decision_keys
from agents.learned.sampling import uniforms
from agents.registry import load_agent
from spades_env.engine.lockstep import random_choices
from spades_env.envs.players import choose
from spades_env.view import empty_views, views_to_act
from training.buffer import Choices, DealBuffer
from training.config import TrainingConfig
from training.losses import Coefficients, masked_mean
from training.seats import SeatVecEnv
from training.selfplay import SelfPlayPPO

RANDOM_DRAW = 11
"""Which number of a decision's stream decides whether a card is played at random."""


class Cloner(SelfPlayPPO):
    """Learns by cross-entropy to the teacher's choices and by the squared error of values."""

    def __init__(self, config: TrainingConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        assert config.clone is not None
        self.teacher = load_agent(config.clone.teacher)
        self._views = empty_views(self.env.games)
        self._keys = np.zeros(self.env.games, np.uint64)

    def _choose_for(self, env: SeatVecEnv, games: npt.NDArray[np.int64], buffer: DealBuffer) -> None:
        """Remember the teacher's choice in each of `games`, and play it, or now and then a random card."""
        assert self.config.clone is not None
        n = len(games)
        with self.timed("engine"):
            observations, masks = env.observe(games)
            states, views, keys = env.states[games], self._views[:n], self._keys[:n]
            views_to_act(states, views)
            decision_keys(states, keys)
            is_bid = env.is_bid(games)
            actions = choose(self.teacher, views, keys).astype(np.int64)
            none = np.zeros(n, np.float32)
            buffer.add_choices(env.columns(games), observations, masks, actions, none, none, is_bid, is_bid & False)
            anything, luck = np.empty(n, np.int16), np.empty(n)
            random_choices(states, keys, anything)
            uniforms(keys, RANDOM_DRAW, luck)
            # Bids stay the teacher's: a random one would spoil what the whole deal has to teach.
            random = (luck < self.config.clone.random) & ~is_bid
            env.choose(games, np.where(random, anything, actions))

    def _loss(self, choices: Choices, now: Coefficients) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        logits, values = self.policy.logits_and_values(choices.observations, choices.masks)
        log_probs = torch.log_softmax(logits, dim=1)
        chosen = log_probs.gather(1, choices.actions[:, None]).squeeze(1)
        weights = torch.where(choices.is_bid, self.config.ppo.bid_weight, 1.0)
        value_error = (weights * (values - choices.returns) ** 2).mean()
        right = (logits.argmax(1) == choices.actions).float()
        parts = {
            "cross_entropy": -chosen.mean(),
            "value_error": value_error,
            "agreement_bid": masked_mean(right, choices.is_bid),
            "agreement_play": masked_mean(right, ~choices.is_bid),
        }
        return -(weights * chosen).mean() + self.config.ppo.value_weight * value_error, parts
