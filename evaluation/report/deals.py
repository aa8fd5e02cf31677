"""Recorded deals as plain values to step through: after every action the engine says how the deal stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.report.model import Block, Deals, Section
from evaluation.report.read import Source
from evaluation.text import unique
from spades_env.cards import card_text
from spades_env.game import Game
from spades_env.render.ansi import bid_text, seat_name, team_need

Record = dict[str, Any]


def deals_section(sources: Sequence[Source], most: int) -> Section:
    """Return the section of all records; `most`, how many deals a report holds, is said where it holds fewer."""
    deals: list[dict[str, Any]] = []
    for source in sources:
        for number, record in enumerate(source.data["records"], 1):
            deals.append(deal_values(record, f"{source.name}, line {number}"))
    total = sum(source.data["count"] for source in sources)
    note = f"{len(deals)} of {total:,} recorded deals; this report was to hold {most} at most." if total > most else ""
    blocks: list[Block] = [Deals(deals, note)] if deals else []
    return Section("deals", "Sample deals", blocks)


def deal_values(record: Record, source: str) -> dict[str, Any]:
    """Return a checked record of a deal for the viewer and the tables.

    `steps`: [seat, "call" or "play", text] of every action; of a draft those after it, all before is told in `notes`.
    `stands`: how the deal stands before the first step and after each: `bids` as text and `tricks` by seat, `need`
    (tricks that the contract still wants) and `bags` by team, `broken`. `winners`: the seat that took each trick.
    """
    game = Game.from_record(record, actions=0)
    seats = range(game.players)
    actions, notes = _before_the_bids(record, game)
    values: dict[str, Any] = {
        "source": source,
        "title": _title(record),
        "rules": record["preset"] or "own rules",
        "seats": [seat_name(game.rules, seat) for seat in seats],
        "names": list(record.get("players", [""] * game.players))[: game.players],
        "dealer": game.dealer,
        "scores": list(record["scores"]),
        "bags_before": list(record["bags"]),
        "hands": [[card_text(card) for card in sorted(hand, reverse=True)] for hand in game.hands],
        "notes": notes,
        "steps": [],
        "stands": [_stand(game)],
        "winners": [],
        "outcome": _outcome(record),
    }
    for seat, text in actions:
        kind = "play" if game.phase == "play" else "call"
        before = game.tricks
        game.apply(text)
        values["steps"].append([seat, kind, text])
        values["stands"].append(_stand(game))
        values["winners"] += [other for other in seats if game.tricks[other] > before[other]]
    return values


def _title(record: Record) -> str:
    """Return which deal it is, and who played whom where names are given."""
    where = f"match {record['match'] + 1}, deal {record['deal'] + 1}"
    if "game" in record:
        where = f"game {record['game']}" + (f", {where}" if record["match"] or record["deal"] else "")
    names = record.get("players")
    if not names:
        return where
    return f"{' & '.join(unique(names[0::2]))} v {' & '.join(unique(names[1::2]))}, {where}"


def _before_the_bids(record: Record, game: Game) -> tuple[list[list[Any]], list[str]]:
    """Play the draft and its exchanges, if there are any; the actions that are left, and what was done so far."""
    actions: list[list[Any]] = list(record["actions"])
    notes: list[str] = []
    if game.rules.deal != "draft":
        return actions, notes
    while actions and game.phase not in ("bid", "play"):
        seat, text = actions.pop(0)
        shown = game.view(seat).shown
        card = "" if shown is None else f" {card_text(shown)}" if text == "keep" else f", {card_text(shown)} away"
        notes.append(f"{seat_name(game.rules, seat)}: {text}{card}")
        game.apply(text)
    notes += [f"{seat_name(game.rules, seat)} drew {cards or 'nothing'}" for seat, cards in record.get("drawn", ())]
    return actions, notes


def _stand(game: Game) -> dict[str, Any]:
    teams = range(2)
    return {
        "bids": [bid_text(game, seat) for seat in range(game.players)],
        "tricks": game.tricks[: game.players],
        "need": [team_need(game, team) for team in teams],
        "bags": [bags_so_far(game, team) for team in teams],
        "broken": game.broken,
    }


def bags_so_far(game: Game, team: int) -> int:
    """Return the bags that the tricks taken so far make, whatever is taken later (R18, R20 and the further options)."""
    rules, tricks = game.rules, game.tricks
    seats = range(team, game.players, 2)
    bids = {seat: game.bids[seat] or 0 for seat in seats}
    bidders = [seat for seat in seats if bids[seat]]
    nil_tricks = sum(tricks[seat] for seat in seats if game.bids[seat] == 0)
    if not bidders and len(seats) == 2 and rules.both_nil == "unit":
        return 0
    if rules.contract == "individual":
        surplus = sum(max(0, tricks[seat] - bids[seat]) for seat in bidders)
    else:
        helped = nil_tricks if rules.failed_nil == "help_partner" and bidders else 0
        counted = sum(tricks[seat] for seat in bidders) + helped
        surplus = max(0, counted - sum(bids.values())) if bidders else 0
    failed = rules.failed_nil == "bags_only" or (rules.failed_nil == "help_partner" and not bidders)
    return surplus + (nil_tricks if failed else 0)


def _outcome(record: Record) -> dict[str, Any] | None:
    """Return what the deal came to with the points of each team added up, or None while it is not over."""
    told = record["outcome"]
    if told is None:
        return None
    parts = ("contract", "nil", "bag_points", "penalty")
    return {
        "result": [{**part, "points": sum(part[name] for name in parts)} for part in told["result"]],
        "scores": told["scores"],
        "bags": told["bags"],
        "winner": told["winner"],
        "truncated": told["truncated"],
    }
