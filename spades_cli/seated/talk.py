"""Asking a person: by lines of text, which work in a pipe, or by keys in a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TextIO

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the choices as they are shown, what is typed for each, and what an empty answer means."""

    prompt: str
    labels: Sequence[Text]
    values: Sequence[str]
    default: str | None = None
    """The answer that Enter alone stands for, or None."""

    def line(self, selected: int | None = None) -> Text:
        """All choices in a line, one of them marked."""
        parts = [label.copy() for label in self.labels]
        if selected is not None:
            parts[selected].stylize("reverse")
        return Text("   ").join(parts)


class Talk(Protocol):
    """How a session speaks with its person."""

    def say(self, thing: RenderableType) -> None:
        """Show something."""
        ...

    def ask(self, question: Question) -> str | None:
        """The answer as text without blanks around it; None: there will be no more."""
        ...


class LineTalk:
    """Questions are answered by lines of `stream`; `echo` repeats them, for transcripts of what came from a pipe."""

    def __init__(self, console: Console, stream: TextIO, *, echo: bool) -> None:
        self._console, self._stream, self._echo = console, stream, echo

    def say(self, thing: RenderableType) -> None:
        """Print it."""
        self._console.print(thing)

    def ask(self, question: Question) -> str | None:
        """Print the question, read a line."""
        self._console.print(question.line())
        self._console.print(Text(question.prompt), end="")
        line = self._stream.readline()
        if self._echo:
            self._console.print(Text(line.strip() or ("" if line else "end of input")))
        return _answer(question, line.strip()) if line else None


def _answer(question: Question, text: str) -> str:
    return question.default if not text and question.default is not None else text


_KEYS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|[\x00\xe0][A-Z]|.", re.DOTALL)
"""Keys in what a terminal sends at once: keys without a letter (the last are those of Windows), or characters."""
_NEXT: Final = frozenset({"\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB", "\xe0M", "\xe0P", "\x00M", "\x00P", "\t"})
_BEFORE: Final = frozenset({"\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA", "\xe0K", "\xe0H", "\x00K", "\x00H"})
_ENTER: Final = frozenset("\r\n")
_DELETE: Final = frozenset("\x7f\b")
_ESCAPE: Final = "\x1b"


class KeyTalk:
    """Questions are answered with arrow keys and Enter, or by typing; `read` gives what was pressed."""

    def __init__(self, console: Console, read: Callable[[], str] = click.getchar) -> None:
        self._console, self._read = console, read
        self._pressed: list[str] = []

    def say(self, thing: RenderableType) -> None:
        """Print it."""
        self._console.print(thing)

    def ask(self, question: Question) -> str | None:
        """Show the question and follow the keys until Enter."""
        line = _Line(question)
        with Live(line.shown(), console=self._console, auto_refresh=False, transient=True) as live:
            while line.answer is None:
                try:
                    line.press(self._next_key())
                except EOFError:
                    return None
                live.update(line.shown(), refresh=True)
        self._console.print(Text(f"{question.prompt}{line.answer}"))
        return line.answer

    def _next_key(self) -> str:
        """The next key; a terminal may send several at once."""
        while not self._pressed:
            self._pressed = _KEYS.findall(self._read())
        return self._pressed.pop(0)


class _Line:
    """A question while it is being answered."""

    def __init__(self, question: Question) -> None:
        self._question = question
        # Nothing is marked at first, so that a stray Enter chooses nothing.
        self._marked: int | None = None
        self._typed = ""
        self.answer: str | None = None

    def shown(self) -> RenderableType:
        return Group(self._question.line(self._marked), Text(f"{self._question.prompt}{self._typed}_"))

    def press(self, key: str) -> None:
        count = len(self._question.values)
        if key in _ENTER:
            self._enter()
        elif key in _NEXT:
            self._typed, self._marked = "", 0 if self._marked is None else (self._marked + 1) % count
        elif key in _BEFORE:
            self._typed, self._marked = "", count - 1 if self._marked is None else (self._marked - 1) % count
        elif key in _DELETE:
            self._typed = self._typed[:-1]
        elif key == _ESCAPE:
            self._typed, self._marked = "", None
        elif len(key) == 1 and key.isprintable():
            self._typed, self._marked = self._typed + key, None

    def _enter(self) -> None:
        if self._typed.strip():
            self.answer = self._typed.strip()
        elif self._marked is not None:
            self.answer = self._question.values[self._marked]
        else:
            self.answer = self._question.default
