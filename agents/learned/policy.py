"""`LearnedAgent`: a policy network as an agent; `load_policy` makes one from a file."""

from __future__ import annotations

import os

import numpy as np
import torch

from agents.base import ActionArray, AgentError, FloatArray, KeyArray, check_views
from agents.learned.network import PolicyNetwork
from agents.learned.sampling import sample_rows
from agents.learned.weights import read_policy
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.state import RULES, StateArray, rules_from_record, rules_to_record
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.flat import encode_views
from spades_env.rules import Rules
from spades_env.view import write_view_masks

MATCH_FIELDS = ("target", "mercy", "max_deals", "step", "dealers_left", "_pad")
"""Rules that a policy for single deals need not share with the table: when a match ends, and the mirror image."""
MATCH_RULES = ("target", "mercy", "max_deals", "turn_direction", "first_seat")
"""The same by their names in `Rules`."""
BLOCK = 256
"""Rows of every forward pass, padded with zeros: matrix products of one shape round the same in any batch."""
_SHARED_FIELDS = [name for name in RULES.names or () if name not in MATCH_FIELDS]


class LearnedAgent:
    """Plays the action of highest probability (`sample=False`) or draws one with the decision's key."""

    def __init__(self, network: PolicyNetwork, rules: Rules, *, name: str = "policy", sample: bool = False) -> None:
        self.name = name
        self.network = network.eval()
        self.rules = rules
        self.sample = sample
        self._record = rules_to_record(rules)[0]

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Actions for `views`, see `agents.base.Agent`; views under other rules than the policy's are refused."""
        check_views(views, keys)
        self._check_rules(views)
        actions = np.empty(len(views), np.int16)
        for start in range(0, len(views), BLOCK):
            rows = slice(start, start + BLOCK)
            actions[rows] = self._act(views[rows], keys[rows])
        return actions

    def _act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Actions for at most BLOCK views, padded to BLOCK rows."""
        logits = self._logits(views)
        if not self.sample:
            return logits.argmax(dim=1).numpy().astype(np.int16)
        actions = np.empty(len(views), np.int64)
        sample_rows(torch.softmax(logits, dim=1).numpy(), keys, actions)
        return actions.astype(np.int16)

    def chances(self, views: StateArray) -> FloatArray:
        """Chance of every action, see `agents.base.KnownPolicy`; 1 for one action unless she draws (`sample`)."""
        self._check_rules(views)
        chances = np.zeros((len(views), NUM_ACTIONS))
        for start in range(0, len(views), BLOCK):
            rows = slice(start, start + BLOCK)
            logits = self._logits(views[rows])
            if self.sample:
                chances[rows] = torch.softmax(logits, dim=1).numpy()
            else:
                chances[np.arange(start, start + len(logits)), logits.argmax(dim=1).numpy()] = 1.0
        return chances / chances.sum(axis=1, keepdims=True)

    def _logits(self, views: StateArray) -> torch.Tensor:
        """Logits, float32 (n, actions), for at most BLOCK views."""
        observations = np.zeros((BLOCK, FLAT_SIZE), np.uint8)
        masks = np.ones((BLOCK, NUM_ACTIONS), np.int8)
        encode_views(views, observations[: len(views)])
        write_view_masks(views, masks[: len(views)])
        with torch.inference_mode():
            logits: torch.Tensor = self.network(torch.from_numpy(observations), torch.from_numpy(masks).bool())[0]
        return logits[: len(views)]

    def _check_rules(self, views: StateArray) -> None:
        rules = views["known"]["rules"]
        for name in _SHARED_FIELDS:
            different = rules[name] != self._record[name]
            if different.any():
                raise AgentError(self._mismatch(rules_from_record(rules[different][0])))

    def _mismatch(self, table: Rules) -> str:
        """The rules in which the table differs from the policy's, by their names in `Rules`."""
        own, other = (
            ", ".join(
                f"{name} = {'none' if value is None else value}"
                for name, value in rules.to_dict().items()
                if name not in MATCH_RULES and getattr(self.rules, name) != getattr(table, name)
            )
            for rules in (self.rules, table)
        )
        return f"policy {self.name!r} was trained for {own} and cannot play with {other}"


def load_policy(path: str | os.PathLike[str], *, sample: bool = False) -> LearnedAgent:
    """The agent in a policy file or a run's folder; a damaged, foreign or outdated file is refused with one line."""
    network, description = read_policy(path)
    return LearnedAgent(network, description.rules, name=os.fspath(path), sample=sample)
