"""The record of a seat: what she may know of a deal (R30), for reports from play; and the view that it tells.

Everything that depends on cards is taken from the seat's VIEW, so no more can get in than a view holds.
"""

from __future__ import annotations

import copy
from typing import Any

from spades_env.cards import card_text, hand_text, mask_of, parse_hand
from spades_env.engine.front import begin_deal
from spades_env.engine.state import HIDDEN, StateArray
from spades_env.engine.step import apply
from spades_env.game import Game, PositionError, TeamResult, View
from spades_env.game.position import new_state, write_match_so_far
from spades_env.record.form import SEAT_FORMAT, VERSION, Record, RecordError, check_form, refuse
from spades_env.record.replay import check_outcome, exchange_seats, outcome, result_items, rules_of

_PUBLIC = ("preset", "rules", "match", "deal", "dealer", "scores", "bags")


def record_for_seat(record: Record, seat: int) -> Record:
    """The record of a deal as `seat` may know it (R30): her own cards and what is public.

    Hidden are the seed, the other hands and the pile, what the other seat gave up and drew, and `meta`, which
    may hold anything. Players' names stay.
    """
    view = Game.from_record(record).view(seat)
    public = {name: copy.deepcopy(record[name]) for name in _PUBLIC}
    told: Record = {"format": SEAT_FORMAT, "version": VERSION, **public}
    told |= {"seat": view.seat, "hand": hand_text(_held(view)) if view.looked[view.seat] else None}
    draft = view.rules.deal == "draft"
    if draft:
        told["shown"] = None if view.shown is None else card_text(view.shown)
        told["rejected"] = hand_text(mask_of(view.rejected))
    actors = [actor for actor, _ in record["actions"]]
    told["actions"] = [[actor, text] for actor, text in zip(actors, view.action_texts, strict=True)]
    if draft:
        told["drawn"] = [[giver, _drawn_as_seen(record, view, giver)] for giver in exchange_seats(view)]
    if not view.deal_over and view.result is not None:
        told["last_result"] = result_items(view)
    told["outcome"] = outcome(view)
    return told | ({"players": list(record["players"])} if "players" in record else {})


def view_of_record(record: Record) -> View:
    """The view that a seat's record tells; refused if no course of the deal could have shown her that."""
    check_form(record, SEAT_FORMAT)
    rules = rules_of(record)
    last = record.get("last_result")
    try:
        view = View.from_known(
            rules,
            seat=record["seat"],
            dealer=record["dealer"],
            hand=record["hand"],
            actions=[text for _, text in record["actions"]],
            scores=record["scores"],
            bags=record["bags"],
            deal=record["deal"],
            match=record["match"],
            shown=record.get("shown"),
            rejected=record.get("rejected", ()),
            result=None if last is None else (TeamResult(**last[0]), TeamResult(**last[1])),
        )
    except PositionError as error:
        raise RecordError(str(error)) from None
    for index, (given, actor) in enumerate(zip(record["actions"], _actors(record, view), strict=True)):
        if given[0] != actor:
            refuse(f"actions[{index}][0]", given[0], f"{actor}, whose turn it is")
    if rules.deal == "draft":
        _check_drawn(record["drawn"], view)
    check_outcome(record, view)
    return view


def _held(view: View) -> int:
    """Mask of the cards she holds or has played."""
    return mask_of(view.hand) | mask_of(card for seat, card in view.plays if seat == view.seat)


def _drawn_as_seen(record: Record, view: View, giver: int) -> str:
    """The cards that `giver` drew, "?" each if they are not hers to see (R28)."""
    if giver != view.seat:
        return " ".join("?" * view.exchanged[giver])
    return hand_text(parse_hand(next(cards for seat, cards in record["drawn"] if seat == giver)))


def _check_drawn(told: list[list[Any]], view: View) -> None:
    """Refuse draws that the exchanges of the deal cannot have brought."""
    givers = exchange_seats(view)
    if [seat for seat, _ in told] != givers:
        refuse("drawn", [seat for seat, _ in told], f"an entry for each exchange made, by seats {givers}")
    for index, (giver, cards) in enumerate(told):
        path, count = f"drawn[{index}][1]", view.exchanged[giver]
        if giver != view.seat:
            if cards.split() != ["?"] * count:
                refuse(path, cards, f"{count} of '?', the other seat's draws are hidden")
            continue
        try:
            mask = parse_hand(cards)
        except ValueError as error:
            raise RecordError(f"{path}: {error}") from None
        back = _held(view) & mask_of(view.rejected)
        if mask.bit_count() != count or mask & ~_held(view) or back & ~mask:
            refuse(path, cards, f"{count} cards of her hand, those among them that she had rejected")


def _actors(record: Record, view: View) -> list[int]:
    """Who took each action. Whose turn it is never depends on cards that stay hidden, so any pack will do."""
    states: StateArray = new_state(view.rules, 0, 0, record["match"])
    write_match_so_far(
        states,
        view.rules,
        dealer=record["dealer"],
        scores=record["scores"],
        bags=record["bags"],
        deal=record["deal"],
    )
    begin_deal(states, 0)
    actors = []
    for action in view.actions:
        actors.append(int(states["turn"][0]))
        apply(states, 0, 0 if action == HIDDEN else action)
    return actors
