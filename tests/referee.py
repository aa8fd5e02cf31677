"""The referee: one deal of Spades, slow and obvious; the fast engine is compared with it at every decision.

Standard library only and nothing of the package. The rules themselves are the functions of referee_rules.py.
"""

from collections.abc import Sequence
from typing import Any

from referee_rules import (
    BLIND_NIL,
    DONE,
    FIRST_BID,
    KEEP,
    LOOK,
    TAKE_NEXT,
    Item,
    Rules,
    breaks_spades,
    check_rules,
    deck,
    first_seat,
    is_truncated,
    legal_bids,
    legal_cards,
    may_bid_blind,
    next_seat,
    score_deal,
    turn_order,
    winning_card,
)


def check_cards(rules: Rules, hands: list[list[int]] | None, pile: list[int] | None) -> None:
    """Raise ValueError unless the cards given fit the rules: hands if dealt, the whole pile if drafted."""
    if rules["deal"] == "draft":
        if hands is not None or pile is None or len(pile) != 52 or set(pile) != deck(rules):
            raise ValueError(f"deal 'draft' needs a pile of the 52 cards and no hands, not {pile}, {hands}")
        return
    if pile is not None or hands is None or len(hands) != rules["players"]:
        raise ValueError(f"deal 'dealt' needs {rules['players']} hands and no pile, not {hands}, {pile}")
    for seat, hand in enumerate(hands):
        if len(hand) != rules["hand_size"] or not deck(rules).issuperset(hand):
            raise ValueError(f"hand of seat {seat} = {hand}; expected {rules['hand_size']} cards of the deck")
    cards = [card for hand in hands for card in hand]
    if len(set(cards)) != len(cards):
        raise ValueError(f"hands = {hands}; a card is in them twice")


def check_match_so_far(rules: Rules, scores: Sequence[int], bags: Sequence[int], deals_played: int) -> None:
    """R6: raise ValueError unless scores and bags are two each and the bags are below the limit."""
    if len(scores) != 2 or len(bags) != 2:
        raise ValueError(f"scores = {list(scores)}, bags = {list(bags)}; expected one each per team")
    limit = rules["bag_limit"]
    if any(count < 0 or 0 < limit <= count for count in bags):
        raise ValueError(f"bags = {list(bags)}; allowed: 0 to below the limit of {limit} (0 = no limit)")
    if deals_played < 0:
        raise ValueError(f"deals_played = {deals_played}; allowed: 0 or more")


class Referee:
    """One deal from the first decision to the score sheet.

    Until the first card is played, `agenda` holds the (phase, seat) steps still to come, in order; a blind
    nil or a look strikes out the step it makes pointless. Lists by seat have `players` entries, by team two.
    """

    def __init__(
        self,
        rules: dict[str, Any],
        *,
        dealer: int,
        hands: list[list[int]] | None = None,
        pile: list[int] | None = None,
        scores: Sequence[int] = (0, 0),
        bags: Sequence[int] = (0, 0),
        deals_played: int = 0,
    ) -> None:
        check_rules(rules)
        self.rules = dict(rules)
        self.players: int = rules["players"]
        if dealer not in range(self.players):
            raise ValueError(f"dealer = {dealer}; allowed: 0..{self.players - 1}")
        check_cards(rules, hands, pile)
        check_match_so_far(rules, scores, bags, deals_played)

        self.dealer = dealer
        self.first = first_seat(rules, dealer)  # R5
        self.next_dealer = next_seat(rules, dealer)  # R5
        self.deals_played = deals_played
        self.scores, self.bags = list(scores), list(bags)

        self.hands: list[set[int]] = [set(hand) for hand in hands or [[]] * self.players]
        self.pile = list(pile or [])
        self.draft_discards: set[int] = set()
        self.rejected: list[set[int]] = [set() for _ in range(self.players)]
        self.thrown: list[set[int]] = [set() for _ in range(self.players)]

        self.bids: list[int | None] = [None] * self.players
        self.blind = [False] * self.players
        self.trick: list[tuple[int, int]] = []
        self.tricks = [0] * self.players
        self.broken = False
        self.last_winner: int | None = None
        self.leader = self.first

        self.items: list[Item] = []
        self.boston: int | None = None
        self.match_over = False
        self.winner: int | None = None
        self.truncated = False

        by_team = [may_bid_blind(rules, scores[team], scores[1 - team]) for team in (0, 1)]
        offered = [by_team[seat % 2] for seat in range(self.players)]
        # R10: an eligible seat's cards are dealt but not seen; R28: who drafts sees her cards anyway
        self.looked = [rules["deal"] == "draft" or not offered[seat] for seat in range(self.players)]
        self.agenda = self._draft_agenda(offered) if rules["deal"] == "draft" else self._dealt_agenda(offered)

    def _dealt_agenda(self, offered: Sequence[bool]) -> list[tuple[str, int]]:
        """R7, R10: each seat once in turn order; an eligible seat first chooses: blind nil or a look."""
        agenda = []
        for seat in turn_order(self.rules, self.first):
            if offered[seat]:
                agenda.append(("blind", seat))
            agenda.append(("bid", seat))
        return agenda

    def _draft_agenda(self, offered: Sequence[bool]) -> list[tuple[str, int]]:
        """R27, R28: the dealer draws first, the other bids first; exchanges lie between draws and bids."""
        drawing_order = turn_order(self.rules, self.dealer)
        agenda = []
        for turn in range(len(self.pile) // 2):
            seat = drawing_order[turn % 2]
            if turn < 2 and offered[seat]:
                agenda.append(("blind", seat))
            agenda.append(("draft", seat))
        if self.rules["blind_nil_exchange"] > 0:
            agenda += [("exchange", seat) for seat in drawing_order if offered[seat]]
        return agenda + [("bid", seat) for seat in turn_order(self.rules, self.first)]

    # What is to be done now

    def phase(self) -> str:
        """What the seat to act decides: blind, draft, exchange, bid or play; over once the deal is."""
        if self.agenda:
            return self.agenda[0][0]
        return "play" if any(self.hands) else "over"

    def seat_to_act(self) -> int | None:
        """The seat whose decision it is, None once the deal is over."""
        if self.agenda:
            return self.agenda[0][1]
        if self.phase() == "over":
            return None
        return turn_order(self.rules, self.leader)[len(self.trick)]

    def legal_actions(self) -> set[int]:
        """Action ids the seat to act may choose from."""
        seat = self.seat_to_act()
        if seat is None:
            return set()
        match self.phase():
            case "blind":
                return {BLIND_NIL, LOOK}
            case "draft":
                return {KEEP, TAKE_NEXT}
            case "exchange":
                return self.hands[seat] | {DONE}
            case "bid":
                partner_bid = self.bids[(seat + 2) % 4] if self.players == 4 else None
                return {FIRST_BID + bid for bid in legal_bids(self.rules, self.players == 4, partner_bid)}
            case _:
                cards = [card for _, card in self.trick]
                return legal_cards(self.rules, self.hands[seat], cards, self.broken, self._first_trick())

    def _first_trick(self) -> bool:
        return sum(self.tricks) == 0

    def knows(self, seat: int) -> dict[str, Any]:
        """R30: what `seat` knows of cards that others do not see.

        hand: her cards, None before she has looked. shown: the card of the pile she is looking at.
        rejected: cards she looked at and did not take, with `draft_second_card_seen` also the discard after a
        keep. thrown: cards she gave up in the exchange.
        """
        looking = self.agenda[:1] == [("draft", seat)]
        return {
            "hand": set(self.hands[seat]) if self.looked[seat] else None,
            "shown": self.pile[0] if looking else None,
            "rejected": set(self.rejected[seat]),
            "thrown": set(self.thrown[seat]),
        }

    # Doing it

    def apply(self, action: int, drawn: Sequence[int] = ()) -> None:
        """Let the seat to act do `action`; `drawn` = the cards drawn if this completes an exchange (R28)."""
        seat, phase, legal = self.seat_to_act(), self.phase(), self.legal_actions()
        if seat is None or action not in legal:
            raise ValueError(f"seat {seat}: action {action} is not legal ({phase}); legal: {sorted(legal)}")
        if drawn and phase != "exchange":
            raise ValueError(f"seat {seat}: drawn = {list(drawn)}, but only an exchange draws cards")
        match phase:
            case "blind":
                self._blind_or_look(seat, action)
            case "draft":
                self._draft(seat, action)
            case "exchange":
                self._exchange(seat, action, drawn)
            case "bid":
                self.bids[seat] = action - FIRST_BID
                self.agenda.pop(0)
            case _:
                self._play(seat, action)

    def _blind_or_look(self, seat: int, action: int) -> None:
        """R10, R28: either way she sees her cards; a blind nil is her bid; only who called one exchanges."""
        self.agenda.pop(0)
        self.looked[seat] = True
        if action == BLIND_NIL:
            self.bids[seat] = 0
            self.blind[seat] = True
            self.agenda.remove(("bid", seat))
        elif ("exchange", seat) in self.agenda:
            self.agenda.remove(("exchange", seat))

    def _draft(self, seat: int, action: int) -> None:
        """R27: of two cards of the pile one comes to her hand, the other goes face down to the discards."""
        top, following = self.pile[:2]
        del self.pile[:2]
        self.agenda.pop(0)
        if action == KEEP:
            self.hands[seat].add(top)
            self.draft_discards.add(following)
            if self.rules["draft_second_card_seen"]:
                self.rejected[seat].add(following)
        else:
            self.hands[seat].add(following)
            self.draft_discards.add(top)
            self.rejected[seat].add(top)

    def _exchange(self, seat: int, action: int, drawn: Sequence[int]) -> None:
        """R28: she names cards one by one, then "done" (implied at the most); only then are as many drawn."""
        thrown = self.thrown[seat] if action == DONE else self.thrown[seat] | {action}
        done = action == DONE or len(thrown) == self.rules["blind_nil_exchange"]
        wanted = len(thrown) if done else 0
        if len(drawn) != wanted or len(set(drawn)) != wanted or not self.draft_discards.issuperset(drawn):
            discards = sorted(self.draft_discards)
            raise ValueError(f"seat {seat}: drawn = {list(drawn)}; expected {wanted} different of {discards}")
        self.thrown[seat] = thrown
        self.hands[seat] -= thrown
        if done:
            self.hands[seat] |= set(drawn)
            self.draft_discards -= set(drawn)  # without replacement; thrown cards never return
            self.agenda.pop(0)

    def _play(self, seat: int, card: int) -> None:
        """R11-R14: one card; who wins a full trick leads to the next; after the last the deal is scored."""
        before = [played for _, played in self.trick]
        if breaks_spades(self.rules, card, before, self._first_trick()):
            self.broken = True
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) < self.players:
            return
        best = winning_card(self.rules, [*before, card], self._first_trick())
        self.leader = next(player for player, played in self.trick if played == best)
        self.last_winner = self.leader
        self.tricks[self.leader] += 1
        self.trick = []
        if not any(self.hands):
            self._score()

    def _score(self) -> None:
        """R16-R26, once, when the last card has fallen."""
        bids = [bid for bid in self.bids if bid is not None]
        result = score_deal(self.rules, bids, self.blind, self.tricks, self.scores, self.bags)
        self.items, self.scores, self.bags = result.items, result.scores, result.bags
        self.boston, self.winner = result.boston, result.winner
        self.truncated = is_truncated(self.rules, self.winner, self.deals_played + 1)  # R26
        self.match_over = self.winner is not None or self.truncated
