"""Records made from a state: the deal is told from its start, and told again by the engine before it is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spades_env.actions import action_text
from spades_env.cards import card_text, hand_text
from spades_env.engine.state import StateArray, rules_from_record
from spades_env.engine.step import apply, is_legal, is_over
from spades_env.game.position import PositionError, whole_number

# The one place that knows how a deal's end is turned back into its start.
from spades_env.game.storage import bags_before
from spades_env.record.form import FORMAT, VERSION, Record, RecordError, check_form
from spades_env.record.replay import Told, drawn, opened, outcome, preset_of, result_items
from spades_env.rules import Rules


def record_of(
    states: StateArray,
    i: int = 0,
    *,
    origin: tuple[int, int] | None = None,
    bags: Sequence[int] | None = None,
    players: Sequence[str] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Record:
    """The deal of game `i` of `states`, dtype STATE, from its start to where it is now, as plain JSON values.

    Args:
        origin: (seed, game) of the game; without it the record has the game's key.
        bags: bag counts before the deal. Needed only where the deal is over and `bag_after` is "reset",
            which forgets them after a penalty: without it a count that leads to the same penalty is told.
        players: names by seat. meta: any JSON object.
    """
    i = whole_number("i", i, 0, len(states) - 1)
    game = states[i : i + 1].copy()
    rules = rules_from_record(game["rules"][0])
    table = Told(game, rules)
    record: Record = {
        "format": FORMAT,
        "version": VERSION,
        "preset": preset_of(rules),
        "rules": rules.to_dict(),
        **_origin(game, origin),
        "match": table.match,
        "deal": table.deal,
        "dealer": table.dealer,
        **_match_so_far(game, rules, table, bags),
        **_cards(game, rules),
    }
    last_result = None if table.deal_over else result_items(table)
    last = {} if last_result is None else {"last_result": last_result}
    try:
        start = opened(record | last, rules)
    except PositionError as error:
        raise RecordError(f"this deal has no record: {error}") from None
    record["actions"] = _retold(start, table.actions)
    if _comparable(start) != _comparable(game):
        raise RecordError("this deal has no record: its actions do not lead to its state, origin or bags")
    if rules.deal == "draft":
        record["drawn"] = drawn(game, table)
    record |= last | {"outcome": outcome(table)}
    record |= {} if players is None else {"players": list(players)}
    record |= {} if meta is None else {"meta": dict(meta)}
    check_form(record)
    return record


def _origin(game: StateArray, origin: tuple[int, int] | None) -> Record:
    if origin is None:
        return {"key": f"{int(game['key'][0]):016x}"}
    return {"seed": int(origin[0]), "game": int(origin[1])}


def _match_so_far(game: StateArray, rules: Rules, table: Told, bags: Sequence[int] | None) -> Record:
    """Scores and bags before the deal: its result taken off again once it is over."""
    if not table.deal_over or table.result is None:
        return {"scores": list(table.scores), "bags": list(table.bags)}
    scores = [score - part.points for score, part in zip(table.scores, table.result, strict=True)]
    before = [bags_before(game[0], team, rules) for team in (0, 1)] if bags is None else [int(n) for n in bags]
    return {"scores": scores, "bags": before}


def _cards(game: StateArray, rules: Rules) -> Record:
    """The cards as dealt, by seat, or the pile as it was laid down."""
    if rules.deal == "draft":
        return {"pile": " ".join(card_text(int(card)) for card in game["pile"][0])}
    dealt = (game["hands"][0] | game["played"][0])[: rules.players]
    return {"hands": [hand_text(int(mask)) for mask in dealt]}


def _retold(states: StateArray, actions: Sequence[int]) -> list[list[Any]]:
    """[seat, action as text] of every action, each taken by the engine from the start in `states`."""
    told: list[list[Any]] = []
    for index, action in enumerate(actions):
        if is_over(states, 0) or not is_legal(states, 0, action):
            raise RecordError(f"this deal has no record: actions[{index}] is not legal in its state")
        told.append([int(states["turn"][0]), action_text(action)])
        apply(states, 0, action)
    return told


def _comparable(states: StateArray) -> bytes:
    """The record as bytes, without the order of a pack that was dealt."""
    same = states.copy()
    if not same["rules"]["draft"][0]:
        same["pile"] = 0
    return same.tobytes()
