"""Rooms over real sockets: friends, strangers, reconnecting, restarts, talk, voice, hints, agents that fail."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `table`")

from table_sockets import AGENTS, FAST, Client, Server, running

from spades_env.record.files import check_record
from spades_env.rules import PRESETS, Rules
from table.errors import Refusal
from table.limits import Limits
from table.thinking import check_rules


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("table") / "a.sqlite", quick_wait=0.5) as found:
        yield found


def waiting_for(ann: Client, bo: Client) -> Client | None:
    """Whom of the two the table waits for, both having seen that state; None at the end of a deal."""
    while (state := ann.ask(t="voice", on=False))["turn"] not in (0, 2, None):
        pass
    bo.until_state(lambda s: s["begun"] and s["n"] >= state["n"])
    return None if state["turn"] is None else ann if state["turn"] == 0 else bo


def play_together(ann: Client, bo: Client, actions: int) -> None:
    """So many decisions of the two people, or to the end of the deal."""
    for _ in range(actions):
        client = waiting_for(ann, bo)
        if client is None:
            return
        n = client.state["n"]
        client.play(1)
        ann.until_state(lambda s, n=n: s["n"] > n)


def pair(server: Server) -> tuple[Client, Client, dict[str, str]]:
    """Two people who have begun to play together on seats 0 and 2."""
    ann, bo = server.client(), server.client()
    joined = ann.create(seats=["you", "easy", "open", "easy"])
    second = bo.ask(t="join", code=joined["code"].lower(), name="Bo")
    assert second["seat"] == 2
    assert ann.ask(t="begin")["begun"]
    return ann, bo, {"code": joined["code"], "ann": joined["token"], "bo": second["token"]}


# ------------------------------------------------------------ alone


@pytest.mark.parametrize("preset", PRESETS)
def test_a_match_alone_with_agents(server: Server, preset: str) -> None:
    """Every preset to the end of a short match; every deal comes as a record that the engine replays."""
    client = server.client()
    seats = ["you", "easy"] if PRESETS[preset].players == 2 else ["you", "easy", "normal", "easy"]
    joined = client.create(rules={"preset": preset, "target": 80, "mercy": -80}, seats=seats)
    assert joined["settings"]["rules"]["target"] == 80
    assert {line["field"] for line in joined["rules_page"]} == set(joined["settings"]["rules"])
    for _ in range(2_000):
        state = client.my_turn()
        if state["phase"] == "match over":
            break
        client.play(1)
    assert state["winner"] in (0, 1)
    for line in state["history"]:
        deal = client.ask(t="deal", k=line["k"])
        check_record(deal["record"])
        assert deal["record"]["outcome"]["scores"] == line["scores"]
        assert deal["record"]["players"][0] == "Ann"
    report = client.ask(t="report")
    check_record(report["record"])
    assert client.ask(t="again")["match"] == 1
    client.close()


def test_rules_that_are_changed_are_the_rules_that_are_played(server: Server) -> None:
    client = server.client()
    client.create(
        rules={"preset": "classic", "nil_allowed": False, "min_bid": 2, "turn_direction": "counter_clockwise"}
    )
    state = client.my_turn()
    assert state["legal"] == list(range(56, 68))
    assert state["why"]["54"]["paragraph"] == "R8"
    if state["turn"] == state["first"]:
        assert state["dealer"] == 1
    client.close()


def test_an_agent_that_does_not_know_the_rules_is_refused() -> None:
    check_rules("champion", PRESETS["classic"].replace(target=200))
    check_rules("expert", Rules(jokers=True, bag_limit=5))
    with pytest.raises(Refusal, match="not trained for these rules") as caught:
        check_rules("champion", Rules(bag_limit=5))
    assert caught.value.code == "bad_settings"


def test_speed_and_pause(server: Server) -> None:
    client = server.client()
    client.create()
    assert client.ask(t="speed", speed="slow")["speed"] == "slow"
    assert client.ask(t="pause", on=True)["paused"]
    assert not client.ask(t="pause", on=False)["paused"]
    client.close()


def test_watching_four_agents_step_by_step(server: Server) -> None:
    client = server.client()
    joined = client.create(mode="watch", seats=["easy", "normal", "easy", "normal"], hint="easy")
    assert (joined["seat"], joined["token"]) == (None, None)
    paused = client.ask(t="pause", on=True)
    n = paused["n"]
    client.ask(t="step")
    state = client.until_state(lambda s: s["n"] > n)
    assert state["n"] == n + 1
    assert [len(hand) for hand in state["hands"]] == state["cards_left"]
    assert client.code_of(t="act", n=state["n"], action=57) == "not_seated"
    assert client.ask(t="hint", n=state["n"])["seat"] == state["turn"]
    other = server.client()
    assert other.ask(t="join", code=joined["code"], name="Bo")["seat"] is None
    client.close()
    other.close()


def test_practice_has_hints_and_takes_back(server: Server) -> None:
    client = server.client()
    client.create(mode="practice", hint="easy")
    state = client.my_turn()
    hint = client.ask(t="hint", n=state["n"])
    assert hint["action"] in state["legal"]
    assert hint["unit"] == "chance"
    assert {line["action"] for line in hint["values"]} <= set(state["legal"])
    assert sum(line["value"] for line in hint["values"]) == pytest.approx(1.0)
    assert client.code_of(t="hint", n=state["n"] + 1) == "stale"
    client.ask(t="act", n=state["n"], action=hint["action"])
    later = client.my_turn()
    assert later["undo"]
    back = client.ask(t="undo")
    assert (back["hand"], back["legal"], back["bids"]) == (state["hand"], state["legal"], state["bids"])
    assert back["n"] > later["n"]
    stranger = server.client()
    assert stranger.code_of(t="join", code=back["code"], name="Eve") == "full"
    client.close()
    stranger.close()


# ------------------------------------------------------------ friends


def test_friends_play_a_deal_and_talk(server: Server) -> None:
    ann, bo, _ = pair(server)
    play_together(ann, bo, 28)
    assert ann.until_state(lambda s: s["phase"] == "deal over")["history"]
    ann.send(t="say", text="  well   played <b> ")
    said = bo.until("said")
    assert (said["seat"], said["name"], said["text"], said["emoji"]) == (0, "Ann", "well played <b>", False)
    bo.send(t="say", emoji="👏")
    assert ann.until("said")["seat"] == 0  # her own line comes back, too
    assert ann.until("said")["emoji"]
    n = ann.state["n"]
    assert ann.ask(t="next", n=n)["seats"][0]["ready"]
    assert bo.ask(t="next", n=n)["deal"] == 1
    ann.close()
    bo.close()


def test_the_third_watches_and_sees_no_hand(server: Server) -> None:
    ann, bo, words = pair(server)
    eve = server.client()
    assert eve.ask(t="join", code=words["code"], name="Eve")["seat"] is None
    state = eve.until("state")
    assert not {"hand", "hands", "legal"} & set(state)
    assert ann.until_state(lambda s: s["spectators"] == 1)
    assert eve.code_of(t="act", n=state["n"], action=57) == "not_seated"
    assert eve.code_of(t="say", text="hello") == "not_seated"
    assert eve.code_of(t="report") == "not_seated"
    assert eve.code_of(t="hint", n=state["n"]) == "not_allowed"
    eve.close()
    assert ann.until_state(lambda s: s["spectators"] == 0)
    ann.close()
    bo.close()


def test_who_comes_back_sits_again_and_sees_the_same(server: Server) -> None:
    ann, bo, words = pair(server)
    play_together(ann, bo, 2)
    before = bo.ask(t="voice", on=False)
    bo.close()
    assert ann.until_state(lambda s: s["begun"] and not s["seats"][2]["connected"])
    again = server.client()
    assert again.ask(t="join", code=words["code"], name="Bo", token=words["bo"])["seat"] == 2
    state = again.until("state")
    assert state["hand"] == before["hand"] or state["n"] > before["n"]
    assert state["you"] == 2
    twice = server.client()
    assert twice.ask(t="join", code=words["code"], name="Bo", token=words["bo"])["seat"] == 2
    assert again.until("error")["code"] == "replaced"
    assert again.code_of(t="act", n=state["n"], action=57) == "not_here"
    for client in (ann, again, twice):
        client.close()


def test_who_leaves_is_replaced_by_an_agent(server: Server) -> None:
    ann, bo, words = pair(server)
    assert bo.ask(t="leave")["t"] == "left"
    state = ann.until_state(lambda s: s["seats"][2]["kind"] == "open")
    assert state["seats"][2]["agent_plays"]
    ann.play(2)
    cy = server.client()
    assert cy.ask(t="join", code=words["code"], name="Cy")["seat"] == 2
    play_together(ann, cy, 3)
    assert ann.ask(t="leave")["t"] == "left"
    cy.ask(t="leave")
    late = server.client()
    assert late.code_of(t="join", code=words["code"], name="Di") == "no_such_room"
    for client in (ann, bo, cy, late):
        client.close()


def test_voice_goes_only_between_people_who_have_it_on(server: Server) -> None:
    ann, bo, _ = pair(server)
    offer = {"t": "rtc", "to": 2, "kind": "offer", "data": "v=0 " + "x" * 6_000}
    assert ann.code_of(**offer) == "not_allowed"
    ann.ask(t="voice", on=True)
    assert ann.code_of(**offer) == "not_allowed"
    bo.ask(t="voice", on=True)
    assert ann.until_state(lambda s: s["seats"][2]["voice"])
    ann.send(**offer)
    heard = bo.until("rtc")
    assert (heard["from"], heard["kind"], heard["data"]) == (0, "offer", offer["data"])
    bo.ask(t="voice", on=False)
    assert ann.code_of(**offer) == "not_allowed"
    ann.close()
    bo.close()


# ------------------------------------------------------------ strangers


def test_strangers_are_seated_together(server: Server) -> None:
    clients = [server.client() for _ in range(4)]
    for k, client in enumerate(clients):
        client.send(t="quick", name=f"P{k}", rules="modern")
    seats = [client.until("joined")["seat"] for client in clients]
    assert sorted(seats) == [0, 1, 2, 3]
    codes = {client.until("state")["code"] for client in clients}
    assert len(codes) == 1
    for client in clients:
        client.close()


def test_agents_fill_up_after_a_while(server: Server) -> None:
    ann, bo = server.client(), server.client()
    ann.send(t="quick", name="Ann")
    waiting = ann.until("waiting")
    assert waiting["waiting"] == 1
    bo.send(t="quick", name="Bo")
    assert ann.until("waiting")["waiting"] == 2
    assert {ann.until("joined")["seat"], bo.until("joined")["seat"]} == {0, 1}
    state = ann.until("state")
    assert [seat["kind"] for seat in state["seats"]] == ["person", "person", "open", "open"]
    ann.play(1)
    ann.close()
    bo.close()


def test_who_stops_waiting_is_not_seated(server: Server) -> None:
    ann, bo = server.client(), server.client()
    ann.send(t="quick", name="Ann", rules="table")
    ann.until("waiting")
    assert ann.code_of(t="quick", name="Ann", rules="table") == "already"
    assert ann.ask(t="leave")["t"] == "left"
    bo.send(t="quick", name="Bo", rules="table")
    bo.until("waiting")
    bo.until("joined")
    assert bo.until("state")["seats"][1]["kind"] == "open"
    assert bo.code_of(t="quick", name="Bo", rules="bridge") == "already"
    assert ann.code_of(t="quick", name="Ann", rules="bridge") == "bad_settings"
    ann.close()
    bo.close()


# ------------------------------------------------------------ restarts


def test_a_table_goes_on_after_a_restart(tmp_path: Path) -> None:
    with running(tmp_path / "a.sqlite") as server:
        ann, bo, words = pair(server)
        play_together(ann, bo, 5)
        assert waiting_for(ann, bo) is not None
        before = ann.ask(t="voice", on=False)
        second = bo.ask(t="voice", on=False)
    with running(tmp_path / "a.sqlite") as server:
        ann, bo = server.client(), server.client()
        assert bo.ask(t="join", code=words["code"], name="Bo", token=words["bo"])["seat"] == 2
        state = bo.until("state")
        assert (state["n"], state["hand"], state["legal"]) == (second["n"], second["hand"], second["legal"])
        ann.ask(t="join", code=words["code"], name="Ann", token=words["ann"])
        state = ann.until("state")
        for name in set(before) - {"r", "seats", "clock", "spectators"}:
            assert state[name] == before[name], name
        play_together(ann, bo, 4)


def test_rooms_leave_memory_with_the_last_connection(tmp_path: Path) -> None:
    with running(tmp_path / "a.sqlite") as server:
        clients = [server.client() for _ in range(5)]
        codes = [client.create()["code"] for client in clients]
        assert server.house.rooms == 5
        for client in clients:
            client.close()
        probe = server.client()
        probe.create()
        assert probe.code_of(t="create", settings={}, name="Ann") == "already"
        assert server.house.rooms <= 2
        assert len(set(codes)) == 5


def test_too_many_rooms_are_refused(tmp_path: Path) -> None:
    limits = Limits(rooms=1)
    with running(tmp_path / "a.sqlite", limits=limits) as server:
        one, two = server.client(), server.client()
        one.create()
        assert two.code_of(t="create", settings={}, name="Bo") == "busy"


# ------------------------------------------------------------ agents that fail


@pytest.mark.timeout(200)
@pytest.mark.parametrize("name", ["Sleeper", "Cheat", "Crash"])
def test_an_agent_that_fails_is_replaced_at_that_decision(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """She never answers, answers with nonsense, or ends her process: `easy` decides, and the log names no card."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    bad = f"table_agents:{name}"
    with (
        caplog.at_level(logging.WARNING, "spades.table"),
        running(tmp_path / "a.sqlite", agents={**AGENTS, bad: bad}, time_limit=0.5, limits=FAST) as server,
    ):
        client = server.client()
        client.create(seats=["you", bad, "easy", "easy"])
        client.until_state(lambda s: s["turn"] == 0 or s["bids"][1] is not None)
        if client.state["bids"][1] is None:
            client.play(1)
        assert client.until_state(lambda s: s["bids"][1] is not None)
    lines = [record.getMessage() for record in caplog.records if bad in record.getMessage()]
    assert any("easy decides" in line for line in lines)
    assert not any("legal" in line for line in lines)
