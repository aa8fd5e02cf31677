"""What the parameters of the OpenSpiel game stand for: rules, scores and bags before the deal, and who deals."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import yaml

from spades_env.engine.batch import default_bag_price
from spades_env.engine.state import MAX_ACTIONS, StateArray
from spades_env.envs.openspiel.dealing import Dealing
from spades_env.game.position import new_state, open_position
from spades_env.rules import Rules, RulesError, as_rules

DEFAULTS: Final = {
    "rules": "classic",
    "overrides": "",
    "dealer": -1,
    "score_0": 0,
    "score_1": 0,
    "bags_0": 0,
    "bags_1": 0,
    "bags_priced": True,
}
"""Parameters: rules, a preset or a .yaml file; overrides of its fields, "suits:2;ranks:4"; dealer, -1 drawn; score and
bag count of each team before the deal; whether a bag counts its share of the penalty (-9) or as scored."""


class Table:
    """The parameters, understood and checked; it never changes.

    Attributes:
        bag_price: points of a bag in the returns; NaN: as scored.
    """

    def __init__(self, parameters: dict[str, Any]) -> None:
        given = {**DEFAULTS, **parameters}
        self.rules = rules_of(given["rules"], given["overrides"])
        self.bag_price = default_bag_price(self.rules) if given["bags_priced"] else np.nan
        self.dealing = Dealing(self.rules, None if given["dealer"] == -1 else given["dealer"])
        self._scores, self._bags = (given["score_0"], given["score_1"]), (given["bags_0"], given["bags_1"])
        self._template = new_state(self.rules, 0, 0, 0)
        # Refuses an impossible dealer, scores or bags now.
        open_position(self._template, self.rules, dealer=self.dealing.dealer, scores=self._scores, bags=self._bags)

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        """The same table: a state is copied by copying what it holds."""
        return self

    def open(self, past: list[int]) -> StateArray:
        """The deal that the outcomes of chance have dealt, STATE of shape (1,)."""
        states, draft = self._template.copy(), self.rules.deal == "draft"
        open_position(
            states,
            self.rules,
            dealer=self.dealing.dealer_of(past),
            scores=self._scores,
            bags=self._bags,
            hands=None if draft else self.dealing.hands(past),
            pile=self.dealing.pile(past) if draft else None,
        )
        return states

    @property
    def most_decisions(self) -> int:
        """Decisions of a deal, at most: a bid and the cards, and before them calls, the draft and the exchange."""
        rules = self.rules
        if rules.deal == "draft":
            return MAX_ACTIONS
        return rules.players * (rules.hand_size + 1 + rules.blind_nil)

    @property
    def most_outcomes(self) -> int:
        """Outcomes of chance are below this."""
        return max(self.dealing.most_outcomes, max(self.dealing.pack) + 1 if self.rules.deal == "draft" else 0)

    @property
    def highest_margin(self) -> float:
        """A bound of a deal's margin: both teams at their extremes."""
        rules, seats = self.rules, self.rules.players // 2
        raw = np.isnan(self.bag_price)
        bag = abs(rules.bag_points) + rules.bag_penalty if raw else abs(self.bag_price)
        nil = max(rules.nil_value, rules.blind_nil_value)
        return float(2 * (seats * (10 * rules.hand_size + nil) + bag * (rules.hand_size + 1)))


def table_of(parameters: dict[str, Any]) -> Table:
    """The table of some parameters; the same one for the same parameters.

    OpenSpiel hands copies of a game around that have lost what Python kept in them, but not the parameters.
    """
    return _table(tuple(sorted(parameters.items())))


@cache
def _table(parameters: tuple[tuple[str, Any], ...]) -> Table:
    return Table(dict(parameters))


def rules_of(spec: str, overrides: str) -> Rules:
    """The rules of the parameters `rules` and `overrides`."""
    fields = {}
    for pair in filter(None, (part.strip() for part in overrides.split(";"))):
        name, colon, value = pair.partition(":")
        if not colon:
            raise RulesError(f"overrides has {pair!r}; allowed: FIELD:VALUE with ; between, as suits:2;ranks:4")
        try:
            fields[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise RulesError(f"overrides has {pair!r}; allowed: a plain value") from None
    return as_rules(spec).replace(**fields)
