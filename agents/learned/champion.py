"""`ChampionAgent`: the trained policies shipped with the package, one for each family of rules. She does not search."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from agents.base import ActionArray, AgentError, FloatArray, ForeignRulesError, KeyArray
from agents.learned.policy import ALL_RENAMINGS, MATCH_RULES, LearnedAgent, load_policy
from agents.learned.weights import input_size, read_policy
from agents.rules.normal.agent import NormalAgent
from spades_env.engine.state import PHASE_BLIND, StateArray, rules_from_record
from spades_env.rules import Rules

FOLDER = Path(__file__).parent / "champion"


@cache
def shipped_policies(renamings: int = 1) -> tuple[LearnedAgent, ...]:
    """The policies in `FOLDER`, one for each set of rules; docs/champion.md says how they were trained.

    Files of the same rules, from runs of different seeds, decide together. `renamings`: see LearnedAgent.
    """
    together: dict[Rules, list[Path]] = {}
    for path, rules in shipped_files().items():
        together.setdefault(rules, []).append(path)
    return tuple(load_policy(paths, renamings=renamings) for paths in together.values())


@cache
def shipped_files() -> dict[Path, Rules]:
    """The policy files in `FOLDER` in the order of their names, and the rules of each."""
    files = {path: read_policy(path)[1].rules for path in sorted(FOLDER.glob("*.safetensors"))}
    if not files:
        raise AgentError(f"champion: {str(FOLDER)!r} holds no policies; install the package again")
    return files


def shipped_file(rules: Rules) -> Path:
    """The policy in `FOLDER` whose rules differ least from `rules`, of those that deal alike; AgentError for none.

    Of several the first by name.
    """
    known = shipped_files()
    alike = [path for path in known if input_size(known[path]) == input_size(rules)]
    if not alike:
        raise AgentError(f"champion: {str(FOLDER)!r} holds no policy for deal={rules.deal}")
    wanted = rules.to_dict().items()
    return max(alike, key=lambda path: len(wanted & known[path].to_dict().items()))


class ChampionAgent:
    """Plays every view by the policy that was trained for its rules; rules that none knows are refused.

    A blind nil, which the policies never met (they were trained at 0:0), is left to `normal`. `renamings`: under how
    many names of the side suits a net is asked (`LearnedAgent`).
    """

    def __init__(self, renamings: int = ALL_RENAMINGS) -> None:
        self._policies = shipped_policies(renamings)
        self.name = "champion" if renamings == ALL_RENAMINGS else f"champion:renamings={renamings}"
        self._blind = NormalAgent()

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) and `keys` (uint64), both of shape (n,)."""
        actions = np.empty(len(views), np.int16)
        blind = views["known"]["phase"] == PHASE_BLIND
        if blind.any():
            actions[blind] = self._blind.act(views[blind], keys[blind])
        left = ~blind
        for policy in self._policies:
            rows = left & policy.knows(views)
            if rows.any():
                actions[rows] = policy.act(views[rows], keys[rows])
                left &= ~rows
        if left.any():
            raise ForeignRulesError(self._unknown(views[left]))
        return actions

    def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """How likely a nil would be made, see `agents.base.NilForecaster`; of a blind nil `normal` says it."""
        chances = np.full(len(views), np.nan)
        blind = views["known"]["phase"] == PHASE_BLIND
        if blind.any():
            chances[blind] = self._blind.nil_chances(views[blind], keys[blind])
        for policy in self._policies:
            rows = ~blind & policy.knows(views)
            if rows.any():
                chances[rows] = policy.nil_chances(views[rows], keys[rows])
        return chances

    def policy_for(self, views: StateArray) -> LearnedAgent:
        """The policy for `views`, which are of one set of rules."""
        for policy in self._policies:
            if policy.knows(views).all():
                return policy
        raise ForeignRulesError(self._unknown(views))

    def _unknown(self, views: StateArray) -> str:
        table = rules_from_record(views["known"]["rules"][0]).to_dict()
        known = []
        for policy in self._policies:
            own = policy.rules.to_dict()
            differ = [f"{name}={own[name]}" for name in own if own[name] != table[name] and name not in MATCH_RULES]
            known.append(f"{policy.rules.preset_name or Path(policy.name).stem} ({', '.join(differ)})")
        return f"champion was not trained for these rules; allowed, and what differs: {'; '.join(known)}"
