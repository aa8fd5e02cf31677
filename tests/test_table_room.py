"""One table as logic: turns, versions, stand-ins, score sheets, taking back. Time is a number here."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pydantic", reason="needs the extra `table`")

from table_rooms import Notes, alone, play_on, room_of, settings_of

from spades_env.actions import FIRST_BID
from spades_env.engine.lockstep import decision_keys
from spades_env.game import Game
from spades_env.record import record_for_seat
from spades_env.record.files import check_record
from table.course import AGENT, CLAIM, PERSON, STAND_IN, deal_seed
from table.errors import Refusal
from table.room import GRACE, SHEET_SECONDS, Room


def code_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(Refusal) as caught:
        call(*arguments)
    return caught.value.code


def to_my_turn(room: Room, seat: int, now: float = 0.0) -> None:
    """Let the other seats take their first legal action until the person is to act."""
    while room.course.game.turn not in (None, seat):
        turn = room.course.game.turn
        assert turn is not None
        assert room.agent_acts(turn, room.course.n, room.course.game.legal_actions()[0], now)


def play_deal(room: Room, seat: int, now: float = 0.0) -> None:
    while room.course.game.turn is not None:
        to_my_turn(room, seat, now)
        if room.course.game.turn == seat:
            room.act(seat, room.course.n, room.course.game.legal_actions()[0], now)


# ------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"seats": ["you", "normal"]}, "2 entries"),
        ({"seats": ["you", "you", "easy", "easy"]}, "'you' 2 times"),
        ({"seats": ["easy"] * 4}, "'you' 0 times"),
        ({"seats": ["you", "easy", "easy", "cheating"]}, "seats[3]"),
        ({"seats": ["you", "easy", "easy", "process:rm"]}, "seats[3]"),
        ({"seats": ["you", "open", "easy", "easy"], "mode": "practice"}, "'open'"),
        ({"seats": ["you", "easy", "easy", "easy"], "mode": "watch"}, "a person"),
        ({"hint": "you"}, "hint"),
        ({"open_agent": "open"}, "open_agent"),
        ({"rules": {"preset": "bridge"}}, "bridge"),
        ({"rules": {"target": 0}}, "target=0"),
        ({"rules": {"blind_nil": True, "nil_allowed": False}}, "blind_nil"),
        ({"rules": {"colour": 1}}, "colour"),
    ],
)
def test_impossible_settings_are_refused_by_name(fields: dict[str, Any], word: str) -> None:
    with pytest.raises(Refusal, match=r".") as caught:
        settings_of(**fields)
    assert caught.value.code == "bad_settings"
    assert word in str(caught.value)


def test_settings_survive_the_store() -> None:
    settings = settings_of(rules={"preset": "two_player", "jokers": True}, seats=["you", "hard"], speed="slow")
    assert type(settings).from_dict(settings.to_dict()) == settings


# ------------------------------------------------------------ a person and agents


def test_a_frame_that_is_late_or_sent_twice_does_nothing() -> None:
    room, seat = alone()
    to_my_turn(room, seat)
    n = room.course.n
    room.act(seat, n, FIRST_BID + 3, 0.0)
    assert code_of(room.act, seat, n, FIRST_BID + 3, 0.0) == "stale"
    assert code_of(room.act, seat, n + 1, FIRST_BID + 3, 0.0) in ("not_your_turn", "illegal")
    assert room.course.n == n + 1


def test_an_illegal_card_is_refused_with_the_paragraph() -> None:
    """R11, R13: the reason comes as a key, its numbers and the paragraph."""
    room, seat = alone(seed=3)
    to_my_turn(room, seat)
    room.act(seat, room.course.n, FIRST_BID + 3, 0.0)
    to_my_turn(room, seat)
    view = room.course.game.view(seat)
    bad = next(card for card in view.hand if card not in view.legal_actions())
    with pytest.raises(Refusal) as caught:
        room.act(seat, room.course.n, bad, 0.0)
    assert caught.value.code == "illegal"
    told = room.state_for(seat, 0.0)["why"][str(bad)]
    assert caught.value.more["why"] == told
    assert told["paragraph"] in ("R11", "R13")
    assert told["words"].format(**told["values"])


def test_agents_act_after_their_pause_and_people_at_once() -> None:
    room, seat = alone(seed=1)
    others = (room.course.game.turn or 0) != seat
    step = room.next_step(0.0)
    if others:
        assert step is not None
        assert (step.at, step.what) == (1.0, "think")
    to_my_turn(room, seat, now=10.0)
    assert room.next_step(10.0) is None  # alone: the table waits for her for ever
    room.act(seat, room.course.n, FIRST_BID + 3, 20.0)
    after = room.next_step(20.0)
    if after is not None:
        assert after.at == 21.0


def test_a_complete_trick_stays_in_view() -> None:
    room, seat = alone(seed=1)
    while len(room.course.game.plays) < 4:
        turn, action = room.course.game.turn or 0, room.course.game.legal_actions()[0]
        if turn == seat:
            room.act(seat, room.course.n, action, 5.0)
        else:
            assert room.agent_acts(turn, room.course.n, action, 5.0)
    state = room.state_for(seat, 5.0)
    assert state["trick"] == []
    assert [card for _, card in state["last_trick"]["plays"]] == [card for _, card in room.course.game.plays]
    if room.course.game.turn != seat:
        step = room.next_step(5.0)
        assert step is not None
        assert step.at == 5.0 + 1.0 + 2.0


def test_an_agent_that_answers_too_late_is_not_heard() -> None:
    room = room_of(2, mode="watch")
    room.spectators = 1
    room.begin(None, 0.0)
    game = room.course.game
    turn, n, action = game.turn or 0, room.course.n, game.legal_actions()[0]
    assert room.agent_acts(turn, n, action, 0.0)
    assert not room.agent_acts(turn, n, action, 0.0)


def test_nobody_there_nothing_happens() -> None:
    room, seat = alone()
    room.gone(seat, 1.0)
    assert room.next_step(1000.0) is None


def test_pause_and_step_of_a_watched_table() -> None:
    room = room_of(mode="watch")
    room.spectators = 1
    room.begin(None, 0.0)
    room.pause(True, 0.0)
    assert room.next_step(5.0) is None
    room.step()
    step = room.next_step(5.0)
    assert step is not None
    assert step.at == 5.0
    assert room.agent_acts(step.seat, room.course.n, room.course.game.legal_actions()[0], 5.0)
    assert room.next_step(6.0) is None
    room.pause(False, 6.0)
    assert room.next_step(6.0) is not None


# ------------------------------------------------------------ deals and matches


def test_the_score_sheet_and_the_next_deal() -> None:
    room, seat = alone(seed=4)
    play_deal(room, seat)
    state = room.state_for(seat, 0.0)
    assert state["phase"] == "deal over"
    assert len(state["history"]) == 1
    points = [team["points"] for team in state["result"]]
    assert points == state["scores"] == state["history"][0]["scores"]
    assert code_of(room.next_deal, seat, room.course.n - 1, 0.0) == "stale"
    first = room.course.game
    room.next_deal(seat, room.course.n, 0.0)
    game = room.course.game
    assert (game.deal, game.scores, game.bags) == (1, first.scores, first.bags)
    assert game.dealer == first.first  # R5: the deal passes to the next seat
    assert room.state_for(seat, 0.0)["result"] is None


def test_a_match_to_its_end_and_another() -> None:
    """R24, R26; every finished deal's record is replayed by the engine, and its seed is no other deal's."""
    room, _ = alone(seed=5, rules={"preset": "classic", "target": 60, "mercy": -60})
    rng = np.random.default_rng(5)
    assert code_of(room.again, 0.0) == "not_allowed"
    while not room.course.game.match_over:
        play_on(room, rng, 1)
    assert room.next_step(1e9) is None
    assert isinstance(room.journal, Notes)
    records = list(room.journal.records)
    for record in records:
        check_record(dict(record))
    assert len({record["seed"] for record in records}) == len(records)
    assert [record["deal"] for record in records] == list(range(len(records)))
    for before, after in pairwise(records):
        assert after["scores"] == before["outcome"]["scores"]
        assert after["bags"] == before["outcome"]["bags"]
    room.again(0.0)
    game = room.course.game
    assert (game.match, game.deal, game.scores) == (1, 0, (0, 0))
    assert room.course.history == []


def test_the_engine_would_deal_the_same_match() -> None:
    """Scores, bags and dealers of deals with seeds of their own are those of one `Game`, given the same cards."""
    room, _ = alone(seed=6, rules={"preset": "modern"})
    rng = np.random.default_rng(6)
    whole: Game | None = None
    for _ in range(300):
        game = room.course.game
        if not game.deal_over and not game.actions:
            twin = Game(
                game.rules,
                hands=game.hands,
                dealer=game.dealer,
                scores=game.scores,
                bags=game.bags,
                deal=game.deal,
                match=game.match,
            )
            if whole is not None and whole.phase == "deal over":
                whole.next_deal()
                assert (whole.dealer, whole.scores, whole.bags) == (game.dealer, game.scores, game.bags)
            whole = twin
        play_on(room, rng, 1)
        if whole is not None and room.course.game.actions and not whole.deal_over:
            whole.apply(room.course.game.actions[-1])


def test_seeds_of_deals_are_apart() -> None:
    seeds = {deal_seed(bytes([k]), m, d) for k in range(5) for m in range(5) for d in range(5)}
    assert len(seeds) == 125
    assert all(0 <= seed < 2**63 for seed in seeds)


# ------------------------------------------------------------ practice


def test_taking_back_comes_to_ones_own_last_decision() -> None:
    room, seat = alone(seed=7, mode="practice")
    to_my_turn(room, seat)
    first = room.course.game.copy()
    assert code_of(room.undo, seat, 0.0) == "not_allowed"
    room.act(seat, room.course.n, FIRST_BID + 3, 0.0)
    to_my_turn(room, seat)
    n = room.course.n
    room.undo(seat, 0.0)
    assert room.course.game == first
    assert room.course.n == n + 1  # a version is never used twice
    keys = np.zeros(2, np.uint64)
    decision_keys(room.course.game.states, keys[:1])
    decision_keys(first.states, keys[1:])
    assert keys[0] == keys[1]  # agents will do the same again


def test_the_last_card_of_a_deal_can_be_taken_back() -> None:
    room, seat = alone(seed=8, mode="practice")
    play_deal(room, seat)
    assert len(room.course.history) == 1
    room.undo(seat, 0.0)
    assert room.course.history == []
    assert room.course.deals == 0
    assert not room.course.game.deal_over
    play_deal(room, seat)
    assert room.course.taken_back == 1
    assert room.course.record(room.players(), "X")["meta"]["taken_back"] == 1


def test_no_hints_and_no_taking_back_in_play() -> None:
    room, seat = alone(seed=1)
    to_my_turn(room, seat)
    assert code_of(room.seat_for_hint, seat) == "not_allowed"
    assert code_of(room.undo, seat, 0.0) == "not_allowed"


# ------------------------------------------------------------ several people


def together() -> tuple[Room, list[str]]:
    """A room with people on seats 0 and 2."""
    room = room_of(seed=9, seats=["you", "easy", "open", "easy"], patience=20)
    tokens = [room.sit("Ann", 0.0, seat=0)[1], room.sit("Bo", 0.0)[1]]
    room.begin(0, 0.0)
    return room, tokens


def test_free_seats_are_taken_once() -> None:
    room, _ = together()
    assert room.people == [0, 2]
    assert code_of(room.sit, "Cy", 0.0) == "full"


def test_only_the_first_person_begins_and_once() -> None:
    room = room_of(seats=["you", "easy", "open", "easy"])
    room.sit("Ann", 0.0, seat=0)
    room.sit("Bo", 0.0)
    assert room.state_for(0, 0.0)["phase"] == "waiting"
    assert "hand" not in room.state_for(0, 0.0)
    assert code_of(room.act, 0, 0, FIRST_BID, 0.0) == "not_allowed"
    assert code_of(room.begin, 2, 0.0) == "not_allowed"
    room.begin(0, 0.0)
    assert code_of(room.begin, 0, 0.0) == "not_allowed"


def test_a_token_opens_its_seat_alone() -> None:
    room, tokens = together()
    room.gone(2, 1.0)
    assert room.sit_again(tokens[1], 2.0) == 2
    assert room.sit_again(tokens[0], 2.0) == 0
    assert code_of(room.sit_again, "A" * 22, 2.0) == "bad_token"


def test_an_agent_decides_for_who_is_too_slow_until_she_acts() -> None:
    room, _ = together()
    while room.course.game.turn != 2:
        room.agent_acts(room.course.game.turn or 0, room.course.n, room.course.game.legal_actions()[0], 0.0)
    step = room.next_step(0.0)
    assert step is not None
    assert (step.what, step.at, step.seat) == ("stand_in", 20.0, 2)
    assert room.state_for(0, 5.0)["clock"] == {"what": "stand_in", "seconds": 15}
    room.stand_in(2, 20.0)
    assert room.state_for(0, 20.0)["seats"][2]["agent_plays"]
    step = room.next_step(20.0)
    assert step is not None
    assert step.what == "think"
    assert room.agent_acts(2, room.course.n, room.course.game.legal_actions()[0], 21.0)
    assert room.course.by[-1] == STAND_IN
    assert code_of(room.act, 2, room.course.n, FIRST_BID + 1, 22.0) in ("not_your_turn", "illegal")
    assert not room.state_for(0, 22.0)["seats"][2]["agent_plays"]


def test_an_agent_plays_for_who_is_gone_while_others_wait() -> None:
    room, tokens = together()
    while room.course.game.turn != 2:
        room.agent_acts(room.course.game.turn or 0, room.course.n, room.course.game.legal_actions()[0], 100.0)
    room.gone(2, 101.0)
    step = room.next_step(101.0)
    assert step is not None
    assert (step.what, step.at) == ("stand_in", 101.0 + GRACE)
    room.stand_in(2, 116.0)
    room.sit_again(tokens[1], 117.0)
    assert not room.seats[2].slow
    room.gone(0, 118.0)
    room.gone(2, 118.0)
    assert room.next_step(500.0) is None  # nobody is there: the table waits


def test_after_a_restart_everybody_has_time_to_come_back() -> None:
    room, tokens = together()
    while room.course.game.turn != 2:
        room.agent_acts(room.course.game.turn or 0, room.course.n, room.course.game.legal_actions()[0], 0.0)
    room.wake(1_000_000.0)
    assert room.next_step(1_000_000.0) is None
    room.sit_again(tokens[0], 1_000_001.0)
    step = room.next_step(1_000_001.0)
    assert step is not None
    assert (step.what, step.at) == ("stand_in", 1_000_000.0 + GRACE)


def test_the_next_deal_waits_for_all_people_but_not_for_ever() -> None:
    room, _ = together()
    rng = np.random.default_rng(1)
    while not room.course.game.deal_over:
        play_on(room, rng, 1)
    step = room.next_step(0.0)
    assert step is not None
    assert (step.what, step.at) == ("deal", SHEET_SECONDS)
    n = room.course.n
    room.next_deal(0, n, 1.0)
    assert room.course.n == n
    assert room.state_for(2, 1.0)["seats"][0]["ready"]
    room.next_deal(2, n, 2.0)
    assert room.course.game.deal == 1


def test_no_pause_where_people_sit_together() -> None:
    room, _ = together()
    assert code_of(room.pause, True, 0.0) == "not_allowed"


def test_who_leaves_frees_the_seat_and_the_last_one_closes_the_room() -> None:
    room, tokens = together()
    room.stand_up(0, 1.0)
    assert room.host == 2
    assert code_of(room.sit_again, tokens[0], 2.0) == "bad_token"
    assert room.sit("Cy", 3.0)[0] == 0
    room.stand_up(0, 4.0)
    room.stand_up(2, 4.0)
    assert room.closed
    assert room.next_step(5.0) is None


# ------------------------------------------------------------ claims and reports


def test_a_claim_plays_the_deal_out() -> None:
    """The remaining tricks are hers, and every card is an action like any other."""
    lengths = []
    for seed in range(150):
        room, seat = alone(seed=seed, rules={"preset": "classic", "lead_spades": "any"})
        while not room.course.game.deal_over:
            to_my_turn(room, seat)
            if room.course.game.turn is None:
                break
            state = room.state_for(seat, 0.0)
            if state["claim"]:
                before, left = room.course.game.tricks[seat], len(state["hand"])
                room.claim(seat, room.course.n, 0.0)
                assert room.course.game.deal_over
                assert room.course.game.tricks[seat] == before + left
                assert room.course.by[-1] == CLAIM
                assert {PERSON, AGENT} <= set(room.course.by)
                check_record(room.course.record(room.players(), "X"))
                lengths.append(left)
                break
            assert code_of(room.claim, seat, room.course.n, 0.0) == "not_allowed"
            room.act(seat, room.course.n, state["legal"][seed % 2 - 1], 0.0)
    assert len(lengths) > 5
    assert max(lengths) > 1


def test_a_seat_gets_its_own_record_while_the_deal_is_on() -> None:
    room, seat = alone(seed=10)
    to_my_turn(room, seat)
    record = record_for_seat(room.course.record(room.players(), "X"), seat)
    check_record(record)
    assert "seed" not in record
    assert "hands" not in record
