"""What the server refuses, as codes that a page can translate; docs/table_protocol.md lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CODES: Final[Mapping[str, str]] = {
    "bad_frame": "the frame is no JSON object of a known type with the right fields",
    "too_big": "the frame has more bytes than allowed",
    "too_fast": "more frames, chat lines, wrong codes or new rooms than allowed in the time",
    "hello_first": "the first frame is no hello",
    "version": "the protocol version is another",
    "bad_name": "the name is empty, too long or has characters that are not shown",
    "bad_text": "the chat line is empty, too long or has characters that are not shown",
    "bad_settings": "the settings of a new room are not allowed",
    "no_such_room": "there is no room with this code",
    "bad_token": "the token opens no seat of this room",
    "full": "no seat is free and spectators are not let in, or too many are there",
    "already": "this connection sits in a room already: leave it first",
    "not_here": "this connection is in no room",
    "not_seated": "only who sits at the table may do that",
    "not_allowed": "this kind of room does not offer that, or not now",
    "not_your_turn": "another seat is to act",
    "illegal": "the rules do not allow the action; `why` says why",
    "stale": "the table has moved on since that state",
    "no_such_deal": "there is no finished deal of that number",
    "no_answer": "the agent did not answer in time or cannot answer here",
    "replaced": "the seat was taken over by another connection with the same token",
    "closed": "the room was closed",
    "busy": "the server has no room for more",
    "failed": "the server made a mistake; the log tells",
}
"""{code: what it means}."""


class Refusal(ValueError):
    """Something that was asked for and is refused: a code of CODES, and words for developers."""

    def __init__(self, code: str, text: str = "", **more: Any) -> None:
        super().__init__(text or CODES[code])
        self.code, self.more = code, more

    def message(self) -> dict[str, Any]:
        """The message that tells it."""
        return {"t": "error", "code": self.code, "text": str(self), **self.more}
