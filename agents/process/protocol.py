"""The lines between us and an agent's process: hello, a view as JSON, the reply. No process is known here.

Everything that depends on cards is taken from the seat's VIEW, so no more can get out than a view holds (R30).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.base import KeyArray
from spades_env.actions import NUM_ACTIONS, action_text
from spades_env.cards import card_text, cards_of
from spades_env.engine.deal import start_deal
from spades_env.engine.kernel import kernel
from spades_env.engine.state import (
    HIDDEN,
    MAX_ACTIONS,
    NO_BID,
    PHASE_NAMES,
    RULES,
    STATE,
    StateArray,
    rules_from_record,
)
from spades_env.engine.step import apply_action
from spades_env.view import write_view_masks

PROTOCOL: Final = "spades-agent"
VERSION: Final = 1
MAX_REPLY: Final = 4096
"""Longest line read from a process, in bytes, its end not counted."""
LONGEST_NAME: Final = 60

REQUEST_FIELDS: Final = (
    "type",
    "id",
    "key",
    "match",
    "deal",
    "dealer",
    "first",
    "scores",
    "bags",
    "seat",
    "phase",
    "hand",
    "legal",
    "looked",
    "bids",
    "blind",
    "calls",
    "plays",
    "trick",
    "tricks",
    "broken",
    "last_result",
    "draft",
    "rules",
)
"""Names of a request's fields in their order; docs/external_agents.md says what each means."""

_TEXT: Final = tuple(action_text(action) for action in range(NUM_ACTIONS))
_RESULT_FIELDS: Final = ("contract", "nil", "bag_points", "penalty", "bags")
_LISTS: Final = ("scores", "bags", "bids", "blind", "looked", "tricks", "leaders", "actions", "hands")
_NUMBERS: Final = ("match", "deal", "dealer", "first", "phase", "trick_len", "broken", "n_actions", "first_play")


class ProtocolError(ValueError):
    """A line that is not what the protocol asks for; the message says what it is and what is allowed."""


# --- What we say --------------------------------------------------------------------------------------------


def hello_line() -> bytes:
    """Return the first line to a process."""
    return _line({"type": "hello", "protocol": PROTOCOL, "version": VERSION})


def request_lines(views: StateArray, keys: KeyArray, masks: npt.NDArray[np.int8], first_id: int) -> list[bytes]:
    """Return the request for each of `views` (VIEW, shape (n,)), numbered from `first_id`.

    `keys`: uint64, shape (n,). `masks`: the views' legal actions, int8, shape (n, 73), of `legal_masks`.
    """
    known = np.ascontiguousarray(views["known"])
    actors = np.zeros((len(views), MAX_ACTIONS), np.int8)
    write_actors(views, np.zeros(1, STATE), actors)
    columns = {name: known[name].tolist() for name in (*_LISTS, *_NUMBERS)}
    seats, legal = views["seat"].tolist(), masks.astype(np.bool_)
    lines = []
    for k, (seat, key) in enumerate(zip(seats, keys.tolist(), strict=True)):
        row = {name: column[k] for name, column in columns.items()}
        request: dict[str, Any] = {"type": "decide", "id": first_id + k, "key": str(key)}
        request |= _situation(row, seat, actors[k].tolist(), int(known["rules"]["players"][k]))
        request["legal"] = [_TEXT[action] for action in np.flatnonzero(legal[k])]
        request["last_result"] = _last_result(known[k])
        request["draft"] = _draft(views[k]) if known["rules"]["draft"][k] else None
        rules = _rules_text(known["rules"][k].tobytes())
        text = json.dumps({name: request[name] for name in REQUEST_FIELDS[:-1]}, separators=(",", ":"))
        lines.append(f'{text[:-1]},"rules":{rules}}}\n'.encode("ascii"))
    return lines


def legal_masks(views: StateArray) -> npt.NDArray[np.int8]:
    """Return the legal actions of every view's seat, int8 of shape (n, 73)."""
    masks = np.empty((len(views), NUM_ACTIONS), np.int8)
    write_view_masks(views, masks)
    return masks


def _situation(row: dict[str, Any], seat: int, actors: list[int], players: int) -> dict[str, Any]:
    """The part of a request that every rule set has; `row` holds fields of a STATE record as Python values."""
    start, count = row["first_play"], row["n_actions"]
    calls_end = start or count
    texts = ["?" if action == HIDDEN else _TEXT[action] for action in row["actions"][:count]]
    plays = [[(k - start) // players, actors[k], texts[k]] for k in range(calls_end, count)]
    looked = [flag == 1 for flag in row["looked"][:players]]
    return {
        "match": row["match"],
        "deal": row["deal"],
        "dealer": row["dealer"],
        "first": row["first"],
        "scores": row["scores"],
        "bags": row["bags"],
        "seat": seat,
        "phase": PHASE_NAMES[row["phase"]],
        "hand": _cards(row["hands"][seat]) if looked[seat] else None,
        "looked": looked,
        "bids": [None if bid == NO_BID else bid for bid in row["bids"][:players]],
        "blind": [flag == 1 for flag in row["blind"][:players]],
        "calls": [[actors[k], texts[k]] for k in range(calls_end)],
        "plays": plays,
        "trick": [play[1:] for play in plays[len(plays) - row["trick_len"] :]],
        "tricks": row["tricks"][:players],
        "broken": row["broken"] == 1,
    }


def _last_result(known: np.void) -> list[dict[str, Any]] | None:
    """The score of the deal before by team, as in game records (docs/records.md); None before the first."""
    result = known["result"]
    if not result["scored"]:
        return None
    boston = int(result["boston"])
    return [{name: int(result[name][team]) for name in _RESULT_FIELDS} | {"boston": boston == team} for team in (0, 1)]


def _draft(view: np.void) -> dict[str, Any]:
    """What a draft adds (R27-R29)."""
    known, seat = view["known"], int(view["seat"])
    shown = int(view["shown"])
    return {
        "shown": None if shown == HIDDEN else card_text(shown),
        "rejected": _cards(int(known["rejected"][seat])),
        "thrown": _cards(int(known["thrown"][seat])),
        "exchanged": known["exchanged"].tolist(),
        "pile_left": 52 - int(known["pile_pos"]),
    }


def _cards(mask: int) -> list[str]:
    """Texts of the cards of a mask, spades first and high cards first."""
    return [_TEXT[card] for card in reversed(cards_of(mask))]


@lru_cache(maxsize=64)
def _rules_text(record: bytes) -> str:
    """The JSON of the rules in the bytes of a RULES record."""
    rules = rules_from_record(np.frombuffer(record, RULES)[0])
    return json.dumps(rules.to_dict(), separators=(",", ":"))


@kernel
def write_actors(views: StateArray, scratch: StateArray, actors: npt.NDArray[np.int8]) -> None:
    """Write who took each action of each view's deal into `actors`, int8 of shape (n, MAX_ACTIONS).

    Whose turn it is never depends on cards that stay hidden, so the deal is told again with any pack.
    `scratch`: dtype STATE, shape (1,), overwritten.
    """
    for i in range(views.shape[0]):
        known = views[i]["known"]
        scratch[0] = known
        game = scratch[0]
        start_deal(game)
        for k in range(int(known["n_actions"])):
            actors[i, k] = int(game["turn"])
            action = int(known["actions"][k])
            apply_action(game, 0 if action == HIDDEN else action)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


# --- What we are told ---------------------------------------------------------------------------------------


def read_hello(line: bytes) -> str:
    """Return the name in a process's answer to our hello; anything but an answer in our version is refused."""
    said = _object(line)
    for field, wanted in (("type", "hello"), ("protocol", PROTOCOL), ("version", VERSION)):
        value = said.get(field)
        if type(value) is not type(wanted) or value != wanted:
            raise ProtocolError(f"hello: {field} is {_shown(value)}; allowed: {wanted!r}")
    name = said.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise ProtocolError(f"hello: name is {_shown(name)}; allowed: 1 to {LONGEST_NAME} printable characters")
    return name


def read_reply(line: bytes, request_id: int) -> str:
    """Return the action's text in the reply to request `request_id`."""
    said = _object(line)
    number, action = said.get("id"), said.get("action")
    if type(number) is not int or number != request_id:
        raise ProtocolError(f"reply: id is {_shown(number)}; allowed: {request_id}, the request's")
    if not isinstance(action, str):
        raise ProtocolError(f"reply: action is {_shown(action)}; allowed: the text of an action")
    return action


def _object(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line of at most MAX_REPLY bytes; what it holds has been checked for nothing."""
    try:
        said = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):  # no UTF-8, no JSON, or brackets a thousand deep
        raise ProtocolError(
            f"{_shown(line.decode('utf-8', 'replace').strip())} is no JSON; allowed: one object a line"
        ) from None
    if not isinstance(said, dict):
        raise ProtocolError(f"{_shown(said)} is no JSON object; allowed: one object a line")
    return said


def _shown(value: object) -> str:
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."
