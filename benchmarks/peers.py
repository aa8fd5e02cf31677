"""The peers' loops: OpenSpiel's `spades` in C++ and from Python, PettingZoo's connect_four.

Each maker returns a `Work` or raises `MissingPeer` with the reason that then stands in the report.
"""

from __future__ import annotations

import importlib
import os
import random
from typing import Any

import numpy as np

from benchmarks.aec import play_episodes
from benchmarks.timing import Work

ROLLOUTS_PER_CALL = 2_000
DECISIONS_PER_DEAL = 56  # 4 bids and 52 cards; their game never ends early


class MissingPeer(Exception):
    """A peer cannot be measured here; the text says why."""


def load_openspiel() -> Any:
    """The module `pyspiel`."""
    try:
        return importlib.import_module("pyspiel")
    except ImportError as error:
        raise MissingPeer(f"OpenSpiel is not installed (pip install open-spiel): {error}") from error


def dealt_state(game: Any, deck: list[int], rng: random.Random) -> Any:
    """A new state of OpenSpiel's game with a random pack handed out."""
    state = game.new_initial_state()
    rng.shuffle(deck)
    for card in deck:
        state.apply_action(card)
    return state


def openspiel_cpp(seed: int) -> Work:
    """Random playouts of dealt states in C++.

    One simulation of their MCTSBot evaluates its root, which RandomRolloutEvaluator does by many rollouts:
    nearly all time goes into cloning the dealt state and playing it out.
    """
    pyspiel = load_openspiel()
    game = pyspiel.load_game("spades")
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS_PER_CALL, seed)
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, seed, False)
    rng, deck = random.Random(seed), list(range(52))

    def work() -> int:
        bot.mcts_search(dealt_state(game, deck, rng))
        return ROLLOUTS_PER_CALL * DECISIONS_PER_DEAL

    return work


def openspiel_python(seed: int, *, written: bool) -> Work:
    """Random play from Python with observation and legal actions at every decision.

    The observation is `observation_tensor`, a new list, or with `written` the faster
    `write_observation_tensor`, which fills an array of the caller.
    """
    game = load_openspiel().load_game("spades")
    rng, deck = random.Random(seed), list(range(52))
    tensor = np.zeros(game.observation_tensor_shape(), np.float32)

    def work() -> int:
        state = dealt_state(game, deck, rng)
        decisions = 0
        while not state.is_terminal():
            if written:
                state.write_observation_tensor(tensor)
            else:
                state.observation_tensor(state.current_player())
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return work


def connect_four(seed: int) -> Work:
    """PettingZoo's `connect_four_v3.env()`, with the wrappers that it comes with."""
    # It would greet on stdout, which may be meant for JSON.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        module = importlib.import_module("pettingzoo.classic.connect_four_v3")
    except ImportError as error:
        raise MissingPeer(f"PettingZoo's connect_four_v3 cannot be imported: {error}") from error
    return play_episodes(module.env(), seed)
