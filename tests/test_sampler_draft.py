"""The sampler after a draft (R27-R29): against all histories of a tiny one, and calibrated over whole drafted deals."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from functools import reduce

import numpy as np
import pytest
from hidden_positions import chi_square_z
from search_positions import acting, scattered

from agents.rules.normal.draft import keeps_card
from agents.search.draft_worlds import deal_discards, deal_draft
from agents.search.likelihood import DRAFT_MISS
from agents.search.sampler import new_plans, sample_worlds, view_marginals
from spades_env.actions import BLIND_NIL, KEEP, LOOK, TAKE_NEXT
from spades_env.cards import SPADES, SUIT_MASKS, cards_of, mask_of
from spades_env.engine import step
from spades_env.engine.batch import sample_actions
from spades_env.engine.kernel import kernel
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_PLAY,
    STATE,
    StateArray,
    rules_to_record,
)
from spades_env.rules import PRESETS, Rules
from spades_env.view import VIEW, empty_views, view_of

TINY_SUITS, TINY_RANKS, TINY_HAND = 2, 6, 3
"""A draft of 12 cards: 3 for each player, 6 discarded. The real one has the same rules and too many histories."""
DECK = tuple(card for card in range(26, 52) if card % 13 >= 13 - TINY_RANKS)

Seen = tuple[int, int, int, int]
"""What the player may see at the end: the cards that she holds, rejected, gave up, and drew in the exchange."""


def subsets(cards: set[int], size: int) -> Iterator[set[int]]:
    return (set(chosen) for chosen in itertools.combinations(sorted(cards), size))


def histories(hand: set[int], rejected: set[int], gave: set[int], e: int, first: bool) -> Iterator[tuple[int, int]]:
    """(her drawn cards, the other's final hand) of every history of the exchanges, all equally likely.

    She holds `hand` after the draft, rejected `rejected`, gives up `gave`; the other gives up any `e` of her cards.
    """
    unknown = set(DECK) - hand - rejected
    for other in subsets(unknown, TINY_HAND):
        discards = (unknown - other) | rejected
        for thrown in subsets(other, e):
            # Who exchanges first draws from all discards, the second from what is left.
            if first:
                for mine in subsets(discards, len(gave)):
                    for hers in subsets(discards - mine, e):
                        yield mask_of(mine), mask_of((other - thrown) | hers)
            else:
                for hers in subsets(discards, e):
                    for mine in subsets(discards - hers, len(gave)):
                        yield mask_of(mine), mask_of((other - thrown) | hers)


def tiny_view(hand: int, rejected: int, thrown: int, e: int, played: int, voids: int) -> StateArray:
    """The view of seat 0 of a tiny deal in play; no rules allow such a draft, but the record holds it."""
    views = np.zeros(1, VIEW)
    known = views["known"]
    known["rules"] = rules_to_record(PRESETS["two_player"])
    for name, value in (("suits", TINY_SUITS), ("ranks", TINY_RANKS), ("hand_size", TINY_HAND)):
        known["rules"][name] = value
    known["phase"] = PHASE_PLAY
    known["looked"] = 1
    known["hands"][0, 0] = hand
    known["played"][0, 1] = played
    known["rejected"][0, 0] = rejected
    known["thrown"][0, 0] = thrown
    known["exchanged"][0] = (thrown.bit_count(), e)
    known["voids"][0, 1] = voids
    return views


def fits(hand: int, played: int, voids: int) -> bool:
    """Whether the other player can have held `hand`, having played `played` and shown `voids`."""
    gone = [suit for suit in range(4) if voids >> suit & 1]
    return hand & played == played and all((hand & ~played) & SUIT_MASKS[suit] == 0 for suit in gone)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(("gives", "e"), [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (2, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("n_rejected", [0, 1, 3])
def test_hands_after_the_exchange_have_the_probability_of_their_histories(
    n_rejected: int, gives: int, e: int, first: bool
) -> None:
    """R28, R29: she may have drawn what I rejected, what I gave up never returns, what I drew she did not."""
    rng = np.random.default_rng(100 * n_rejected + 10 * gives + e)
    cards = [int(card) for card in rng.permutation(DECK)]
    hand, rejected = set(cards[:TINY_HAND]), set(cards[TINY_HAND : TINY_HAND + n_rejected])
    gave = set(sorted(hand)[:gives])
    by_drawn: dict[int, Counter[int]] = {}
    for mine, other in histories(hand, rejected, gave, e, first):
        by_drawn.setdefault(mine, Counter())[other] += 1
    drawn_cards = sorted(by_drawn)
    for drawn in rng.choice(drawn_cards, min(4, len(drawn_cards)), replace=False):
        outcomes = by_drawn[int(drawn)]
        now = mask_of(hand - gave) | int(drawn)
        for played, voids in ((0, 0), (_some_card(outcomes, rng), 0), (_some_card(outcomes, rng), 1 << SPADES)):
            consistent = Counter({h: n for h, n in outcomes.items() if fits(h, played, voids)})
            _check(tiny_view(now, mask_of(rejected), mask_of(gave), e, played, voids), consistent, played)


def _some_card(outcomes: Counter[int], rng: np.random.Generator) -> int:
    """A card that the other player may hold, as a mask."""
    cards = cards_of(reduce(lambda a, b: a | b, outcomes))
    return 1 << int(rng.choice(cards))


def _check(views: StateArray, hands: Counter[int], played: int) -> None:
    """Compare marginals exactly and samples by their chi-square with `hands`: histories by the other's hand."""
    plans, out, histories_ = new_plans(1), np.zeros((54, 4)), sum(hands.values())
    total = view_marginals(views, 0, plans, out)
    assert (total > 0) == (histories_ > 0)
    if not histories_:
        return
    expected = np.zeros(54)
    for hand, n in hands.items():
        expected[cards_of(hand & ~played)] += n / histories_
    np.testing.assert_allclose(out[:, 1], expected, rtol=1e-12, atol=1e-12)
    assert (out[:, [0, 2, 3]] == 0).all()
    worlds = np.zeros(3_000, STATE)
    sample_worlds(views, 0, plans, np.uint64(1), worlds)
    counts = Counter(int(hand) | played for hand in worlds["hands"][:, 1])
    assert set(counts) <= set(hands)
    if len(hands) > 1:
        share = np.array(list(hands.values())) / histories_
        observed = np.array([counts[hand] for hand in hands])
        assert chi_square_z(observed, 3_000 * share) < 4.5  # of 600 tests


def drafted(rules: Rules, seed: int, n: int) -> StateArray:
    """`n` games of random drafts and exchanges, at the first bid; double nil is called as often as not."""
    states, actions = np.zeros(n, STATE), np.zeros(n, np.int64)
    step.new_games(states, rules_to_record(rules), seed, 0)
    for turn in itertools.count():
        drafting = (states["phase"] != PHASE_BID) & (states["phase"] != PHASE_PLAY)
        if not drafting.any():
            return states
        sample_actions(states, np.uint64(seed), turn, actions)
        for i in np.flatnonzero(drafting):
            step.apply(states, int(i), int(actions[i]))
    raise AssertionError("unreachable")


RULES = {
    "preset": PRESETS["two_player"],
    "options": PRESETS["two_player"].replace(draft_second_card_seen=True, blind_nil_exchange=13, jokers=True),
}


def standard_error_away(held: np.ndarray, probability: np.ndarray) -> float:
    """How many standard errors the number of cards held is from the one expected, deal by deal."""
    surplus = (held - probability).sum(axis=1)
    return float(surplus.sum() / math.sqrt((surplus**2).sum()))


@pytest.mark.parametrize("name", RULES)
def test_marginals_are_calibrated_over_drafted_deals(name: str) -> None:
    """Random drafters tell nothing by their choices, so probabilities must come true on the average."""
    n = 4_000
    states = drafted(RULES[name], 2, n)
    views, plans = empty_views(1), new_plans(1)
    probability, rejected, held = np.zeros((n, 54)), np.zeros((n, 54), bool), np.zeros((n, 54), bool)
    for i in range(n):
        out = np.zeros((54, 4))
        view_of(states, i, i % 2, views, 0)
        assert view_marginals(views, 0, plans, out) > 0
        probability[i] = out[:, 1 - i % 2]
        rejected[i, cards_of(int(states["rejected"][i, i % 2]))] = True
        held[i, cards_of(int(states["hands"][i, 1 - i % 2]))] = True
    np.testing.assert_allclose(probability.sum(axis=1), 13, rtol=1e-12)
    assert (held <= (probability > 0)).all()
    for exchanged in sorted({0, 1, 2, 3, int(states["exchanged"].max())}):
        chosen = states["exchanged"][np.arange(n), 1 - np.arange(n) % 2] == exchanged
        if exchanged == 0:
            assert not (rejected & (probability > 0))[chosen].any()
        elif chosen.sum() > 100:
            assert abs(standard_error_away((held & rejected)[chosen], (probability * rejected)[chosen])) < 3.9
            assert (held & rejected)[chosen].sum() > 30


def test_worlds_of_drafted_deals_are_sound_and_go_on() -> None:
    """Random play after random drafts: sizes, voids, cards that cannot be there, and the deal can be finished."""
    states = drafted(RULES["preset"], 3, 60)
    views, plans, actions, worlds = empty_views(1), new_plans(1), np.zeros(60, np.int64), np.zeros(4, STATE)
    for turn in range(28):
        for i in range(60):
            seat = (i + turn) % 2
            view_of(states, i, seat, views, 0)
            assert sample_worlds(views, 0, plans, np.uint64(turn), worlds) >= 1
            _check_hands(states[i], seat, worlds)
            if not step.is_over(states, i):
                step.play_out(worlds, 0, np.uint64(turn), 1)
                assert int(worlds["result"]["scored"][0]) == 1
        sample_actions(states, np.uint64(4), turn, actions)
        for i in range(60):
            if not step.is_over(states, i):
                step.apply(states, i, int(actions[i]))


def _check_hands(state: np.void, seat: int, worlds: StateArray) -> None:
    other = 1 - seat
    gone = int(state["hands"][seat]) | int(state["played"].sum()) | int(state["thrown"][seat])
    if int(state["exchanged"][other]) == 0:
        gone |= int(state["rejected"][seat])
    for hand in worlds["hands"][:, other]:
        assert int(hand).bit_count() == int(state["hands"][other]).bit_count()
        assert int(hand) & gone == 0
        assert all(int(hand) & SUIT_MASKS[s] == 0 for s in range(4) if int(state["voids"][other]) >> s & 1)
    assert (worlds["hands"][:, seat] == state["hands"][seat]).all()


def test_a_rejected_card_that_the_other_played_needs_an_exchange() -> None:
    """R27: without one she cannot have it, and the information is inconsistent."""
    states = drafted(RULES["preset"].replace(blind_nil=False), 5, 1)
    views, worlds = empty_views(1), np.zeros(1, STATE)
    view_of(states, 0, 0, views, 0)
    assert sample_worlds(views, 0, new_plans(1), np.uint64(0), worlds) == math.comb(
        39 - int(states["rejected"][0, 0]).bit_count(), 13
    )
    views["known"]["played"][0, 1] = int(states["rejected"][0, 0]) & -int(states["rejected"][0, 0])
    assert sample_worlds(views, 0, new_plans(1), np.uint64(0), worlds) == 0


# --- While cards are still in the pile ----------------------------------------------------------------------


@kernel
def draft_worlds(views: StateArray, i: int, key: np.uint64, worlds: StateArray) -> None:
    """Fill `worlds` with worlds of view `i`, of a draft in progress."""
    for n in range(worlds.shape[0]):
        worlds[n] = views[i]["known"]
        deal_draft(views[i]["known"], int(views[i]["shown"]), key + np.uint64(n), worlds[n])


@kernel
def exchange_worlds(views: StateArray, i: int, key: np.uint64, worlds: StateArray) -> None:
    """Complete `worlds`, in which the hands of view `i` are dealt already."""
    for n in range(worlds.shape[0]):
        deal_discards(views[i]["known"], key + np.uint64(n), worlds[n])


@pytest.mark.parametrize("name", RULES)
def test_worlds_of_a_draft_are_sound_and_go_on(name: str) -> None:
    """R27, R29: every card is in one place, what she has seen stays where it is, and the deal can be finished."""
    states = scattered(RULES[name], 12, 3)
    states = states[(states["phase"] == PHASE_DRAFT) | (states["phase"] == PHASE_BLIND)]
    views, worlds = acting(states), np.zeros(3, STATE)
    for i, state in enumerate(states):
        seat, top = int(state["turn"]), int(state["pile_pos"])
        draft_worlds(views, i, np.uint64(i), worlds)
        for world in worlds:
            pile = [int(card) for card in world["pile"][top:]]
            if state["phase"] == PHASE_DRAFT:
                assert pile[0] == state["pile"][top]
            places = [mask_of(pile), int(world["discards"]), *(int(hand) for hand in world["hands"])]
            assert sum(places) == reduce(lambda a, b: a | b, places) == mask_of(int(card) for card in state["pile"])
            assert world["hands"][seat] == state["hands"][seat]
            for field in ("hands", "rejected"):
                assert [int(x).bit_count() for x in world[field]] == [int(x).bit_count() for x in state[field]]
            assert int(world["discards"]) & int(state["rejected"][seat]) == int(state["rejected"][seat])
            assert int(world["discards"]) & int(world["rejected"][1 - seat]) == int(world["rejected"][1 - seat])
        step.play_out(worlds, 0, np.uint64(i), 1)
        assert worlds["result"]["scored"][0] == 1
    assert len(states) > 60


def test_worlds_of_an_exchange_are_sound_and_go_on() -> None:
    """R28: what either has given up is out of the game, what the other drew no longer among the discards."""
    states = scattered(RULES["options"], 40, 2)
    states = states[states["phase"] == PHASE_EXCHANGE]
    views, plans, worlds = acting(states), new_plans(1), np.zeros(3, STATE)
    for i, state in enumerate(states):
        seat = int(state["turn"])
        assert sample_worlds(views, i, plans, np.uint64(i), worlds) >= 1
        exchange_worlds(views, i, np.uint64(i), worlds)
        for world in worlds:
            places = [*(int(x) for x in world["thrown"]), int(world["discards"]), *(int(x) for x in world["hands"])]
            assert sum(places) == reduce(lambda a, b: a | b, places) == mask_of(int(card) for card in state["pile"])
            for field in ("hands", "thrown"):
                assert world[field][seat] == state[field][seat]
                assert [int(x).bit_count() for x in world[field]] == [int(x).bit_count() for x in state[field]]
        step.play_out(worlds, 0, np.uint64(i), 1)
        assert worlds["result"]["scored"][0] == 1
    assert {bool(state["exchanged"][1 - state["turn"]]) for state in states} == {False, True}
    assert (states["exchanged"][np.arange(len(states)), states["turn"]] > 0).any()


@pytest.mark.parametrize("calls_nil", [False, True])
def test_a_draft_tells_what_the_other_kept(calls_nil: bool) -> None:
    """Against weighted random piles: each card kept or passed over that `normal` would not costs DRAFT_MISS.

    The other was first, kept, passed on, kept and passed on; the seat to act has taken what came next four times.
    """
    states = np.zeros(1, STATE)
    rules = RULES["preset"] if calls_nil else RULES["preset"].replace(blind_nil=False)
    step.new_games(states, rules_to_record(rules), 4, 0)
    for draw in range(8):
        if states["phase"][0] == PHASE_BLIND:
            step.apply(states, 0, BLIND_NIL if draw == 0 else LOOK)
        step.apply(states, 0, KEEP if draw in (0, 4) else TAKE_NEXT)
    step.apply(states, 0, KEEP)  # the other's fifth card
    views, worlds = acting(states), np.zeros(8_000, STATE)
    draft_worlds(views, 0, np.uint64(3), worlds)
    seat, shown = int(states["turn"][0]), int(views["shown"][0])
    seen = int(states["hands"][0, seat]) | int(states["rejected"][0, seat]) | 1 << shown
    unseen = np.array([card for card in range(52) if not seen >> card & 1])
    fits = np.array([keeps_card(card, calls_nil) for card in range(52)])
    piles = np.random.default_rng(1).permuted(np.tile(unseen, (40_000, 1)), axis=1)[:, :7]
    kept, passed, blind = piles[:, :3], piles[:, 3:5], piles[:, 5:7]
    weights = np.exp(-DRAFT_MISS * ((~fits[kept]).sum(axis=1) + fits[passed].sum(axis=1)))
    for pile, mean in ((np.hstack([kept, blind]), "hands"), (passed, "rejected")):
        expected = (fits[pile].sum(axis=1) * weights).sum() / weights.sum()
        found = np.array([fits[cards_of(int(cards))].sum() for cards in worlds[mean][:, 1 - seat]])
        assert abs(found.mean() - expected) < 0.05
    assert abs(expected - 2 * fits[unseen].mean()) > 0.2
