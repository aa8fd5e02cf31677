"""The PettingZoo environment: one game, the seats `player_0` ... `player_3` acting in turn (docs/env.md).

The course of play is the engine's; agents, rewards, ends and dead steps are as PettingZoo's contract wants.
"""

from __future__ import annotations

import operator
import secrets
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv  # type: ignore[import-untyped]
from pettingzoo.utils.env import AECIterable  # type: ignore[import-untyped]

from spades_env.actions import NUM_ACTIONS
from spades_env.checks import finite_number, shown
from spades_env.engine.batch import (
    DEFAULT_MAX_DEALS,
    EPISODES,
    Episode,
    IllegalActionError,
    default_bag_price,
    illegal_text,
)
from spades_env.engine.front import DEAL_IS_OVER, ILLEGAL, deal_values, take_action, write_mask
from spades_env.engine.lockstep import REWARD_SCALE
from spades_env.engine.state import StateArray
from spades_env.engine.step import advance
from spades_env.envs.spaces import (
    DTYPES,
    OBSERVATIONS,
    DtypeName,
    Observation,
    action_space,
    observation_space,
    one_of,
    state_space,
)
from spades_env.game import Game, View
from spades_env.game.position import HIGHEST_COUNT, HIGHEST_SEED, PositionError, whole_number
from spades_env.observation.blocks import STATE_SIZE
from spades_env.observation.encoders import ENCODERS
from spades_env.observation.flat import observe_seat, observe_seat_float32
from spades_env.observation.state_encoder import encode_state, encode_state_float32
from spades_env.render.ansi import in_colour, table_text
from spades_env.render.extra import load_pictures
from spades_env.rules import Rules, as_rules
from spades_env.view import empty_views, view_of

Reward = Literal["margin", "points", "win"]
OnIllegal = Literal["raise", "terminate"]
REWARDS: Final = ("margin", "points", "win")
ON_ILLEGAL: Final = ("raise", "terminate")
RENDER_MODES: Final = ("ansi", "rgb_array", "human")
RESET_OPTIONS: Final = ("hands", "pile", "dealer", "scores", "bags", "deal")

_AFTER_RESET: Final = frozenset(
    {
        *("agents", "num_agents", "agent_selection", "rewards", "terminations", "truncations", "infos"),
        *("_cumulative_rewards", "game", "_game", "_states", "_masks"),
    }
)


class SpadesAECEnv(AECEnv[str, Observation, int]):  # type: ignore[misc]
    """Spades for two or four agents, one decision a step.

    Args:
        rules: a Rules value, a preset's name, a YAML file or a mapping of fields.
        episode: "match" (until somebody wins, or `max_deals`) or "deal".
        reward: "margin" (own team's points of the deal minus the other's, / 100) or "points" (own points
            / 100), given when a deal is scored; "win" (+1 or -1 when the match is won, 0 if it is truncated).
        bag_price: points of a bag in a single deal, where no penalty is ever met; None: `default_bag_price`.
        on_illegal: "raise" an IllegalActionError with nothing changed, or "terminate" the episode.
        illegal_penalty: reward of the seat that ended the episode so; the others get 0.
        observation, dtype: encoder of `observe`, "flat", "sequence" or "features", as "float32" in 0..1 or "uint8".
        render_mode: None, "ansi" (`render` returns text in colour), "rgb_array" (a picture) or "human" (a window
            that follows every step).
        render_seat: show what this seat knows, instead of everything.
        max_deals: deals after which a match is truncated; None: as the rules say, 100 where they say nothing.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "spades_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: Rules | str | Path | Mapping[str, Any] = "classic",
        *,
        episode: Episode = "match",
        reward: Reward = "margin",
        bag_price: float | None = None,
        on_illegal: OnIllegal = "raise",
        illegal_penalty: float = -1.0,
        observation: str = "flat",
        dtype: DtypeName = "float32",
        render_mode: str | None = None,
        render_seat: int | None = None,
        max_deals: int | None = None,
    ) -> None:
        super().__init__()
        one_of("episode", episode, EPISODES)
        one_of("reward", reward, REWARDS)
        one_of("on_illegal", on_illegal, ON_ILLEGAL)
        one_of("observation", observation, OBSERVATIONS)
        one_of("dtype", dtype, DTYPES)
        one_of("render_mode", render_mode, (None, *RENDER_MODES))
        if reward == "win" and episode == "deal":
            raise ValueError("reward='win' is refused with episode='deal': a deal has no winner, a match has")
        if bag_price is not None and episode == "match":
            raise ValueError("bag_price is refused with episode='match': bags count as scored there")
        self.rules = _with_end(as_rules(rules), max_deals)
        self.episode, self.reward, self.on_illegal = episode, reward, on_illegal
        self.illegal_penalty = finite_number("illegal_penalty", illegal_penalty)
        self.render_mode = render_mode
        if render_mode in ("rgb_array", "human"):
            load_pictures(render_mode)  # refused now, not at the first picture
        self._window = load_pictures(render_mode).Window() if render_mode == "human" else None
        if render_seat is not None:
            render_seat = whole_number("render_seat", render_seat, 0, self.rules.players - 1)
        self.render_seat = render_seat
        price = default_bag_price(self.rules) if bag_price is None else finite_number("bag_price", bag_price)
        # NaN tells the engine to count bags and penalties as scored.
        self._bag_price = price if episode == "deal" else float("nan")
        self.observation = observation
        self._dtype = np.dtype(dtype)
        self._float = dtype == "float32"
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space(observation, dtype) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space() for agent in self.possible_agents}
        self.state_space = state_space(dtype)
        self._origin: tuple[int, int, int] | None = None
        # Rewards or results of a deal stand in the dictionaries and are to be cleared by the next step.
        self._stale = False

    def __getattr__(self, name: str) -> Any:
        """Say that `reset` comes first where it has not been called; only missing names come here."""
        if name in _AFTER_RESET:
            what = "anything else" if name.startswith("_") else repr(name)
            raise AttributeError(f"reset() needs to be called before {what} is used")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of `observe(agent)`, the same object every time."""
        return self.observation_spaces[self._checked(agent)]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Discrete(73), the same object every time."""
        return self.action_spaces[self._checked(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new episode.

        Args:
            seed: fixes everything drawn until the next seed. None: the next match under the seed given last
                (the first time: a seed from the operating system).
            options: for the first deal of this episode, as in `Game`: "hands" or "pile", "dealer", "scores",
                "bags", "deal". Anything else is refused.
        """
        given = _checked_options(options)
        if seed is not None:
            origin = whole_number("seed", seed, 0, HIGHEST_SEED), 0, 0
        elif self._origin is None:
            origin = secrets.randbelow(HIGHEST_SEED), 0, 0
        else:
            origin = _next_match(*self._origin)
        number, game_number, match = origin
        game = Game(self.rules, seed=number, game=game_number, match=match, **given)
        self._origin, self._game = origin, game
        self._states: StateArray = game.states
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._stale = False
        self._clear_infos()
        self._ask_first()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take the action of `agent_selection`, or None for a seat whose episode is over."""
        agent = self.agent_selection
        if not self.agents:
            raise ValueError("the episode is over and every agent has stepped; allowed: reset()")
        if self.terminations[agent] or self.truncations[agent]:
            self._step_dead(action)
            return
        number = action if type(action) is int else _action_number(agent, action)
        mask = np.empty(NUM_ACTIONS, np.int8)
        turn = take_action(self._states, 0, number, mask) if 0 <= number < NUM_ACTIONS else ILLEGAL
        if turn == ILLEGAL and self.on_illegal == "raise":
            raise IllegalActionError(f"{agent}: {illegal_text(self._states, 0, number)}")
        self._cumulative_rewards[agent] = 0.0
        if self._stale:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._clear_infos()
            self._stale = False
        if turn == ILLEGAL:
            self._end_by_illegal(agent, number)
        elif turn == DEAL_IS_OVER:
            self._end_deal()
        else:
            self._ask(agent, self.possible_agents[turn], mask)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """What `agent` sees now, whoever is to act; changes nothing. Off turn the mask is all zeros."""
        seat = self._seat_of[self._checked(agent)]
        encoder = ENCODERS[self.observation]
        row = np.empty(encoder.layout.size, self._dtype)
        if self.observation != "flat":
            views = empty_views(1)
            view_of(self._states, 0, seat, views, 0)
            encoder.write(views, row[None])
        elif self._float:
            observe_seat_float32(self._states, 0, seat, row)
        else:
            observe_seat(self._states, 0, seat, row)
        return {"observation": row, "action_mask": self._masks[agent]}

    def state(self) -> npt.NDArray[Any]:
        """Perfect information for critics, seen from seat 0, in `state_space`."""
        row = np.empty(STATE_SIZE, self._dtype)
        if self._float:
            encode_state_float32(self._states, 0, 0, row)
        else:
            encode_state(self._states, 0, 0, row)
        return row

    def view(self, agent: str) -> View:
        """What `agent` knows, as a `View`."""
        return self._game.view(self._seat_of[self._checked(agent)])

    @property
    def game(self) -> Game:
        """A copy of the game as it stands: hands of all seats, and free to play on."""
        return self._game.copy()

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The table: coloured text ("ansi"), pixels, uint8 of shape (640, 960, 3) ("rgb_array"), the window ("human").

        It shows all hands, or what `render_seat` knows.
        """
        if self.render_mode is None:
            allowed = ", ".join(map(repr, RENDER_MODES))
            warnings.warn(f"render() does nothing with render_mode=None; allowed: {allowed}", stacklevel=2)
            return None
        table = self._game if self.render_seat is None else self._game.view(self.render_seat)
        if self.render_mode == "ansi":
            return in_colour(table_text(table))
        if self._window is None:
            picture: npt.NDArray[np.uint8] = load_pictures(self.render_mode).picture(table)
            return picture
        self._window.show(table, self.metadata["render_fps"])
        return None

    def close(self) -> None:
        """Close the window, if there is one; nothing else is held open."""
        if self._window is not None:
            self._window.close()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Observation, int]:
        """Yield the agent to act, to be followed by one `step`, until the episode is over."""
        if "agents" not in self.__dict__:
            raise AttributeError("reset() needs to be called before agent_iter() is used")
        return super().agent_iter(max_iter)

    def _checked(self, agent: str) -> str:
        """The name of an agent, or an error that names those there are."""
        if isinstance(agent, str) and agent in self._seat_of:
            return agent
        raise ValueError(f"agent {shown(agent)} does not exist; allowed: {', '.join(self.possible_agents)}")

    def _clear_infos(self) -> None:
        """An empty mask and nothing else in the info of every agent."""
        self._masks = {agent: np.zeros(NUM_ACTIONS, np.int8) for agent in self.possible_agents}
        self.infos: dict[str, dict[str, Any]] = {agent: {"action_mask": self._masks[agent]} for agent in self.agents}

    def _show_mask(self, agent: str, mask: npt.NDArray[np.int8]) -> None:
        # Fresh arrays and dictionaries, so that what a learner has stored stays as it was.
        self._masks[agent] = mask
        self.infos[agent] = {"action_mask": mask}

    def _ask(self, before: str, agent: str, mask: npt.NDArray[np.int8]) -> None:
        """Give the turn to `agent`."""
        if before != agent:
            self._show_mask(before, np.zeros(NUM_ACTIONS, np.int8))
            self.agent_selection = agent
        self._show_mask(agent, mask)

    def _ask_first(self) -> None:
        """Give the turn to the seat that opens a deal; keeps what the infos say about the deal before."""
        agent = self.possible_agents[int(self._states["turn"][0])]
        write_mask(self._states, 0, self._masks[agent])
        self.agent_selection = agent

    def _end_deal(self) -> None:
        """Rewards and results of the deal just scored, then the next deal or the end of the episode."""
        game = self._game
        self._clear_infos()
        facts: dict[str, Any] = {"deal_result": game.result, "scores": game.scores}
        if game.match_over:
            facts["winner"] = game.winner
        for info in self.infos.values():
            info.update(facts)
        self._stale = True
        by_team = self._team_rewards()
        self.rewards = {agent: by_team[self._seat_of[agent] % 2] for agent in self.agents}
        self._accumulate_rewards()
        if self.episode == "deal":
            self._end_episode(truncated=False)
        elif game.match_over:
            self._end_episode(truncated=game.truncated)
        else:
            if self.render_mode == "human":
                self.render()  # the last trick and the score, before the next deal is laid over them
            advance(self._states, 0)
            self._ask_first()

    def _team_rewards(self) -> tuple[float, float]:
        """Rewards of both teams for the deal scored last."""
        if self.reward == "win":
            winner = self._game.winner
            return (0.0, 0.0) if winner is None else (1.0, -1.0) if winner == 0 else (-1.0, 1.0)
        values = np.empty(2, np.float64)
        deal_values(self._states, 0, self._bag_price, values)
        own, other = float(values[0]) / REWARD_SCALE, float(values[1]) / REWARD_SCALE
        return (own, other) if self.reward == "points" else (own - other, other - own)

    def _end_by_illegal(self, agent: str, action: int) -> None:
        """The position stays; the offender gets the penalty and the others nothing, and all seats end."""
        self._clear_infos()
        self.infos[agent]["illegal_action"] = action
        self.rewards[agent] = self.illegal_penalty
        self._stale = True
        self._accumulate_rewards()
        self._end_episode(truncated=False)

    def _end_episode(self, *, truncated: bool) -> None:
        """All seats end together; each comes up once more, to step None."""
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()
        self._open_dead_mask()

    def _step_dead(self, action: int | None) -> None:
        """PettingZoo's dead step: the seat leaves and the next one comes up."""
        agent = self.agent_selection
        self._was_dead_step(action)
        self._masks[agent] = np.zeros(NUM_ACTIONS, np.int8)
        if self.agents:
            self._open_dead_mask()

    def _open_dead_mask(self) -> None:
        """All ones for the seat that is to step None: nothing is asked, and a masked softmax stays finite."""
        self._masks[self.agent_selection].fill(1)


raw_env = SpadesAECEnv


def env(rules: Rules | str | Path | Mapping[str, Any] = "classic", **options: Any) -> SpadesAECEnv:
    """The environment with every check that PettingZoo's stock wrappers add; `raw_env` has them built in.

    Arguments as in `SpadesAECEnv`.
    """
    return raw_env(rules, **options)


def _with_end(rules: Rules, max_deals: int | None) -> Rules:
    """Rules under which every match ends."""
    if max_deals is not None:
        return rules.replace(max_deals=max_deals)
    return rules if rules.max_deals is not None else rules.replace(max_deals=DEFAULT_MAX_DEALS)


def _next_match(seed: int, game: int, match: int) -> tuple[int, int, int]:
    """What `reset` goes on to: the next match, after the last one of a game the first of the next game."""
    return (seed, game, match + 1) if match < HIGHEST_COUNT else (seed, game + 1, 0)


def _checked_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of `reset`, unknown ones refused by name."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise PositionError(f"options are {shown(options)}; allowed: None or a dict with {', '.join(RESET_OPTIONS)}")
    # PettingZoo's own api_test passes just this, to see that options are taken.
    if options.keys() == {"options"} and type(options["options"]) is int and options["options"] == 1:
        return {}
    for name in options:
        if name not in RESET_OPTIONS:
            raise PositionError(f"reset option {shown(name)} does not exist; allowed: {', '.join(RESET_OPTIONS)}")
    return dict(options)


def _action_number(agent: str, action: object) -> int:
    """An action that is not a plain int, such as a NumPy integer, as one."""
    try:
        if isinstance(action, bool):
            raise TypeError
        return operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{agent}: action is {shown(action)}; allowed: an int 0..{NUM_ACTIONS - 1}") from None
