"""What every block of `sequence` and `features` must hold, in plain Python from the referee's table."""

from __future__ import annotations

from typing import Any

from observation_oracle import Witness, by_seat, expected, need_of, one_hot
from referee_rules import BLIND_NIL, LOOK, deck, suit_of, turn_order

KINDS = ("padding", "hand", "shown", "rejected", "call", "bid", "draft", "exchange", "play")
COLUMNS = ("token_mask", "kind", "who", "what", "when", "trick", "order")
LENGTH = 93
HIDDEN = 74
IN_CONTEXT = (
    *("voids", "bids", "blind", "looked", "tricks", "need", "bags_so_far", "nil_alive", "nil_failed", "led_suit"),
    *("trick_best", "trick_len", "tricks_left", "broken", "phase", "turn", "dealer", "scores", "score_steps", "bags"),
    *("bags_to_penalty", "deal", "deals_left", "exchanged", "kept", "pile_left"),
)
IN_FEATURES = (
    *("voids", "blind", "looked", "bags_so_far", "nil_alive", "nil_failed", "led_suit", "trick_best", "trick_len"),
    *("tricks_left", "broken", "phase", "turn", "dealer", "deals_left", "exchanged", "pile_left"),
)


def own_tokens(witness: Witness, seat: int) -> list[dict[str, int]]:
    known = witness.table.knows(seat)
    shown = set() if known["shown"] is None else {known["shown"]}
    piles = (("hand", known["hand"] or set()), ("shown", shown), ("rejected", known["rejected"]))
    return [
        {"token_mask": 1, "kind": KINDS.index(kind), "who": 1, "what": card + 1}
        for kind, cards in piles
        for card in sorted(cards)
    ]


def action_token(witness: Witness, seat: int, number: int) -> dict[str, int]:
    """Token of action `number` (from 0) of the deal as `seat` knows it (R29)."""
    order = turn_order(witness.rules.to_dict(), seat)
    who, phase, action = witness.history[number]
    hidden = phase == "exchange" and action < 54 and who != seat
    kind = "call" if action in (BLIND_NIL, LOOK) else phase
    token = {"token_mask": 1, "kind": KINDS.index(kind), "who": order.index(who) + 1, "when": number + 1}
    token["what"] = HIDDEN if hidden else action + 1
    if phase == "play":
        before = number - (len(witness.history) - len(witness.plays))
        token["trick"] = before // witness.rules.players + 1
        token["order"] = before % witness.rules.players + 1
    return token


def expected_sequence(witness: Witness, seat: int) -> dict[str, list[int]]:
    """The entries of every block of the sequence of `seat`, by name."""
    tokens = own_tokens(witness, seat) + [action_token(witness, seat, k) for k in range(len(witness.history))]
    tokens += [{}] * (LENGTH - len(tokens))
    flat = expected(witness, seat)
    columns = {name: [token.get(name, 0) for token in tokens] for name in COLUMNS}
    return columns | {name: row for name, row in flat.items() if name in IN_CONTEXT or name.startswith("rules.")}


def rank(card: int) -> int:
    """1 for a two ... 13 for an ace, then the jokers."""
    return card - 38 if card >= 52 else card % 13 + 1


def by_suit(cards: Any) -> list[list[int]]:
    """Cards of each suit, ascending."""
    return [sorted(card for card in cards if suit_of(card) == suit) for suit in range(4)]


def lengths(cards: Any) -> list[int]:
    return [len(suit) for suit in by_suit(cards)]


def hand_features(witness: Witness, seat: int) -> dict[str, list[int]]:
    known, flat = witness.table.knows(seat), expected(witness, seat)
    hand = known["hand"] or set()
    gone = {card for _, card in witness.plays} | known["thrown"]
    if witness.rules.players == 2 and not witness.table.thrown[1 - seat]:
        gone |= known["rejected"]
    shown = known["shown"]
    return {
        "suit_lengths": lengths(hand),
        "honours": [int(13 * suit + top in hand) for top in (12, 11, 10, 9) for suit in range(4)],
        "jokers_held": [int(52 in hand), int(53 in hand)],
        "highest": [rank(suit[-1]) if suit else 0 for suit in by_suit(hand)],
        "lowest": [rank(suit[0]) if suit else 0 for suit in by_suit(hand)],
        "sure_tricks": lengths([card for card in range(54) if flat["boss"][card]]),
        "outside": lengths(deck(witness.rules.to_dict()) - hand - gone),
        "winning_cards": [sum(flat["winning"])],
        "shown_suit": one_hot(None if shown is None else suit_of(shown), 4),
        "shown_rank": [0 if shown is None else rank(shown)],
        "rejected_lengths": lengths(known["rejected"]),
    }


def expected_features(witness: Witness, seat: int) -> dict[str, list[int]]:
    """The entries of every block of the features of `seat`, by name."""
    table, rules = witness.table, witness.rules
    order = turn_order(rules.to_dict(), seat)
    teams = (seat % 2, 1 - seat % 2)
    flat = expected(witness, seat)
    bids = {s: table.bids[s] for s in order}
    return {
        **{name: flat[name] for name in IN_FEATURES},
        **hand_features(witness, seat),
        "bid_counts": by_seat(order, 1, lambda s: [0 if bids[s] is None else bids[s] + 1]),
        "trick_counts": by_seat(order, 1, lambda s: [table.tricks[s]]),
        "needs": [need_of(witness, [s for s in order if s % 2 == team]) for team in teams],
        "score_percent": [min(max(table.scores[t] * 100 // rules.target + 100, 0), 255) for t in teams],
        "bags_left": [min(rules.bag_limit - table.bags[t], 255) if rules.bag_limit else 0 for t in teams],
        "players": [rules.players],
        "hand_size": [rules.hand_size],
    }
