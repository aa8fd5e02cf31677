"""What a player is shown, as OpenSpiel asks for it: with perfect recall, or as the flat observation.

All of it comes from the seat's VIEW but, in a draft, in which order she saw her cards (R27).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyspiel

from spades_env.actions import NUM_ACTIONS, action_text
from spades_env.cards import NUM_CARDS, card_text, cards_of, hand_text
from spades_env.engine.draft import ACTION_KEEP, ACTION_TAKE_NEXT
from spades_env.engine.state import HIDDEN, PHASE_DRAFT, StateArray
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.encoders import ENCODERS
from spades_env.rules import Rules
from spades_env.view import empty_views, view_of

if TYPE_CHECKING:
    from spades_env.envs.openspiel.game import SpadesState

OWN_DRAWS: Final = 13
"""Draws of a seat in a draft, two cards each."""
_DRAFT_ACTIONS: Final = (ACTION_KEEP, ACTION_TAKE_NEXT)


class SpadesObserver:
    """OpenSpiel's observer interface: `tensor`, float32, with its pieces by name in `dict`.

    With perfect recall: `player` and `dealer`, one-hot; `cards`, her hand as dealt (nothing before she looks, R10) or
    all she has held; in a draft `seen`, the cards of each of her draws, and `drawn`, those of her exchange; `history`,
    a row for each action so far with a 1 at its id, or in the last column if it is hidden. Without: `player` and
    `observation`, the flat encoder's row (docs/observation.md).
    """

    def __init__(self, rules: Rules, decisions: int, kind: Any, params: Any) -> None:
        if params:
            raise ValueError(f"observation parameters are {params!r}; allowed: none")
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError("observation type is another; allowed: public information and that of a single player")
        self._recall = bool(kind.perfect_recall)
        players = rules.players
        pieces: list[tuple[str, tuple[int, ...]]] = [("player", (players,))]
        if self._recall:
            pieces += [("dealer", (players,)), ("cards", (NUM_CARDS,))]
            if rules.deal == "draft":
                pieces += [("seen", (OWN_DRAWS, 2, NUM_CARDS)), ("drawn", (NUM_CARDS,))]
            pieces += [("history", (decisions, NUM_ACTIONS + 1))]
        else:
            pieces += [("observation", (FLAT_SIZE,))]
        self.tensor: npt.NDArray[np.float32] = np.zeros(sum(int(np.prod(shape)) for _, shape in pieces), np.float32)
        self.dict: dict[str, npt.NDArray[np.float32]] = {}
        at = 0
        for name, shape in pieces:
            size = int(np.prod(shape))
            self.dict[name] = self.tensor[at : at + size].reshape(shape)
            at += size

    def set_from(self, state: SpadesState, player: int) -> None:
        """Fill `tensor` with what `player` knows of `state`; before the cards are dealt, nothing but who she is."""
        self.tensor.fill(0.0)
        self.dict["player"][player] = 1.0
        if not state.dealt:
            return
        views = _view(state.states, player)
        if not self._recall:
            ENCODERS["flat"].write(views, self.dict["observation"][None, :])
            return
        known = views["known"][0]
        self.dict["dealer"][int(known["dealer"])] = 1.0
        self.dict["cards"][cards_of(_held(known, player))] = 1.0
        for k, action in enumerate(known["actions"][: int(known["n_actions"])].tolist()):
            self.dict["history"][k, NUM_ACTIONS if action == HIDDEN else action] = 1.0
        if "seen" in self.dict:
            for draw, cards in enumerate(_seen(state.states, player)):
                for place, card in enumerate(cards):
                    self.dict["seen"][draw, place, card] = 1.0
            self.dict["drawn"][cards_of(_drawn(state.states, known, player))] = 1.0

    def string_from(self, state: SpadesState, player: int) -> str:
        """What `player` knows of `state` as text, different wherever the tensor is."""
        if not state.dealt:
            return f"seat {player}"
        known = _view(state.states, player)["known"][0]
        actions = known["actions"][: int(known["n_actions"])].tolist()
        words = [f"seat {player}", f"dealer {int(known['dealer'])}"]
        if int(known["looked"][player]) == 1:
            words.append(hand_text(_held(known, player) if self._recall else int(known["hands"][player])))
        if int(known["rules"]["draft"]) == 1:
            words += ["saw " + ", ".join(" ".join(map(card_text, cards)) for cards in _seen(state.states, player))]
            words += [f"drew {hand_text(_drawn(state.states, known, player))}"]
        words.append(", ".join("?" if action == HIDDEN else action_text(action) for action in actions))
        return "; ".join(words)


def _view(states: StateArray, player: int) -> StateArray:
    """The view of a seat, shape (1,)."""
    views = empty_views(1)
    view_of(states, 0, player, views, 0)
    return views


def _held(known: np.void, player: int) -> int:
    """All cards that she holds or has played, as far as she knows."""
    return int(known["hands"][player]) | int(known["played"][player])


def _seen(states: StateArray, player: int) -> list[list[int]]:
    """The cards of each of her draws that she has looked at, the one she decides about last (R27, R29)."""
    record = states[0]
    draws = [a for a in record["actions"][: int(record["n_actions"])].tolist() if a in _DRAFT_ACTIONS]
    dealer, second_seen = int(record["dealer"]), int(record["rules"]["second_seen"]) == 1
    found = []
    for k, action in enumerate(draws):
        if (player == dealer) == (k % 2 == 0):
            both = action == ACTION_TAKE_NEXT or second_seen
            found.append(record["pile"][2 * k : 2 * k + 1 + both].tolist())
    if int(record["phase"]) == PHASE_DRAFT and int(record["turn"]) == player:
        found.append([int(record["pile"][int(record["pile_pos"])])])
    return found


def _drawn(states: StateArray, known: np.void, player: int) -> int:
    """The cards that her exchange brought (R28)."""
    record = states[0]
    taken = 0
    draws = [a for a in record["actions"][: int(record["n_actions"])].tolist() if a in _DRAFT_ACTIONS]
    for k, action in enumerate(draws):
        if (player == int(record["dealer"])) == (k % 2 == 0):
            taken |= 1 << int(record["pile"][2 * k + (action == ACTION_TAKE_NEXT)])
    return _held(known, player) & ~(taken & ~int(known["thrown"][player]))
