"""Differential test against OpenSpiel's C++ `spades`: same cards and actions, compared at every decision.

Our rules are set to theirs; what differs all the same stands in docs/peers.md, whose examples run here.
Random play follows their legal actions, so both sides see exactly the same decisions.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spades_env.engine.deal import clear_deal, hand_out, open_deal, shuffle
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_BID, STATE, StateArray, rules_to_record
from spades_env.engine.step import apply, is_over, legal_masks, new_games
from spades_env.rules import Rules

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (pip install open-spiel)")

OURS_FIRST_BID = 54
THEIRS_FIRST_BID = 52
PEERS_PAGE = Path(__file__).parents[1] / "docs" / "peers.md"
DIRECTIONS = ("clockwise", "counter_clockwise")

SEEN_IN_EVERY_RUN = (
    "contract made",
    "contract set",
    "bags",
    "one penalty",
    "nil made",
    "nil failed",
    "failed nil made the contract",
    "both nil",
    "team bid 13",
    "bid withheld by their cap",
    "spade lead withheld",
    "nothing but spades to lead",
    "ruff",
)
"""Situations that a run must have met, or the comparison would prove less than it says."""
SEEN_IN_LONG_RUNS = (*SEEN_IN_EVERY_RUN, "two penalties", "boston")


def their_rules(direction: str) -> Rules:
    """`classic` with the rules of OpenSpiel's game; theirs is one deal, so no target is reached."""
    return Rules.preset(
        "classic",
        lead_spades="only_spades_left",
        failed_nil="help_partner",
        target=1_000_000,
        turn_direction=direction,
    )


@kernel
def deal_with_scores(states: StateArray, dealer: int, score_0: int, score_1: int, bags_0: int, bags_1: int) -> None:
    """Deal the next pack of game 0 to `dealer`'s table, with these scores and bags before the deal."""
    game = states[0]
    game["deal"] = int(game["deal"]) + 1
    game["dealer"] = dealer
    game["scores"][0], game["scores"][1] = score_0, score_1
    game["bags"][0], game["bags"][1] = bags_0, bags_1
    clear_deal(game)
    shuffle(game)
    hand_out(game)
    open_deal(game)


class Pair:
    """One deal on both sides: their player p sits on our seat `seats[p]`, first to act is player 0."""

    def __init__(self, states: StateArray, theirs: Any, dealer: int, scores: tuple[int, int]) -> None:
        # R5, R6: our first seat gets the first card, bids first and leads first; their player 0 does.
        deal_with_scores(states, dealer, *scores, scores[0] % 10, scores[1] % 10)
        self.states = states
        self.game = states[0]
        first, step = int(self.game["first"]), int(self.game["rules"]["step"])
        self.seats = [(first + step * p) % 4 for p in range(4)]
        self.theirs = theirs.new_initial_state()
        self.theirs.set_current_scores([scores[self.seats[0] % 2], scores[self.seats[1] % 2]])
        for card in self.game["pile"]:
            self.theirs.apply_action(int(card))

    def legal(self, counts: Counter[str]) -> list[int]:
        """Their legal actions in our ids, after the comparison with ours."""
        player = self.theirs.current_player()
        assert self.seats[player] == int(self.game["turn"])
        cards, calls = legal_masks(self.states, 0)
        actions = self.theirs.legal_actions()
        if int(self.game["phase"]) == PHASE_BID:
            # R8: no cap on a team's bids; theirs withholds what would bring it above 13.
            partner_bid = int(self.game["bids"][(int(self.game["turn"]) + 2) % 4])
            allowed = (1 << (14 - max(partner_bid, 0))) - 1
            assert calls == (1 << 14) - 1
            assert cards == 0
            assert sum(1 << (a - THEIRS_FIRST_BID) for a in actions) == calls & allowed
            counts["bid withheld by their cap"] += partner_bid > 0
            return [a - THEIRS_FIRST_BID + OURS_FIRST_BID for a in actions]
        assert calls == 0
        assert sum(1 << a for a in actions) == cards
        self.count_play(cards, counts)
        return list(actions)

    def count_play(self, cards: int, counts: Counter[str]) -> None:
        hand = int(self.game["hands"][int(self.game["turn"])])
        if int(self.game["trick_len"]) > 0:
            return
        counts["spade lead withheld"] += cards != hand
        counts["nothing but spades to lead"] += hand >> 39 << 39 == hand and hand.bit_count() > 1

    def apply(self, action: int) -> None:
        """Take the action (in our ids) on both sides; the one to act next is compared by the next `legal`."""
        bid = action >= OURS_FIRST_BID
        self.theirs.apply_action(action - OURS_FIRST_BID + THEIRS_FIRST_BID if bid else action)
        apply(self.states, 0, action)

    def compare_result(self) -> None:
        """Tricks of every seat, points of the deal and scores after it (R12, R17-R21)."""
        result = self.game["result"]
        points = result["contract"] + result["nil"] + result["bag_points"] + result["penalty"]
        returns = self.theirs.returns()
        scores = self.theirs.get_current_scores()
        for player, seat in enumerate(self.seats):
            assert their_tricks(self.theirs)[player] == int(self.game["tricks"][seat])
            assert returns[player] == int(points[seat % 2])
            score = int(self.game["scores"][seat % 2])
            assert scores[player % 2] == score
            # Their next deal reads its bags off this digit; below 0 it does so wrongly (docs/peers.md).
            assert score < 0 or score % 10 == int(self.game["bags"][seat % 2])


def their_tricks(theirs: Any) -> list[int]:
    """Tricks per player, from the table in their text (their tensor has no place for 13 tricks)."""
    found = re.search(r"Tricks taken:\s+North East  South  West\s+(\d+) +(\d+) +(\d+) +(\d+)", str(theirs))
    assert found is not None
    return [int(number) for number in found.groups()]


def random_scores(rng: random.Random) -> tuple[int, int]:
    """Scores whose last digit is a bag count (R21): any from 0, and negative ones that end in 0."""
    scores = [rng.randrange(600) if rng.random() < 0.8 else -10 * rng.randrange(30) for _ in range(2)]
    return scores[0], scores[1]


def choose(pair: Pair, legal: list[int], low_bids: bool, rng: random.Random) -> int:
    """A random legal action; with `low_bids` no bid above 4, so that contracts are made and bags taken."""
    if low_bids and legal[0] == OURS_FIRST_BID:
        return OURS_FIRST_BID + rng.choice((0, 0, 1, 2, 3, 4)[: len(legal)])
    return rng.choice(legal)


def count_result(game: np.void, counts: Counter[str]) -> None:
    """Count what the deal just scored was an example of."""
    bids, tricks, result = game["bids"].tolist(), game["tricks"].tolist(), game["result"]
    counts["boston"] += int(result["boston"]) >= 0
    for team in range(2):
        pair = [(bids[seat], tricks[seat]) for seat in (team, team + 2)]
        contract = sum(bid for bid, _ in pair)
        own = sum(taken for bid, taken in pair if bid > 0)
        taken = sum(taken for _, taken in pair)
        counts["contract made"] += 0 < contract <= taken
        counts["contract set"] += contract > taken
        counts["failed nil made the contract"] += own < contract <= taken
        counts["team bid 13"] += contract == 13
        counts["bags"] += int(result["bags"][team]) > 0
        counts["one penalty"] += int(result["penalty"][team]) == -100
        counts["two penalties"] += int(result["penalty"][team]) == -200
        counts["both nil"] += contract == 0
        for bid, taken_by_seat in pair:
            counts["nil made"] += bid == 0 and taken_by_seat == 0
            counts["nil failed"] += bid == 0 and taken_by_seat > 0


def compare_deals(deals: int, seed: int) -> Counter[str]:
    """Play `deals` random deals on both sides, half of them in each direction; what was met."""
    rng = random.Random(seed)
    theirs = pyspiel.load_game("spades", {"win_or_loss_bonus": 0})
    counts: Counter[str] = Counter()
    for number, direction in enumerate(DIRECTIONS):
        states = np.zeros(1, STATE)
        new_games(states, rules_to_record(their_rules(direction)), seed, number)
        for _ in range(deals // 2):
            pair = Pair(states, theirs, rng.randrange(4), random_scores(rng))
            low_bids = rng.random() < 0.7
            while not is_over(states, 0):
                action = choose(pair, pair.legal(counts), low_bids, rng)
                counts["ruff"] += is_ruff(states[0], action)
                pair.apply(action)
                counts["decisions"] += 1
            assert pair.theirs.is_terminal()
            pair.compare_result()
            count_result(states[0], counts)
            counts["deals"] += 1
    return counts


def is_ruff(game: np.void, action: int) -> bool:
    """Whether `action` plays a spade on a trick led in another suit."""
    if not 39 <= action < 52 or int(game["trick_len"]) == 0:
        return False
    led = int(game["actions"][int(game["n_actions"]) - int(game["trick_len"])])
    return led < 39


def check(deals: int, seed: int, to_be_seen: tuple[str, ...]) -> None:
    counts = compare_deals(deals, seed)
    print(f"OpenSpiel {metadata.version('open-spiel')}: " + ", ".join(f"{k} {v}" for k, v in counts.items()))
    assert counts["deals"] == deals
    assert counts["decisions"] == 56 * deals
    missing = [name for name in to_be_seen if counts[name] == 0]
    assert not missing, f"never met: {missing}"


def test_same_deals_and_actions_as_openspiel() -> None:
    """R5-R9, R11-R13, R17-R19, R21 and `help_partner`, decision by decision."""
    check(2_000, seed=1, to_be_seen=SEEN_IN_EVERY_RUN)


@pytest.mark.slow
def test_same_deals_and_actions_as_openspiel_many() -> None:
    check(24_000, seed=2, to_be_seen=SEEN_IN_LONG_RUNS)


def page_examples() -> tuple[str, dict[str, str]]:
    """The helpers of docs/peers.md (its first Python block) and, by heading, the examples that use them."""
    parts = re.split(r"(?m)^(?=#+ )", PEERS_PAGE.read_text(encoding="utf-8"))
    blocks = {}
    for part in parts:
        found = re.findall(r"(?ms)^```python\n(.*?)^```$", part)
        if found:
            blocks[part.partition("\n")[0].strip("# ")] = "\n".join(found)
    helpers = blocks.pop("Helpers")
    return helpers, blocks


HELPERS, EXAMPLES = page_examples()


@pytest.mark.parametrize("heading", EXAMPLES)
def test_examples_of_the_page(heading: str) -> None:
    """Every difference that the page claims is there, in the version of OpenSpiel that the page names."""
    installed = metadata.version("open-spiel")
    if f"open-spiel {installed}" not in PEERS_PAGE.read_text(encoding="utf-8"):
        pytest.skip(f"docs/peers.md is not about open-spiel {installed}, which is installed")
    exec(compile(f"{HELPERS}\n{EXAMPLES[heading]}", f"docs/peers.md, {heading}", "exec"), {})


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 7
    assert all("assert " in code for code in EXAMPLES.values())
