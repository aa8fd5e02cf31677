"""What every block of an observation must hold, in plain Python from the referee's table: slow and obvious.

Nothing here comes from the encoders; only the voids that plays have shown are read from the engine, whose own
test checks them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from referee import Referee
from referee_rules import (
    KEEP,
    TAKE_NEXT,
    deck,
    legal_cards,
    score_team,
    suit_led,
    suit_of,
    turn_order,
    winning_card,
)

from spades_env.cards import cards_of
from spades_env.engine import front, step
from spades_env.engine.state import PHASE_NAMES, STATE, rules_to_record
from spades_env.rules import Rules

NONE = -(2**31)
LEADS = ("broken", "any", "only_spades_left")
FAILED = ("bags_only", "help_partner", "ignored")


class Witness:
    """One deal played in the engine and by the referee at once, with the history an observation tells."""

    def __init__(self, rules: Rules, rng: np.random.Generator) -> None:
        self.rules = rules
        self.states = np.zeros(1, STATE)
        step.new_games(self.states, rules_to_record(rules), int(rng.integers(2**40)), 0)
        state = self.states[0]
        limit = rules.bag_limit or 300
        for team in range(2):
            state["scores"][team] = int(rng.integers(-rules.target, rules.target + 1))
            state["bags"][team] = int(rng.integers(limit))
        state["dealer"] = int(rng.integers(rules.players))
        state["deal"] = int(rng.integers(rules.max_deals or 400))
        front.begin_deal(self.states, 0)
        cards: dict[str, Any] = {"pile": [int(c) for c in state["pile"]]}
        if rules.deal == "dealt":
            cards = {"hands": [cards_of(int(state["hands"][seat])) for seat in range(rules.players)]}
        self.table = Referee(
            rules.to_dict(),
            dealer=int(state["dealer"]),
            scores=[int(x) for x in state["scores"]],
            bags=[int(x) for x in state["bags"]],
            deals_played=int(state["deal"]),
            **cards,
        )
        self.plays: list[tuple[int, int]] = []
        self.history: list[tuple[int, str, int]] = []
        self.kept: list[list[bool]] = [[], []]

    def act(self, action: int) -> None:
        """Apply a legal action to both tables."""
        seat, phase = self.table.seat_to_act(), self.table.phase()
        assert seat is not None
        before = int(self.states["hands"][0, seat])
        step.apply(self.states, 0, action)
        drawn = cards_of(int(self.states["hands"][0, seat]) & ~before) if phase == "exchange" else []
        self.table.apply(action, drawn)
        self.history.append((seat, phase, action))
        if phase == "play":
            self.plays.append((seat, action))
        if action in (KEEP, TAKE_NEXT):
            self.kept[seat].append(action == KEEP)

    def phase_name(self) -> str:
        if self.table.phase() != "over":
            return self.table.phase()
        return "match over" if self.table.match_over else "deal over"


def bits(cards: Any) -> list[int]:
    return [int(card in cards) for card in range(54)]


def one_hot(index: int | None, size: int) -> list[int]:
    return [int(k == index) for k in range(size)]


def int32(value: int) -> list[int]:
    return list((value + 2**31).to_bytes(4, "big"))


def expected(witness: Witness, seat: int) -> dict[str, list[int]]:
    """The entries of every block of the flat observation of `seat`, by name."""
    order = turn_order(witness.rules.to_dict(), seat)
    return {
        **seat_blocks(witness, order),
        **card_blocks(witness, seat),
        **trick_blocks(witness, order),
        **team_blocks(witness, seat),
        **match_blocks(witness, order),
        **draft_blocks(witness, seat),
        **rules_blocks(witness.rules),
    }


def by_seat(order: list[int], width: int, row: Any) -> list[int]:
    """`row(seat)` for every seat in relative order, then zeros for the seats that two players lack."""
    entries = [entry for seat in order for entry in row(seat)]
    return entries + [0] * (4 * width - len(entries))


def shown_voids(witness: Witness, seat: int) -> set[int]:
    return {suit for suit in range(4) if int(witness.states["voids"][0, seat]) >> suit & 1}


def own_voids(witness: Witness, seat: int) -> set[int]:
    hand = witness.table.knows(seat)["hand"]
    return set() if hand is None else set(range(4)) - {suit_of(card) for card in hand}


def seat_blocks(witness: Witness, order: list[int]) -> dict[str, list[int]]:
    table, me = witness.table, order[0]
    voids = {s: own_voids(witness, s) if s == me else shown_voids(witness, s) for s in order}
    bids = {s: table.bids[s] for s in order}
    nil = {s: bids[s] == 0 for s in order}
    return {
        "played_by": by_seat(order, 54, lambda s: bits({card for who, card in witness.plays if who == s})),
        "voids": by_seat(order, 4, lambda s: [int(suit in voids[s]) for suit in range(4)]),
        "bids": by_seat(order, 15, lambda s: one_hot(0 if bids[s] is None else bids[s] + 1, 15)),
        "blind": by_seat(order, 1, lambda s: [int(table.blind[s])]),
        "looked": by_seat(order, 1, lambda s: [int(table.looked[s])]),
        "tricks": by_seat(order, 14, lambda s: one_hot(table.tricks[s], 14)),
        "nil_alive": by_seat(order, 1, lambda s: [int(nil[s] and table.tricks[s] == 0)]),
        "nil_failed": by_seat(order, 1, lambda s: [int(nil[s] and table.tricks[s] > 0)]),
    }


def card_blocks(witness: Witness, seat: int) -> dict[str, list[int]]:
    known = witness.table.knows(seat)
    hand = known["hand"] or set()
    when = {card: k + 1 for k, (_, card) in enumerate(witness.plays)}
    out = deck(witness.rules.to_dict()) - hand - set(when) - known["thrown"]
    if witness.rules.players == 2 and not witness.table.thrown[1 - seat]:
        out -= known["rejected"]
    boss = {c for c in hand if not any(suit_of(o) == suit_of(c) and o > c for o in out)}
    return {
        "own_hand": bits(hand),
        "played_when": [when.get(card, 0) for card in range(54)],
        "boss": bits(boss),
    }


def trick_blocks(witness: Witness, order: list[int]) -> dict[str, list[int]]:
    table, rules, me = witness.table, witness.rules.to_dict(), order[0]
    first = sum(table.tricks) == 0
    cards = [card for _, card in table.trick]
    lying = dict(table.trick)
    led = suit_led(rules, cards, first) if table.phase() == "play" else None
    winning, best = set(), None
    if cards:
        best = next(who for who, card in table.trick if card == winning_card(rules, cards, first))
        if table.seat_to_act() == me:
            legal = legal_cards(rules, table.hands[me], cards, table.broken, first)
            winning = {card for card in legal if winning_card(rules, [*cards, card], first) == card}
    return {
        "table": by_seat(order, 54, lambda s: bits({lying.get(s)}))[54:],
        "winning": bits(winning),
        "led_suit": one_hot(led, 4),
        "trick_best": one_hot(None if best is None else order.index(best), 4),
        "trick_len": one_hot(len(cards), 4),
        "tricks_left": [witness.rules.hand_size - sum(table.tricks)],
        "broken": [int(table.broken)],
    }


def need_of(witness: Witness, seats: list[int]) -> int:
    """Tricks still wanted: R9, R17 and the further options for contracts and failed nils."""
    table, rules = witness.table, witness.rules
    ordinary = [s for s in seats if (table.bids[s] or 0) > 0]
    if rules.contract == "individual":
        return sum(max(0, (table.bids[s] or 0) - table.tricks[s]) for s in ordinary)
    counting = seats if rules.failed_nil == "help_partner" else ordinary
    return max(0, sum(table.bids[s] or 0 for s in ordinary) - sum(table.tricks[s] for s in counting))


def team_blocks(witness: Witness, seat: int) -> dict[str, list[int]]:
    table, rules = witness.table, witness.rules
    blocks: dict[str, list[int]] = {}

    def add(name: str, entries: list[int]) -> None:
        blocks.setdefault(name, []).extend(entries)

    for team in (seat % 2, 1 - seat % 2):
        seats = [s for s in range(rules.players) if s % 2 == team]
        bids = [-1 if bid is None else bid for bid in table.bids]
        score, bags = table.scores[team], table.bags[team]
        add("need", one_hot(need_of(witness, seats), 27))
        add("bags_so_far", [score_team(rules.to_dict(), seats, bids, table.blind, table.tricks)["bags"]])
        add("scores", int32(score))
        add("score_steps", [int(score * 10 >= rules.target * (k - 5)) for k in range(16)])
        add("bags", int32(bags))
        left = min(rules.bag_limit - bags, 11)
        add("bags_to_penalty", one_hot(left - 1 if rules.bag_limit else None, 11))
    return blocks


def match_blocks(witness: Witness, order: list[int]) -> dict[str, list[int]]:
    table, most = witness.table, witness.rules.max_deals
    turn = table.seat_to_act()
    return {
        "phase": one_hot(PHASE_NAMES.index(witness.phase_name()), 7),
        "turn": one_hot(None if turn is None else order.index(turn), 4),
        "dealer": one_hot(order.index(table.dealer), 4),
        "deal": int32(table.deals_played),
        "deals_left": [255 if most is None else min(255, most - table.deals_played)],
    }


def draft_blocks(witness: Witness, seat: int) -> dict[str, list[int]]:
    if witness.rules.deal == "dealt":
        sizes = {"shown": 54, "rejected": 54, "thrown": 54, "exchanged": 2, "kept": 26, "pile_left": 1}
        return {name: [0] * size for name, size in sizes.items()}
    table, known = witness.table, witness.table.knows(seat)
    kept = [witness.kept[s] + [False] * 13 for s in (seat, 1 - seat)]
    return {
        "shown": bits({known["shown"]}),
        "rejected": bits(known["rejected"]),
        "thrown": bits(known["thrown"]),
        "exchanged": [len(table.thrown[seat]), len(table.thrown[1 - seat])],
        "kept": [int(row[k]) for k in range(13) for row in kept],
        "pile_left": [len(table.pile)],
    }


def rules_blocks(rules: Rules) -> dict[str, list[int]]:
    """Every field of the rules, from the field of `Rules` it stands for."""
    values: dict[str, list[int]] = {
        "target": int32(rules.target),
        "mercy": int32(NONE if rules.mercy is None else rules.mercy),
        "nil_value": int32(rules.nil_value),
        "blind_nil_value": int32(rules.blind_nil_value),
        "blind_nil_deficit": int32(NONE if rules.blind_nil_deficit is None else rules.blind_nil_deficit),
        "bag_limit": int32(rules.bag_limit),
        "bag_penalty": int32(rules.bag_penalty),
        "bag_points": int32(rules.bag_points),
        "max_deals": int32(rules.max_deals or 0),
        "players": [rules.players],
        "draft": [rules.deal == "draft"],
        "step": [1 if rules.turn_direction == "clockwise" else 3],
        "dealers_left": [rules.first_seat == "dealers_left"],
        "nil_allowed": [rules.nil_allowed],
        "blind_nil": [rules.blind_nil],
        "exchange": [rules.blind_nil_exchange],
        "jokers": [rules.jokers],
        "lead_spades": one_hot(LEADS.index(rules.lead_spades), 3),
        "forced_lead_breaks": [rules.forced_lead_breaks],
        "failed_nil": one_hot(FAILED.index(rules.failed_nil), 3),
        "both_nil_unit": [rules.both_nil == "unit"],
        "individual": [rules.contract == "individual"],
        "bag_reset": [rules.bag_after == "reset"],
        "min_bid": [rules.min_bid],
        "max_team_bid": [rules.max_team_bid or 0],
        "low_club": [rules.opening_lead == "low_club"],
        "forbid_first_spades": [rules.first_trick_spades == "forbid"],
        "second_seen": [rules.draft_second_card_seen],
        "suits": [rules.suits],
        "ranks": [rules.ranks],
        "hand_size": [rules.hand_size],
    }
    return {f"rules.{name}": [int(entry) for entry in entries] for name, entries in values.items()}
