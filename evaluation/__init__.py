"""Duplicate deals and matches, statistics, intervals; `evaluation.duplicate.evaluate` is the door."""

__spades_env__ = True
