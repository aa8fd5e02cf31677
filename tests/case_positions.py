"""Handed cases as positions: what a case of tests/data/cases.json, or a sibling of one, says, as a view to act on.

A play case has its whole deal; the seat to act sees no more of it than any agent does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.base import Agent
from spades_env import Game, View
from spades_env.actions import FIRST_BID, action_text, bid_action
from spades_env.cards import card_text
from spades_env.engine.state import StateArray
from spades_env.rules import PRESETS, Rules

Case = Mapping[str, Any]

DATA: Final = Path(__file__).resolve().parent / "data"
CASES: Final[dict[str, Case]] = {
    case["id"]: case for case in json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
}
PLAY_IDS: Final = tuple(name for name, case in CASES.items() if case["kind"] == "play")
BIDDING_IDS: Final = tuple(name for name, case in CASES.items() if case["kind"] == "bidding")

KEY: Final = 20
"""Randomness of a bot in a handed case: one key, always the same."""
RELATIONS: Final = {"left opponent": 1, "partner": 2, "right opponent": 3}
"""How `bids_before` names another seat: the distance to it, clockwise."""


def rules_of(overrides: Mapping[str, Any]) -> Rules:
    """The rules of a case: `classic` with its `overrides`."""
    return PRESETS["classic"].replace(**overrides)


def bid_text(bid: int | str) -> str:
    """A case's bid as an action's text: 3, "N" for nil, "B" for blind nil."""
    return {"N": "nil", "B": "blind nil"}.get(str(bid)) or action_text(bid_action(int(bid)))


def play_game(case: Case) -> Game:
    """The game of a play case, or of a sibling, with the seat of `to_act` to act."""
    first = int(case["first_leader"])
    bids = [bid_text(case["bids"][(first + k) % 4]) for k in range(4)]
    game = Game.from_position(
        rules_of(case["rules"]),
        dealer=case["dealer"],
        hands=[case["deal"][str(seat)] for seat in range(4)],
        scores=case["scores"],
        bags=case["bags"],
        actions=[*bids, *case["plays"].split()],
    )
    assert game.first == first
    assert game.turn == case["to_act"]
    return game


def play_view(case: Case) -> View:
    """What the seat to act of a play case knows."""
    return play_game(case).view(case["to_act"])


def bidding_view(case: Case, overrides: Mapping[str, Any], seat: int = 0) -> View:
    """What `seat` knows when she bids in a bidding case; scores and bags are given for her own team first.

    The dealer follows from the bids before hers: who bid first sits behind the dealer (R5).
    """
    before = [text.rsplit(" ", 1) for text in case["bids_before"]]
    count = len(before)
    assert [RELATIONS[who] for who, _ in before] == [4 - count + k for k in range(count)], "not in turn order"
    own = seat % 2
    view = View.from_known(
        rules_of(overrides),
        seat=seat,
        dealer=(seat - count - 1) % 4,
        hand=case["hand"],
        actions=[bid_text("N" if bid == "nil" else bid) for _, bid in before],
        scores=[case["scores"][team ^ own] for team in (0, 1)],
        bags=[case["bags"][team ^ own] for team in (0, 1)],
    )
    assert (view.phase, view.turn) == ("bid", seat)
    return view


def choices(agent: Agent, views: Sequence[View]) -> list[int]:
    """What `agent` does in each of `views`, with the key of the handed cases."""
    rows: StateArray = np.concatenate([view.views for view in views])
    return [int(action) for action in agent.act(rows, np.full(len(views), KEY, np.uint64))]


def card_verdict(case: Case, card: int) -> str:
    """accept, reject or "none" for a card id in a play case or a sibling."""
    return verdict(case, card_text(card))


def bid_verdict(case: Case, action: int) -> str:
    """accept, reject or "none" for a bid, an action id, in a bidding case."""
    return verdict(case, "nil" if action == FIRST_BID else action - FIRST_BID)


def verdict(case: Case, choice: int | str) -> str:
    """The list in which `choice` stands; a choice in neither carries no verdict."""
    return next((name for name in ("accept", "reject") if choice in case[name]), "none")
