"""PPO in one file on the native vector environment: `python docs/examples/ppo_vector.py` (extra `train`).

In the manner of CleanRL: everything that matters is here. South learns beside a beginner, against beginners. Under
`classic` she has fourteen decisions a deal, so games that start together end together, and fourteen steps of all
games are as many whole deals: no value is ever guessed for an unfinished one.
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import spades_env  # noqa: F401  registers the name
from agents.registry import load_agent
from evaluation.duplicate import evaluate
from spades_env.actions import NUM_ACTIONS
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.flat import encode_views_float32
from spades_env.view import write_view_masks

DECISIONS = 14
"""Of one seat in a deal: a bid and thirteen cards."""
EPOCHS, MINIBATCHES = 4, 8
LEARNING_RATE, CLIP, ENTROPY, VALUE, LAMBDA, GRADIENT = 1e-3, 0.2, 0.01, 0.5, 0.95, 0.5


class Net(nn.Module):
    """One trunk, a head for the actions and one for the value (in hundreds of points)."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(FLAT_SIZE, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        self.actions, self.value = nn.Linear(128, NUM_ACTIONS), nn.Linear(128, 1)
        nn.init.zeros_(self.actions.weight)  # at first every legal action is as likely

    def forward(self, seen: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Chances of the legal actions and values, for observations (n, size) and masks (n, 73)."""
        hidden = self.trunk(seen)
        logits = self.actions(hidden).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.value(hidden).squeeze(-1)


class NetAgent:
    """The net as an agent: her most likely legal action. She sees views, and so plays any seat."""

    name = "ppo"

    def __init__(self, net: Net) -> None:
        self.net = net

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        seen = np.empty((len(views), FLAT_SIZE), np.float32)
        masks = np.empty((len(views), NUM_ACTIONS), np.int8)
        encode_views_float32(views, seen)
        write_view_masks(views, masks)
        with torch.no_grad():
            chances, _ = self.net(torch.from_numpy(seen), torch.from_numpy(masks))
        return chances.logits.argmax(dim=1).numpy().astype(np.int16)


def advantages_of(rewards: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Generalised advantages (arXiv:1506.02438) of whole deals, all of shape (14, games)."""
    advantages = torch.zeros_like(values)
    later = torch.zeros_like(values[0])
    for t in reversed(range(DECISIONS)):
        following = values[t + 1] if t + 1 < DECISIONS else torch.zeros_like(values[t])
        later = advantages[t] = rewards[t] + following - values[t] + LAMBDA * later
    return advantages


def play_deals(
    envs: Any, net: Net, start: dict[str, np.ndarray]
) -> tuple[dict[str, torch.Tensor], dict[str, np.ndarray]]:
    """One deal in every game from `start`; what happened, (14, games, ...), and where the next deals start."""
    n, now = envs.num_envs, start
    told = {
        "seen": torch.empty(DECISIONS, n, FLAT_SIZE),
        "masks": torch.empty(DECISIONS, n, NUM_ACTIONS, dtype=torch.int8),
        "actions": torch.empty(DECISIONS, n, dtype=torch.int64),
        "log_probs": torch.empty(DECISIONS, n),
        "values": torch.empty(DECISIONS, n),
        "rewards": torch.empty(DECISIONS, n),
    }
    for t in range(DECISIONS):
        told["seen"][t] = torch.from_numpy(now["observation"])
        told["masks"][t] = torch.from_numpy(now["action_mask"])
        with torch.no_grad():
            chances, told["values"][t] = net(told["seen"][t], told["masks"][t])
        told["actions"][t] = action = chances.sample()
        told["log_probs"][t] = chances.log_prob(action)
        now, rewards, ended, _, _ = envs.step(action.numpy())
        told["rewards"][t] = torch.from_numpy(rewards)
        assert ended.all() == (t == DECISIONS - 1)
    return told, now


def learn(net: Net, optimizer: torch.optim.Optimizer, told: dict[str, torch.Tensor]) -> None:
    """A few epochs of clipped policy gradient and value regression on the deals just played."""
    advantages = advantages_of(told["rewards"], told["values"])
    flat = {name: array.flatten(0, 1) for name, array in told.items()}
    gains, returns = advantages.flatten(), (advantages + told["values"]).flatten()
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(gains)).chunk(MINIBATCHES):
            chances, values = net(flat["seen"][rows], flat["masks"][rows])
            gain = (gains[rows] - gains[rows].mean()) / (gains[rows].std() + 1e-8)
            ratio = (chances.log_prob(flat["actions"][rows]) - flat["log_probs"][rows]).exp()
            policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            value_loss = (values - returns[rows]).square().mean()
            loss = policy_loss + VALUE * value_loss - ENTROPY * chances.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), GRADIENT)
            optimizer.step()


def main(updates: int = 150, games: int = 512, judge_deals: int = 1000, seed: int = 1) -> tuple[float, float]:
    """Train, and return the margins per deal against `random` and `easy`, bags at -9 points."""
    torch.manual_seed(seed)
    easy = load_agent("easy")
    envs = gymnasium.make_vec("spades_env/Spades-v0", num_envs=games, episode="deal", partner=easy, opponents=easy)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), LEARNING_RATE)
    start, _ = envs.reset(seed=seed)
    began = time.perf_counter()
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - update / updates)
        told, start = play_deals(envs, net, start)
        learn(net, optimizer, told)
        if (update + 1) % 10 == 0 or update + 1 == updates:
            margin = 100 * float(told["rewards"].sum(dim=0).mean())
            seconds = time.perf_counter() - began
            print(
                f"update {update + 1}: {games * (update + 1):,} deals, {seconds:.0f} s, margin {margin:+.1f}",
                flush=True,
            )
    margins = []
    for opponent in ("random", "easy"):
        result = evaluate(NetAgent(net), opponent, deals=judge_deals, seed=seed)
        margins.append(result.margin.mean)
        print(f"against {opponent}: {result.margin.mean:+.1f} [{result.margin.low:+.1f}, {result.margin.high:+.1f}]")
    return margins[0], margins[1]


if __name__ == "__main__":
    main()
