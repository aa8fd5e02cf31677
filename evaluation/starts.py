"""How the games of a job begin: single deals from 0:0, matches, and endings with both teams near the target."""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.engine.batch import DEFAULT_MAX_DEALS
from spades_env.engine.deal import start_deal
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import below, stream
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import Rules

FIRST_MATCH: Final = 1 << 30
"""Game number of the first match: matches and single deals of one seed never share cards."""
FIRST_ENDING: Final = 2 * FIRST_MATCH
"""Game number of the first ending: endings share no cards with the single deals and matches of one seed."""
MAX_GAMES: Final = FIRST_MATCH - 1
PURPOSE_SCORES: Final = 16
"""Of the engine's streams (spades_env.engine.rng): the scores and bags at which an ending begins."""
MOST_BAGS: Final = 9


def begin(
    kind: str, rules: Rules, seed: int, first: int, count: int, scores: tuple[int, int] | None = None
) -> StateArray:
    """Return games `first` to `first + count - 1` of a kind as STATE records, shape (count,), at their first decision.

    Matches that the rules let go on for ever are cut off after DEFAULT_MAX_DEALS deals.
    """
    if kind == "endings":
        assert scores is not None
        return begin_endings(rules_to_record(rules_of_matches(rules)), seed, first, count, scores)
    states: StateArray = np.zeros(count, STATE)
    if kind == "matches":
        rules, first = rules_of_matches(rules), FIRST_MATCH + first
    new_games(states, rules_to_record(rules), seed, first)
    return states


def rules_of_matches(rules: Rules) -> Rules:
    """Return the rules with an end to every match."""
    return rules if rules.max_deals is not None else rules.replace(max_deals=DEFAULT_MAX_DEALS)


def begin_endings(record: StateArray, seed: int, first: int, count: int, scores: tuple[int, int]) -> StateArray:
    """Return starts `first` to `first + count - 1` as STATE records, shape (count,), at the beginning of a deal.

    `record`: the rules, dtype RULES, shape (1,). Each team begins with a multiple of 10 from `scores` (lowest,
    highest) and 0 to 9 bags whose points come on top, all uniform and independent.
    """
    states: StateArray = np.zeros(count, STATE)
    new_games(states, record, seed, FIRST_ENDING + first)
    limit = int(record["bag_limit"][0])
    bags = MOST_BAGS if limit == 0 else min(MOST_BAGS, limit - 1)
    _draw_scores(states, scores[0] // 10, scores[1] // 10, bags)
    return states


@kernel
def _draw_scores(states: StateArray, low: int, high: int, most_bags: int) -> None:
    """Give both teams of every game 10 * (low..high) points and 0..most_bags bags, and start the deal with them."""
    for i in range(states.shape[0]):
        game = states[i]
        key = stream(game["key"], 0, 0, PURPOSE_SCORES)
        for team in range(2):
            bags = below(key, 2 * team, most_bags + 1)
            game["bags"][team] = bags
            game["scores"][team] = 10 * (low + below(key, 2 * team + 1, high - low + 1)) + bags
        start_deal(game)
