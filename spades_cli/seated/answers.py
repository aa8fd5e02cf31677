"""What a person may answer: the choices of a decision; typed text as an action, or refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from spades_env.actions import (
    BLIND_NIL,
    DONE,
    FIRST_BID,
    LOOK,
    MAX_BID,
    NUM_ACTIONS,
    TAKE_NEXT,
    ActionError,
    action_text,
    bid_action,
    parse_action,
)
from spades_env.game import View
from spades_env.game.reasons import why_not

HELP, HINT, UNDO, QUIT = "?", "h", "u", "q"
"""Answers that are no action."""

_SYMBOLS: Final = str.maketrans({"♠": "s", "♥": "h", "♦": "d", "♣": "c", "♤": "s", "♡": "h", "♢": "d", "♧": "c"})
_TEN: Final = re.compile(r"10(?=[cdhs]\b)|(?<=\b[cdhs])10")


class AnswerError(ValueError):
    """Text that is no legal action; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that may be chosen: by typing `value`, or with the arrow keys."""

    value: str
    label: str
    action: int | None = None
    """The action id, if it is one."""


def choices_of(view: View) -> tuple[Choice, ...]:
    """The legal actions of the seat to act. A bid is chosen by its own number, anything else by its place."""
    legal = view.legal_actions()
    if view.phase == "bid":
        return tuple(Choice(str(action - FIRST_BID), _label(view, action), action) for action in legal)
    # As the hand is shown: the highest card first; words come last.
    ordered = sorted(legal, key=lambda action: (action >= FIRST_BID, action if action >= FIRST_BID else -action))
    return tuple(Choice(str(k), _label(view, action), action) for k, action in enumerate(ordered, start=1))


def parse_answer(view: View, text: str) -> int:
    """The legal action that typed text stands for.

    Understood are a choice's number, cards as "AS", "sa", "10h" or "♠A", and the actions' words, as far as they
    tell one from another ("bl" is blind nil). AnswerError says what is wrong.
    """
    words = _TEN.sub("t", " ".join(text.translate(_SYMBOLS).lower().split()))
    choices = choices_of(view)
    action = _by_number(view, choices, words) if words.isdecimal() else _by_word(choices, words)
    if action is None:
        try:
            action = parse_action(words)
        except ActionError:
            raise AnswerError(f"{text.strip()!r} is no answer here: {_allowed(view)}") from None
    if action not in view.legal_actions():
        raise AnswerError(f"{action_words(view, action)}: {why_not(view, action).text}")
    return action


def action_words(view: View, action: int) -> str:
    """An action as text; of a draft "double nil" and "draw", as its rules call them (R28)."""
    if view.rules.deal == "draft" and action in (BLIND_NIL, LOOK):
        return "double nil" if action == BLIND_NIL else "draw"
    return action_text(action)


def _label(view: View, action: int) -> str:
    if FIRST_BID < action <= FIRST_BID + MAX_BID:
        return str(action - FIRST_BID)
    return "take the next" if action == TAKE_NEXT else action_words(view, action)


def _by_number(view: View, choices: tuple[Choice, ...], words: str) -> int:
    """The action with a number; a bid that is not among the choices is named, so that it can be explained."""
    number = int(words) if len(words) < 4 else NUM_ACTIONS
    if view.phase == "bid" and number <= MAX_BID:
        return bid_action(number)
    for choice in choices:
        if choice.value == str(number) and choice.action is not None:
            return choice.action
    raise AnswerError(f"{words} is not on the list: {_allowed(view)}")


def _by_word(choices: tuple[Choice, ...], words: str) -> int | None:
    """The one choice in words that begins so, if there is one."""
    found = [choice.action for choice in choices if choice.action in _WORDS and choice.label.startswith(words)]
    return found[0] if words and len(found) == 1 else None


_WORDS: Final = frozenset(range(BLIND_NIL, DONE + 1))


def _allowed(view: View) -> str:
    """What may be answered in this phase."""
    return _ALLOWED[view.phase](len(choices_of(view)))


_ALLOWED: Final[dict[str, Callable[[int], str]]] = {
    "blind": lambda count: f"1 to {count}, or its word",
    "bid": lambda count: "a number of tricks, or nil",
    "play": lambda count: f"a card such as AS, or its number, 1 to {count}",
    "draft": lambda count: "1 or keep, 2 or take",
    "exchange": lambda count: f"a card such as AS, its number, 1 to {count}, or done",
}
