"""Sibling positions of the handed play cases: the same theme with other cards, each solved over all layouts.

    python tests/siblings.py --out tests/data/siblings.json

Deals are dealt, bid and played by simple bots with slips until a position of the theme comes up (sibling_themes.py).
It is kept if the exact verdicts (layouts.py) accept a card and reject one as the theme says, and if they stay the
same when a bag that stays on the sheet costs its part of the penalty. The file depends on `SEED` and the bots alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from case_positions import CASES, play_game, rules_of
from layouts import MATCH, solve, verdicts
from sibling_themes import (
    BAG_FEAR,
    COVER_NIL,
    DUCK_NIL,
    DUMP,
    MOST_LEFT,
    NIL_NO_RUFF,
    NO_BAGS,
    SURVIVE,
    THEMES,
    contract_of,
    holds,
    need_of,
    theme_of,
    tricks_left,
)

from agents.rules.easy import easy_action
from agents.rules.easy_bid import easy_bid
from agents.rules.extremes import LOW, extreme_card
from agents.rules.suit_odds import nil_hand
from spades_env.actions import FIRST_BID
from spades_env.cards import card_text, cards_of, hand_text
from spades_env.engine.kernel import kernel
from spades_env.engine.play import legal_cards
from spades_env.engine.rng import below, combine
from spades_env.engine.state import HIDDEN, PHASE_PLAY, STATE, StateArray, rules_to_record
from spades_env.engine.step import apply_action, new_games

SEED: Final = 20
PER_CASE: Final = 200
BAG_PRICE: Final = 10
"""What a bag that stays on the sheet costs later: a tenth of the penalty."""
AS_SCORED: Final = ("P07", "P08", "P09")
"""Themes about the bag rules themselves, where only what is scored counts."""
NOBODY: Final = -1


@kernel
def seat_for_nil(game: np.void, theme: int) -> int:
    """A seat weak enough to bid nil in a theme about one, the first from the first bidder; NOBODY if there is none."""
    if theme in (COVER_NIL, DUCK_NIL, DUMP, NIL_NO_RUFF):
        for k in range(4):
            seat = (int(game["first"]) + k) % 4
            if nil_hand(int(game["hands"][seat])):
                return seat
    return NOBODY


@kernel
def shy_team(theme: int, key: np.uint64) -> int:
    """The team that bids one or two and plays low until the end, so that setting it is worth little; or NOBODY.

    Else the theme of the tenth bag would hardly ever come up: a small contract still open, and winners to take it.
    """
    return below(key, 10, 2) if theme == BAG_FEAR else NOBODY


@kernel
def bid_and_vary(game: np.void, nil_seat: int, shy: int, key: np.uint64) -> None:
    """The bids: `easy`'s, or one more or less; nil for `nil_seat`, one or two for a shy team."""
    for k in range(4):
        seat = int(game["turn"])
        bid = min(13, max(1, easy_bid(game) + below(key, k, 3) - 1))
        if seat == nil_seat:
            bid = 0
        elif seat % 2 == shy:
            bid = 1 + below(key, k, 2)
        apply_action(game, FIRST_BID + bid)


@kernel
def dress(game: np.void, theme: int, key: np.uint64) -> None:
    """Scores and bags before the deal that suit `theme`, for the seat to act; the match is not at stake in others."""
    own = int(game["turn"]) % 2
    for team in range(2):
        game["scores"][team] = below(key, team, 301)
        game["bags"][team] = 0 if theme == NO_BAGS else below(key, 2 + team, 7)
    if theme in (BAG_FEAR, SURVIVE):
        game["bags"][own] = min(9, max(0, 9 + need_of(game, own)))
    if theme == SURVIVE:
        lowest = max(300, 500 - 10 * contract_of(game, 1 - own))
        game["scores"][1 - own] = lowest + below(key, 4, 500 - lowest)
        game["scores"][own] = 100 + below(key, 5, 251)


@kernel
def play_to_theme(game: np.void, theme: int, key: np.uint64) -> bool:
    """Bid and play a dealt `game` on until a position of `theme` comes up; False if none does."""
    nil_seat = seat_for_nil(game, theme)
    if nil_seat == NOBODY and theme in (COVER_NIL, DUCK_NIL, DUMP, NIL_NO_RUFF):
        return False
    shy = shy_team(theme, key)
    bid_and_vary(game, nil_seat, shy, key)
    slips = 0.2 * below(key, 8, 4)
    latest = MOST_LEFT - below(key, 9, 2)
    while int(game["phase"]) == PHASE_PLAY:
        here = combine(key, int(game["n_actions"]))
        if tricks_left(game) <= latest:
            dress(game, theme, here)
            if holds(game, theme):
                return True
        if int(game["turn"]) % 2 == shy:
            apply_action(game, extreme_card(legal_cards(game), LOW))
        else:
            apply_action(game, easy_action(game, HIDDEN, here, slips))
    return False


@kernel
def next_position(states: StateArray, rules: StateArray, theme: int, number: int) -> int:
    """Leave the next position of `theme` in `states[0]`; the number of its deal, at least `number`."""
    seed = SEED + theme
    while True:
        new_games(states, rules, seed, number)
        if play_to_theme(states[0], theme, combine(states[0]["key"], 1)):
            return number
        number += 1


def as_case(states: StateArray, rules: dict[str, Any]) -> dict[str, Any]:
    """The position in `states[0]` in the form of a handed case, without its verdicts."""
    game = states[0]
    dealt = [int(game["hands"][seat]) | int(game["played"][seat]) for seat in range(4)]
    plays = game["actions"][int(game["first_play"]) : int(game["n_actions"])]
    return {
        "rules": rules,
        "dealer": int(game["dealer"]),
        "first_leader": int(game["first"]),
        "deal": {str(seat): hand_text(dealt[seat]) for seat in range(4)},
        "bids": [int(bid) or "N" for bid in game["bids"]],
        "scores": game["scores"].tolist(),
        "bags": game["bags"].tolist(),
        "plays": " ".join(card_text(int(card)) for card in plays),
        "to_act": int(game["turn"]),
        "hand": hand_text(int(game["hands"][int(game["turn"])])),
    }


def judged(case: dict[str, Any], theme: str) -> dict[str, Any] | None:
    """`case` with the exact verdicts on its cards, or None if they do not make it a sibling of `theme`."""
    game = play_game(case)
    cards, values = solve(game)
    accept, reject = verdicts(cards, values)
    if not accept or not reject:
        return None
    right, wrong = theme_of(game.states, 0, list(THEMES).index(theme))
    if not set(accept) <= set(cards_of(right)) or not set(reject) <= set(cards_of(wrong)):
        return None
    if theme != "P09" and abs(values).max() >= MATCH:
        return None
    if theme not in AS_SCORED and verdicts(*solve(game, BAG_PRICE)) != (accept, reject):
        return None
    return case | {"accept": [card_text(card) for card in accept], "reject": [card_text(card) for card in reject]}


def siblings(theme: str) -> Iterator[dict[str, Any]]:
    """Siblings of the handed case `theme`, without end, in the form of handed cases."""
    overrides = dict(CASES[theme]["rules"])
    rules, states = rules_to_record(rules_of(overrides)), np.zeros(1, STATE)
    number, found = -1, 0
    while True:
        number = next_position(states, rules, list(THEMES).index(theme), number + 1)
        case = judged(as_case(states, overrides), theme)
        if case is not None:
            found += 1
            yield {"id": f"{theme}-{found:03}", "theme": theme} | case


def main() -> None:
    """Write the file, a line per position."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="file to write (JSON)")
    parser.add_argument("--per-case", type=int, default=PER_CASE, help=f"siblings of each case (default {PER_CASE})")
    arguments = parser.parse_args()
    lines = []
    for theme in THEMES:
        for _, case in zip(range(arguments.per_case), siblings(theme), strict=False):
            lines.append(json.dumps(case, separators=(",", ":")))
        print(f"{theme}: {len(lines)} in all", flush=True)
    arguments.out.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
