"""No hidden card leaves the server (R30): the bytes of what seats and spectators are sent do not move with it.

Two permuters that know nothing of views: one moves every hidden card wherever it likes (test_leak.py), the other deals
whole courses of which the seat cannot tell one from another (other_worlds.py). Every card in a message is looked at.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pydantic", reason="needs the extra `table`")

from other_worlds import TABLES, Course, course_of, other_world
from table_rooms import Notes, alone, play_on, room_of
from test_leak import CASES, collect, known_places, scrambled

import table.room
from spades_env.actions import NUM_ACTIONS
from spades_env.cards import NUM_CARDS
from spades_env.engine.state import PHASE_DEAL_OVER, StateArray
from spades_env.game import Game
from spades_env.rules import Rules
from table.errors import Refusal
from table.room import Room
from table.settings import Settings

PUBLIC = {
    *("t", "n", "code", "mode", "speed", "begun", "closed", "paused", "you", "host", "seats", "spectators", "history"),
    *("clock", "phase", "turn", "dealer", "first", "match", "deal", "bids", "blind", "looked", "tricks", "broken"),
    *("scores", "bags", "contracts", "needs", "cards_left", "pile_left", "exchanged", "winner", "truncated", "result"),
    *("trick", "last_trick", "played"),
}
"""Fields of every state. None of them has a card but the last three, which have cards that were played."""
OWN = {"hand", "legal", "why", "claim", "undo", "shown", "rejected", "thrown"}
"""Fields of a seat's own state."""


def room_under(rules: Rules) -> Room:
    """A begun room with people on all seats."""
    seats = ("you", *["open"] * (rules.players - 1))
    settings = Settings(rules, seats, "play", "normal", "normal", True, True, 60, "normal")
    room = Room("TESTTEST", settings, bytes(32), Notes())
    for seat in range(rules.players):
        room.sit(f"P{seat}", 0.0)
    room.begin(0, 0.0)
    return room


def text(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode()


def at_position(room: Room, states: StateArray) -> None:
    """Put the room where a state stands, whatever led there."""
    game = Game.__new__(Game)
    game._rules, game._states = room.course.rules, states
    room.course.game = game


def refusals(room: Room, seat: int) -> list[dict[str, Any]]:
    """What a seat is told to everything that she may not do."""
    game, told = room.course.game, []
    legal = game.legal_actions() if game.turn == seat else []
    for action in set(range(NUM_ACTIONS)) - set(legal):
        with pytest.raises(Refusal) as caught:
            room.act(seat, room.course.n, action, 0.0)
        told.append(caught.value.message())
    return told


def messages(room: Room, seat: int | None) -> bytes:
    """Everything that can be sent to a seat, or to a spectator, about the game as it stands."""
    found = text(room.state_for(seat, 0.0))
    return found if seat is None else found + text(refusals(room, seat))


# ------------------------------------------------------------ positions, every hidden card anywhere


def check_positions(name: str, count: int, seed: int) -> None:
    rules, phases = CASES[name]
    room, rng = room_under(rules), np.random.default_rng(seed)
    states = collect(rules, phases, count, seed)
    for i in range(len(states)):
        for seat in range(rules.players):
            at_position(room, states[i : i + 1].copy())
            mine, public = messages(room, seat), messages(room, None)
            at_position(room, scrambled(states, i, seat, rng))
            assert messages(room, seat) == mine
            assert messages(room, None) == public


@pytest.mark.parametrize("name", CASES)
def test_no_hidden_card_leaves_the_server(name: str) -> None:
    check_positions(name, 40, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", CASES)
def test_no_hidden_card_leaves_the_server_in_many_positions(name: str) -> None:
    check_positions(name, 400, seed=2)


# ------------------------------------------------------------ whole deals that a seat cannot tell apart


def played(course: Course, seat: int) -> list[bytes]:
    """All that a seat is sent over the course of a deal, and its report at the end."""
    room = room_under(course.rules)
    game = course.start()
    room.course.game, room.course._opening = game, game.copy()
    sent = [messages(room, seat)]
    for action in course.actions:
        game.apply(action)
        sent.append(text(room.state_for(seat, 0.0)))
    if not game.deal_over:
        sent.append(text(room.report(seat)))
    return sent


def check_courses(deals: int, seed: int) -> int:
    """Compare deals under every kind of rules; how many pairs were found."""
    rng, found = np.random.default_rng(seed), 0
    names = list(TABLES)
    for k in range(deals):
        course = course_of(TABLES[names[k % len(names)]], seed * 1_000_003 + k, part=float(rng.random()))
        for seat in range(course.rules.players):
            twin = other_world(course, seat, rng, swaps=20)
            if twin is not None:
                assert played(course, seat) == played(twin, seat), (names[k % len(names)], k, seat)
                found += 1
    return found


def test_deals_that_a_seat_cannot_tell_apart_send_her_the_same_bytes() -> None:
    assert check_courses(80, seed=1) > 120


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_thousands_of_deals_that_a_seat_cannot_tell_apart() -> None:
    assert check_courses(3_000, seed=2) > 5_000


# ------------------------------------------------------------ every card in a message


def cards_in(state: dict[str, Any], names: set[str]) -> set[int]:
    """Cards that stand in fields of a state, however deep."""
    found: set[int] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(int(key) for key in value if str(key).isdecimal())
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)
        elif isinstance(value, int) and not isinstance(value, bool):
            found.add(value)

    for name in names & set(state):
        walk(state[name])
    return {card for card in found if card < NUM_CARDS}


def plays_in(state: dict[str, Any]) -> set[int]:
    last = state["last_trick"] or {"plays": []}
    return {card for _, card in [*state["played"], *state["trick"], *last["plays"]]}


@pytest.mark.parametrize("name", CASES)
def test_every_card_in_a_state_is_one_that_the_seat_knows(name: str) -> None:
    rules, phases = CASES[name]
    room = room_under(rules)
    states = collect(rules, phases, 15, seed=3)
    for i in range(len(states)):
        at_position(room, states[i : i + 1].copy())
        over = int(states["phase"][i]) >= PHASE_DEAL_OVER
        public = room.state_for(None, 0.0)
        assert set(public) == PUBLIC
        on_table = {
            card for seat in range(4) for card in range(NUM_CARDS) if int(states["played"][i, seat]) >> card & 1
        }
        assert plays_in(public) <= on_table
        for seat in range(rules.players):
            state = room.state_for(seat, 0.0)
            assert set(state) == PUBLIC | OWN
            assert {name: state[name] for name in PUBLIC - {"you"}} == {n: public[n] for n in PUBLIC - {"you"}}
            known = {card for card in range(NUM_CARDS) if known_places(states[i], seat) >> card & 1}
            if rules.deal == "draft":
                known |= {card for card in range(NUM_CARDS) if int(states["rejected"][i, seat]) >> card & 1}
            assert cards_in(state, OWN - {"claim", "undo", "why"}) <= known
            assert {int(action) for action in state["why"] if int(action) < NUM_CARDS} <= known
            if int(states["turn"][i]) != seat or over:
                assert state["legal"] == []
                assert state["why"] == {}


# ------------------------------------------------------------ the checks catch a leak


def longest_suit(facts: Any) -> dict[str, Any]:
    """Leaks how many spades the seat after the one to act holds, which only a state has."""
    hands = [int(hand) for hand in facts._states["hands"][0]]
    return {"spades": [(hand >> 39).bit_count() for hand in hands]}


def test_a_spectator_who_is_told_a_count_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = table.room.public_part
    monkeypatch.setattr(table.room, "public_part", lambda facts: honest(facts) | longest_suit(facts))
    with pytest.raises(AssertionError):
        check_positions("classic", 4, seed=4)


def test_a_seat_that_is_told_the_truth_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reasons found in the game itself instead of the view of the seat."""
    honest = Room.state_for

    def leaky(self: Room, seat: int | None, now: float) -> dict[str, Any]:
        return honest(self, seat, now) | {"lead": max(self.course.game.hands[0], default=None)}

    monkeypatch.setattr(Room, "state_for", leaky)
    with pytest.raises(AssertionError):
        check_courses(10, seed=5)


# ------------------------------------------------------------ watching, and the end of a deal


def test_open_cards_are_for_tables_of_agents_alone() -> None:
    watched = room_of(mode="watch")
    watched.begin(None, 0.0)
    assert "hands" in watched.state_for(None, 0.0)
    for mode in ("play", "practice"):
        room, seat = alone(mode=mode)
        assert "hands" not in room.state_for(None, 0.0)
        assert "hands" not in room.state_for(seat, 0.0)


def test_a_report_is_whole_only_when_the_deal_is_over() -> None:
    room, seat = alone(seed=1)
    rng = np.random.default_rng(1)
    with pytest.raises(Refusal):
        room.report(None)
    while not room.course.game.deal_over:
        assert "hands" not in room.report(seat)
        assert "seed" not in room.report(seat)
        play_on(room, rng, 1)
    assert "hands" in room.report(seat)
