"""Ratings by OpenSkill's Plackett-Luce model (Weng and Lin 2011, "A Bayesian approximation method for online ranking").

Fed are wins, draws and losses of duplicate games, whatever the margin. Such ratings depend on the order of games, so
they are made in several shuffled orders and averaged; how far the orders differ is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from openskill.models import PlackettLuce

from evaluation.tournament.strength import FloatArray

SHUFFLES: Final = 8
PURPOSE_SHUFFLES: Final = 3
"""Distinguishes, of one seed, what is drawn here from what the other modules of this folder draw."""


@dataclass(frozen=True)
class Rating:
    """A rating on OpenSkill's scale, which begins at 25 with an uncertainty of 25/3.

    Attributes:
        mu, sigma: rating and its uncertainty as the model sees it, means over the orders.
        order_spread: standard deviation of the rating between the orders.
    """

    mu: float
    sigma: float
    order_spread: float

    def to_dict(self) -> dict[str, float]:
        """Return the attributes by name."""
        return {"mu": self.mu, "sigma": self.sigma, "order_spread": self.order_spread}


def rate(teams: npt.NDArray[np.integer], margins: FloatArray, agents: int, seed: int) -> list[Rating]:
    """Return the rating of every agent.

    `teams`: int (n, 2, size), the members of the two teams of each game; a pair plays as teams of one. `margins`,
    float64 (n,): above 0 the first team has won the game, at 0 it is a draw.
    """
    rng = np.random.default_rng([seed, PURPOSE_SHUFFLES])
    found = np.array([_rate_once(teams, margins, agents, rng.permutation(len(margins))) for _ in range(SHUFFLES)])
    mean, spread = found.mean(axis=0), found[:, :, 0].std(axis=0, ddof=1)
    return [Rating(float(mean[k, 0]), float(mean[k, 1]), float(spread[k])) for k in range(agents)]


def _rate_once(
    teams: npt.NDArray[np.integer], margins: FloatArray, agents: int, order: npt.NDArray[np.int64]
) -> list[tuple[float, float]]:
    """Return (mu, sigma) of every agent after the games in the order given."""
    # Agents do not change while they play: without tau the uncertainty falls for good.
    model = PlackettLuce(tau=0.0)
    ratings: list[Any] = [model.rating() for _ in range(agents)]
    members = teams.tolist()
    signs = np.sign(margins).tolist()
    for game in order.tolist():
        first, second = members[game]
        sides = [[ratings[k] for k in first], [ratings[k] for k in second]]
        # Higher scores are better and equal ones draw.
        after = model.rate(sides, scores=[signs[game], 0.0])
        for side, rated in zip((first, second), after, strict=True):
            for k, rating in zip(side, rated, strict=True):
                ratings[k] = rating
    return [(rating.mu, rating.sigma) for rating in ratings]
