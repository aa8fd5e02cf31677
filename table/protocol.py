"""The frames that clients send, read strictly: anything that is not exactly one of them is refused."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from spades_env.actions import NUM_ACTIONS
from table.errors import Refusal
from table.limits import FRAME_BYTES, NAME_LENGTH, TEXT_LENGTH, VOICE_BYTES

VERSION: Final = 1
EMOJI: Final = ("👍", "👏", "🙂", "😂", "😮", "😢", "🙏", "🎉", "🤔", "♠️")
"""Emoji that `say` may send alone."""
JOINERS: Final = "\u200c\u200d"
"""Zero-width characters that Hindi, Nepali, Urdu and Telugu are written with."""

Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
Name = Annotated[str, Field(min_length=1, max_length=4 * NAME_LENGTH)]
Code = Annotated[str, Field(min_length=1, max_length=32)]
Token = Annotated[str, Field(min_length=1, max_length=64)]
AgentName = Annotated[str, Field(min_length=1, max_length=200)]
RuleValue = bool | int | str | None
Mode = Literal["play", "practice", "watch"]
Speed = Literal["slow", "normal", "fast"]


class Frame(BaseModel):
    """What all frames share: `r`, a number of the client's own that comes back with the answer."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    r: Number | None = None


class _Numbered(BaseModel):
    """The number of any object, whatever else is wrong with it."""

    model_config = ConfigDict(strict=True, extra="ignore")
    r: Number | None = None


class SettingsFrame(BaseModel):
    """The settings of a new room; what is left out has a default (table/settings.py)."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    rules: Annotated[dict[Annotated[str, Field(max_length=40)], RuleValue], Field(max_length=60)] = {}
    seats: Annotated[list[AgentName], Field(min_length=2, max_length=4)] | None = None
    mode: Mode = "play"
    speed: Speed = "normal"
    hint: AgentName = "normal"
    claims: bool = True
    spectators: bool = True
    patience: Annotated[int, Field(ge=10, le=3600)] | None = None
    open_agent: AgentName = "normal"


class Hello(Frame):
    t: Literal["hello"]
    v: int


class Create(Frame):
    t: Literal["create"]
    settings: SettingsFrame
    name: Name


class Join(Frame):
    t: Literal["join"]
    code: Code
    name: Name
    token: Token | None = None


class Quick(Frame):
    t: Literal["quick"]
    name: Name
    rules: Annotated[str, Field(max_length=40)] = "classic"


class Leave(Frame):
    t: Literal["leave"]


class Begin(Frame):
    t: Literal["begin"]


class SetSpeed(Frame):
    t: Literal["speed"]
    speed: Speed


class Pause(Frame):
    t: Literal["pause"]
    on: bool


class StepOn(Frame):
    t: Literal["step"]


class Next(Frame):
    t: Literal["next"]
    n: Number


class Again(Frame):
    t: Literal["again"]


class Act(Frame):
    t: Literal["act"]
    n: Number
    action: Annotated[int, Field(ge=0, lt=NUM_ACTIONS)]


class Claim(Frame):
    t: Literal["claim"]
    n: Number


class Undo(Frame):
    t: Literal["undo"]


class Hint(Frame):
    t: Literal["hint"]
    n: Number


class Say(Frame):
    t: Literal["say"]
    text: Annotated[str, Field(max_length=4 * TEXT_LENGTH)] | None = None
    emoji: Literal[EMOJI] | None = None  # type: ignore[valid-type]


class Deal(Frame):
    t: Literal["deal"]
    k: Number


class Report(Frame):
    t: Literal["report"]


class Voice(Frame):
    t: Literal["voice"]
    on: bool


class Rtc(Frame):
    t: Literal["rtc"]
    to: Annotated[int, Field(ge=0, le=3)]
    kind: Literal["offer", "answer", "ice", "bye"]
    data: Annotated[str, Field(max_length=VOICE_BYTES)]


AnyFrame = (
    Hello | Create | Join | Quick | Leave | Begin | SetSpeed | Pause | StepOn | Next | Again | Act | Claim | Undo | Hint
    | Say | Deal | Report | Voice | Rtc
)  # fmt: skip
_FRAMES: Final[TypeAdapter[AnyFrame]] = TypeAdapter(Annotated[AnyFrame, Field(discriminator="t")])


def parse_frame(text: str) -> AnyFrame:
    """The frame that a text message is, or Refusal."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > VOICE_BYTES:
        raise Refusal("too_big", f"the frame has {size} bytes; allowed: {VOICE_BYTES}")
    try:
        frame = _FRAMES.validate_json(text)
    except ValidationError as error:
        raise Refusal("bad_frame", _first_error(error)) from None
    if size > FRAME_BYTES and not isinstance(frame, Rtc):
        raise Refusal("too_big", f"the frame has {size} bytes; allowed: {FRAME_BYTES}")
    return frame


def number_of(text: str) -> int | None:
    """The number `r` of a frame, also of one that is refused; None if it has none."""
    if len(text) > VOICE_BYTES:
        return None
    try:
        return _Numbered.model_validate_json(text).r
    except ValidationError:
        return None


def _first_error(error: ValidationError) -> str:
    """Where the first error is and what it is, without what stood there."""
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part)[:40] for part in first["loc"]) or "frame"
    return f"{where}: {first['msg']}"[:300]


def clean_name(text: str) -> str:
    """A person's name as it is shown, or Refusal."""
    return _clean(text, NAME_LENGTH, "bad_name")


def clean_text(text: str) -> str:
    """A chat line as it is shown, or Refusal."""
    return _clean(text, TEXT_LENGTH, "bad_text")


def _clean(text: str, most: int, code: str) -> str:
    """Text in one normal form with single blanks; characters that steer how others are shown are refused."""
    clean = " ".join(unicodedata.normalize("NFC", text).split())
    if not 1 <= len(clean) <= most:
        raise Refusal(code, f"{len(clean)} characters; allowed: 1 to {most}")
    for character in clean:
        if character not in JOINERS and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            raise Refusal(code, f"character U+{ord(character):04X}; allowed: characters that are shown")
    if all(character in JOINERS or unicodedata.category(character).startswith("M") for character in clean):
        raise Refusal(code, "no character that is shown by itself; allowed: at least one")
    return clean
