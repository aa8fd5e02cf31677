"""The endgame solver against plain minimax through the engine, under random rules, and its parts against slow twins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from random_rules import some_rules

from agents.equity.grid import grid_of, table_shape
from agents.search.payoff import fill_payoffs, partners_alike
from agents.search.solver.api import NO_LIMIT, solve_at, solve_moves_at
from agents.search.solver.bits import (
    GUARDS,
    deposit_bits,
    extract_bits,
    lane_of,
    lowest_of_runs,
    to_lanes,
)
from agents.search.solver.workspace import NODES, new_workspace, spare_table
from agents.stakes import POINTS, Stakes, split_value
from spades_env.actions import FIRST_BID, NIL
from spades_env.cards import cards_of, parse_card, parse_hand
from spades_env.engine import front, step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.kernel import kernel, lowest_bit
from spades_env.engine.play import legal_cards
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_DEAL_OVER,
    PHASE_PLAY,
    STATE,
    StateArray,
    rules_to_record,
)
from spades_env.engine.step import apply_action
from spades_env.rules import Rules, RulesError

ROOT = Path(__file__).resolve().parent.parent
MAX_LEFT = 5
Floats = npt.NDArray[np.float64]


# ---------------------------------------------------------------- the oracle: minimax without any pruning


@kernel
def open_node(games: StateArray, todo: npt.NDArray[np.int64], values: Floats, depth: int) -> None:
    """All cards are still to be tried; the team to act has the worst so far."""
    todo[depth] = legal_cards(games[depth])
    values[depth] = np.inf if int(games[depth]["turn"]) % 2 == 1 else -np.inf


@kernel
def minimax(
    states: StateArray,
    i: int,
    games: StateArray,
    todo: npt.NDArray[np.int64],
    values: Floats,
    stakes: Stakes,
) -> float:
    """Value of game `i` to team 0 by trying every legal card; the scratch arrays have an entry for every card."""
    root = states[i]
    games[0] = root
    depth = 0
    open_node(games, todo, values, 0)
    while True:
        if int(todo[depth]) == 0:
            if depth == 0:
                return float(values[0])
            value = float(values[depth])
            depth -= 1
        else:
            card = lowest_bit(int(todo[depth]))
            todo[depth] = int(todo[depth]) & ~(1 << card)
            games[depth + 1] = games[depth]
            after = games[depth + 1]
            apply_action(after, card)
            if int(after["phase"]) == PHASE_PLAY:
                depth += 1
                open_node(games, todo, values, depth)
                continue
            tricks = after["tricks"]
            value = split_value(root, int(tricks[0]), int(tricks[1]), int(tricks[2]), int(tricks[3]), stakes)
        if int(games[depth]["turn"]) % 2 == 1:
            values[depth] = min(float(values[depth]), value)
        else:
            values[depth] = max(float(values[depth]), value)


class Oracle:
    """`minimax` with its scratch memory."""

    def __init__(self, stakes: Stakes = POINTS) -> None:
        self.stakes = stakes
        size = 4 * MAX_LEFT + 2
        self.games = np.zeros(size, STATE)
        self.todo = np.zeros(size, np.int64)
        self.values = np.zeros(size)

    def value(self, states: StateArray) -> float:
        """Value of the position to team 0."""
        return float(minimax(states, 0, self.games, self.todo, self.values, self.stakes))

    def after(self, states: StateArray, card: int) -> float:
        """Value of playing `card`."""
        played = states.copy()
        step.apply(played, 0, card)
        if played[0]["phase"] == PHASE_PLAY:
            return self.value(played)
        return float(split_value(states[0], *(int(t) for t in played[0]["tricks"]), self.stakes))


# ---------------------------------------------------------------- random positions


def varied_rules(rng: np.random.Generator) -> Rules:
    """A preset or random rules, often with a price on bags that makes tricks unwelcome or dear."""
    rules = some_rules(rng)
    prices = {"bag_points": int(rng.integers(-9, 4))} if rng.integers(2) else {}
    try:
        return rules.replace(**prices)
    except RulesError:
        return rules


def started(rules: Rules, rng: np.random.Generator) -> StateArray:
    """A deal about to be bid (or drafted), with random bags, often one or two short of the limit."""
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(rules), int(rng.integers(2**40)), 0)
    limit = rules.bag_limit or 20
    for team in range(2):
        states[0]["bags"][team] = max(0, limit - int(rng.integers(1, 4))) if rng.integers(2) else rng.integers(limit)
    states[0]["dealer"] = int(rng.integers(rules.players))
    front.begin_deal(states, 0)
    return states


def ending(rules: Rules, rng: np.random.Generator, left: int, length: int) -> StateArray:
    """Random bids, often nil, and random cards until `left` tricks or fewer are to go and `length` cards are down."""
    states = started(rules, rng)
    while True:
        game = states[0]
        tricks_left = rules.hand_size - int(game["trick"])
        there = int(game["phase"]) == PHASE_PLAY and tricks_left <= left
        if there and (int(game["trick_len"]) >= length or tricks_left < left):
            return states
        legal = legal_action_list(states, 0)
        action = NIL if NIL in legal and rng.integers(4) == 0 else legal[rng.integers(len(legal))]
        step.apply(states, 0, action)


def features(states: StateArray) -> list[str]:
    """What is special about a position, for counting what was covered."""
    game, rules = states[0], states[0]["rules"]
    found = [f"{int(rules['players'])} players", f"lead {int(rules['lead_spades'])}"]
    found += [f"{int(rules['hand_size']) - int(game['trick'])} left", f"card {int(game['trick_len'])}"]
    bound = int(game["trick"]) == 0 and (rules["low_club"] or rules["forbid_first_spades"])
    flags = {
        "jokers": rules["jokers"],
        "individual": rules["individual"],
        "reset": rules["bag_reset"],
        "counter-clockwise": rules["step"] == 3,
        "dealer's left": rules["dealers_left"],
        "small deck": rules["hand_size"] < 13,
        "forced lead breaks": rules["forced_lead_breaks"],
        "unbroken": not game["broken"],
        "bound first trick": bound,
        "welcome bags": rules["bag_points"] > 0,
        "unwelcome bags": rules["bag_points"] < 0,
    }
    found += [name for name, is_so in flags.items() if is_so]
    for seat in range(int(rules["players"])):
        if game["bids"][seat] == 0:
            alive = "alive" if game["tricks"][seat] == 0 else "failed"
            blind = "blind nil" if game["blind"][seat] else "nil"
            found += [f"{blind} {alive}", f"nil under {int(rules['failed_nil'])}"]
            if rules["both_nil_unit"] and game["bids"][(seat + 2) % 4] == 0:
                found.append("nil unit")
    return found


COVERED = {
    *("2 players", "4 players", "lead 0", "lead 1", "lead 2", "2 left", "3 left", "4 left"),
    *("card 0", "card 1", "card 2", "card 3", "jokers", "individual", "reset", "counter-clockwise"),
    *("dealer's left", "small deck", "forced lead breaks", "unbroken", "bound first trick", "welcome bags"),
    *("unwelcome bags", "nil alive", "nil failed", "blind nil alive", "blind nil failed", "nil unit"),
    *("nil under 0", "nil under 1", "nil under 2"),
}


def compare(count: int, seed: int, left: int) -> tuple[Counter[str], int, int]:
    """Compare `count` random endings of up to `left` tricks; (features met, values compared, moves compared)."""
    rng = np.random.default_rng(seed)
    oracle, workspace, out = Oracle(), new_workspace(), np.zeros(54)
    met: Counter[str] = Counter()
    moves = 0
    for _ in range(count):
        rules = varied_rules(rng)
        most = left + 2 if rules.players == 2 else left
        most = min(most, MAX_LEFT)
        states = ending(rules, rng, int(rng.integers(1, most + 1)), int(rng.integers(rules.players)))
        met.update(features(states))
        assert solve_at(states, 0, workspace, POINTS, NO_LIMIT) == pytest.approx(oracle.value(states), abs=1e-9)
        mask = int(solve_moves_at(states, 0, workspace, POINTS, NO_LIMIT, out))
        assert mask == int(step.legal_masks(states, 0)[0])
        for card in cards_of(mask):
            assert out[card] == pytest.approx(oracle.after(states, card), abs=1e-9), (rules, card)
            moves += int(states[0]["trick_len"]) > 0
    return met, count, moves


def test_values_are_those_of_minimax() -> None:
    met, _, _ = compare(700, seed=1, left=3)
    assert met["4 players"] > 300


@pytest.mark.slow
def test_values_are_those_of_minimax_on_many_endings() -> None:
    """At least 1,000 values and 1,000 mid-trick moves, and every option that can change a value is met."""
    met, values, moves = compare(4_000, seed=2, left=4)
    assert values >= 1_000
    assert moves >= 1_000
    rare = {name for name in COVERED if met[name] < 20}
    assert not rare, {name: met[name] for name in rare}


def test_chances_to_win_the_match_are_payoffs_too() -> None:
    """With a table of chances, here a random one, values are those of minimax over it."""
    rng = np.random.default_rng(12)
    workspace = new_workspace()
    for _ in range(60):
        rules = varied_rules(rng)
        grid = grid_of(rules)
        stakes = (rng.random(table_shape(grid), np.float32), grid)
        oracle = Oracle(stakes)
        states = ending(rules, rng, 3, int(rng.integers(rules.players)))
        assert solve_at(states, 0, workspace, stakes, NO_LIMIT) == pytest.approx(oracle.value(states), abs=1e-9)


@pytest.mark.slow
def test_values_of_five_tricks_between_four() -> None:
    rng = np.random.default_rng(3)
    oracle, workspace = Oracle(), new_workspace()
    for _ in range(30):
        states = ending(four_players(rng), rng, 5, 0)
        assert solve_at(states, 0, workspace, POINTS, NO_LIMIT) == pytest.approx(oracle.value(states), abs=1e-9)


def four_players(rng: np.random.Generator) -> Rules:
    """Random rules for four players and a full deck."""
    while True:
        rules = varied_rules(rng)
        if rules.players == 4 and rules.hand_size == 13:
            return rules


# ---------------------------------------------------------------- endings worked by hand


def dealt(hands: Sequence[str | int], leader: int, bids: list[int], tricks: list[int], **fields: object) -> StateArray:
    """A position at a lead in `classic` with these cards left; `fields` are rules or, bags and broken, the state's."""
    bags, broken = fields.pop("bags", (0, 0)), fields.pop("broken", 1)
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(Rules.preset("classic", **fields)), 0, 0)
    game = states[0]
    while game["phase"] == PHASE_BID:
        step.apply(states, 0, FIRST_BID + bids[int(game["turn"])])
    for seat in range(4):
        hand = hands[seat]
        game["hands"][seat] = parse_hand(hand) if isinstance(hand, str) else hand
        game["tricks"][seat] = tricks[seat]
    game["trick"] = sum(tricks)
    game["n_actions"] = int(game["first_play"]) + 4 * sum(tricks)
    game["turn"] = game["leaders"][sum(tricks)] = leader
    game["bags"][:] = bags
    game["broken"] = broken
    return states


def moves_of(states: StateArray) -> dict[int, float]:
    """Value of every legal card."""
    out = np.zeros(54)
    mask = int(solve_moves_at(states, 0, new_workspace(), POINTS, NO_LIMIT, out))
    return {card: float(out[card]) for card in cards_of(mask)}


def test_the_tenth_bag_is_left_to_the_opponents() -> None:
    """R21: with nine bags a made team ducks: the tenth costs 100, and then none is left on the sheet."""
    states = dealt(["2C 3D", "4C 5D", "AC 2D", "KC 4D"], 2, [1, 2, 1, 2], [1, 5, 1, 4], bags=(9, 0))
    values = moves_of(states)
    # Her ace wins for her and the five of diamonds then for seat 1; the two of diamonds loses at once, but the ace
    # of clubs is still to come: either way one bag for each team, 100 points of penalty for team 0.
    made_0, made_1 = 20 + 1 - 100, 40 + 6 - 10 * 6
    assert values == {parse_card("AC"): made_0 - made_1, parse_card("2D"): made_0 - made_1}


def test_a_nil_is_saved_by_the_ace_over_her_king() -> None:
    """R19: the ace draws partner's king; a low heart leaves her the trick, and her own one makes a bag (R20)."""
    hands = ["AH 2H", "3H 5C", "KH 4C", "6H 6C"]
    states = dealt(hands, 0, [3, 4, 0, 4], [4, 3, 0, 4], bag_points=-5, bag_limit=0)
    saved = 30 - 5 * 3 + 100 - (-80)
    lost = 30 - 5 * 2 - 100 - 80
    assert moves_of(states) == {parse_card("AH"): saved, parse_card("2H"): lost}


def test_spades_may_not_be_led_before_they_are_broken() -> None:
    """R13: unbroken, the leader has to give up the lead; broken, she takes all tricks."""
    hands = ["AS KS 2C", "3D 4D 3C", "5D 6D 4C", "7D 8D 5C"]
    closed = dealt(hands, 0, [3, 3, 3, 4], [2, 3, 2, 3], broken=0)
    assert set(moves_of(closed)) == {parse_card("2C")}
    opened = dealt(hands, 0, [3, 3, 3, 4], [2, 3, 2, 3], broken=1)
    assert moves_of(opened)[parse_card("AS")] == moves_of(opened)[parse_card("KS")]


def skewed_hands(rng: np.random.Generator, left: int) -> list[int]:
    """Masks of four hands of `left` cards; each seat mostly holds one suit, and spades are common."""
    hands: list[list[int]] = [[], [], [], []]
    favourites = rng.integers(4, size=4)
    for card in rng.permutation(52):
        seats = [seat for seat in range(4) if len(hands[seat]) < left]
        fond = [seat for seat in seats if favourites[seat] == card // 13]
        if fond and rng.integers(4):
            hands[fond[rng.integers(len(fond))]].append(int(card))
        elif seats and (card >= 39 or rng.integers(4) == 0):
            hands[seats[rng.integers(len(seats))]].append(int(card))
    if min(len(hand) for hand in hands) < left:
        return skewed_hands(rng, left)
    return [sum(1 << card for card in hand) for hand in hands]


def test_values_of_skewed_hands() -> None:
    """Voids, forced spade leads (R13, R14) and forced ruffs, which random play seldom brings together."""
    rng = np.random.default_rng(13)
    oracle, workspace = Oracle(), new_workspace()
    for _ in range(300):
        tricks = rng.multinomial(9, [0.25] * 4)
        fields = {
            "lead_spades": ("broken", "broken", "any", "only_spades_left")[rng.integers(4)],
            "forced_lead_breaks": bool(rng.integers(2)),
            "bag_points": int(rng.integers(-5, 2)),
            "bag_limit": 0,
        }
        bids = [int(bid) for bid in rng.integers(0, 5, 4)]
        states = dealt(
            skewed_hands(rng, 4),
            int(rng.integers(4)),
            bids,
            [int(t) for t in tricks],
            broken=int(rng.integers(4) == 0),
            **fields,
        )
        assert solve_at(states, 0, workspace, POINTS, NO_LIMIT) == pytest.approx(oracle.value(states), abs=1e-9)


# (hands, leader, bids, tricks taken, forced_lead_breaks, bag_points), unbroken, found among thousands of such endings.
RARE = {
    "a spade lead breaks (R14)": [
        (["QS 2S JD JC", "TS QC 9C 2C", "KS 7S 3S AC", "JS 9S KC 3C"], 2, [1, 1, 0, 3], [2, 2, 2, 3], True, -4),
        (["QS 2S 4H TC", "AS 5S JH 2H", "KS TS 4S 7H", "9S 8S 3S JD"], 3, [0, 3, 0, 2], [1, 2, 3, 3], True, -4),
        (["JD 7D 6D 4D", "TS 9S 3S 2D", "QS 7S 5S KH", "JS 6S 4S 2S"], 3, [1, 3, 0, 1], [2, 0, 5, 2], True, -2),
    ],
    "partner has to ruff a winner (R11)": [
        (["AH 7H 4H AC", "9H 8H KD 5D", "JS 4S 2S 2C", "QS TS 6H KC"], 3, [4, 4, 4, 4], [3, 2, 2, 2], False, -5),
        (["8S 6S 2S AD", "JS 7S 4H TD", "3S KH 5H 2H", "JD 5D 3D 2D"], 3, [2, 4, 3, 2], [2, 4, 3, 0], True, -4),
        (["QS 9S 3S 6H", "AS JS 4H 2H", "TS 4S KH 8H", "AD 8D 6D 3D"], 0, [0, 3, 1, 2], [1, 1, 1, 6], False, 1),
    ],
}


@pytest.mark.parametrize("what", RARE)
def test_rare_endings(what: str) -> None:
    """Endings that a solver without just this one rule gets wrong."""
    for hands, leader, bids, tricks, breaks, bag_points in RARE[what]:
        fields = {"forced_lead_breaks": breaks, "bag_points": bag_points, "bag_limit": 0, "broken": 0}
        states = dealt(hands, leader, bids, tricks, **fields)
        value = solve_at(states, 0, new_workspace(), POINTS, NO_LIMIT)
        assert value == pytest.approx(Oracle().value(states), abs=1e-9)


# ---------------------------------------------------------------- the same answer always


def test_a_used_workspace_gives_the_values_of_a_fresh_one() -> None:
    rng = np.random.default_rng(4)
    used, in_use, fresh = new_workspace(), np.zeros(54), np.zeros(54)
    for _ in range(25):
        rules = varied_rules(rng)
        states = ending(rules, rng, int(rng.integers(1, 7)), int(rng.integers(rules.players)))
        mask = solve_moves_at(states, 0, used, POINTS, NO_LIMIT, in_use)
        nodes = used["counters"][0].copy()
        clean = new_workspace()
        assert solve_moves_at(states, 0, clean, POINTS, NO_LIMIT, fresh) == mask
        cards = cards_of(int(mask))
        assert in_use[cards].tolist() == fresh[cards].tolist()
        assert nodes[1:].tolist() == clean["counters"][0][1:].tolist(), "work done may not depend on the past either"


def test_the_node_limit_is_kept_and_told() -> None:
    rng = np.random.default_rng(5)
    states = ending(Rules.preset("classic", bag_points=-5, bag_limit=0), rng, 7, 0)
    workspace, out = new_workspace(), np.zeros(54)
    value = solve_at(states, 0, workspace, POINTS, NO_LIMIT)
    nodes = int(workspace["counters"][0][NODES])
    assert nodes > 100
    assert np.isnan(solve_at(states, 0, workspace, POINTS, nodes - 1))
    assert int(workspace["counters"][0][NODES]) == nodes
    assert solve_at(states, 0, workspace, POINTS, nodes) == value
    assert solve_moves_at(states, 0, workspace, POINTS, 10, out) == 0
    assert solve_moves_at(states, 0, workspace, POINTS, NO_LIMIT, out) != 0


def test_the_position_is_left_as_it_is() -> None:
    rng = np.random.default_rng(6)
    states = ending(Rules.preset("modern"), rng, 4, 2)
    before = states.tobytes()
    solve_moves_at(states, 0, new_workspace(), POINTS, NO_LIMIT, np.zeros(54))
    assert states.tobytes() == before


PLAIN = """
import numpy as np
from test_solver import NO_LIMIT, POINTS, Oracle, ending, new_workspace, solve_at, solve_moves_at
from spades_env.rules import PRESETS, Rules

rng = np.random.default_rng(7)
rules = [*PRESETS.values(), Rules.preset("classic", opening_lead="low_club", ranks=4, hand_size=2, min_bid=1)]
workspace, oracle, out = new_workspace(), Oracle(), np.zeros(54)
for rule in rules:
    states = ending(rule, rng, 2, 1)
    value = solve_at(states, 0, workspace, POINTS, NO_LIMIT)
    assert abs(value - oracle.value(states)) < 1e-9
    assert solve_moves_at(states, 0, workspace, POINTS, NO_LIMIT, out) > 0
    print(round(value, 9))
"""


def test_it_is_the_same_without_jit() -> None:
    """The kernels as plain Python give the values of the compiled ones."""
    values = {}
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", PLAIN],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        values[disabled] = done.stdout
    assert values["0"] == values["1"]
    assert len(values["0"].split()) == 5


# ---------------------------------------------------------------- payoffs


@kernel
def payoffs_of(states: StateArray, stakes: Stakes, out: Floats) -> None:
    """`fill_payoffs` of game 0."""
    fill_payoffs(states[0], stakes, out)


def kept_bags(rules: Rules, before: int, bags: int) -> int:
    """Bags of a deal that bring no penalty themselves; fewer than a full count are taken."""
    if rules.bag_limit == 0 or before + bags < rules.bag_limit:
        return bags
    return bags - 1 if rules.bag_after == "carry" else rules.bag_limit - 1 - before


def test_split_value_is_the_deal_as_the_engine_scores_it() -> None:
    """R17-R22 to the end of the deal; a bag that stays on the sheet costs its share of the penalty."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        rules = varied_rules(rng)
        states = ending(rules, rng, 1, 0)
        before = states.copy()
        while states[0]["phase"] == PHASE_PLAY:
            step.apply(states, 0, legal_action_list(states, 0)[0])
        assert states[0]["phase"] >= PHASE_DEAL_OVER
        price = rules.bag_penalty / rules.bag_limit if rules.bag_limit else 0.0
        if rules.bag_limit and max(states[0]["result"]["bags"]) >= rules.bag_limit:
            continue
        expected = 0.0
        for team, sign in ((0, 1), (1, -1)):
            kept = kept_bags(rules, int(before[0]["bags"][team]), int(states[0]["result"]["bags"][team]))
            gained = int(states[0]["scores"][team]) - int(before[0]["scores"][team])
            expected += sign * (gained - price * kept)
        tricks = [int(t) for t in states[0]["tricks"]]
        assert split_value(before[0], *tricks, POINTS) == pytest.approx(expected, abs=1e-9)


def test_partners_are_alike_only_where_their_sum_counts() -> None:
    """Every split has the payoff that the table keeps for the sums of partners who are alike."""
    rng = np.random.default_rng(9)
    alike: Counter[bool] = Counter()
    for _ in range(200):
        rules = varied_rules(rng)
        states = ending(rules, rng, 4, 0)
        game, size = states[0], rules.hand_size - int(states[0]["trick"]) + 1
        out = np.full(size**3, np.nan)
        payoffs_of(states, POINTS, out)
        merged = [bool(partners_alike(game, team)) for team in range(2)]
        alike.update(merged)
        taken = [int(t) for t in game["tricks"]]
        for a, b, c in np.ndindex(size, size, size):
            if a + b + c >= size or (rules.players == 2 and (b or c)):
                continue
            more = [a, b, c, size - 1 - a - b - c]
            if rules.players == 2:
                more = [a, size - 1 - a, 0, 0]
            value = split_value(game, *(t + m for t, m in zip(taken, more, strict=True)), POINTS)
            index = ((a + c if merged[0] else a) * size + (0 if merged[1] else b)) * size + (0 if merged[0] else c)
            assert out[index] == pytest.approx(value, abs=1e-9)
    assert min(alike.values()) > 20


# ---------------------------------------------------------------- parts


@kernel
def compiled_bits(source: int, mask: int) -> tuple[int, int]:
    """The two instructions, compiled."""
    return extract_bits(source, mask), deposit_bits(source, mask)


def test_bit_instructions_equal_their_plain_twins() -> None:
    rng = np.random.default_rng(10)
    for _ in range(500):
        source, mask = (int(rng.integers(2**62)) for _ in range(2))
        assert compiled_bits(source, mask) == (extract_bits(source, mask), deposit_bits(source, mask))


def test_lanes_keep_suits_apart() -> None:
    for card in range(54):
        lane = lane_of(card)
        assert to_lanes(1 << card) == 1 << lane
        assert lane >> 4 == min(card // 13, 3)
        assert not (GUARDS >> lane) & 1


def test_runs_end_at_other_cards_and_at_the_suit() -> None:
    """Ace of clubs and two of diamonds are neighbours by id only; a gap that nobody fills divides nothing."""
    own = to_lanes(parse_hand("KC AC 2D 5D 7D 9D"))
    others = to_lanes(parse_hand("6D QC"))
    runs = lowest_of_runs(own, own | others)
    assert runs == to_lanes(parse_hand("KC 2D 7D"))


def test_spare_tricks_equal_the_best_pairing() -> None:
    """Own cards left over when opponents pair each lower one with a higher card of theirs, found greedily."""
    table = spare_table()
    rng = np.random.default_rng(11)
    for index in [*range(1, 512), *(int(i) for i in rng.integers(1, 1 << 16, 500))]:
        higher, left_over = 0, 0
        for owner in bin(index)[3:]:
            if owner == "0":
                higher += 1
            elif higher > 0:
                higher -= 1
            else:
                left_over += 1
        assert table[index] == left_over
