"""An agent of one's own, measured against ours: `python docs/examples/evaluate_mine.py`."""

from __future__ import annotations

import numpy as np

from evaluation.duplicate import evaluate
from spades_env.actions import NUM_ACTIONS
from spades_env.view import write_view_masks


class FirstLegal:
    """Anything with a name and `act` is an agent: a legal action for each view, and no memory between calls."""

    name = "first legal action"

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        masks = np.empty((len(views), NUM_ACTIONS), np.int8)
        write_view_masks(views, masks)
        return masks.argmax(axis=1).astype(np.int16)


def main(opponent: str = "easy", deals: int = 1000) -> float:
    """Margin per deal, bags at -9 points; every deal is played twice, with the teams changed."""
    margin = evaluate(FirstLegal(), opponent, deals=deals).margin
    print(
        f"{margin.mean:+.1f} points per deal against {opponent}, 95 % interval {margin.low:+.1f} to {margin.high:+.1f}"
    )
    return margin.mean


if __name__ == "__main__":
    main()
