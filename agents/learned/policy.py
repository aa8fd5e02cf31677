"""`LearnedAgent`: a policy network as an agent; `load_policy` makes one from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from agents.base import ActionArray, AgentError, FloatArray, ForeignRulesError, KeyArray, check_views
from agents.learned.forward import OUTPUTS, Floats, make_net, new_scratch, write_outputs
from agents.learned.sampling import sample_rows
from agents.learned.weights import Tensors, input_size, read_policy
from spades_env.actions import NUM_ACTIONS
from spades_env.checks import whole_number
from spades_env.engine.state import RULES, StateArray, rules_from_record, rules_to_record
from spades_env.observation.symmetry import SUIT_PERMUTATIONS, symmetries
from spades_env.rules import Rules

ALL_RENAMINGS = len(SUIT_PERMUTATIONS)
"""Of the side suits: under so many names a net can be asked about a view."""
MATCH_FIELDS = ("target", "mercy", "max_deals", "step", "dealers_left", "_pad")
"""Rules that a policy for single deals need not share with the table: when a match ends, and the mirror image."""
MATCH_RULES = ("target", "mercy", "max_deals", "turn_direction", "first_seat")
"""The same by their names in `Rules`."""
_SHARED_FIELDS = [name for name in RULES.names or () if name not in MATCH_FIELDS]


class LearnedAgent:
    """Plays the action of highest probability (`sample=False`) or draws one with the decision's key.

    `tensors`: of one policy, or of several with the same layers and heads that decide together. The side suits are
    interchangeable, but a net knows that only as far as it has learned it. With `renamings` above 1 it is asked about
    so many names of them, 6 at most and no more than the rules allow (with jokers 2). The mean of all answers counts:
    of the logits, which is the geometric mean of the chances. It takes as many times as long.
    """

    def __init__(
        self,
        tensors: Tensors | Sequence[Tensors],
        rules: Rules,
        *,
        name: str = "policy",
        sample: bool = False,
        knows_match: bool = False,
        renamings: int = 1,
    ) -> None:
        self.name = name
        self.rules = rules
        self.sample = sample
        self.net = make_net(
            [tensors] if isinstance(tensors, Mapping) else tensors,
            input_size(rules),
            knows_match=knows_match,
            max_deals=rules.max_deals or 0,
            renamings=symmetries(rules)[: whole_number("renamings", renamings, 1, ALL_RENAMINGS, AgentError)],
        )
        self._record = rules_to_record(rules)[0]

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Actions for `views`, see `agents.base.Agent`; views under other rules than the policy's are refused."""
        check_views(views, keys)
        logits = self.outputs(views)[:, :NUM_ACTIONS]
        if not self.sample:
            return logits.argmax(axis=1).astype(np.int16)
        actions = np.empty(len(views), np.int64)
        sample_rows(softmax(logits), keys, actions)
        return actions.astype(np.int16)

    def chances(self, views: StateArray) -> FloatArray:
        """Chance of every action, see `agents.base.KnownPolicy`; 1 for one action unless she draws (`sample`)."""
        logits = self.outputs(views)[:, :NUM_ACTIONS]
        if self.sample:
            chances = softmax(logits).astype(np.float64)
            return np.asarray(chances / chances.sum(axis=1, keepdims=True))
        chances = np.zeros((len(views), NUM_ACTIONS))
        chances[np.arange(len(views)), logits.argmax(axis=1)] = 1.0
        return chances

    def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """How likely a nil would be made, see `agents.base.NilForecaster`; NaN for a policy without a nil head."""
        check_views(views, keys)
        outputs = self.outputs(views)
        if outputs.shape[1] == OUTPUTS:
            return np.full(len(views), np.nan)
        return np.asarray(1 / (1 + np.exp(-outputs[:, OUTPUTS].astype(np.float64))))

    def outputs(self, views: StateArray) -> Floats:
        """Masked logits, the value to the mover's team, the nil head's logit if any: (n, 74 or 75).

        The value is in hundreds of points, of a policy trained with `match` in their like (docs/training.md).
        """
        self._check_rules(views)
        out = np.empty((len(views), self.net.sizes[-1]), np.float32)
        write_outputs(self.net, views.copy(), new_scratch(self.net), out)
        return out

    def knows(self, views: StateArray) -> npt.NDArray[np.bool_]:
        """For each of `views` whether it is of rules that the policy plays, bool (n,)."""
        rules = views["known"]["rules"]
        return np.logical_and.reduce([rules[name] == self._record[name] for name in _SHARED_FIELDS])

    def _check_rules(self, views: StateArray) -> None:
        foreign = ~self.knows(views)
        if foreign.any():
            raise ForeignRulesError(self._mismatch(rules_from_record(views["known"]["rules"][foreign][0])))

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


def softmax(logits: Floats) -> Floats:
    """Probabilities, float32 (n, actions), exactly 0 for illegal actions."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)


def load_policy(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, sample: bool = False, renamings: int = 1
) -> LearnedAgent:
    """The agent in a policy file or a run's folder, or in several, which decide together.

    A damaged, foreign or outdated file is refused with one line, and so are policies of different rules.
    """
    paths = [os.fspath(path)] if isinstance(path, str | os.PathLike) else [os.fspath(each) for each in path]
    policies = [read_policy(path) for path in paths]
    first = policies[0][1]
    for other, (_, description) in zip(paths, policies, strict=True):
        if (description.rules, description.knows_match) != (first.rules, first.knows_match):
            raise AgentError(
                f"policies {paths[0]!r} and {other!r} cannot decide together; allowed: of the same rules, and all "
                "trained with match or none"
            )
    name = "+".join(paths) + (f":renamings={renamings}" if renamings != 1 else "")
    try:
        return LearnedAgent(
            [tensors for tensors, _ in policies],
            first.rules,
            name=name,
            sample=sample,
            knows_match=first.knows_match,
            renamings=renamings,
        )
    except ValueError as error:
        raise AgentError(f"{name}: {error}") from None
