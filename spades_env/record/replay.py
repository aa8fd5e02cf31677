"""Records replayed by the engine: the deal from its start, every action checked, and all that is told compared.

What the engine does not find again is refused, so a record that is read is a deal that was played by the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from spades_env.actions import KEEP, TAKE_NEXT, ActionError, action_text, parse_action
from spades_env.cards import CardError, hand_text, parse_hand
from spades_env.engine.batch import illegal_text, legal_action_list
from spades_env.engine.front import begin_deal, begin_given_deal
from spades_env.engine.state import StateArray
from spades_env.engine.step import apply, is_legal, is_over
from spades_env.game.facts import Facts, TeamResult
from spades_env.game.position import (
    PositionError,
    new_state,
    whole_number,
    write_hands,
    write_match_so_far,
    write_pile,
)
from spades_env.game.result import checked_result, write_result
from spades_env.record.form import FORMAT, Record, RecordError, check_form, check_keys, check_same, refuse, shown
from spades_env.rules import FIELD_NAMES, Rules, RulesError


class Told(Facts):
    """The public facts of a ``STATE`` record, shape (1,)."""

    def __init__(self, states: StateArray, rules: Rules) -> None:
        self._states, self._rules = states, rules


class Replay(NamedTuple):
    """What a record leads to."""

    states: StateArray
    """One ``STATE`` record, shape (1,)."""
    rules: Rules
    origin: tuple[int, int] | None
    """(seed, game), or None where the record has the key alone."""
    start: tuple[int, int, tuple[int, int]]
    """(match, deal, bag counts before it)."""


def replayed(record: Record, actions: int | None = None) -> Replay:
    """Check all of a deal's record and replay it, or its first `actions` actions only."""
    check_form(record, FORMAT)
    count = len(record["actions"])
    stop = count if actions is None else whole_number("actions", actions, 0, count)
    rules = rules_of(record)
    try:
        states = opened(record, rules)
    except PositionError as error:
        raise RecordError(str(error)) from None
    found = states.copy()
    for index, (seat, text) in enumerate(record["actions"]):
        _take(states, index, seat, text)
        if index + 1 == stop:
            found = states.copy()
    table = Told(states, rules)
    if rules.deal == "draft":
        check_same("drawn", _tidy(record["drawn"]), drawn(states, table))
    check_outcome(record, table)
    origin = (record["seed"], record["game"]) if "seed" in record else None
    bags = (record["bags"][0], record["bags"][1])
    return Replay(found, rules, origin, (record["match"], record["deal"], bags))


def rules_of(record: Record) -> Rules:
    """The rules of a record of either format; every field is told, so that no default can change them later."""
    fields = dict.fromkeys(FIELD_NAMES)
    check_keys("rules", record["rules"], fields, fields)
    try:
        rules = Rules.from_dict(record["rules"])
    except RulesError as error:
        raise RecordError(f"rules: {error}") from None
    if record["preset"] != preset_of(rules):
        refuse("preset", record["preset"], f"{shown(preset_of(rules))}, which is what the rules are")
    names = record.get("players")
    if names is not None and len(names) != rules.players:
        refuse("players", names, f"a list of {rules.players}")
    return rules


def preset_of(rules: Rules) -> str | None:
    """The preset of these rules; `max_deals`, which environments add, says nothing about the rules of play."""
    return rules.replace(max_deals=None).preset_name


def opened(record: Mapping[str, Any], rules: Rules) -> StateArray:
    """The deal's start as one ``STATE`` record, shape (1,); PositionError for one that cannot be.

    A pack that the game's own shuffle deals is put in the shuffle's order, so that not a byte differs.
    """
    given = "seed" in record
    states = new_state(rules, record["seed"] if given else 0, record["game"] if given else 0, record["match"])
    if not given:
        states["key"] = np.uint64(int(record["key"], 16))
    if "last_result" in record:
        _write_last_result(states, rules, record["last_result"])
    write_match_so_far(
        states,
        rules,
        dealer=record["dealer"],
        scores=record["scores"],
        bags=record["bags"],
        deal=record["deal"],
    )
    if rules.deal == "draft":
        write_pile(states, rules, record["pile"])
        begin_given_deal(states, 0)
        return states
    told = states.copy()
    write_hands(told, rules, record["hands"])
    begin_given_deal(told, 0)
    begin_deal(states, 0)
    return states if np.array_equal(states["hands"], told["hands"]) else told


def outcome(table: Facts) -> dict[str, Any] | None:
    """What the deal came to, as a record tells it; None while it is not over."""
    if not table.deal_over:
        return None
    return {
        "tricks": table.tricks,
        "result": result_items(table),
        "scores": list(table.scores),
        "bags": list(table.bags),
        "winner": table.winner,
        "truncated": table.truncated,
    }


def result_items(table: Facts) -> list[dict[str, Any]] | None:
    """The itemised score of the deal scored last, by team; None before the first."""
    return None if table.result is None else [asdict(part) for part in table.result]


def check_outcome(record: Record, table: Facts) -> None:
    """Refuse an outcome that the actions do not lead to."""
    given, found = record["outcome"], outcome(table)
    if found is None and given is not None:
        refuse("outcome", given, f"null, the deal is not over: seat {table.turn} is to act")
    if found is not None and given is None:
        refuse("outcome", given, "what the deal came to, it is over")
    check_same("outcome", given, found)


def exchange_seats(table: Facts) -> list[int]:
    """Seats that have made their exchange, in order: the dealer first (R28)."""
    if table.rules.deal != "draft" or table.pile_left > 0 or table.rules.blind_nil_exchange == 0:
        return []
    callers = [seat for seat in (table.dealer, 1 - table.dealer) if table.blind[seat]]
    return callers[: callers.index(table.turn)] if table.phase == "exchange" and table.turn is not None else callers


def drawn(states: StateArray, table: Facts) -> list[list[Any]]:
    """[seat, cards drawn] of each exchange made: what a seat holds or has played and did not draft (R28)."""
    pile, seat, position, drafted = states["pile"][0], table.dealer, 0, [0, 0]
    for action in table.actions:
        if action in (KEEP, TAKE_NEXT):
            drafted[seat] |= 1 << int(pile[position + (action == TAKE_NEXT)])
            seat, position = 1 - seat, position + 2
    cards = [int(states["hands"][0, s]) | int(states["played"][0, s]) for s in (0, 1)]
    return [[s, hand_text(cards[s] & ~drafted[s])] for s in exchange_seats(table)]


def _legal_text(states: StateArray) -> str:
    """The legal actions of the seat to act, as `illegal_text` lists them."""
    return ", ".join(f"{action} ({action_text(action)})" for action in legal_action_list(states, 0))


def _take(states: StateArray, index: int, seat: int, text: str) -> None:
    """Check one action and let the engine take it."""
    where = f"actions[{index}]"
    try:
        action = parse_action(text)
    except ActionError as error:
        raise RecordError(f"{where}: seat {seat}: {error}") from None
    if is_over(states, 0):
        raise RecordError(f"{where}: seat {seat} may not do {action} ({text}); legal: nothing, the deal is over")
    turn = int(states["turn"][0])
    if seat != turn:
        raise RecordError(
            f"{where}: seat {seat} may not do {action} ({text}), it is the turn of seat {turn}; legal for "
            f"seat {turn}: {_legal_text(states)}"
        )
    if not is_legal(states, 0, action):
        raise RecordError(f"{where}: {illegal_text(states, 0, action)}")
    apply(states, 0, action)


def _tidy(told: list[list[Any]]) -> list[list[Any]]:
    """Cards drawn in the order in which we write them; the order they came in says nothing."""
    try:
        return [[seat, hand_text(parse_hand(cards))] for seat, cards in told]
    except CardError as error:
        raise RecordError(f"drawn: {error}") from None


def _write_last_result(states: StateArray, rules: Rules, told: list[dict[str, Any]]) -> None:
    """Write the score of the deal before into the record, if a deal can have brought it."""
    try:
        write_result(states, checked_result(rules, tuple(TeamResult(**part) for part in told)))
    except PositionError as error:
        raise PositionError(f"last_{error}") from None  # which begins with "result"
