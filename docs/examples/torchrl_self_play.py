"""Self-play with TorchRL, one policy for all four seats: `python docs/examples/torchrl_self_play.py`.

REINFORCE on single deals. All seats are one group of agents, so one network acts for them; in every step only the
seat to act counts (`mask`), and a deal's points come at its end, so every decision of a seat has the same return.

pip install torchrl
"""

from __future__ import annotations

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor

import spades_env
from spades_env.actions import NUM_ACTIONS

GROUP = "seats"


def make_env(seed: int | None = None, group_map: dict[str, list[str]] | None = None) -> PettingZooWrapper:
    """Single deals of `classic`; all four seats in one group unless `group_map` says otherwise."""
    env = spades_env.env("classic", episode="deal")
    return PettingZooWrapper(env, use_mask=True, group_map=group_map or {GROUP: env.possible_agents}, seed=seed)


def make_actor(env: PettingZooWrapper) -> ProbabilisticActor:
    """A small network whose illegal actions have probability 0."""
    size = env.observation_spec[GROUP, "observation", "observation"].shape[-1]
    net = nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, NUM_ACTIONS))
    return ProbabilisticActor(
        TensorDictModule(net, in_keys=[(GROUP, "observation", "observation")], out_keys=[(GROUP, "logits")]),
        in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "action_mask")},
        out_keys=[(GROUP, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(GROUP, "log_prob"),
        spec=env.full_action_spec_unbatched,
    )


def loss_of(deals: TensorDict, actor: ProbabilisticActor) -> torch.Tensor:
    """Policy-gradient loss of whole deals, one after the other: returns times log-probabilities of those to act."""
    acting = deals[GROUP, "mask"]
    log_probs = actor.get_dist(deals).log_prob(deals[GROUP, "action"])
    return -(deals["returns"] * log_probs)[acting].mean()


def play(env: PettingZooWrapper, actor: ProbabilisticActor, deals: int) -> TensorDict:
    """Whole deals, shape (steps,), with the return of each seat in `returns`, float32 (steps, 4)."""
    played = []
    with torch.no_grad():
        for _ in range(deals):
            deal = env.rollout(1000, actor)
            reward = deal["next", GROUP, "reward"].squeeze(-1)
            deal["returns"] = reward.sum(dim=0).expand_as(reward)
            played.append(deal)
    return torch.cat(played)


def main(updates: int = 20, deals: int = 8, seed: int = 1) -> list[float]:
    """Train; the loss of each update."""
    torch.manual_seed(seed)
    env = make_env(seed)
    actor = make_actor(env)
    optimizer = torch.optim.Adam(actor.parameters(), 1e-3)
    losses = []
    for update in range(updates):
        loss = loss_of(play(env, actor, deals), actor)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        print(f"update {update + 1}: {deals} deals, loss {losses[-1]:+.3f}")
    return losses


if __name__ == "__main__":
    main()
