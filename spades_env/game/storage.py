"""A game as bytes and back: a header, then the record, which is believed only if its deal replays to it."""

from __future__ import annotations

import struct
import zlib
from typing import Final

import numpy as np

from spades_env.engine.front import begin_given_deal, pack_mask, winner_by_scores
from spades_env.engine.state import (
    HIDDEN,
    PHASE_DEAL_OVER,
    RESULT,
    STATE,
    StateArray,
    rules_from_record,
    rules_to_record,
)
from spades_env.engine.step import apply, is_legal
from spades_env.game.facts import TeamResult, team_result
from spades_env.game.position import HIGHEST_COUNT, HIGHEST_SCORE, HIGHEST_TOTAL, PositionError, last_deal
from spades_env.game.result import checked_result, most_points
from spades_env.rules import Rules, RulesError

MAGIC: Final = b"SPDSGAME"
VERSION: Final = 1
_HEADER: Final = struct.Struct("<8sHIII")
"""Magic, version, layout (CRC-32 of the dtype), length of the record in bytes, CRC-32 of the record."""
_LAYOUT: Final = zlib.crc32(repr(STATE.descr).encode())


class StorageError(ValueError):
    """Bytes that are no saved game of this version; the message says what is wrong with them."""


def pack_state(states: StateArray) -> bytes:
    """The bytes of `states[0]`, behind a header."""
    body = states[:1].tobytes()
    return _HEADER.pack(MAGIC, VERSION, _LAYOUT, len(body), zlib.crc32(body)) + body


def unpack_state(data: bytes) -> tuple[StateArray, Rules]:
    """The record, shape (1,), and the rules in `data`; damaged, foreign and impossible ones are refused."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise StorageError(f"data is a {type(data).__name__}; allowed: the bytes of a saved game")
    data = bytes(data)
    if len(data) < _HEADER.size or not data.startswith(MAGIC):
        raise StorageError(f"data ({len(data)} bytes) is no saved game: it does not begin with {MAGIC!r}")
    _, version, layout, length, checksum = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    if version != VERSION:
        raise StorageError(f"saved game has version {version}; allowed: {VERSION}")
    if layout != _LAYOUT or length != STATE.itemsize:
        raise StorageError("saved game has another layout of STATE: it was written by another version")
    if len(body) != length:
        raise StorageError(f"saved game has {len(body)} bytes of state; allowed: {length}")
    if zlib.crc32(body) != checksum:
        raise StorageError("saved game is damaged: its checksum does not match")
    states = np.frombuffer(body, STATE).copy()
    rules = _checked_rules(states)
    _check_header_fields(states, rules)
    _check_match_so_far(states, rules)
    if _replayed(states, rules).tobytes() != body:
        raise StorageError("saved game is impossible: its actions do not lead to its state")
    return states, rules


def _checked_rules(states: StateArray) -> Rules:
    """The rules inside the record, which must be what `Rules` turns back into the same bytes."""
    try:
        rules = rules_from_record(states["rules"][0])
    except (RulesError, StopIteration) as error:
        raise StorageError(f"saved game has impossible rules: {error}") from None
    if rules_to_record(rules).tobytes() != states["rules"].tobytes():
        raise StorageError("saved game has impossible rules: they are not those of any Rules value")
    return rules


def _check_header_fields(states: StateArray, rules: Rules) -> None:
    """Refuse values that a replay would not survive or could not notice."""
    game = states[0]
    deck = int(pack_mask(states, 0))
    size = deck.bit_count()
    pile = [int(card) for card in game["pile"]]
    checks = {
        "dealer": 0 <= int(game["dealer"]) < rules.players,
        "match": 0 <= int(game["match"]) <= HIGHEST_COUNT,
        "deal": 0 <= int(game["deal"]) <= last_deal(rules),
        "n_actions": 0 <= int(game["n_actions"]) <= game["actions"].size,
        "pile": all(0 <= card < 54 for card in pile) and sum(1 << card for card in set(pile[:size])) == deck,
        "rest of the pile": not any(pile[size:]),
        "actions": all(int(action) > HIDDEN for action in game["actions"]),
    }
    for name, fine in checks.items():
        if not fine:
            raise StorageError(f"saved game is impossible: its {name} cannot be")


def _check_match_so_far(states: StateArray, rules: Rules) -> None:
    """Refuse scores, bags and a last result to which no deals lead; a replay of this deal takes them as they are."""
    game, deal = states[0], int(states["deal"][0])
    over = int(game["phase"]) >= PHASE_DEAL_OVER
    items = _checked_items(game, rules)
    most_bags = rules.bag_limit - 1 if rules.bag_limit > 0 else HIGHEST_SCORE + rules.hand_size * (deal + 1)
    most_score = min(HIGHEST_SCORE + deal * most_points(rules), HIGHEST_TOTAL)
    for team in (0, 1):
        bags, score = int(game["bags"][team]), int(game["scores"][team])
        if not 0 <= bags <= most_bags:  # R6, R21: the limit is left behind whenever a deal is scored
            raise StorageError(f"saved game is impossible: bags[{team}] is {bags}; allowed: 0..{most_bags}")
        before = score - items[team].points if over else score
        if abs(before) > most_score:
            raise StorageError(
                f"saved game is impossible: scores[{team}] is {before} before the deal; "
                f"allowed in deal {deal}: {-most_score}..{most_score}"
            )


def _checked_items(game: np.void, rules: Rules) -> tuple[TeamResult, TeamResult]:
    """The itemised result in a record, by team; zeros before the first deal of a game has been scored."""
    result = game["result"]
    scored, boston = int(result["scored"]), int(result["boston"])
    if scored not in (0, 1) or boston not in (-1, 0, 1):
        raise StorageError(f"saved game is impossible: result has scored {scored} and boston {boston}")
    over = int(game["phase"]) >= PHASE_DEAL_OVER
    first_deal = int(game["match"]) == 0 and int(game["deal"]) == 0
    if scored == 0:
        if over or result.tobytes() != bytes(RESULT.itemsize):
            raise StorageError("saved game is impossible: its result is that of no deal scored")
        nothing = TeamResult(0, 0, 0, 0, 0, boston=False)
        return nothing, nothing
    if first_deal and not over:
        raise StorageError("saved game is impossible: it has a result in the first deal of its first match")
    try:
        return checked_result(rules, (team_result(result, 0), team_result(result, 1)))
    except PositionError as error:
        raise StorageError(f"saved game is impossible: {error}") from None


def _replayed(states: StateArray, rules: Rules) -> StateArray:
    """The same deal from its start: pack, dealer, match so far as saved; every action checked and taken."""
    replay = states.copy()
    game, count = states[0], int(states["n_actions"][0])
    over = int(game["phase"]) >= PHASE_DEAL_OVER
    if over:
        result = game["result"]
        for item in ("contract", "nil", "bag_points", "penalty"):
            replay["scores"][0] -= result[item]
        replay["bags"][0] = [bags_before(game, team, rules) for team in (0, 1)]
    if int(replay["bags"].min()) < 0 or int(winner_by_scores(replay, 0)) >= 0:
        raise StorageError("saved game is impossible: no deal could have begun with its scores and bags")
    replay["winner"], replay["truncated"] = -1, 0
    replay["_pad"], replay["result"]["_pad"] = 0, 0
    # What `begin_given_deal` clears first are the actions that `n_actions` counts.
    replay["n_actions"] = game["actions"].size
    begin_given_deal(replay, 0)
    for action in game["actions"][:count]:
        if not is_legal(replay, 0, int(action)):
            raise StorageError("saved game is impossible: it has an illegal action")
        apply(replay, 0, int(action))
    return replay


def bags_before(game: np.void, team: int, rules: Rules) -> int:
    """A bag count from which the bags of the deal lead to the count after it (R21)."""
    taken, left = int(game["result"]["bags"][team]), int(game["bags"][team])
    if rules.bag_limit == 0:
        return left - taken
    if rules.bag_after == "reset":
        penalised = left == 0 and taken > 0
        return max(0, rules.bag_limit - taken) if penalised else left - taken
    return (left - taken) % rules.bag_limit
