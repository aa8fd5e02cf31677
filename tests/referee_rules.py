"""The rule text as pure functions, laid out to be read beside it: one paragraph (R..) after another.

Standard library only and nothing of the package; `referee.Referee` walks one deal through these functions.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Rules = Mapping[str, Any]  # every field of the rules by name, e.g. {"players": 4, "deal": "dealt", ...}
Item = dict[str, int]  # one team's line on the score sheet, by ITEM_KEYS
ITEM_KEYS = ("contract", "bag_points", "nil", "penalty", "bags")

CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
LITTLE_JOKER, BIG_JOKER = 52, 53
TWO_OF_DIAMONDS, TWO_OF_HEARTS = 13, 26

# Action ids. 0..53 are cards.
FIRST_BID = 54  # + the number bid; 54 itself is nil
BLIND_NIL, LOOK = 68, 69  # two-player: double nil, draw without it
KEEP, TAKE_NEXT, DONE = 70, 71, 72


# --- Which rules there are, and which are refused -----------------------------------------------------

CHOICES: dict[str, tuple[Any, ...]] = {
    "players": (2, 4),
    "deal": ("dealt", "draft"),
    "turn_direction": ("clockwise", "counter_clockwise"),
    "first_seat": ("next", "dealers_left"),
    "nil_allowed": (False, True),
    "blind_nil": (False, True),
    "jokers": (False, True),
    "lead_spades": ("broken", "any", "only_spades_left"),
    "forced_lead_breaks": (False, True),
    "failed_nil": ("bags_only", "help_partner", "ignored"),
    "both_nil": ("independent", "unit"),
    "contract": ("team", "individual"),
    "bag_after": ("carry", "reset"),
    "opening_lead": ("any", "low_club"),
    "first_trick_spades": ("allow", "forbid"),
    "draft_second_card_seen": (False, True),
}
NUMBERS = {  # None is "none" for mercy, blind_nil_deficit, max_team_bid and max_deals
    *("target", "mercy", "max_deals"),
    *("nil_value", "blind_nil_value", "blind_nil_deficit", "blind_nil_exchange"),
    *("bag_limit", "bag_penalty", "bag_points"),
    *("min_bid", "max_team_bid"),
    *("suits", "ranks", "hand_size"),
}


def small_deck(rules: Rules) -> bool:
    """Whether this is the small deck for exact work."""
    return (rules["suits"], rules["ranks"], rules["hand_size"]) != (4, 13, 13)


def refusals(rules: Rules) -> list[str]:
    """Fields whose values, alone or together, are refused ("Further options, and what is refused")."""
    two = rules["players"] == 2
    draft = rules["deal"] == "draft"
    small = small_deck(rules)
    mercy, cap = rules["mercy"], rules["max_team_bid"]
    refused = {
        # in two_player
        "turn_direction": two and rules["turn_direction"] == "counter_clockwise",
        "first_seat": two and rules["first_seat"] == "dealers_left",
        "both_nil": rules["both_nil"] == "unit" and (two or rules["contract"] == "individual"),
        "contract": two and rules["contract"] == "individual",
        "failed_nil": rules["failed_nil"] == "help_partner" and (two or rules["contract"] == "individual"),
        "max_team_bid": cap is not None and (two or cap < 2 * rules["min_bid"]),
        # with four players
        "draft_second_card_seen": not two and rules["draft_second_card_seen"],
        "blind_nil_exchange": not 0 <= rules["blind_nil_exchange"] <= (13 if draft else 0),
        # anywhere
        "mercy": mercy is not None and mercy >= 0,
        "target": rules["target"] <= 0,
        "bag_penalty": rules["bag_penalty"] < 0,
        "bag_limit": rules["bag_limit"] < 0,
        "min_bid": not 1 <= rules["min_bid"] <= min(13, rules["hand_size"]),
        "blind_nil": rules["blind_nil"] and not rules["nil_allowed"],
        # a small deck: no jokers, no draft with it; enough cards; clubs for the low club
        "suits": not 1 <= rules["suits"] <= 4,
        "ranks": not 1 <= rules["ranks"] <= 13,
        "jokers": small and rules["jokers"],
        "deal": draft and (small or not two),
        "hand_size": not 1 <= rules["hand_size"] <= rules["suits"] * rules["ranks"] // rules["players"],
        "opening_lead": rules["opening_lead"] == "low_club" and rules["suits"] < 4,
    }
    return [field for field, bad in refused.items() if bad]


def check_rules(rules: Rules) -> None:
    """Raise ValueError that names the first field that is missing, unknown, of unknown value or refused."""
    missing, unknown = (CHOICES.keys() | NUMBERS) - rules.keys(), rules.keys() - (CHOICES.keys() | NUMBERS)
    if missing or unknown:
        raise ValueError(f"rules: missing {sorted(missing)}, unknown {sorted(unknown)}")
    for field, allowed in CHOICES.items():
        if rules[field] not in allowed:
            raise ValueError(f"rules: {field} = {rules[field]!r}; allowed: {allowed}")
    for field in refusals(rules):
        raise ValueError(f"rules: {field} = {rules[field]!r} is refused, alone or with the other fields")


# --- Cards (R1-R3) ------------------------------------------------------------------------------------


def suit_of(card: int) -> int:
    """R3: thirteen ids a suit, strength is their order; R2: a joker is a spade in every rule."""
    return SPADES if card >= LITTLE_JOKER else card // 13


def of_suit(cards: Iterable[int], suit: int) -> set[int]:
    return {card for card in cards if suit_of(card) == suit}


def without_spades(cards: Collection[int]) -> set[int]:
    """The cards that are no spades, or all of them if she holds nothing but spades."""
    return set(cards) - of_suit(cards, SPADES) or set(cards)


def deck(rules: Rules) -> set[int]:
    """R1, R2 and the small deck: the highest suits (spades always) and the highest ranks are kept."""
    suits = range(4 - rules["suits"], 4)
    ranks = range(13 - rules["ranks"], 13)
    cards = {13 * suit + rank for suit in suits for rank in ranks}
    if rules["jokers"]:
        cards = cards - {TWO_OF_HEARTS, TWO_OF_DIAMONDS} | {LITTLE_JOKER, BIG_JOKER}
    return cards


# --- Seats (R4, R5) -----------------------------------------------------------------------------------


def next_seat(rules: Rules, seat: int) -> int:
    """R4: the next seat in the direction of play."""
    step = 1 if rules["turn_direction"] == "clockwise" else -1
    return int((seat + step) % rules["players"])


def first_seat(rules: Rules, dealer: int) -> int:
    """R5: who bids and leads first; `dealers_left`: the dealer's left whatever the direction."""
    if rules["first_seat"] == "dealers_left":
        return int((dealer + 1) % rules["players"])
    return next_seat(rules, dealer)


def turn_order(rules: Rules, start: int) -> list[int]:
    """All seats in turn order, beginning with `start`."""
    order = [start]
    while len(order) < rules["players"]:
        order.append(next_seat(rules, order[-1]))
    return order


# --- Bidding (R7-R10) ---------------------------------------------------------------------------------


def legal_bids(rules: Rules, has_partner: bool, partner_bid: int | None) -> set[int]:
    """R8: the numbers a seat may bid; `partner_bid` is None while the partner has not bid."""
    highest = rules["hand_size"]
    if rules["max_team_bid"] is not None and has_partner:
        reserved = rules["min_bid"] if partner_bid is None else partner_bid
        highest = min(highest, rules["max_team_bid"] - reserved)
    bids = set(range(rules["min_bid"], highest + 1))
    if rules["nil_allowed"]:
        bids.add(0)
    return bids


def may_bid_blind(rules: Rules, own_score: int, other_score: int) -> bool:
    """R10 (and R28): fixed by the scores before the deal."""
    if not rules["blind_nil"]:
        return False
    deficit = rules["blind_nil_deficit"]
    return deficit is None or own_score <= other_score - deficit


# --- Play (R11-R15) -----------------------------------------------------------------------------------


def legal_cards(rules: Rules, hand: Collection[int], trick: Sequence[int], broken: bool, first_trick: bool) -> set[int]:
    """R11, R13, R15: the cards a seat may play; `trick` = the cards already played to it, in order."""
    if first_trick and rules["opening_lead"] == "low_club":
        clubs = of_suit(hand, CLUBS)
        return {min(clubs)} if clubs else without_spades(hand)
    spades_forbidden = first_trick and rules["first_trick_spades"] == "forbid"
    if trick:  # R11: follow suit if able, otherwise anything
        following = of_suit(hand, suit_of(trick[0]))
        if following:
            return following
        return without_spades(hand) if spades_forbidden else set(hand)
    # R13: the three forms of the rule for a lead
    if rules["lead_spades"] == "any":
        may_lead_spades = True
    elif rules["lead_spades"] == "broken":
        may_lead_spades = broken
    else:  # only_spades_left
        may_lead_spades = False
    return set(hand) if may_lead_spades and not spades_forbidden else without_spades(hand)


def suit_led(rules: Rules, trick: Sequence[int], first_trick: bool) -> int | None:
    """The suit led, None before the lead; with `low_club` clubs count as led whoever begins."""
    if first_trick and rules["opening_lead"] == "low_club":
        return CLUBS
    return suit_of(trick[0]) if trick else None


def breaks_spades(rules: Rules, card: int, trick: Sequence[int], first_trick: bool) -> bool:
    """R14: whether playing `card` after the cards of `trick` sets the broken flag."""
    if suit_of(card) != SPADES:
        return False
    led = suit_led(rules, trick, first_trick)
    if led is None:  # a spade lead
        return bool(rules["forced_lead_breaks"])
    return led != SPADES  # a spade that follows a spade lead never sets it


def winning_card(rules: Rules, trick: Sequence[int], first_trick: bool) -> int:
    """R12: the highest spade, else of the suit led (low_club: clubs, then the suit played first)."""
    led = suit_led(rules, trick, first_trick)
    for suit in (SPADES, led, suit_of(trick[0])):
        if suit is not None and of_suit(trick, suit):
            return max(of_suit(trick, suit))
    raise ValueError(f"trick {list(trick)} has no card")


# --- Scoring a deal (R16-R23) and the match (R24-R26) --------------------------------------------------


@dataclass(frozen=True)
class DealResult:
    """A scored deal, lists by team. `scores` and `bags` are those after the deal, penalties included."""

    items: list[Item]
    scores: list[int]
    bags: list[int]
    boston: int | None  # R16: the team that took every trick
    winner: int | None  # R24: the team that has won the match


def contract_points(contract: int, counted: int) -> tuple[int, int]:
    """R18: (points, bags) of one contract."""
    if counted >= contract:
        return 10 * contract, counted - contract
    return -10 * contract, 0


def score_team(
    rules: Rules, seats: Sequence[int], bids: Sequence[int], blind: Sequence[bool], tricks: Sequence[int]
) -> Item:
    """R17-R22 for the seats of one team, the bag penalty left at 0; bids: 0 = nil."""
    ordinary = [seat for seat in seats if bids[seat] > 0]
    nils = [seat for seat in seats if bids[seat] == 0]
    value = {seat: rules["blind_nil_value"] if blind[seat] else rules["nil_value"] for seat in nils}  # R19

    if rules["both_nil"] == "unit" and len(nils) == 2:
        total = sum(value.values())
        made = all(tricks[seat] == 0 for seat in nils)
        return {"contract": 0, "bag_points": 0, "nil": total if made else -total, "penalty": 0, "bags": 0}

    nil = sum(value[seat] if tricks[seat] == 0 else -value[seat] for seat in nils)  # R19
    nil_tricks = sum(tricks[seat] for seat in nils)  # R17
    points, bags = 0, 0
    if rules["contract"] == "individual":
        for seat in ordinary:
            seat_points, seat_bags = contract_points(bids[seat], tricks[seat])
            points += seat_points
            bags += seat_bags
    else:
        contract = sum(bids[seat] for seat in ordinary)  # R9
        counted = sum(tricks[seat] for seat in ordinary)  # R17
        if rules["failed_nil"] == "help_partner":
            counted += nil_tricks
        points, bags = contract_points(contract, counted)
    if rules["failed_nil"] == "bags_only":  # R20: each is a bag, also when the contract was set
        bags += nil_tricks
    bag_points = bags * rules["bag_points"]  # R21
    return {"contract": points, "bag_points": bag_points, "nil": nil, "penalty": 0, "bags": bags}


def bag_penalty(rules: Rules, count: int) -> tuple[int, int]:
    """R21: (penalty points, 0 or negative; bags left) for a team's count with this deal's bags in it."""
    limit = rules["bag_limit"]
    if limit == 0 or count < limit:
        return 0, count
    if rules["bag_after"] == "reset":
        return -rules["bag_penalty"], 0
    times = count // limit
    return -rules["bag_penalty"] * times, count - limit * times


def match_winner(rules: Rules, scores: Sequence[int]) -> int | None:
    """R24, R25: the team that wins at these scores, None if the match goes on."""
    at_target = any(score >= rules["target"] for score in scores)
    at_mercy = rules["mercy"] is not None and any(score <= rules["mercy"] for score in scores)
    if not (at_target or at_mercy) or scores[0] == scores[1]:
        return None
    return 0 if scores[0] > scores[1] else 1


def is_truncated(rules: Rules, winner: int | None, deals_played: int) -> bool:
    """R26: whether the match ends without a winner after so many deals (this one counted)."""
    return winner is None and rules["max_deals"] is not None and deals_played >= rules["max_deals"]


def score_deal(
    rules: Rules,
    bids: Sequence[int],
    blind: Sequence[bool],
    tricks: Sequence[int],
    scores: Sequence[int] = (0, 0),
    bags: Sequence[int] = (0, 0),
) -> DealResult:
    """Score a deal: bids (0 = nil), blind flags, tricks by seat; scores, bags by team, before the deal."""
    players = rules["players"]
    items, new_scores, new_bags, boston = [], [], [], None
    for team in (0, 1):
        seats = [seat for seat in range(players) if seat % 2 == team]
        item = score_team(rules, seats, bids, blind, tricks)
        item["penalty"], bags_left = bag_penalty(rules, bags[team] + item["bags"])
        items.append(item)
        points = item["contract"] + item["bag_points"] + item["nil"] + item["penalty"]
        new_scores.append(scores[team] + points)
        new_bags.append(bags_left)
        if sum(tricks[seat] for seat in seats) == rules["hand_size"]:  # R16
            boston = team
    return DealResult(items, new_scores, new_bags, boston, match_winner(rules, new_scores))
