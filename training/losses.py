"""The loss of one minibatch: clipped surrogate, value error, entropy, and what keeps rare bids alive."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from spades_env.actions import FIRST_BID
from training.buffer import Choices
from training.sections import ExploreConfig, PPOConfig

BID_PRIOR = (0.06, 0.12, 0.20, 0.22, 0.16, 0.10, 0.06, 0.03, 0.02, 0.01, 0.005, 0.005, 0.005, 0.005)
"""A rough spread of bids 0 (nil) to 13; only its tails matter, they must not die out."""


@dataclass
class Coefficients:
    """What changes over a run."""

    play_entropy: float
    bid_entropy: float


@dataclass
class Loss:
    """The total, with gradient, and parts for the log, without."""

    total: Tensor
    parts: dict[str, Tensor]


def minibatch_loss(
    logits: Tensor,
    values: Tensor,
    choices: Choices,
    ppo: PPOConfig,
    explore: ExploreConfig,
    now: Coefficients,
    anchor: Tensor | None = None,
) -> Loss:
    """Loss of `choices` under the policy's masked `logits` (B, 73) and `values` (B,).

    `anchor`: log-probabilities (B, 73) of the policy that it is held near to, as the magnet of Sokota et al. 2023.
    """
    log_probs = torch.log_softmax(logits, dim=1)
    chosen = log_probs.gather(1, choices.actions[:, None]).squeeze(1)
    entropy = -(log_probs.exp() * log_probs).sum(1)
    ratio = torch.exp(chosen - choices.old_log_prob)
    clipped = torch.clamp(ratio, 1 - ppo.clip, 1 + ppo.clip)
    surrogate = torch.min(ratio * choices.advantages, clipped * choices.advantages)

    weights = torch.where(choices.is_bid, ppo.bid_weight, choices.weights)
    entropy_weights = torch.where(choices.is_bid, now.bid_entropy, now.play_entropy) * weights
    policy_loss = -(weights * exploration_weights(choices, explore) * surrogate).mean()
    value_loss = (weights * (values - choices.returns) ** 2).mean()
    entropy_bonus = (entropy_weights * entropy).mean()
    prior = prior_cross_entropy(log_probs, choices)
    total = policy_loss + ppo.value_weight * value_loss - entropy_bonus + explore.prior_weight * ppo.bid_weight * prior
    distance = torch.zeros(()) if anchor is None else (weights * divergence(log_probs, anchor)).mean()
    total = total + ppo.anchor * distance
    with torch.no_grad():
        log_ratio = chosen - choices.old_log_prob
        parts = {
            "policy_loss": policy_loss,
            "value_error": value_loss,
            "entropy_bid": masked_mean(entropy, choices.is_bid),
            "entropy_play": masked_mean(entropy, ~choices.is_bid),
            "kl": (torch.exp(log_ratio) - 1 - log_ratio).mean(),
            "anchor_kl": distance,
            "clip_fraction": ((ratio - 1).abs() > ppo.clip).float().mean(),
        }
    return Loss(total, parts)


def exploration_weights(choices: Choices, explore: ExploreConfig) -> Tensor:
    """1 for the policy's own choices; explored bids have another weight, and a bad one none where it is dying out."""
    bad_luck = (choices.advantages < 0) & (choices.old_log_prob.exp() < explore.floor)
    forced = torch.where(bad_luck, 0.0, explore.weight)
    return torch.where(choices.explored, forced, 1.0)


def prior_cross_entropy(log_probs: Tensor, choices: Choices) -> Tensor:
    """Cross-entropy from `BID_PRIOR`, restricted to legal bids, to the policy; mean over all rows, 0 for plays."""
    bids = slice(FIRST_BID, FIRST_BID + len(BID_PRIOR))
    legal = choices.masks[:, bids]
    prior = torch.tensor(BID_PRIOR, device=log_probs.device) * legal
    prior = prior / prior.sum(1, keepdim=True).clamp_min(1e-9)
    # Illegal bids have prior 0 and a log-probability at the lowest float; left out, no overflow can reach the sum.
    cross = -(prior * torch.where(legal, log_probs[:, bids], 0.0)).sum(1)
    return torch.where(choices.is_bid, cross, 0.0).mean()


def divergence(log_probs: Tensor, others: Tensor) -> Tensor:
    """Kullback-Leibler divergence (B,) of a policy from another with the same masks, both as log-probabilities."""
    # Illegal actions have the lowest float in both, and a probability of exactly 0.
    probs = log_probs.exp()
    return (probs * torch.where(probs > 0, log_probs - others, 0.0)).sum(1)


def masked_mean(values: Tensor, rows: Tensor) -> Tensor:
    """Mean of `values` over `rows`, 0 if there are none."""
    return (values * rows).sum() / rows.sum().clamp_min(1)
