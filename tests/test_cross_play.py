"""`benchmarks.cross_play`: which pairs are played, and what the gap is of."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from agents.registry import load_agent
from benchmarks.cross_play import gap, main, margins_of_pairs
from evaluation.duplicate import evaluate


def test_equal_pairs_are_duplicate_deals_and_none_beats_herself() -> None:
    agents = [load_agent("easy"), load_agent("conservative")]
    margins = margins_of_pairs(agents, agents[1], 40, 3)
    assert set(margins) == {(0, 0), (0, 1), (1, 1)}
    assert (margins[1, 1] == 0).all()
    assert margins[0, 0].tolist() == evaluate("easy", "conservative", deals=40, seed=3).margins.tolist()
    assert margins[0, 0].mean() > margins[0, 1].mean() > 0


def test_the_gap_is_equal_pairs_minus_mixed_ones_deal_by_deal() -> None:
    margins = {(0, 0): np.array([4.0, 0.0]), (0, 1): np.array([1.0, 7.0]), (1, 1): np.array([2.0, 2.0])}
    assert gap(margins).tolist() == [2.0, -6.0]


def test_the_command_prints_the_matrix() -> None:
    told = CliRunner().invoke(main, ["easy", "lowest", "--opponent", "random", "--among", "--deals", "8"])
    assert told.exit_code == 0, told.output
    assert told.output.count("1: easy") == 1
    assert "random" in told.output
    assert "Equal pairs minus mixed pairs" in told.output


@pytest.mark.parametrize("agents", [["easy"], ["easy", "easy"]])
def test_one_agent_is_no_matrix(agents: list[str]) -> None:
    told = CliRunner().invoke(main, agents)
    assert told.exit_code == 2
    assert "allowed: two or more, each once" in told.output
