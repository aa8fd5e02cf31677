"""The one action space of all rule sets, Discrete(73): ids, meaning and text.

0-53 play a card (or name it for the exchange), 54-67 bid, 68-72 the blind choice, the draft, the exchange.
"""

from __future__ import annotations

import operator

from spades_env.cards import CardError, card_text, parse_card
from spades_env.checks import shown

FIRST_BID = 54
"""Ids below are card ids; bid n is FIRST_BID + n."""

NIL = 54
BLIND_NIL = 68
"""Blind nil (R10); double nil in a draft (R28)."""
LOOK = 69
"""Look at one's cards (R10); draw without double nil in a draft (R28)."""
KEEP = 70
TAKE_NEXT = 71
"""Throw the card looked at away and keep the next one unseen (R27)."""
DONE = 72
"""End one's exchange (R28)."""
NUM_ACTIONS = 73

MAX_BID = 13

_ACTION_TEXT = (
    *(card_text(card) for card in range(FIRST_BID)),
    "nil",
    *(f"bid {tricks}" for tricks in range(1, MAX_BID + 1)),
    "blind nil",
    "look",
    "keep",
    "take next",
    "done",
)
_ACTION_OF_TEXT = {text.lower(): action for action, text in enumerate(_ACTION_TEXT)} | {
    "bid 0": NIL,
    "double nil": BLIND_NIL,
    "draw": LOOK,
}
_ALLOWED_TEXT = "a card such as 'AS', 'nil', 'bid 1' to 'bid 13', 'blind nil', 'look', 'keep', 'take next' or 'done'"


class ActionError(ValueError):
    """An action, a bid or an action's text that does not exist; the message says what is allowed."""


def bid_action(tricks: int) -> int:
    """Return the action that bids `tricks` (0-13; 0 is nil)."""
    number = _index(tricks, "bid", MAX_BID)
    return FIRST_BID + number


def action_text(action: int) -> str:
    """Return the text of an action, such as "AS", "nil", "bid 3" or "take next"."""
    return _ACTION_TEXT[_index(action, "action", NUM_ACTIONS - 1)]


def parse_action(text: str) -> int:
    """Return the action of a text; the inverse of `action_text`, case and extra blanks aside.

    Also understood: "SA" for "AS", "bid 0" for "nil", and a draft's names "double nil" and "draw".
    """
    action = _ACTION_OF_TEXT.get(" ".join(text.lower().split())) if isinstance(text, str) else None
    if action is None:
        try:
            action = parse_card(text)
        except CardError:
            raise ActionError(f"action {shown(text)} does not exist: {_ALLOWED_TEXT}") from None
    return action


def _index(value: int, name: str, last: int) -> int:
    """Return a Python or NumPy integer in 0..last as a plain int, or raise naming it."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= last:
        raise ActionError(f"{name} {shown(value)} does not exist: an int 0..{last}")
    return number
