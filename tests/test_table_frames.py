"""What strangers send: malformed, foreign, late, repeated and too many frames are refused with a code, and no more."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from email.message import Message
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("starlette", reason="needs the extra `table`")

from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from table_sockets import Client, Server, running
from websockets.exceptions import ConnectionClosed, InvalidStatus

from table.app import Guard
from table.connection import Connection
from table.errors import CODES, Refusal
from table.limits import FRAME_BYTES, VOICE_BYTES, Limits
from table.protocol import clean_name, parse_frame


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("table") / "a.sqlite") as found:
        yield found


MALFORMED: list[tuple[str | bytes, str]] = [
    ("", "bad_frame"),
    ("{", "bad_frame"),
    ("null", "bad_frame"),
    ("[]", "bad_frame"),
    ("1", "bad_frame"),
    ('"hello"', "bad_frame"),
    ("{}", "bad_frame"),
    ('{"t": null}', "bad_frame"),
    ('{"t": "shuffle"}', "bad_frame"),
    ('{"t": "hello"}', "bad_frame"),
    ('{"t": "hello", "v": "1"}', "bad_frame"),
    ('{"t": "hello", "v": true}', "bad_frame"),
    ('{"t": "hello", "v": 1.0}', "bad_frame"),
    ('{"t": "hello", "v": 1, "x": 1}', "bad_frame"),
    ('{"t": "hello", "v": 1, "r": -1}', "bad_frame"),
    ('{"t": "hello", "v": 1, "r": 99999999999999999999}', "bad_frame"),
    ('{"t": "hello", "v": NaN}', "bad_frame"),
    ('{"t": "hello", "v": 2}', "version"),
    ('{"t": "act", "n": 0, "action": 73}', "bad_frame"),
    ('{"t": "act", "n": 0, "action": -1}', "bad_frame"),
    ('{"t": "act", "n": 0, "action": 1e400}', "bad_frame"),
    ('{"t": "act", "n": 0, "action": "AS"}', "bad_frame"),
    ('{"t": "act", "n": 0}', "bad_frame"),
    ('{"t": "rtc", "to": 4, "kind": "offer", "data": ""}', "bad_frame"),
    ('{"t": "say", "text": "' + "x" * 900 + '"}', "bad_frame"),
    ('{"t": "say", "emoji": "x"}', "bad_frame"),
    ("[" * 4000, "bad_frame"),
    ('{"a":' * 800, "bad_frame"),
    ('{"t": "create", "name": "A", "settings": {"rules": ' + '{"a":' * 200 + "1" + "}" * 200 + "}}", "bad_frame"),
    ('{"t": "create", "name": "A", "settings": {"rules": {"target": [1]}}}', "bad_frame"),
    ('{"t": "create", "name": "A", "settings": {"speed": "instant"}}', "bad_frame"),
    ('{"t": "create", "name": "A", "settings": {"patience": 1}}', "bad_frame"),
    ('{"t": "leave", "pad": "' + "x" * FRAME_BYTES + '"}', "bad_frame"),
    (" " * FRAME_BYTES + '{"t": "leave"}', "too_big"),
    ("x" * (VOICE_BYTES + 1), "too_big"),
    ("\ud800".encode("utf-16", "surrogatepass").decode("utf-16", "ignore") + "\x00", "bad_frame"),
    (b"\x00\x01", "bad_frame"),
    (b'{"t": "hello", "v": 1}', "bad_frame"),
]


@pytest.mark.parametrize(("frame", "code"), MALFORMED, ids=[str(k) for k in range(len(MALFORMED))])
def test_what_is_no_frame_is_refused_and_the_connection_lives(server: Server, frame: str | bytes, code: str) -> None:
    client = server.client(hello=False)
    client.socket.send(frame)
    answer = client.receive()
    assert (answer["t"], answer["code"]) == ("error", code)
    assert set(answer) <= {"t", "code", "text", "r"}
    client.send(t="hello", v=1)
    assert client.receive()["t"] == "welcome"
    client.close()


def test_a_message_beyond_all_bounds_ends_the_connection(server: Server) -> None:
    client = server.client()
    client.socket.send("x" * 200_000)
    with pytest.raises(ConnectionClosed):
        client.receive()


def outcome(text: str) -> str:
    """ "frame", or the code of the refusal; anything else that is raised is a mistake of the server."""
    try:
        parse_frame(text)
    except Refusal as refusal:
        return refusal.code
    return "frame"


@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_frame_or_refused(text: str) -> None:
    assert outcome(text) in {"frame", *CODES}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_TYPES = ("hello", "create", "join", "quick", "act", "say", "deal", "hint", "rtc", "speed", "next", "voice", "claim")
_FIELDS = (
    "v",
    "settings",
    "name",
    "code",
    "token",
    "n",
    "action",
    "text",
    "emoji",
    "k",
    "to",
    "kind",
    "data",
    "on",
    "r",
)


@given(st.sampled_from(_TYPES), st.dictionaries(st.sampled_from(_FIELDS), _JSON, max_size=5))
def test_any_fields_are_a_frame_or_refused(kind: str, fields: dict[str, Any]) -> None:
    assert outcome(json.dumps({"t": kind, **fields})) in {"frame", *CODES}


@pytest.mark.parametrize(
    "name",
    ["", "   ", "x" * 25, "a\u202eb", "a\u0000b", "\u200d", "a\ue000", "\u0301", "a\ufeffb", "\u2066x"],
)
def test_names_that_cannot_be_shown_are_refused(server: Server, name: str) -> None:
    client = server.client()
    assert client.code_of(t="join", code="AAAAAAAA", name=name) in ("bad_name", "bad_frame")
    client.close()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("  Ann   Lee ", "Ann Lee"),
        ("क्षितिज", "क्षितिज"),
        ("నాగ్\u200cపూర్", "నాగ్\u200cపూర్"),
        ("اردو", "اردو"),
        ("<b>Bo</b>", "<b>Bo</b>"),
    ],
)
def test_names_in_all_languages_are_taken_as_text(name: str, shown: str) -> None:
    assert clean_name(name) == shown


# ------------------------------------------------------------ out of place


def test_hello_comes_first(server: Server) -> None:
    client = server.client(hello=False)
    assert client.code_of(t="create", settings={}, name="Ann") == "hello_first"
    client.close()


@pytest.mark.parametrize(
    "frame",
    [
        {"t": "act", "n": 0, "action": 60},
        {"t": "claim", "n": 0},
        {"t": "undo"},
        {"t": "next", "n": 0},
        {"t": "again"},
        {"t": "begin"},
        {"t": "hint", "n": 0},
        {"t": "say", "text": "hello"},
        {"t": "report"},
        {"t": "deal", "k": 0},
        {"t": "voice", "on": True},
        {"t": "speed", "speed": "slow"},
        {"t": "pause", "on": True},
        {"t": "step"},
        {"t": "leave"},
    ],
    ids=lambda frame: frame["t"],
)
def test_outside_a_room_there_is_nothing_to_do(server: Server, frame: dict[str, Any]) -> None:
    client = server.client()
    assert client.code_of(**frame) == "not_here"
    client.close()


def test_frames_that_the_table_does_not_offer_now(server: Server) -> None:
    client = server.client()
    client.create(seats=["you", "easy", "easy", "easy"])
    state = client.my_turn()
    n = state["n"]
    for frame, code in [
        ({"t": "create", "settings": {}, "name": "Ann"}, "already"),
        ({"t": "join", "code": "AAAAAAAA", "name": "Ann"}, "already"),
        ({"t": "quick", "name": "Ann"}, "already"),
        ({"t": "act", "n": n + 1, "action": 57}, "stale"),
        ({"t": "act", "n": n, "action": 3}, "illegal"),
        ({"t": "act", "n": n, "action": 70}, "illegal"),
        ({"t": "claim", "n": n}, "not_allowed"),
        ({"t": "undo"}, "not_allowed"),
        ({"t": "hint", "n": n}, "not_allowed"),
        ({"t": "step"}, "not_allowed"),
        ({"t": "next", "n": n}, "not_allowed"),
        ({"t": "again"}, "not_allowed"),
        ({"t": "begin"}, "not_allowed"),
        ({"t": "deal", "k": 0}, "no_such_deal"),
        ({"t": "say"}, "bad_text"),
        ({"t": "say", "text": "a", "emoji": "👍"}, "bad_text"),
        ({"t": "say", "text": "\u202e"}, "bad_text"),
        ({"t": "rtc", "to": 1, "kind": "offer", "data": "x"}, "not_allowed"),
        ({"t": "rtc", "to": 0, "kind": "offer", "data": "x"}, "not_allowed"),
    ]:
        assert client.code_of(**frame) == code, frame
    assert client.ask(t="act", n=n, action=57)["n"] > n
    client.close()


def test_another_seats_turn_is_not_ones_own(server: Server) -> None:
    """Two people: each is refused what is the other's to do, and told no more than the code."""
    ann, bo = server.client(), server.client()
    code = ann.create(seats=["you", "easy", "open", "easy"])["code"]
    assert bo.ask(t="join", code=code, name="Bo")["seat"] == 2
    ann.ask(t="begin")
    state = ann.until_state(lambda s: s["phase"] == "bid" and s["turn"] in (0, 2))
    bo.until_state(lambda s: s["phase"] == "bid" and s["n"] == state["n"])
    waiting = bo if state["turn"] == 0 else ann
    assert waiting.code_of(t="act", n=state["n"], action=57) == "not_your_turn"
    ann.close()
    bo.close()


def test_codes_and_tokens_that_are_not_right_are_limited(tmp_path: Path) -> None:
    with running(tmp_path / "a.sqlite", limits=Limits(wrong_codes_burst=3, wrong_codes_per_second=1e-6)) as own:
        client, owner = own.client(), own.client()
        code = owner.create()["code"]
        assert client.code_of(t="join", code="AAAAAAAA", name="Eve") == "no_such_room"
        assert client.code_of(t="join", code="' or 1=1 --", name="Eve") == "no_such_room"
        assert client.code_of(t="join", code=code, name="Eve", token="A" * 22) == "bad_token"
        assert client.code_of(t="join", code=code, name="Eve") == "too_fast"
        other = own.client()
        assert other.code_of(t="join", code=code, name="Eve") == "too_fast"  # by address, not by connection


def test_frames_and_lines_are_limited(tmp_path: Path) -> None:
    limits = Limits(frames_burst=12, frames_per_second=1e-6, lines_burst=2, lines_per_second=1e-6)
    with running(tmp_path / "a.sqlite", limits=limits) as own:
        client = own.client()
        client.create()
        assert [client.ask(t="say", text=f"line {k}")["t"] for k in range(3)] == ["said", "said", "error"]
        codes = [client.code_of(t="again") for _ in range(7)]
        assert codes == ["not_allowed"] * 7
        client.send(t="again")
        assert client.until("error")["code"] == "too_fast"


class DeafSocket:
    """Takes frames and never sends anything on."""

    def __init__(self, frames: list[dict[str, Any]]) -> None:
        self.frames, self.closed = frames, False

    async def accept(self) -> None:
        """Nobody has to be told."""

    async def receive(self) -> dict[str, Any]:
        if not self.frames:
            await asyncio.sleep(60)
        return {"type": "websocket.receive", "text": json.dumps(self.frames.pop(0))}

    async def send_text(self, text: str) -> None:
        await asyncio.sleep(60)

    async def close(self, code: int) -> None:
        self.closed = True


def test_a_client_that_does_not_read_is_dropped(server: Server) -> None:
    """She is dropped as soon as more than a few messages wait for her; her seat is known to be empty."""

    async def serve() -> DeafSocket:
        socket: Any = DeafSocket([{"t": "hello", "v": 1}] * (server.house.limits.waiting_messages + 50))
        await asyncio.wait_for(Connection(socket, server.house, "127.0.0.1").run(), 20)
        return cast("DeafSocket", socket)

    assert asyncio.run(serve()).closed


# ------------------------------------------------------------ HTTP


def get(server: Server, path: str, **headers: str) -> tuple[int, Message, bytes]:
    """Status, headers and body of an answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as answer:
            return answer.status, answer.headers, answer.read()


def test_the_page_comes_with_its_policy(server: Server) -> None:
    status, headers, _ = get(server, "/")
    assert status == 200
    policy = headers["content-security-policy"]
    for part in ("default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/app.py", "/..%2fapp.py", "/app.py", "//etc/passwd", "/%00"]
)
def test_nothing_but_the_page_is_served(server: Server, path: str) -> None:
    assert get(server, path)[0] in (400, 404)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:8765"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": ""},
        {"Host": "["},
    ],
    ids=str,
)
def test_other_hosts_and_origins_are_not_let_in(server: Server, headers: dict[str, str]) -> None:
    assert get(server, "/", **headers)[0] == 403


def test_a_page_of_another_site_gets_no_socket(server: Server) -> None:
    with pytest.raises(InvalidStatus):
        Client(server.port, origin="http://evil.example")
    good = Client(server.port, origin=f"http://127.0.0.1:{server.port}")
    good.close()


def test_origins_that_were_named_are_let_in() -> None:
    """As behind a proxy: the page's own address is neither an IP address nor this machine's name."""
    named = Guard(app=None, hosts=("box",), origins=("https://cards.example",))  # type: ignore[arg-type]
    for host, origin, good in [
        ("cards.example", "https://cards.example", True),
        ("cards.example", None, True),
        ("box:8765", "http://box:8765", True),
        ("192.168.1.5:8765", "http://192.168.1.5:8765", True),
        ("[::1]:8765", "http://[::1]:8765", True),
        ("box:8765", "https://cards.example", True),
        ("cards.example", "http://evil.example", False),
        ("other.example", "http://other.example", False),
    ]:
        headers = Headers({"host": host} | ({} if origin is None else {"origin": origin}))
        assert (named._is_known(host) and named._is_ours(headers)) is good, (host, origin)


def test_every_catalogue_is_served(server: Server) -> None:
    assert json.loads(get(server, "/messages/en.json")[2])["language"] == "en"
    assert get(server, "/messages/xx.json")[0] == 404
