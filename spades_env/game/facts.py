"""What everybody at the table knows (R30), read from a record: the common part of `Game` and `View`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spades_env.actions import action_text
from spades_env.cards import cards_of
from spades_env.engine.state import (
    HIDDEN,
    NO_BID,
    PHASE_DEAL_OVER,
    PHASE_MATCH_OVER,
    PHASE_NAMES,
    StateArray,
)
from spades_env.rules import Rules


@dataclass(frozen=True, slots=True)
class TeamResult:
    """The itemised score of one team in one deal, in points except `bags` (R17-R22)."""

    contract: int
    nil: int
    bag_points: int
    penalty: int
    """0 or negative (R21)."""
    bags: int
    """Bags taken in this deal."""
    boston: bool
    """The team took every trick (R16)."""

    @property
    def points(self) -> int:
        """Everything together: what the deal added to the score."""
        return self.contract + self.nil + self.bag_points + self.penalty


def team_result(record: np.void, team: int) -> TeamResult:
    """The part of `team` in a ``RESULT`` record."""
    contract, nil, bag_points, penalty, bags = (
        int(record[name][team]) for name in ("contract", "nil", "bag_points", "penalty", "bags")
    )
    return TeamResult(contract, nil, bag_points, penalty, bags, int(record["boston"]) == team)


class Facts:
    """Public facts of one game. Lists by seat have `players` entries; cards and actions are ids."""

    _states: StateArray
    """One ``STATE`` record, shape (1,); blanked for a view."""
    _rules: Rules

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self._rules

    @property
    def players(self) -> int:
        """2 or 4."""
        return self._rules.players

    @property
    def phase(self) -> str:
        """What is decided next: "blind", "bid", "play", "draft", "exchange", "deal over" or "match over"."""
        return PHASE_NAMES[self._int("phase")]

    @property
    def turn(self) -> int | None:
        """The seat to act, or None once the deal is over."""
        return None if self.deal_over else self._int("turn")

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return self._int("dealer")

    @property
    def first(self) -> int:
        """The seat that bids first and leads first (R5)."""
        return self._int("first")

    @property
    def match(self) -> int:
        """Number of the match in this game, from 0."""
        return self._int("match")

    @property
    def deal(self) -> int:
        """Number of the deal in this match, from 0."""
        return self._int("deal")

    @property
    def bids(self) -> list[int | None]:
        """Bid of each seat, 0 for any nil, None before it."""
        return [None if bid == NO_BID else bid for bid in self._by_seat("bids")]

    @property
    def blind(self) -> list[bool]:
        """Whether each seat bid blind nil or double nil."""
        return [value == 1 for value in self._by_seat("blind")]

    @property
    def looked(self) -> list[bool]:
        """Whether each seat has seen her cards (R10)."""
        return [value == 1 for value in self._by_seat("looked")]

    @property
    def tricks(self) -> list[int]:
        """Tricks taken by each seat."""
        return self._by_seat("tricks")

    @property
    def broken(self) -> bool:
        """Whether spades are broken (R14)."""
        return self._int("broken") == 1

    @property
    def voids(self) -> list[list[int]]:
        """Suits that each seat has shown by her plays not to hold (R11)."""
        return [[suit for suit in range(4) if mask >> suit & 1] for mask in self._by_seat("voids")]

    @property
    def scores(self) -> tuple[int, int]:
        """Match scores of both teams: before this deal, or after it once it is over."""
        return self._pair("scores")

    @property
    def bags(self) -> tuple[int, int]:
        """Bag counts of both teams, likewise."""
        return self._pair("bags")

    @property
    def exchanged(self) -> tuple[int, int]:
        """Cards each seat has given up after a draft (R28)."""
        return self._pair("exchanged")

    @property
    def pile_left(self) -> int:
        """Cards left in the draft pile; 0 without a draft (R27)."""
        return 52 - self._int("pile_pos") if self._rules.deal == "draft" else 0

    @property
    def actions(self) -> list[int]:
        """Every action of this deal in order; -1 in a view for a card that the other seat gave up."""
        return [int(action) for action in self._states["actions"][0, : self._int("n_actions")]]

    @property
    def action_texts(self) -> list[str]:
        """`actions` as text, "?" for a hidden one."""
        return ["?" if action == HIDDEN else action_text(action) for action in self.actions]

    @property
    def plays(self) -> list[tuple[int, int]]:
        """(seat, card) of every card played in this deal, in order."""
        if self._int("first_play") == 0:
            return []
        players, step = self.players, int(self._states["rules"]["step"][0])
        leaders = self._states["leaders"][0]
        cards = self.actions[self._int("first_play") :]
        return [((int(leaders[k // players]) + k % players * step) % players, c) for k, c in enumerate(cards)]

    @property
    def trick(self) -> list[tuple[int, int]]:
        """(seat, card) of the trick in progress; empty when the next card leads."""
        plays, length = self.plays, self._int("trick_len")
        return plays[len(plays) - length :]

    @property
    def trick_winners(self) -> list[int]:
        """Seat that took each complete trick, in order: it leads the next one; the last by the counts (R12)."""
        leaders = [seat for seat, _ in self.plays[:: self.players]]
        winners, tricks = leaders[1:], self.tricks
        if sum(tricks) > len(winners):
            winners.append(next(seat for seat, taken in enumerate(tricks) if taken > winners.count(seat)))
        return winners

    @property
    def deal_over(self) -> bool:
        """Whether this deal has been scored."""
        return self._int("phase") >= PHASE_DEAL_OVER

    @property
    def match_over(self) -> bool:
        """Whether the match has ended, with a winner or truncated."""
        return self._int("phase") == PHASE_MATCH_OVER

    @property
    def winner(self) -> int | None:
        """Team that won the match, or None."""
        team = self._int("winner")
        return None if team < 0 else team

    @property
    def truncated(self) -> bool:
        """Whether the match ended at `max_deals` without a winner (R26)."""
        return self._int("truncated") == 1

    @property
    def result(self) -> tuple[TeamResult, TeamResult] | None:
        """Itemised score of the deal scored last, by team; None before the first."""
        if not self._states["result"]["scored"][0]:
            return None
        record = self._states["result"][0]
        return team_result(record, 0), team_result(record, 1)

    def _int(self, name: str) -> int:
        return int(self._states[name][0])

    def _by_seat(self, name: str) -> list[int]:
        return [int(value) for value in self._states[name][0, : self._rules.players]]

    def _pair(self, name: str) -> tuple[int, int]:
        return int(self._states[name][0, 0]), int(self._states[name][0, 1])

    def _cards(self, name: str, seat: int) -> list[int]:
        return cards_of(int(self._states[name][0, seat]))
