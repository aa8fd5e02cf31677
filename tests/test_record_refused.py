"""Records that are refused: each spoiled in one place, with the error that names the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_games import DELETE, SUITED, Place, again, changed, drafted_game, suited_game

from spades_env.game import Game
from spades_env.record import RecordError, check_record, parse_line, read_records, record_for_seat, record_text
from spades_env.record.form import MAX_LINE

BAD: list[tuple[Place, Any, str]] = [
    (("format",), DELETE, r'format is null; allowed: "spades-deal"'),
    (("format",), "pbn", r'format is "pbn"; allowed: "spades-deal"'),
    (("version",), 2, r"version is 2; allowed: 1"),
    (("version",), True, r"version is true; allowed: 1"),
    (("version",), DELETE, r"record has no field 'version'"),
    (("verzion",), 1, r'record has a field "verzion"; allowed: format, version'),
    (("pile",), "AS", r'record has a field "pile"'),
    (("drawn",), [], r'record has a field "drawn"'),
    (("preset",), "modern", r'preset is "modern"; allowed: "classic", which is what the rules are'),
    (("preset",), None, r'preset is null; allowed: "classic"'),
    (("preset",), 3, r"preset is 3; allowed: a text"),
    (("rules",), "classic", r'rules is "classic"; allowed: an object'),
    (("rules", "target"), DELETE, r"rules has no field 'target'"),
    (("rules", "targets"), 500, r'rules has a field "targets"'),
    (("rules", "preset"), "classic", r'rules has a field "preset"'),
    (("rules", "target"), 0, r"rules: .*target=0 is not allowed"),
    (("rules", "players"), 2, r"preset is \"classic\"; allowed: null"),
    (("rules", "jokers"), 1, r"rules: .*jokers=1"),
    (("seed",), DELETE, r"record has game; allowed: seed and game, or key alone"),
    (("game",), DELETE, r"record has seed; allowed: seed and game, or key alone"),
    (("key",), "0123456789abcdef", r"record has seed and game and key; allowed"),
    (("seed",), -1, r"seed is -1; allowed: an int 0.."),
    (("seed",), 2**63, r"seed is 9223372036854775808; allowed"),
    (("seed",), 10**40, r"seed is an int of 133 bits; allowed"),
    (("seed",), "7", r'seed is "7"; allowed: an int'),
    (("game",), 0.0, r"game is 0.0; allowed: an int"),
    (("match",), -1, r"match is -1; allowed: an int 0.."),
    (("deal",), None, r"deal is null; allowed: an int 0.."),
    (("dealer",), 4, r"dealer is 4; allowed: an int 0..3"),
    (("dealer",), 2, r"actions\[0\]: seat 0 may not do 61 \(bid 7\), it is the turn of seat 3; legal for seat 3: 54"),
    (("scores",), [0], r"scores is a list of 1; allowed: a list of 2"),
    (("scores",), [0, 10**7], r"scores\[1\] is 10000000; allowed: an int -1000000..1000000"),
    (("scores",), [500, 0], r"scores are \(500, 0\); allowed: a match that goes on"),
    (("scores",), [1, 0], r"outcome.scores\[0\] is 103; allowed: 104, which is what the actions lead to"),
    (("bags",), [10, 0], r"bags\[0\] is 10; allowed: an int 0..9"),
    (("bags",), {"0": 1}, r"bags is an object; allowed: a list of 2"),
    (("hands",), DELETE, r"record has no field 'hands'"),
    (("hands",), SUITED[:3], r"hands .*allowed: 4 hands"),
    (("hands", 0), "AS", r"hands\[0\] has 1 cards; allowed: 13"),
    (("hands", 0), "AS" * 50, r"hands\[0\] is .*allowed: a text of at most 80 characters"),
    (("hands", 1), SUITED[0], r"hands\[1\] has AS KS .*; allowed: cards that no other seat holds"),
    (("hands", 1), SUITED[1].replace("2C", "LJ"), r"hands\[1\] has LJ; allowed: cards that are in this pack"),
    (("hands", 1), SUITED[1].replace("2C", "1C"), r"hands\[1\]: card '1C' does not exist"),
    (("hands", 1), SUITED[1].replace("2C", "AC"), r"hands\[1\]: card AC .* is given twice"),
    (("hands", 1), list(range(13)), r"hands\[1\] is a list of 13; allowed: a text"),
    (("actions",), "AS KS", r'actions is "AS KS"; allowed: a list of 0..80'),
    (("actions",), [[0, "bid 7"]] * 81, r"actions is a list of 81; allowed: a list of 0..80"),
    (("actions", 1), "nil", r'actions\[1\] is "nil"; allowed: \[seat, text\]'),
    (("actions", 1), [1, "nil", 0], r"actions\[1\] is a list of 3; allowed: \[seat, text\]"),
    (("actions", 1, 0), True, r"actions\[1\] is true; allowed: an int 0..3"),
    (("actions", 1, 1), 54, r"actions\[1\] is 54; allowed: a text"),
    (("actions", 1), [1, "bid 14"], r"actions\[1\]: seat 1: action 'bid 14' does not exist"),
    (
        ("actions", 1),
        [2, "nil"],
        r"actions\[1\]: seat 2 may not do 54 \(nil\), it is the turn of seat 1; legal for .*54 \(nil\)",
    ),
    (("actions", 1), [1, "2C"], r"actions\[1\]: seat 1 may not do 0 \(2C\); legal: 54 \(nil\), 55 \(bid 1\)"),
    (("actions", 5), [1, "2D"], r"actions\[5\]: seat 1 may not do 13 \(2D\); legal: 0 \(2C\), 1 \(3C\)"),
    (("actions", 8), [0, "2S"], r"actions\[8\]: seat 0 may not do 39 \(2S\); legal: 40 \(3S\)"),
    (("actions", 8), [0, "keep"], r"actions\[8\]: seat 0 may not do 70 \(keep\); legal: 40"),
    (("actions", 55), DELETE, r"outcome is an object; allowed: null, the deal is not over: seat 3 is to act"),
    (("outcome",), DELETE, r"record has no field 'outcome'"),
    (("outcome",), None, r"outcome is null; allowed: what the deal came to, it is over"),
    (("outcome",), [], r"outcome is a list of 0; allowed: an object"),
    (("outcome", "tricks", 0), 12, r"outcome.tricks\[0\] is 12; allowed: 13, which is what"),
    (("outcome", "tricks"), [13, 0], r"outcome.tricks is a list of 2; allowed: a list of 4"),
    (("outcome", "result", 0, "contract"), 110, r"outcome.result\[0\].contract is 110; allowed: 100"),
    (("outcome", "result", 0, "boston"), 1, r"outcome.result\[0\].boston is 1; allowed: true"),
    (("outcome", "result", 1, "bonus"), 5, r'outcome.result\[1\] has a field "bonus"'),
    (("outcome", "scores", 1), 81, r"outcome.scores\[1\] is 81; allowed: 80"),
    (("outcome", "bags", 0), 0, r"outcome.bags\[0\] is 0; allowed: 3"),
    (("outcome", "winner"), 0, r"outcome.winner is 0; allowed: null"),
    (("outcome", "truncated"), None, r"outcome.truncated is null; allowed: false"),
    (("outcome", "truncated"), DELETE, r"outcome has no field 'truncated'"),
    (("last_result",), None, r"last_result is null; allowed: a list of 2"),
    (("players",), ["a", "b"], r"players is a list of 2; allowed: a list of 4"),
    (("players",), ["a", "b", "c", ""], r'players\[3\] is ""; allowed: a name of 1..64 printable'),
    (("players",), ["a", "b", "c", "\x1b[2J"], r"players\[3\] is .*u001b.*; allowed: a name of 1..64 printable"),
    (("players",), ["a", "b", "c", "d" * 65], r"players\[3\] is .*; allowed: a name of 1..64 printable"),
    (("meta",), [1], r"meta is a list of 1; allowed: an object"),
    (("meta",), {"a": [[[[[[[[]]]]]]]]}, r"meta is nested deeper than 8"),
    (("meta",), {"a": float("inf")}, r"(meta has a number that is not finite|line has Infinity)"),
    (("meta",), {"a": "\ud800"}, r"meta has half a character"),
    (("meta",), {"a": 2**70}, r"meta has an int of 71 bits"),
]


def test_the_record_to_be_spoiled_is_good() -> None:
    record = suited_game().to_record()
    assert Game.from_record(changed(record, ("meta",), {})) == suited_game()
    assert (
        Game.from_record(changed(record, ("hands", 0), " ".join(reversed(SUITED[0].lower().split())))) == suited_game()
    )


@pytest.mark.parametrize(("path", "value", "message"), BAD, ids=lambda part: str(part)[:40])
def test_a_wrong_record_is_refused(path: Place, value: Any, message: str, tmp_path: Path) -> None:
    """As a value, and as a line of a file, whose number is told."""
    good = suited_game().to_record()
    bad = changed(good, path, value)
    with pytest.raises(RecordError, match=message):
        Game.from_record(bad)
    file = tmp_path / "deals.jsonl"
    file.write_text(json.dumps(good) + "\n" + json.dumps(bad) + "\n", encoding="utf-8")
    records = read_records(file)
    assert next(records) == good
    with pytest.raises(RecordError, match=rf"deals\.jsonl, line 2: .*{message}"):
        next(records)


def test_an_action_after_the_deal_is_refused() -> None:
    record = suited_game().to_record()
    record["actions"].append([0, "2S"])
    with pytest.raises(
        RecordError, match=r"actions\[56\]: seat 0 may not do 39 \(2S\); legal: nothing, the deal is over"
    ):
        Game.from_record(record)


DRAFT_BAD: list[tuple[Place, Any, str]] = [
    (("pile",), DELETE, r"record has no field 'pile'"),
    (("hands",), SUITED[:2], r'record has a field "hands"'),
    (("pile",), "AS KS", r"pile has 2 cards; allowed: 52"),
    (("pile",), 5, r"pile is 5; allowed: a text"),
    (("drawn",), DELETE, r"record has no field 'drawn'"),
    (("drawn",), [], r"drawn is a list of 0; allowed: a list of 1"),
    (("drawn", 0, 0), 1, r"drawn\[0\]\[0\] is 1; allowed: 0"),
    (("drawn", 0, 1), "AS", r'drawn\[0\]\[1\] is "AS"; allowed: "\w\w \w\w", which is what the actions lead to'),
    (("drawn", 0, 1), "A", r"drawn: card 'A' does not exist"),
    (("seed",), 8, r"drawn\[0\]\[1\] is .* which is what the actions lead to"),
    (("actions", 3), [1, "done"], r"actions\[3\]: seat 1 may not do 72 \(done\); legal: 70 \(keep\)"),
]


@pytest.mark.parametrize(("path", "value", "message"), DRAFT_BAD, ids=lambda part: str(part)[:40])
def test_a_wrong_record_of_a_draft_is_refused(path: Place, value: Any, message: str) -> None:
    game = drafted_game()
    record = game.to_record()
    assert Game.from_record(again(record)) == game
    assert record["drawn"][0][0] == 0
    assert len(record["drawn"][0][1].split()) == 2
    with pytest.raises(RecordError, match=message):
        Game.from_record(changed(record, path, value))


LAST_BAD: list[tuple[Place, Any, str]] = [
    (("last_result", 0, "nil"), DELETE, r"last_result\[0\] has no field 'nil'"),
    (("last_result", 0, "nil"), 2**40, r"last_result\[0\].nil is 1099511627776; allowed: an int"),
    (("last_result", 0, "nil"), 50, r"last_result\[0\].nil is 50; allowed: -200, -100, 0, 100, 200 \(R19\)"),
    (("deal",), 0, r"record has last_result in the first deal of match 0"),
    (("last_result", 0, "penalty"), 100, r"last_result\[0\].penalty is 100; allowed: an int -2147483648..0"),
    (("last_result", 0, "boston"), 0, r"last_result\[0\].boston is 0; allowed: false or true"),
    (("outcome",), {}, r"record has last_result and an outcome"),
]


@pytest.mark.parametrize(("path", "value", "message"), LAST_BAD, ids=lambda part: str(part)[:40])
def test_a_wrong_result_of_the_deal_before_is_refused(path: Place, value: Any, message: str) -> None:
    game = suited_game()
    game.next_deal()
    record = game.to_record()
    with pytest.raises(RecordError, match=message):
        Game.from_record(changed(record, path, value))
    both = [part | {"boston": True} for part in record["last_result"]]
    with pytest.raises(RecordError, match=r"last_result has a boston of one team and tricks of the other"):
        Game.from_record(changed(record, ("last_result",), both))


@pytest.mark.parametrize(
    "record", [None, 5, [], "x", {}, {"format": ["spades-deal"]}, {"format": "spades-seat"}], ids=str
)
def test_what_is_no_record_at_all_is_refused(record: Any) -> None:
    with pytest.raises(RecordError, match=r"^(record|format) "):
        Game.from_record(record)
    with pytest.raises(RecordError, match=r"^record "):
        Game.from_record({"format": "spades-deal"} | ({"version": 1} if record == {} else {}))


# ---------------------------------------------------------------- lines

LINES: list[tuple[bytes, str]] = [
    (b"", r"line is not valid JSON"),
    (b"   ", r"line is not valid JSON"),
    (b"not json", r"line is not valid JSON"),
    (b'{"format": "spades-deal"', r"line is not valid JSON"),
    (b"\xff\xfe{}", r"line is not UTF-8 text \(byte 0\)"),
    (b"\xef\xbb\xbf{}", r"line is not valid JSON: .*BOM"),
    (b"[" * 60_000, r"line is not valid JSON: nested too deeply"),
    (b'{"a": ' + b"9" * 5_000 + b"}", r"line is not valid JSON: .*limit"),
    (b'{"format": "spades-deal", "format": "spades-deal"}', r'key "format" is given twice'),
    (b'{"meta": {"a": 1, "a": 2}}', r'key "a" is given twice'),
    (b'{"scores": NaN}', r"line has NaN; allowed: JSON"),
    (b'{"scores": -Infinity}', r"line has -Infinity; allowed: JSON"),
    (b"7", r"record is 7; allowed: an object"),
    (b"x" * (MAX_LINE + 1), r"line has 65537 bytes or more; allowed: 65536"),
    (b"x" * (MAX_LINE + 100_000), r"line has 6\d+ bytes or more; allowed: 65536"),
]


@pytest.mark.parametrize(("line", "message"), LINES, ids=lambda part: str(part)[:30])
def test_a_wrong_line_is_refused(line: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "deals.jsonl"
    good = suited_game().to_record()
    file.write_bytes(record_text(good).encode() + b"\n" + line + b"\n")
    records = read_records(file)
    assert next(records) == good
    with pytest.raises(RecordError, match=rf"deals\.jsonl, line 2: {message}"):
        next(records)


def test_a_number_too_large_for_a_float_is_refused() -> None:
    """JSON has no Infinity, but Python reads 1e999 as one."""
    line = record_text(suited_game().to_record(meta={"a": 1})).replace('"a":1', '"a":1e999')
    with pytest.raises(RecordError, match=r"meta has a number that is not finite"):
        parse_line(line)


# ---------------------------------------------------------------- anything else

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-100, 100)
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["AS", "bid 3", "nil", "look", "keep", "done", "?", "draft", "dealt", "two_player"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: Place = ()) -> list[Place]:
    """Every place in a record."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [inner for key, entry in entries for inner in [(*path, key), *places(entry, (*path, key))]]


@pytest.mark.parametrize("kind", ["deal", "draft", "seat", "seat of a draft"])
def test_nothing_but_a_record_error_comes_of_a_spoiled_record(kind: str) -> None:
    """Any value in any place: refused as a record, or harmless; never another exception."""
    record = (drafted_game() if "draft" in kind else suited_game()).to_record(players=None, meta={"a": []})
    if "seat" in kind:
        record = record_for_seat(record, 0)
    everywhere = places(record)

    @settings(max_examples=100)
    @given(st.sampled_from(everywhere), ANYTHING)
    def spoil(path: Place, value: Any) -> None:
        spoiled = changed(record, path, value)
        try:
            check_record(spoiled)
            record_text(spoiled)
        except RecordError as error:
            assert "\n" not in str(error)  # noqa: PT017 (no error is fine, too)
            assert len(str(error)) < 1_500  # noqa: PT017

    spoil()
