"""The view of one seat from what she saw: her own cards and the public actions, replayed by the engine.

Other hands stay unknown, so other seats' plays are checked for what the table can see: cards that are gone,
suits shown void, and whether any layout of the unseen cards is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from spades_env import checks
from spades_env.actions import DONE, TAKE_NEXT, action_text
from spades_env.cards import CLUBS, NUM_CARDS, SUIT_MASKS, SUIT_NAMES, cards_of, hand_text, suit_of
from spades_env.engine.batch import illegal_text
from spades_env.engine.front import begin_unknown_deal, pack_mask
from spades_env.engine.state import (
    HIDDEN,
    PHASE_BID,
    PHASE_DEAL_OVER,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_PLAY,
    StateArray,
)
from spades_env.engine.step import apply, is_legal
from spades_env.game.facts import TeamResult
from spades_env.game.position import (
    Cards,
    PositionError,
    action_id,
    checked_cards,
    course_of,
    new_state,
    whole_number,
    write_match_so_far,
)
from spades_env.game.result import checked_result, write_result
from spades_env.rules import Rules, as_rules
from spades_env.view import empty_views, view_of


def known_views(
    rules: Rules | str | Path | Mapping[str, Any],
    *,
    seat: int,
    dealer: int,
    hand: Cards | None,
    actions: Iterable[int | str],
    scores: Sequence[int],
    bags: Sequence[int],
    deal: int,
    match: int,
    shown: int | str | None,
    rejected: Cards,
    result: tuple[TeamResult, TeamResult] | None,
) -> StateArray:
    """One ``VIEW`` record, shape (1,); the arguments are those of `View.from_known`."""
    rules = as_rules(rules)
    seat = whole_number("seat", seat, 0, rules.players - 1)
    states = new_state(rules, 0, 0, match)
    write_match_so_far(states, rules, dealer=dealer, scores=scores, bags=bags, deal=deal)
    if result is not None:
        write_result(states, checked_result(rules, result))
    begin_unknown_deal(states, 0)
    deck = int(pack_mask(states, 0))
    own = None if hand is None else checked_cards("hand", hand, deck)
    table = _Table(states, rules, seat, deck, own, checked_cards("rejected", rejected, deck))
    for index, action in enumerate(course_of(actions)):
        table.take(index, action)
    table.finish(shown)
    views = empty_views(1)
    view_of(states, 0, seat, views, 0)
    return views


@dataclass
class _Table:
    """A deal seen from one seat. Until the bids of a draft, cards in the record are placeholders."""

    states: StateArray
    rules: Rules
    seat: int
    deck: int
    own: int | None
    """Her cards, those played included, as a mask; None if not given."""
    rejected: int
    draws: int = 0
    takes: int = 0
    placed: bool = False

    def take(self, index: int, given: int | str) -> None:
        """Check one action and let the engine take it."""
        where = f"actions[{index}]"
        phase, actor = self._int("phase"), self._int("turn")
        if phase >= PHASE_DEAL_OVER:
            raise PositionError(f"{where} is {checks.shown(given)}; allowed: nothing, the deal is over")
        self._place_own_cards()
        if phase == PHASE_EXCHANGE:
            action = self._exchange_action(where, actor, given)
        else:
            action = action_id(given, where)
            if phase == PHASE_PLAY and actor != self.seat:
                self._check_play(where, actor, action)
            elif not is_legal(self.states, 0, action):
                raise PositionError(f"{where}: {illegal_text(self.states, 0, action)}")
        if phase == PHASE_DRAFT and actor == self.seat:
            self.draws += 1
            self.takes += action == TAKE_NEXT
        apply(self.states, 0, action)

    def finish(self, shown: int | str | None) -> None:
        """Check what only the whole story tells, and put her own cards in place."""
        deciding = self._int("phase") == PHASE_DRAFT and self._int("turn") == self.seat
        if deciding != (shown is not None):
            allowed = "the card she is deciding about" if deciding else "None, she is not deciding about one"
            raise PositionError(f"shown is {checks.shown(shown)}; allowed: {allowed}")
        looked = int(self.states["looked"][0, self.seat]) == 1
        if self.rules.deal == "draft":
            self.own = self.own or 0
            self._check_draft(shown)
        elif looked != (self.own is not None):
            allowed = "her cards as dealt" if looked else "None as long as she has not looked (R10)"
            raise PositionError(f"hand is {'given' if self.own is not None else None}; allowed: {allowed}")
        elif self.rejected:
            raise PositionError("rejected is given; allowed in a draft only")
        self._place_own_cards(last=True)
        self._check_layout_exists()

    def _int(self, name: str) -> int:
        return int(self.states[name][0])

    def _place_own_cards(self, *, last: bool = False) -> None:
        """Put her cards into the record: at once if dealt, after a draft when bidding begins (or at last)."""
        ready = self.rules.deal != "draft" or last or self._int("phase") in (PHASE_BID, PHASE_PLAY)
        if self.placed or not ready or self.own is None:
            return
        if self.rules.deal == "dealt":
            checked_cards("hand", cards_of(self.own), self.deck, self.rules.hand_size)
        else:
            self.states["rejected"][0, self.seat] = self.rejected
        self.states["hands"][0] = 0
        self.states["hands"][0, self.seat] = self.own
        self.placed = True

    def _exchange_action(self, where: str, actor: int, given: int | str) -> int:
        """The exchange action of `actor` (R28); for a hidden card a placeholder, blanked in the view."""
        hidden = given == "?" or given == HIDDEN
        if actor != self.seat and hidden:
            return cards_of(int(self.states["hands"][0, actor]))[0]
        if hidden:
            raise PositionError(f"{where} is {checks.shown(given)}; allowed: the card, it is her own")
        action = action_id(given, where)
        if action == DONE:
            return action
        if actor != self.seat:
            raise PositionError(f"{where} is {checks.shown(given)}; allowed: '?', she does not see the card, or 'done'")
        gone = (self.own or 0) | self.rejected | int(self.states["thrown"][0, actor])
        if action >= NUM_CARDS or not self.deck & ~gone & 1 << action:
            raise PositionError(
                f"{where} is {action_text(action)}; allowed: a card she gives up, which she has neither now "
                "nor rejected before, or 'done'"
            )
        return action

    def _check_play(self, where: str, actor: int, action: int) -> None:
        """Refuse a card that seat `actor`, whose hand is unknown, cannot have."""
        if not 0 <= action < NUM_CARDS:
            reason = "it is no card; allowed: a card"
        elif not self._may_hold(actor) >> action & 1:
            reason = self._why_not(actor, action)
        else:
            return
        raise PositionError(f"{where}: seat {actor} cannot play {action_text(action)}: {reason}")

    def _why_not(self, actor: int, card: int) -> str:
        """Why seat `actor` cannot hold `card`."""
        if not self.deck >> card & 1:
            return "it is not in this pack"
        if int(self.states["played"][0].sum()) >> card & 1:
            return "it has been played"
        if not self._unseen() >> card & 1:
            return f"seat {self.seat} holds it or knows it gone"
        if int(self.states["voids"][0, actor]) >> suit_of(card) & 1:
            return f"she has shown that she has no {SUIT_NAMES[suit_of(card)]}"
        return "it would have been her lowest club in the first trick"

    def _unseen(self) -> int:
        """Cards that another seat may still hold as far as this one knows, her own rejected ones included."""
        own = self.own or 0
        thrown = int(self.states["thrown"][0, self.seat]) if self.rules.deal == "draft" else 0
        rejected = self.rejected if self._rejected_out() == 0 else 0
        return self.deck & ~own & ~thrown & ~rejected & ~int(self.states["played"][0].sum())

    def _rejected_out(self) -> int:
        """How many of her rejected cards the other seat may hold, having drawn them in an exchange (R28)."""
        if self.rules.deal != "draft":
            return 0
        other = 1 - self.seat
        used = (int(self.states["played"][0, other]) & self.rejected).bit_count()
        return int(self.states["exchanged"][0, other]) - used

    def _may_hold(self, actor: int) -> int:
        """Unseen cards that seat `actor` may hold by her plays so far (R11; `low_club`)."""
        mask = self._unseen()
        for suit in range(4):
            if int(self.states["voids"][0, actor]) >> suit & 1:
                mask &= ~SUIT_MASKS[suit]
        if self.rules.opening_lead == "low_club":
            mask &= ~self._clubs_below_first(actor)
        return mask

    def _clubs_below_first(self, actor: int) -> int:
        """Clubs lower than the one that `actor` played to the first trick, which was her lowest."""
        first_play = self._int("first_play")
        first_trick = self.states["actions"][0, first_play : first_play + self.rules.players]
        played = int(self.states["played"][0, actor]) & SUIT_MASKS[CLUBS]
        for card in (int(action) for action in first_trick):
            if first_play > 0 and played >> card & 1:
                return (1 << card) - 1 & SUIT_MASKS[CLUBS]
        return 0

    def _check_layout_exists(self) -> None:
        """Refuse plays after which no layout of the unseen cards gives every seat enough (Hall's theorem)."""
        if self._int("first_play") == 0:
            return
        others = [seat for seat in range(self.rules.players) if seat != self.seat]
        left = {seat: self.rules.hand_size - int(self.states["played"][0, seat]).bit_count() for seat in others}
        for size in range(1, len(others) + 1):
            for group in combinations(others, size):
                union = 0
                for seat in group:
                    union |= self._may_hold(seat)
                # Of her own rejected cards the other can hold no more than she exchanged.
                cards = (union & ~self.rejected).bit_count()
                cards += min((union & self.rejected).bit_count(), self._rejected_out())
                if sum(left[seat] for seat in group) > cards:
                    raise PositionError(
                        f"actions: seats {group} still hold {sum(left[s] for s in group)} cards, but only "
                        f"{hand_text(union) or 'none'} fit what they have shown; allowed: a possible course"
                    )

    def _check_draft(self, shown: int | str | None) -> None:
        """Refuse counts and overlaps of her cards that no draft brings about (R27-R29)."""
        seat, own = self.seat, self.own or 0
        thrown, given_up = int(self.states["thrown"][0, seat]), int(self.states["exchanged"][0, seat])
        naming = self._int("phase") == PHASE_EXCHANGE and self._int("turn") == seat
        held = self.draws - (given_up if naming else 0)
        checked_cards("hand", cards_of(own), self.deck, held)
        looked_at = self.draws if self.rules.draft_second_card_seen else self.takes
        checked_cards("rejected", cards_of(self.rejected), self.deck, looked_at)
        if own & thrown:
            raise PositionError(f"hand has {hand_text(own & thrown)}; allowed: no card that she gave up")
        drawn_back = (own & self.rejected).bit_count()
        if drawn_back > (0 if naming else given_up):
            both = hand_text(own & self.rejected)
            raise PositionError(f"rejected has {both}; allowed: no card of her hand")
        if shown is not None:
            mask = checked_cards("shown", [shown], self.deck)
            if mask & (own | self.rejected):
                raise PositionError(f"shown is {hand_text(mask)}; allowed: a card she has not seen before")
            card = cards_of(mask)[0]
            self.states["pile"][0, self._int("pile_pos")] = card
