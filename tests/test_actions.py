"""The action space: every id has one meaning and one text, and both directions agree."""

from __future__ import annotations

import numpy as np
import pytest

from spades_env import actions
from spades_env.actions import ActionError, action_text, bid_action, parse_action
from spades_env.cards import card_text


def test_layout() -> None:
    """The table of the design: cards 0-53, bids 54-67, blind nil, look, keep, take next, done."""
    assert actions.NUM_ACTIONS == 73
    assert actions.FIRST_BID == actions.NIL == 54
    assert (actions.BLIND_NIL, actions.LOOK) == (68, 69)
    assert (actions.KEEP, actions.TAKE_NEXT, actions.DONE) == (70, 71, 72)


def test_text_of_every_action() -> None:
    expected = [card_text(card) for card in range(54)]
    expected += ["nil", *(f"bid {tricks}" for tricks in range(1, 14))]
    expected += ["blind nil", "look", "keep", "take next", "done"]
    assert [action_text(action) for action in range(73)] == expected


@pytest.mark.parametrize("action", range(73))
def test_text_round_trip(action: int) -> None:
    text = action_text(action)
    assert parse_action(text) == parse_action(text.upper()) == parse_action(f"  {text} ") == action
    assert action_text(np.int16(action)) == text


@pytest.mark.parametrize(
    ("text", "action"), [("bid 0", 54), ("double nil", 68), ("draw", 69), ("sa", 51), ("Take   Next", 71)]
)
def test_other_words_for_the_same_action(text: str, action: int) -> None:
    assert parse_action(text) == action


def test_bids() -> None:
    assert [bid_action(tricks) for tricks in range(14)] == list(range(54, 68))
    assert bid_action(np.int64(3)) == 57


@pytest.mark.parametrize("tricks", [-1, 14, 3.0, "3", None, True])
def test_bids_out_of_range_are_refused(tricks: object) -> None:
    with pytest.raises(ActionError, match=r"bid .* does not exist: an int 0\.\.13"):
        bid_action(tricks)  # type: ignore[arg-type]


@pytest.mark.parametrize("action", [-1, 73, 51.0, "AS", None, False])
def test_actions_out_of_range_are_refused(action: object) -> None:
    with pytest.raises(ActionError, match=r"action .* does not exist: an int 0\.\.72"):
        action_text(action)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "pass", "bid", "bid 14", "bid -1", "bid3", "1S", None, 54])
def test_text_that_is_no_action_is_refused(text: object) -> None:
    with pytest.raises(ActionError, match="does not exist: a card such as 'AS', 'nil', 'bid 1' to 'bid 13'"):
        parse_action(text)  # type: ignore[arg-type]
