"""The form of a game record: fields, types and bounds as tables, and one line of JSON Lines read strictly.

Whether a deal so described can have been played is not asked here but by replaying it (replay.py).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from spades_env.engine.state import MAX_ACTIONS
from spades_env.game.position import HIGHEST_COUNT, HIGHEST_NUMBER, HIGHEST_SCORE, HIGHEST_SEED

Record = dict[str, Any]
"""A record is plain JSON: dict, list, str, int, bool, None; floats in `meta` alone."""

FORMAT: Final = "spades-deal"
SEAT_FORMAT: Final = "spades-seat"
VERSION: Final = 1
MAX_LINE: Final = 65_536
"""Most bytes of a line; a deal takes about 2,000, the rest is room for `meta`."""
MAX_NAME: Final = 64
MAX_META_DEPTH: Final = 8

_LOWEST_INT, _HIGHEST_INT = -(2**31), 2**31 - 1

Check = Callable[[str, object], None]
Need = Literal["always", "dealt", "draft", "origin", "optional"]


class RecordError(ValueError):
    """A record that is refused; the message says where, what stands there and what is allowed."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record: when it is there, what may stand in it, what it means."""

    name: str
    need: Need
    check: Check
    meaning: str


def refuse(path: str, value: object, allowed: str) -> None:
    """Raise the error of a field with a wrong value."""
    raise RecordError(f"{path} is {shown(value)}; allowed: {allowed}")


def shown(value: object) -> str:
    """A value as it stands in the file, short enough for a message."""
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an int of {value.bit_length()} bits"
    if isinstance(value, str) and len(value) > 60:
        return json.dumps(value[:57]) + "..."
    return json.dumps(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


# ---------------------------------------------------------------- checks of one value


def whole(low: int, high: int) -> Check:
    """An int in low..high; not a bool, not a float."""

    def check(path: str, value: object) -> None:
        if type(value) is not int or not low <= value <= high:
            refuse(path, value, f"an int {low}..{high}")

    return check


def text(most: int) -> Check:
    """A text of at most `most` characters; what it says is checked where it is read."""

    def check(path: str, value: object) -> None:
        if not isinstance(value, str) or len(value) > most:
            refuse(path, value, f"a text of at most {most} characters")

    return check


def maybe(inner: Check) -> Check:
    """null, or what `inner` allows."""

    def check(path: str, value: object) -> None:
        if value is not None:
            inner(path, value)

    return check


def list_of(inner: Check, low: int, high: int) -> Check:
    """A list of low..high entries that `inner` allows."""
    count = f"{low}" if low == high else f"{low}..{high}"

    def check(path: str, value: object) -> None:
        if not isinstance(value, list) or not low <= len(value) <= high:
            refuse(path, value, f"a list of {count}")
        else:
            for index, entry in enumerate(value):
                inner(f"{path}[{index}]", entry)

    return check


def seat_and_text(most: int) -> Check:
    """[seat, text]."""
    checks = (whole(0, 3), text(most))

    def check(path: str, value: object) -> None:
        if not isinstance(value, list) or len(value) != 2:
            refuse(path, value, "[seat, text]")
        else:
            for inner, entry in zip(checks, value, strict=True):
                inner(path, entry)

    return check


def object_of(checks: Mapping[str, Check]) -> Check:
    """An object with exactly these keys."""

    def check(path: str, value: object) -> None:
        if not isinstance(value, dict):
            refuse(path, value, "an object")
        else:
            check_keys(path, value, checks, checks)
            for name, inner in checks.items():
                inner(f"{path}.{name}", value[name])

    return check


def check_keys(path: str, value: Mapping[str, Any], known: Mapping[str, Any], needed: Mapping[str, Any]) -> None:
    """Refuse the first key that is not known, then the first needed one that is missing."""
    for name in value:
        if name not in known:
            raise RecordError(f"{path} has a field {shown(name)}; allowed: {', '.join(known)}")
    for name in needed:
        if name not in value:
            raise RecordError(f"{path} has no field {name!r}; needed: {', '.join(needed)}")


def one_of(*allowed: object) -> Check:
    """One of a few values, of the same type."""

    def check(path: str, value: object) -> None:
        if not any(type(value) is type(choice) and value == choice for choice in allowed):
            refuse(path, value, " or ".join(json.dumps(choice) for choice in allowed))

    return check


def _object(path: str, value: object) -> None:
    if not isinstance(value, dict):
        refuse(path, value, "an object")


def _key(path: str, value: object) -> None:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{16}", value):
        refuse(path, value, "16 hexadecimal digits, small letters")


def _name(path: str, value: object) -> None:
    # Printed on terminals: a name must not carry control characters.
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME or not value.isprintable():
        refuse(path, value, f"a name of 1..{MAX_NAME} printable characters")


def _meta(path: str, value: object) -> None:
    """Anything JSON holds, of bounded depth, that is written as it was read."""
    _object(path, value)
    open_values: list[tuple[int, object]] = [(0, value)]
    while open_values:
        depth, part = open_values.pop()
        if isinstance(part, dict | list):
            if depth >= MAX_META_DEPTH:
                raise RecordError(f"{path} is nested deeper than {MAX_META_DEPTH}; allowed: at most that")
            entries = [*part, *part.values()] if isinstance(part, dict) else part
            if isinstance(part, dict) and not all(isinstance(name, str) for name in part):
                raise RecordError(f"{path} has a key that is no text; allowed: texts")
            open_values += [(depth + 1, entry) for entry in entries]
        elif isinstance(part, str):
            if any("\ud800" <= letter <= "\udfff" for letter in part):
                raise RecordError(f"{path} has half a character {shown(part)}; allowed: Unicode text")
        elif isinstance(part, float):
            if not math.isfinite(part):
                raise RecordError(f"{path} has a number that is not finite; allowed: finite numbers")
        elif part is not None and (not isinstance(part, int) or part.bit_length() > 64):
            raise RecordError(f"{path} has {shown(part)}; allowed: JSON values, ints of 64 bits")


# ---------------------------------------------------------------- the tables

_INT = whole(_LOWEST_INT, _HIGHEST_INT)
_SCORES = list_of(whole(-HIGHEST_SCORE, HIGHEST_SCORE), 2, 2)
_BAGS = list_of(whole(0, HIGHEST_SCORE), 2, 2)
_HAND, _PILE, _ACTION = text(80), text(240), text(20)

RESULT_CHECKS: Final[Mapping[str, Check]] = {
    "contract": _INT,
    "nil": _INT,
    "bag_points": _INT,
    "penalty": whole(_LOWEST_INT, 0),
    "bags": whole(0, 13),
    "boston": one_of(False, True),
}
_two_results = list_of(object_of(RESULT_CHECKS), 2, 2)

_HEAD: Final = (
    Field("version", "always", one_of(VERSION), "version of the format"),
    Field("preset", "always", maybe(text(40)), "preset that the rules equal, `max_deals` aside, or null"),
    Field("rules", "always", _object, "every field of the rules, as `Rules.to_dict` gives them"),
)
_MATCH: Final = (
    Field("match", "always", whole(0, HIGHEST_COUNT), "number of the match in the game, from 0"),
    Field("deal", "always", whole(0, HIGHEST_COUNT), "number of the deal in the match, from 0"),
    Field("dealer", "always", whole(0, 3), "seat of the dealer"),
    Field("scores", "always", _SCORES, "match scores of both teams before the deal"),
    Field("bags", "always", _BAGS, "bag counts of both teams before the deal"),
)
_TAIL: Final = (
    Field(
        "last_result",
        "optional",
        _two_results,
        "only while the deal is not over: `outcome.result` of the deal before",
    ),
    Field("outcome", "always", maybe(_object), "what the deal came to, or null while it is not over"),
    Field("players", "optional", list_of(_name, 2, 4), "the players' names, by seat"),
)

DEAL_FIELDS: Final[tuple[Field, ...]] = (
    Field("format", "always", one_of(FORMAT), f'`"{FORMAT}"`'),
    *_HEAD,
    Field("seed", "origin", whole(0, HIGHEST_SEED), "the seed of the game"),
    Field("game", "origin", whole(0, HIGHEST_NUMBER), "number of the game under that seed"),
    Field("key", "origin", _key, "instead of `seed` and `game`: the 64-bit key of the game, in hexadecimal"),
    *_MATCH,
    Field("hands", "dealt", list_of(_HAND, 2, 4), "the cards dealt to each seat, as text, by seat"),
    Field("pile", "draft", _PILE, "the pack of a draft, the card drawn first in front"),
    Field("actions", "always", list_of(seat_and_text(20), 0, MAX_ACTIONS), "[seat, action as text], in order"),
    Field("drawn", "draft", list_of(seat_and_text(80), 0, 2), "[seat, cards drawn], one for each exchange made"),
    *_TAIL,
    Field("meta", "optional", _meta, "anything else, an object; nothing here reads it"),
)
"""The record of a deal: the whole truth."""

SEAT_FIELDS: Final[tuple[Field, ...]] = (
    Field("format", "always", one_of(SEAT_FORMAT), f'`"{SEAT_FORMAT}"`'),
    *_HEAD,
    *_MATCH,
    Field("seat", "always", whole(0, 3), "whose record it is"),
    Field(
        "hand",
        "always",
        maybe(_HAND),
        "her cards as dealt, or null before she has looked (R10); in a draft those she holds or has played",
    ),
    Field("shown", "draft", maybe(_ACTION), "the card she is deciding about now (R27), or null"),
    Field("rejected", "draft", _PILE, "the cards she looked at and discarded (R29)"),
    Field(
        "actions",
        "always",
        list_of(seat_and_text(20), 0, MAX_ACTIONS),
        '[seat, action as text], in order; "?" for a card that the other seat gave up (R28)',
    ),
    Field(
        "drawn",
        "draft",
        list_of(seat_and_text(80), 0, 2),
        '[seat, cards drawn], one for each exchange made; the other seat\'s cards are "?"',
    ),
    *_TAIL,
)
"""The record of a seat: what she may know of a deal (R30)."""

FORMS: Final[Mapping[str, tuple[Field, ...]]] = {FORMAT: DEAL_FIELDS, SEAT_FORMAT: SEAT_FIELDS}


def check_form(record: object, form: str | None = None) -> None:
    """Refuse what is not a record of this version (of format `form` if that is given), field by field."""
    if not isinstance(record, dict):
        raise RecordError(f"record is {shown(record)}; allowed: an object")
    name = record.get("format")
    allowed = FORMS if form is None else (form,)
    if not isinstance(name, str) or name not in allowed:
        refuse("format", name, " or ".join(json.dumps(each) for each in allowed))
    if "version" in record:
        # Before the fields, which another version may name otherwise.
        one_of(VERSION)("version", record["version"])
    rules = record.get("rules")
    deal = rules.get("deal") if isinstance(rules, dict) else None
    fields = FORMS[str(name)]
    other = "dealt" if deal == "draft" else "draft"
    known = {field.name: field for field in fields if field.need != other}
    needed = {field.name: field for field in fields if field.need not in (other, "optional", "origin")}
    check_keys("record", record, known, needed)
    if name == FORMAT:
        _check_origin(record)
    for key, value in record.items():
        known[key].check(key, value)
    if "last_result" in record:
        if record["outcome"] is not None:
            raise RecordError("record has last_result and an outcome; allowed: last_result while outcome is null")
        if record["match"] == record["deal"] == 0:
            raise RecordError("record has last_result in the first deal of match 0; allowed: after another deal")


def _check_origin(record: Record) -> None:
    """Refuse a game that is not told by either (`seed`, `game`) or `key`."""
    given = [name for name in ("seed", "game", "key") if name in record]
    if given not in (["seed", "game"], ["key"]):
        raise RecordError(f"record has {' and '.join(given) or 'no seed'}; allowed: seed and game, or key alone")


def check_same(path: str, given: object, expected: object) -> None:
    """Refuse what a replay finds otherwise, naming the first entry that differs; true is not 1."""
    if isinstance(expected, dict) and isinstance(given, dict):
        check_keys(path, given, expected, expected)
        for name, value in expected.items():
            check_same(f"{path}.{name}", given[name], value)
    elif isinstance(expected, list) and isinstance(given, list) and len(given) == len(expected):
        for index, value in enumerate(expected):
            check_same(f"{path}[{index}]", given[index], value)
    elif type(given) is not type(expected) or given != expected:
        refuse(path, given, f"{shown(expected)}, which is what the actions lead to")


# ---------------------------------------------------------------- lines


def parse_line(line: bytes | str) -> Record:
    """The record that a line of a file holds; its form is checked, its deal is not (see `check_record`)."""
    size = len(line)
    if size > MAX_LINE:
        raise RecordError(f"line has {size} bytes or more; allowed: {MAX_LINE}")
    try:
        decoded = line if isinstance(line, str) else line.decode("utf-8")
        record = json.loads(decoded, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except RecordError:
        raise
    except UnicodeDecodeError as error:
        raise RecordError(f"line is not UTF-8 text (byte {error.start})") from None
    except RecursionError:
        raise RecordError("line is not valid JSON: nested too deeply") from None
    except ValueError as error:
        raise RecordError(f"line is not valid JSON: {error}") from None
    check_form(record)
    return record  # type: ignore[no-any-return]  # checked


def record_text(record: Record) -> str:
    """A record as one line of JSON, without the newline; refused if no reader would take its form."""
    check_form(record)
    line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    size = len(line.encode("utf-8"))
    if size > MAX_LINE:
        raise RecordError(f"record has {size} bytes as a line; allowed: {MAX_LINE} (is meta too long?)")
    return line


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; a key given twice is refused, as readers disagree which one counts."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise RecordError(f"key {shown(name)} is given twice; allowed: once")
        found[name] = value
    return found


def _no_constant(name: str) -> None:
    raise RecordError(f"line has {name}; allowed: JSON, which has no such number")
