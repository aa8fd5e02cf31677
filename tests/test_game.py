"""Game and View: positions given, replayed, saved and refused; views built from what a seat saw."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from spades_env.actions import LOOK, bid_action
from spades_env.engine.batch import IllegalActionError
from spades_env.engine.state import STATE
from spades_env.game import Game, PositionError, View
from spades_env.game.storage import StorageError, pack_state
from spades_env.rules import PRESETS, Rules

RULES: list[Any] = [
    *PRESETS,
    {"preset": "modern", "jokers": True, "opening_lead": "low_club"},
    {"first_trick_spades": "forbid", "lead_spades": "only_spades_left"},
    {"preset": "two_player", "draft_second_card_seen": True, "jokers": True},
    {"suits": 3, "ranks": 6, "hand_size": 4, "bag_after": "reset"},
    {"players": 2, "suits": 3, "ranks": 6, "hand_size": 5, "blind_nil": True, "blind_nil_deficit": None},
    {"turn_direction": "counter_clockwise", "first_seat": "dealers_left", "bag_limit": 0},
]
SUITED = [
    "AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S",
    "AC KC QC JC TC 9C 8C 7C 6C 5C 4C 3C 2C",
    "AD KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D",
    "AH KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H",
]
"""South holds all spades; she leads if the dealer is East (3)."""


def play_on(game: Game, rng: random.Random, actions: int = 1_000) -> None:
    """Random legal actions until the deal is over, at most `actions`."""
    for _ in range(actions):
        if game.deal_over:
            return
        game.apply(rng.choice(game.legal_actions()))


def known(game: Game, seat: int, **changes: Any) -> dict[str, Any]:
    """What `seat` could tell about the deal of `game`, for View.from_known; scores and bags apart."""
    view = game.view(seat)
    hand = view.hand + [card for player, card in view.plays if player == seat]
    told: dict[str, Any] = {
        "rules": game.rules,
        "seat": seat,
        "dealer": game.dealer,
        "hand": hand if view.looked[seat] else None,
        "actions": view.actions,
        "shown": view.shown,
        "rejected": view.rejected,
        "deal": game.deal,
        "match": game.match,
    }
    return told | changes


# ---------------------------------------------------------------- positions


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_a_prefix_of_any_length_is_the_live_game(rules: Any) -> None:
    rng = random.Random(str(rules))
    for seed in range(3):
        start = Game(rules, seed=seed)
        cards = {"pile": start.pile} if start.rules.deal == "draft" else {"hands": start.hands}
        live = start.copy()
        while True:
            again = Game.from_position(rules, dealer=start.dealer, actions=live.action_texts, seed=seed, **cards)
            assert again == live
            assert again.legal_actions() == live.legal_actions()
            if live.deal_over:
                break
            live.apply(rng.choice(live.legal_actions()))
        again.next_match() if again.match_over else again.next_deal()
        live.next_match() if live.match_over else live.next_deal()
        assert again == live
        assert again.hands == live.hands


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_a_view_from_what_was_seen_is_the_real_view(rules: Any) -> None:
    """Byte for byte, at every decision of random deals, for every seat (R30)."""
    rng = random.Random(str(rules))
    for seed in range(4):
        scores, bags = ((0, 150), (3, 0)) if seed % 2 else ((0, 0), (0, 0))
        game = Game(rules, seed=seed, scores=scores, bags=bags)
        while True:
            for seat in range(game.players):
                view = game.view(seat)
                if rng.random() < 0.3:
                    assert View.from_known(**known(game, seat, scores=scores, bags=bags)) == view
                assert view.legal_actions() == (game.legal_actions() if game.turn == seat else [])
            if game.deal_over:
                break
            game.apply(rng.choice(game.legal_actions()))


def test_a_view_of_a_later_deal_takes_the_result_before() -> None:
    game, rng = Game(seed=1, scores=(-50, 20)), random.Random(1)
    play_on(game, rng)
    game.next_deal()
    scores, bags, result = game.scores, game.bags, game.result
    play_on(game, rng, 20)
    told = known(game, 2, scores=scores, bags=bags, result=result)
    assert View.from_known(**told) == game.view(2)
    assert View.from_known(**{**told, "result": None}) != game.view(2)


def test_a_blind_seat_tells_no_cards() -> None:
    """R10: until she has looked her hand is in no view, and telling it is refused."""
    game = Game("modern", scores=(0, 200), dealer=3)
    assert game.phase == "blind"
    assert game.view(0).hand == []
    told = known(game, 0, scores=(0, 200))
    assert told["hand"] is None
    assert View.from_known(**told) == game.view(0)
    with pytest.raises(PositionError, match=r"hand is given; allowed: None as long as she has not looked"):
        View.from_known(**{**told, "hand": game.hands[0]})
    with pytest.raises(PositionError, match=r"hand is None; allowed: her cards as dealt"):
        View.from_known(**{**told, "actions": [LOOK]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hand": "AS KS"}, r"hand has 2 cards; allowed: 13"),
        ({"seat": 4}, r"seat is 4; allowed: an int 0..3"),
        ({"dealer": None}, r"dealer"),
        ({"actions": ["bid 3", "bid 14"]}, r"actions\[1\]: action 'bid 14' does not exist"),
        ({"actions": ["AS"]}, r"actions\[0\]: seat 0 may not do 51 \(AS\); legal: 54 \(nil\)"),
        ({"actions": ["AC"]}, r"actions\[4\]: seat 0 may not do 12 \(AC\)"),
        ({"actions": ["AS", "2S"]}, r"actions\[5\]: seat 1 cannot play 2S: seat 0 holds it"),
        ({"actions": ["AS", "LJ"]}, r"seat 1 cannot play LJ: it is not in this pack"),
        ({"actions": ["AS", "2C", "2C"]}, r"actions\[6\]: seat 2 cannot play 2C: it has been played"),
        ({"actions": ["AS", "bid 2"]}, r"seat 1 cannot play bid 2: it is no card"),
        ({"shown": "AS"}, r"shown is 'AS'; allowed: None"),
        ({"rejected": "2C"}, r"rejected is given; allowed in a draft only"),
    ],
)
def test_what_no_seat_can_have_seen_is_refused(changes: dict[str, Any], message: str) -> None:
    told: dict[str, Any] = {"seat": 0, "dealer": 3, "hand": SUITED[0], "actions": []} | changes
    if "actions" in changes and changes["actions"][0] != "bid 3" and "actions\\[0" not in message:
        told["actions"] = ["bid 3", "nil", "bid 1", "bid 2", *changes["actions"]]
    if told["dealer"] is None:
        del told["dealer"]
    with pytest.raises((PositionError, TypeError), match=message):
        View.from_known("classic", **told)


def test_a_suit_shown_void_stays_void() -> None:
    """R11: seat 1 throws a heart on a club lead, so she cannot play a club later."""
    hand = "2C 3C 4C 5C 6C 7C 8C 9C TC JC 2D 3D 4D"
    bids = ["bid 1", "bid 1", "bid 1", "bid 1"]
    first = ["2C", "2H", "AC", "KC"]
    view = View.from_known(seat=0, dealer=3, hand=hand, actions=[*bids, *first])
    assert view.turn == 2
    assert view.voids[1] == [0]
    message = r"actions\[11\]: seat 1 cannot play QC: she has shown .* no clubs"
    with pytest.raises(PositionError, match=message):
        View.from_known(seat=0, dealer=3, hand=hand, actions=[*bids, *first, "5D", "6D", "2D", "QC"])


def test_plays_that_no_layout_fits_are_refused() -> None:
    """Three seats void in clubs leave the clubs nobody: seat 0 holds five, so eight are still out."""
    hand = "2C 3C 4C 5C 6C 2D 3D 4D 5D 6D 7D 8D 9D"
    bids = ["bid 1"] * 4
    with pytest.raises(PositionError, match=r"still hold 36 cards, but only"):
        View.from_known(seat=0, dealer=3, hand=hand, actions=[*bids, "2C", "2H", "3H", "4H"])


def test_the_lowest_club_comes_first() -> None:
    """`low_club`: who plays the 5 of clubs to the first trick holds none below it."""
    hand = "2C AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S"
    bids, first = ["bid 1"] * 4, ["2C", "5C", "3C", "4C"]
    rules = {"opening_lead": "low_club"}
    assert View.from_known(rules, seat=0, dealer=3, hand=hand, actions=[*bids, *first]).turn == 1
    hand = "3C AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S"
    actions = [*bids, "3C", "5C", "6C", "4C", "7C", "8C", "AS", "2C"]
    with pytest.raises(PositionError, match=r"seat 1 cannot play 2C: it would have been her lowest club"):
        View.from_known(rules, seat=0, dealer=3, hand=hand, actions=actions)


SMALL: list[dict[str, Any]] = [
    {"suits": 2, "ranks": 4, "hand_size": 2},
    {"suits": 3, "ranks": 3, "hand_size": 2},
    {"suits": 2, "ranks": 4, "hand_size": 2, "lead_spades": "any"},
    {"suits": 2, "ranks": 4, "hand_size": 2, "lead_spades": "only_spades_left"},
    {"suits": 2, "ranks": 4, "hand_size": 2, "first_trick_spades": "forbid"},
    {"suits": 4, "ranks": 2, "hand_size": 2, "opening_lead": "low_club"},
    {"suits": 3, "ranks": 2, "hand_size": 3, "players": 2},
]


def small_deck(rules: Rules) -> list[int]:
    """The highest ranks of the highest suits."""
    return [13 * suit + rank for suit in range(4 - rules.suits, 4) for rank in range(13 - rules.ranks, 13)]


def layouts(game: Game, seat: int) -> Iterator[list[list[int]]]:
    """Every way to deal the cards that `seat` does not hold to the others; the rest is out of play."""
    own = game.hands[seat]
    unseen = frozenset(small_deck(game.rules)) - set(own)

    def deal_rest(left: frozenset[int], seats: list[int]) -> Iterator[dict[int, list[int]]]:
        if not seats:
            yield {}
            return
        for cards in combinations(sorted(left), game.rules.hand_size):
            for rest in deal_rest(left - set(cards), seats[1:]):
                yield {seats[0]: list(cards), **rest}

    others = [other for other in range(game.players) if other != seat]
    for rest in deal_rest(unseen, others):
        yield [own if player == seat else rest[player] for player in range(game.players)]


def possible(game: Game, seat: int, actions: list[int]) -> bool:
    """Whether some layout of the unseen cards makes all `actions` legal, by trying them all."""
    for hands in layouts(game, seat):
        trial = Game(game.rules, hands=hands, dealer=game.dealer)
        if all(trial_apply(trial, action) for action in actions):
            return True
    return False


def trial_apply(game: Game, action: int) -> bool:
    """Take `action` if it is legal; whether it was."""
    legal = action in game.legal_actions()
    if legal:
        game.apply(action)
    return legal


@pytest.mark.parametrize("rules", SMALL, ids=str)
def test_a_course_is_refused_exactly_if_no_layout_fits(rules: dict[str, Any]) -> None:
    """Random plays of the others, legal or not, in small decks; the oracle tries every layout (R11-R15)."""
    rng = random.Random(str(rules))
    outcomes = {True: 0, False: 0}
    for seed in range(6):
        game = Game(rules, seed=seed)
        seat = rng.randrange(game.players)
        told: dict[str, Any] = {"seat": seat, "dealer": game.dealer, "hand": game.hands[seat]}
        actions: list[int] = [bid_action(1)] * game.players
        fine = True
        while fine and len(actions) < game.players * (1 + game.rules.hand_size):
            view = View.from_known(game.rules, actions=actions, **told)
            legal = view.legal_actions() if view.turn == seat else small_deck(game.rules)
            actions.append(rng.choice(legal))
            try:
                View.from_known(game.rules, actions=actions, **told)
            except PositionError:
                fine = False
            assert fine == possible(game, seat, actions), (told, actions)
            outcomes[fine] += 1
    assert min(outcomes.values()) > 0


def test_draft_counts_are_checked() -> None:
    """R27-R29: as many cards as draws, as many rejected as cards taken instead."""
    rng = random.Random(5)
    game = Game("two_player", seed=3)
    while game.phase != "bid":
        game.apply(rng.choice(game.legal_actions()))
    told = known(game, 0)
    assert View.from_known(**told) == game.view(0)
    with pytest.raises(PositionError, match=r"hand has 12 cards; allowed: 13"):
        View.from_known(**{**told, "hand": told["hand"][1:]})
    with pytest.raises(PositionError, match=r"rejected has \d+ cards; allowed: \d+"):
        View.from_known(**{**told, "rejected": told["rejected"][1:]})


# ---------------------------------------------------------------- what is refused at the start


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, r"seed is -1; allowed: an int 0\.\.9223372036854775807"),
        ({"seed": 1.5}, r"seed is 1.5"),
        ({"seed": True}, r"seed is True"),
        ({"dealer": 4}, r"dealer is 4; allowed: an int 0\.\.3"),
        ({"scores": (500, 0)}, r"scores are \(500, 0\); allowed: .* team 0 has won"),
        ({"scores": (1, 2, 3)}, r"scores are \(1, 2, 3\); allowed: two ints"),
        ({"scores": (0, 10**7)}, r"scores\[1\] is 10000000; allowed"),
        ({"bags": (10, 0)}, r"bags\[0\] is 10; allowed: an int 0\.\.9"),
        ({"bags": (0, -1)}, r"bags\[1\] is -1"),
        ({"deal": -1}, r"deal is -1"),
        ({"hands": SUITED[:3]}, r"allowed: 4 hands"),
        ({"hands": ["AS", *SUITED[1:]]}, r"hands\[0\] has 1 cards; allowed: 13"),
        ({"hands": [SUITED[0], SUITED[0], *SUITED[2:]]}, r"hands\[1\] has AS .*cards that no other seat"),
        ({"hands": [SUITED[0].replace("AS", "LJ"), *SUITED[1:]]}, r"hands\[0\] has LJ; .* in this pack"),
        ({"hands": [SUITED[0].replace("AS", "KS"), *SUITED[1:]]}, r"hands\[0\]: card KS .* given twice"),
        ({"hands": [SUITED[0].replace("AS", "XX"), *SUITED[1:]]}, r"hands\[0\]: card 'XX' does not exist"),
        ({"pile": " ".join(SUITED)}, r"a pile is given; allowed with deal='dealt': hands"),
        ({"rules": "two_player", "hands": SUITED[:2]}, r"hands are given; .*draft': the pile"),
        ({"rules": "two_player", "pile": SUITED[0]}, r"pile has 13 cards; allowed: 52"),
        ({"rules": {"max_deals": 3}, "deal": 3}, r"deal is 3; allowed: an int 0\.\.2"),
        ({"rules": {"mercy": -200}, "scores": (-200, 0)}, r"team 1 has won"),
    ],
)
def test_impossible_starts_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Game(**arguments)


def test_level_scores_over_the_target_go_on() -> None:
    """R24: equal scores have no winner, so such a match may be given."""
    assert Game(scores=(505, 505)).scores == (505, 505)


def test_an_illegal_prefix_names_index_seat_action_and_what_is_legal() -> None:
    message = r"actions\[1\]: seat 1 may not do 51 \(AS\); legal: 54 \(nil\), 55"
    with pytest.raises(IllegalActionError, match=message):
        Game.from_position(hands=SUITED, dealer=3, actions=["bid 3", "AS"])
    with pytest.raises(PositionError, match=r"actions\[0\]: action 'bid 99' does not exist"):
        Game.from_position(hands=SUITED, dealer=3, actions=["bid 99"])
    with pytest.raises(PositionError, match="hands and pile are missing"):
        Game.from_position(dealer=0)
    for actions in (5, "bid 3"):
        with pytest.raises(PositionError, match=rf"actions are {actions!r}; allowed: a list"):
            Game.from_position(hands=SUITED, dealer=3, actions=actions)  # type: ignore[arg-type]
        with pytest.raises(PositionError, match=rf"actions are {actions!r}; allowed: a list"):
            View.from_known(seat=0, dealer=3, hand=SUITED[0], actions=actions)  # type: ignore[arg-type]


# ---------------------------------------------------------------- a game as it goes


def test_a_deal_is_scored_item_by_item() -> None:
    """R16-R24: South takes all 13 with every spade; her partner's and West's nils are made, East is set."""
    game = Game.from_position(
        hands=SUITED, dealer=3, scores=(300, 10), bags=(9, 0), actions=["bid 12", "nil", "nil", "bid 1"]
    )
    while not game.deal_over:
        game.apply(game.legal_actions()[0])
    own, other = game.result or (None, None)
    assert own is not None
    assert other is not None
    assert (own.contract, own.nil, own.bag_points, own.penalty, own.bags) == (120, 100, 1, -100, 1)
    assert (other.contract, other.nil, other.bag_points, other.penalty, other.bags) == (-10, 100, 0, 0, 0)
    assert (own.points, other.points) == (121, 90)
    assert (own.boston, other.boston) == (True, False)
    assert game.scores == (421, 100)
    assert game.bags == (0, 0)
    assert (game.phase, game.turn, game.match_over, game.winner) == ("deal over", None, False, None)
    with pytest.raises(PositionError, match="next_match is called in phase 'deal over'"):
        game.next_match()
    game.next_deal()
    assert (game.deal, game.dealer, game.first) == (1, 0, 1)


def test_the_table_can_be_read() -> None:
    game = Game.from_position(hands=SUITED, dealer=3, actions=["bid 13", "nil", "bid 1", "bid 2", "AS", "2C"])
    assert game.bids == [13, 0, 1, 2]
    assert game.trick == [(0, 51), (1, 0)]
    assert game.plays == [(0, 51), (1, 0)]
    assert (game.turn, game.broken, game.tricks) == (2, False, [0, 0, 0, 0])
    assert game.voids == [[0, 1, 2], [3], [], []]
    assert game.hand_texts[0].startswith("KS QS")
    assert game.legal_texts() == [f"{rank}D" for rank in "23456789TJQKA"]
    assert repr(game) == "Game(classic, match 0, deal 0, play, seat 2 to act)"


def test_an_illegal_action_changes_nothing() -> None:
    game = Game(seed=4)
    before = game.copy()
    for action, error in (("AS", IllegalActionError), (73, PositionError), ("as if", PositionError)):
        with pytest.raises(error):
            game.apply(action)
    assert game == before


def test_games_are_fixed_by_seed_and_number() -> None:
    assert Game(seed=5, game=1) == Game(seed=5, game=1)
    assert Game(seed=5, game=1).hands != Game(seed=5, game=2).hands
    assert Game(seed=5, match=1).hands != Game(seed=5).hands
    assert Game(seed=5, dealer=0, scores=(10, 20)).scores == (10, 20)


# ---------------------------------------------------------------- copies and bytes

COPIES: list[Callable[[Game], Game]] = [
    Game.copy,
    copy.deepcopy,
    copy.copy,
    lambda game: pickle.loads(pickle.dumps(game)),
    lambda game: Game.from_bytes(game.to_bytes()),
]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_bytes_hold_every_state_exactly(rules: Any) -> None:
    rng = random.Random(7)
    game = Game({"max_deals": 4} | (rules if isinstance(rules, dict) else {"preset": rules}), seed=2)
    for _ in range(300):
        again = Game.from_bytes(game.to_bytes())
        assert again.states.tobytes() == game.states.tobytes()
        assert again.rules == game.rules
        if game.match_over:
            game.next_match()
        elif game.deal_over:
            game.next_deal()
        else:
            game.apply(rng.choice(game.legal_actions()))


@pytest.mark.parametrize("make", COPIES[:2] + COPIES[3:])
def test_copies_go_their_own_way(make: Callable[[Game], Game]) -> None:
    game = Game("modern", seed=9)
    play_on(game, random.Random(1), 30)
    twin = make(game)
    assert twin == game
    twin.apply(twin.legal_actions()[0])
    assert twin != game
    play_on(game, random.Random(2))
    play_on(twin, random.Random(2))
    assert game.deal_over
    assert twin.deal_over


def test_every_damaged_byte_is_noticed() -> None:
    data = Game(seed=1).to_bytes()
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 0x10
        with pytest.raises(StorageError):
            Game.from_bytes(bytes(damaged))
    for foreign in (b"", b"SPDSGAME", data[:-1], data + b"\0", b"PK\x03\x04" + data, 5):
        with pytest.raises(StorageError):
            Game.from_bytes(foreign)  # type: ignore[arg-type]


FREE = ("key", "match", "deal", "result")
"""Fields that a deal does not determine."""


@pytest.mark.parametrize("field", [name for name in STATE.names or () if name not in FREE])
def test_forged_states_are_refused(field: str) -> None:
    """A right checksum does not help: the deal must replay to the state."""
    game = Game("two_player", seed=6, scores=(120, 80), bags=(3, 4))
    play_on(game, random.Random(4), 60)
    states = game.states.copy()
    raw = states[field].view(np.int8) if field != "rules" else states["rules"]["players"]
    raw.reshape(-1)[0] += 1
    if field in ("scores", "bags"):
        # Any score may be the one before a deal that goes on; a won match or a full bag count may not.
        states[field] = [1000, 0]
    with pytest.raises(StorageError):
        Game.from_bytes(pack_state(states))


def test_rules_survive_the_record() -> None:
    rules = Rules(mercy=-150, max_deals=7, max_team_bid=9, contract="individual")
    assert Game.from_bytes(Game(rules).to_bytes()).rules == rules
