"""The record of a seat (R30): it tells her whole view and nothing else; wrong ones are refused."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rules import random_rules
from record_games import (
    DELETE,
    SUITED,
    Place,
    again,
    changed,
    drafted_game,
    play,
    preset_or_random_rules,
    some_game,
    suited_game,
)

from spades_env.cards import cards_of, mask_of
from spades_env.engine.front import pack_mask
from spades_env.game import Game, PositionError
from spades_env.record import RecordError, record_for_seat, record_text, table_of, view_of_record

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40)
@given(seeds)
def test_a_seats_record_tells_her_view(seed: int) -> None:
    """Byte for byte: nothing that she knows is missing, and her view has no more to tell."""
    rng = random.Random(seed)
    game = some_game(preset_or_random_rules(seed), rng)
    record = game.to_record(meta={"secret": game.hand_texts})
    for seat in range(game.players):
        told = again(record_for_seat(record, seat))
        assert view_of_record(told) == table_of(told) == game.view(seat)
        assert not {"seed", "game", "key", "hands", "pile", "meta"} & set(told)


def in_another_world(game: Game, seat: int, rng: random.Random) -> Game | None:
    """A dealt game that looks the same to `seat`: cards she cannot know lie elsewhere; None if the plays forbid it."""
    rules, view = game.rules, game.view(seat)
    played: list[list[int]] = [[card for s, card in game.plays if s == player] for player in range(game.players)]
    sees_own = view.looked[seat]
    own = game.hands[seat] if sees_own else []
    gone = mask_of([*own, *(card for cards in played for card in cards)])
    pool = [card for card in cards_of(int(pack_mask(game.states, 0))) if not gone >> card & 1]
    rng.shuffle(pool)
    hands = []
    for player in range(game.players):
        known = own if player == seat and sees_own else []
        missing = rules.hand_size - len(played[player]) - len(known)
        hands.append([*played[player], *known, *(pool.pop() for _ in range(missing))])
    start = game.to_record()
    other = Game(
        rules,
        seed=rng.randrange(2**63),
        game=rng.randrange(9),
        match=game.match,
        deal=game.deal,
        dealer=game.dealer,
        scores=start["scores"],
        bags=start["bags"],
        hands=hands,
    )
    for action in game.actions:
        if other.deal_over or action not in other.legal_actions():
            return None
        other.apply(action)
    return other


@settings(max_examples=40)
@given(seeds)
def test_hidden_cards_do_not_move_a_seats_record(seed: int) -> None:
    rng = random.Random(seed)
    while (rules := random_rules(np.random.default_rng(rng.randrange(2**32)))).deal == "draft":
        continue
    game = Game(rules, seed=seed)
    play(game, rng, rng.randrange(4 + game.players * rules.hand_size))
    for seat in range(game.players):
        told = record_text(record_for_seat(game.to_record(), seat))
        for _ in range(20):
            other = in_another_world(game, seat, rng)
            if other is not None:
                assert record_text(record_for_seat(other.to_record(), seat)) == told


def test_the_other_worlds_are_found_and_differ() -> None:
    """The property above would hold for no worlds, too."""
    rng, game = random.Random(1), Game("modern", seed=2, scores=(0, 150))
    play(game, rng, 2)
    for seat in range(4):
        others = [in_another_world(game, seat, rng) for _ in range(5)]
        assert all(other is not None and other.hands != game.hands for other in others)
    play(game, rng, 16)
    assert any(in_another_world(game, seat, rng) for seat in range(4) for _ in range(200))


@pytest.mark.parametrize("second_seen", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_hidden_cards_of_a_draft_do_not_move_a_seats_record(seed: int, second_seen: bool) -> None:
    """R27-R29: seat 1 must not learn what seat 0 looked at, drafted, gave up and drew, nor cards discarded unseen."""
    rules = {"preset": "two_player", "draft_second_card_seen": second_seen}
    rng = random.Random(seed)
    choices = [rng.choice(("keep", "take next")) for _ in range(26)]

    def drafted(pile: list[int], game_seed: int) -> Game:
        game = Game(rules, seed=game_seed, dealer=0, pile=pile)
        for action in ("double nil", choices[0], "look", *choices[1:]):
            game.apply(action)
        for _ in range(2):
            game.apply(rng.choice(game.hands[0]))
        for action in ("done", "bid 3"):
            game.apply(action)
        return game

    pile = Game(rules, seed=seed).pile
    told = record_for_seat(drafted(pile, seed).to_record(), 1)
    assert told["drawn"] == [[0, "? ?"]]
    assert [text for _, text in told["actions"]].count("?") == 2
    seen = set()
    for draw in range(1, 26, 2):
        seen.add(2 * draw)
        if second_seen or choices[draw] == "take next":
            seen.add(2 * draw + 1)
    hidden = [place for place in range(52) if place not in seen]
    for _ in range(5):
        cards = [pile[place] for place in hidden]
        rng.shuffle(cards)
        other = list(pile)
        for place, card in zip(hidden, cards, strict=True):
            other[place] = card
        assert other != pile
        assert record_for_seat(drafted(other, rng.randrange(2**63)).to_record(), 1) == told


SEAT_BAD: list[tuple[Place, Any, str]] = [
    (("format",), "spades-deal", r"record has a field"),
    (("seed",), 1, r'record has a field "seed"'),
    (("hands",), SUITED, r'record has a field "hands"'),
    (("shown",), None, r'record has a field "shown"'),
    (("seat",), 4, r"seat is 4; allowed: an int 0..3"),
    (("seat",), 1, r"actions\[4\]: seat 0 cannot play"),
    (("hand",), None, r"actions\[4\]: seat 0 may not do 39 \(2S\)"),
    (("hand",), "AS", r"hand has 1 cards; allowed: 13"),
    (("actions", 1, 0), 2, r"actions\[1\]\[0\] is 2; allowed: 1, whose turn it is"),
    (("actions", 5, 1), "3S", r"actions\[5\]: seat 1 cannot play 3S: seat 0 holds it"),
    (("actions", 5, 1), "?", r"action '\?' does not exist"),
    (("outcome", "scores", 0), 0, r"outcome.scores\[0\] is 0; allowed: 103"),
    (("outcome",), None, r"outcome is null; allowed: what the deal came to"),
    (("players",), ["a"], r"players is a list of 1"),
    (("rules", "target"), DELETE, r"rules has no field 'target'"),
]


@pytest.mark.parametrize(("path", "value", "message"), SEAT_BAD, ids=lambda part: str(part)[:40])
def test_a_wrong_record_of_a_seat_is_refused(path: Place, value: Any, message: str) -> None:
    record = record_for_seat(suited_game().to_record(), 0)
    with pytest.raises(RecordError, match=message):
        table_of(changed(record, path, value))


@pytest.mark.parametrize(
    ("seat", "path", "value", "message"),
    [
        (1, ("drawn", 0, 1), "?", r"drawn\[0\]\[1\] is \"\?\"; allowed: 2 of '\?'"),
        (1, ("drawn",), [], r"drawn is a list of 0; allowed: an entry for each exchange made, by seats \[0\]"),
        (0, ("drawn", 0, 1), "", r"drawn\[0\]\[1\] is \"\"; allowed: 2 cards of her hand"),
        (0, ("drawn", 0, 1), "? ?", r"drawn\[0\]\[1\]: card '\?' does not exist"),
        (0, ("rejected",), "2C", r"rejected has 1 cards; allowed: 0"),
        (0, ("shown",), "2C", r"shown is '2C'; allowed: None"),
    ],
)
def test_a_wrong_record_of_a_seat_in_a_draft_is_refused(seat: int, path: Place, value: Any, message: str) -> None:
    record = record_for_seat(drafted_game().to_record(), seat)
    assert view_of_record(record) == drafted_game().view(seat)
    with pytest.raises(RecordError, match=message):
        view_of_record(changed(record, path, value))


def test_a_rejected_card_in_her_hand_was_drawn() -> None:
    """R28: the only way for a card that she discarded to come back is the exchange."""
    for seed in range(100):
        game = Game("two_player", seed=seed, dealer=0)
        game.apply("double nil")
        while game.phase != "exchange":
            game.apply("look" if game.phase == "blind" else "take next")
        game.apply(game.hands[0][0])
        game.apply("done")
        if set(game.hands[0]) & set(game.view(0).rejected):
            break
    record = record_for_seat(game.to_record(), 0)
    drawn = record["drawn"][0][1]
    assert drawn in record["rejected"].split()
    assert view_of_record(record) == game.view(0)
    other = next(card for card in record["hand"].split() if card != drawn)
    with pytest.raises(RecordError, match=r"drawn\[0\]\[1\] is .*; allowed: 1 cards of her hand, those among them"):
        view_of_record(changed(record, ("drawn", 0, 1), other))


def test_a_seat_that_is_not_there_has_no_record() -> None:
    with pytest.raises(PositionError, match=r"seat is 2; allowed: an int 0..1"):
        record_for_seat(drafted_game().to_record(), 2)
    with pytest.raises(RecordError, match=r'format is "spades-seat"; allowed: "spades-deal"'):
        record_for_seat(record_for_seat(suited_game().to_record(), 1), 2)
