"""Learn an agent's choices from a dataset of her decisions (behaviour cloning) with PyTorch.

spades generate --agent normal --deals 2000 --out deals
python docs/examples/load_deals.py deals
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

from evaluation.dataset.read import Batch, Dataset, open_dataset
from spades_env.actions import NUM_ACTIONS

COLUMNS = ("observation", "mask", "action")
HELD_OUT = 0.1
"""Share of the deals, the last ones, that nothing is learned from."""


def scores(net: nn.Module, scales: torch.Tensor, batch: Batch) -> torch.Tensor:
    """A score for each action, float32 (n, 73), minus infinity where it is illegal."""
    observation = torch.from_numpy(batch["observation"].copy()) * scales
    return net(observation).masked_fill(~torch.from_numpy(batch["mask"]), -torch.inf)


def accuracy(net: nn.Module, scales: torch.Tensor, dataset: Dataset, first_deal: int) -> float:
    """Share of decisions with a choice, from `first_deal` on, in which the best score is the agent's action."""
    right = choices = 0
    with torch.no_grad():
        for batch in dataset.batches(columns=(*COLUMNS, "deal")):
            keep = (batch["deal"] >= first_deal) & (batch["mask"].sum(axis=1) > 1)
            rows = {name: values[keep] for name, values in batch.items()}
            right += int((scores(net, scales, rows).argmax(1).numpy() == rows["action"]).sum())
            choices += int(keep.sum())
    return right / choices


def main(folder: str | Path, epochs: int = 3) -> tuple[float, float]:
    """Train on the dataset in `folder`; the accuracy on held-out deals before and after."""
    torch.manual_seed(1)
    dataset = open_dataset(folder)
    scales = torch.from_numpy(dataset.scales)
    first_held_out = int(dataset.definition["deals"] * (1 - HELD_OUT))
    net = nn.Sequential(nn.Linear(len(scales), 256), nn.ReLU(), nn.Linear(256, NUM_ACTIONS))
    before = accuracy(net, scales, dataset, first_held_out)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(epochs):
        for batch in dataset.batches(512, columns=(*COLUMNS, "deal"), seed=epoch):
            keep = batch["deal"] < first_held_out
            rows = {name: values[keep] for name, values in batch.items()}
            target = torch.from_numpy(rows["action"]).long()
            loss = nn.functional.cross_entropy(scores(net, scales, rows), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    after = accuracy(net, scales, dataset, first_held_out)
    print(f"the agent's action is the best of the net's in {after:.1%} of choices, {before:.1%} before it learned")
    return before, after


if __name__ == "__main__":
    main(sys.argv[1])
