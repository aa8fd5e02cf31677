"""One deal of Spades as a game of OpenSpiel: the engine's rules, the engine's state, OpenSpiel's interface."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyspiel

from spades_env.actions import DONE, NUM_ACTIONS, action_text
from spades_env.cards import card_text, cards_of, hand_text
from spades_env.engine.front import deal_values
from spades_env.engine.state import PHASE_EXCHANGE, STATE, StateArray
from spades_env.engine.step import apply, is_over, legal_masks
from spades_env.envs.openspiel.dealing import Outcomes
from spades_env.envs.openspiel.observer import SpadesObserver
from spades_env.envs.openspiel.table import DEFAULTS, table_of

GAME_NAME: Final = "spades_env"
GAME_TYPE: Final = pyspiel.GameType(
    short_name=GAME_NAME,
    long_name="Spades (spades_env)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=DEFAULTS,
)


class SpadesGame(pyspiel.Game):  # type: ignore[misc]
    """A deal. Player p sits on seat p; what she wins is her team's points minus the other's.

    Nothing is kept in the object: OpenSpiel makes others of it (see `table_of`).
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        table = table_of({**DEFAULTS, **(params or {})})
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=table.most_outcomes,
            num_players=table.rules.players,
            min_utility=-table.highest_margin,
            max_utility=table.highest_margin,
            utility_sum=0.0,
            max_game_length=table.most_decisions,
        )
        super().__init__(GAME_TYPE, info, params or {})

    def new_initial_state(self) -> SpadesState:
        """Return a deal of which nothing is dealt yet."""
        return SpadesState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> SpadesObserver:
        """Return what shows a player a state, see `SpadesObserver`."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        table = table_of({**DEFAULTS, **self.get_parameters()})
        return SpadesObserver(table.rules, table.most_decisions, kind, params)


class SpadesState(pyspiel.State):  # type: ignore[misc]
    """A deal in progress.

    Attributes:
        past: outcomes of chance while the cards are dealt.
        states: STATE, shape (1,) once they are, (0,) before.
        drawer, to_draw: a seat that has exchanged (R28), and how many cards she is still to draw.
    """

    def __init__(self, game: SpadesGame) -> None:
        super().__init__(game)
        self.table = table_of({**DEFAULTS, **game.get_parameters()})
        self.past: list[int] = []
        self.states: StateArray = np.empty(0, STATE)
        self.drawer, self.to_draw = -1, 0

    @property
    def dealt(self) -> bool:
        """Whether all cards are dealt."""
        return len(self.states) == 1

    def current_player(self) -> int:
        """The seat to act, chance while cards are dealt or drawn (R28), or nobody."""
        if not self.dealt or self.to_draw:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.is_terminal() else int(self.states["turn"][0])

    def is_terminal(self) -> bool:
        """Whether the deal is scored."""
        return self.dealt and bool(is_over(self.states, 0))

    def returns(self) -> list[float]:
        """Points of each player's team minus the other's; 0 before the deal is scored."""
        values = np.zeros(2)
        if self.is_terminal():
            deal_values(self.states, 0, self.table.bag_price, values)
        margin = float(values[0] - values[1])
        return [margin if seat % 2 == 0 else -margin for seat in range(self.table.rules.players)]

    def chance_outcomes(self) -> Outcomes:
        """What chance may do, with probabilities."""
        if not self.dealt:
            return self.table.dealing.outcomes(self.past)
        cards = cards_of(int(self.states["discards"][0]))
        return [(card, 1.0 / len(cards)) for card in cards]

    def _legal_actions(self, player: int) -> list[int]:
        """Action ids that `player` may take, ascending."""
        if player != self.current_player():
            return []
        cards, calls = legal_masks(self.states, 0)
        return [action for action in range(NUM_ACTIONS) if (int(cards) | int(calls) << 54) >> action & 1]

    def _apply_action(self, action: int) -> None:
        """Take an outcome of chance, or an action of the player to act."""
        if not self.dealt:
            self.past.append(action)
            if len(self.past) == self.table.dealing.steps:
                self.states = self.table.open(self.past)
        elif self.to_draw:
            self._draw(1 << action)
        elif int(self.states["phase"][0]) == PHASE_EXCHANGE:
            self._exchange(action)
        else:
            apply(self.states, 0, action)

    def _exchange(self, action: int) -> None:
        """Give up a card or end the exchange; what the engine drew for it goes back, for chance to draw (R28)."""
        record = self.states[0]
        seat, discards = int(record["turn"]), int(record["discards"])
        kept = int(record["hands"][seat]) & ~(0 if action == DONE else 1 << action)
        apply(self.states, 0, action)
        if int(record["hands"][seat]) != kept:
            self.drawer, self.to_draw = seat, int(record["exchanged"][seat])
            record["hands"][seat], record["discards"] = kept, discards

    def _draw(self, card: int) -> None:
        """Draw a card, given as a mask, for the seat that exchanged."""
        self.states["hands"][0, self.drawer] |= card
        self.states["discards"][0] &= ~card
        self.to_draw -= 1

    def _action_to_string(self, player: int, action: int) -> str:
        """An action or an outcome in words."""
        if player != pyspiel.PlayerId.CHANCE:
            return action_text(action)
        return self.table.dealing.text(self.past, action) if not self.dealt else card_text(action)

    def __str__(self) -> str:
        """Everything so far, for debugging: what chance dealt and drew, and the actions."""
        if not self.dealt:
            return f"dealing {self.past}"
        record = self.states[0]
        hands = [hand_text(int(record["hands"][seat] | record["played"][seat])) for seat in range(len(self.returns()))]
        actions = record["actions"][: int(record["n_actions"])].tolist()
        words = [f"dealer {int(record['dealer'])}", *hands, ", ".join(map(action_text, actions))]
        return "; ".join([*words, f"{self.to_draw} to draw"] if self.to_draw else words)


pyspiel.register_game(GAME_TYPE, SpadesGame)
