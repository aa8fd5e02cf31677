"""Task beliefs: what an agent's opinion about the unseen cards costs against the truth."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.base import AgentError, Believer, FloatArray, decision_keys
from agents.search.calibration import Calibration, CalibrationError, UniformLayouts, calibrate
from evaluation.asking import asked
from evaluation.intervals import mean_interval
from evaluation.suite.reference import cards_played
from evaluation.suite.tables import dealer
from evaluation.suite.task import Outcome, Run, Share, Task
from spades_env.cards import NUM_CARDS
from spades_env.engine.state import StateArray
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act

TRICKS: Final = (0, 4, 8)


def beliefs(run: Run) -> Outcome:
    """Log-loss of her beliefs, and of all layouts alike beside it."""
    if not isinstance(run.agent, Believer):
        return Outcome(None, 0, reason="the agent does not say (agents.base.Believer)")
    found: list[Calibration] = []
    alike: list[Calibration] = []
    for k, trick in enumerate(TRICKS):
        states = dealer(Rules())(0, run.games)
        cards_played(states, 4 * trick)
        views = empty_views(len(states))
        views_to_act(states, views)
        try:
            said = _asked(run, run.agent, states, views, run.part(k, len(TRICKS)))
            found.append(calibrate(views, states, _method(said)))
        except AgentError as error:
            return Outcome(None, 0, reason=str(error))
        except CalibrationError as error:
            return Outcome(None, 0, reason=f"after {trick} tricks: {error}")
        alike.append(calibrate(views, states, UniformLayouts()))
    losses, uniform = _losses(found), _losses(alike)
    if not np.isfinite(losses).all():
        return Outcome(None, 0, reason="she called the true place of a card impossible: infinite log-loss")
    figures: dict[str, Any] = {
        "uniform": mean_interval(uniform).to_dict(),
        "gain_over_uniform": mean_interval(uniform - losses).to_dict(),
        "by_trick": {str(trick): each.log_loss for trick, each in zip(TRICKS, found, strict=True)},
        "uniform_by_trick": {str(trick): each.log_loss for trick, each in zip(TRICKS, alike, strict=True)},
    }
    return Outcome(mean_interval(losses), run.games, figures=figures)


def _asked(run: Run, agent: Believer, states: StateArray, views: StateArray, share: Share) -> FloatArray:
    """Return what she says of every one of `views`, float64 (n, 54, 4)."""
    keys = np.empty(len(states), np.uint64)
    decision_keys(states, keys)
    out = np.zeros((len(views), NUM_CARDS, 4))
    for first in range(0, len(views), run.batch_size):
        rows = slice(first, first + run.batch_size)
        said = asked(run.agent.name, agent.beliefs, views[rows].copy(), keys[rows].copy())
        if said.shape != out[rows].shape:
            raise CalibrationError(f"beliefs have shape {said.shape}; allowed: {out[rows].shape}")
        out[rows] = said
        share(min(1.0, (first + run.batch_size) / len(views)))
    return out


def _method(said: FloatArray) -> Any:
    """Return beliefs already given as a method for `calibrate`."""

    def method(views: StateArray, i: int, out: FloatArray) -> None:
        out[:] = said[i]

    return method


def _losses(found: list[Calibration]) -> FloatArray:
    """Return nats per unseen card of every deal, the mean over TRICKS, float64 (n,)."""
    result: FloatArray = np.mean([each.losses / each.cards for each in found], axis=0)
    return result


BELIEFS: Final = Task(
    id="beliefs",
    version=1,
    title="Beliefs about hidden cards",
    definition=(
        "Deals that `normal` bids and plays in all seats. The seat that leads to trick number "
        f"{', '.join(map(str, TRICKS))} (from 0) is asked where the unseen cards are (`agents.base.Believer`). "
        "Log-loss of the truth in nats per unseen card, the mean over the three tricks of a deal; `uniform` is that of "
        "a seat to whom all layouts that fit the cards seen are alike. Agents that do not say have no result. `hard` "
        "and `expert` say what bids and plays tell them over 1,000 worlds."
    ),
    metric="log-loss",
    unit="nats per card",
    higher_is_better=False,
    rules="classic",
    rule_set=Rules(),
    games=100,
    of="deals",
    decisions=len(TRICKS),
    play=beliefs,
    core=False,
)
