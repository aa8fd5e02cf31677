"""All mutants, and what of the rule text has none."""

from __future__ import annotations

from fnmatch import fnmatchcase

from .mutant import Mutant
from .table_deal import BID_MUTANTS, CARD_MUTANTS, SEAT_MUTANTS
from .table_hidden import DRAFT_MUTANTS, HIDDEN_MUTANTS
from .table_options import OPTION_MUTANTS, PRESET_MUTANTS, RANGE_MUTANTS, REFUSAL_MUTANTS
from .table_play import PLAY_MUTANTS
from .table_scoring import MATCH_MUTANTS, SCORE_MUTANTS

MUTANTS: tuple[Mutant, ...] = (
    *CARD_MUTANTS,
    *SEAT_MUTANTS,
    *BID_MUTANTS,
    *PLAY_MUTANTS,
    *SCORE_MUTANTS,
    *MATCH_MUTANTS,
    *DRAFT_MUTANTS,
    *HIDDEN_MUTANTS,
    *OPTION_MUTANTS,
    *PRESET_MUTANTS,
    *REFUSAL_MUTANTS,
    *RANGE_MUTANTS,
)

SAMPLE = (
    "r2-jokers-swapped",
    "r5-dealer-stays",
    "r14-never-broken",
    "r20-no-bags-of-a-failed-nil",
    "r21-penalty-at-eleven",
    "r25-mercy-exceeded",
    "r28-everybody-exchanges",
    "r31-partners-hand-shown",
)
"""The mutants of the fast test; the rest are run by the slow one."""


def chosen(patterns: tuple[str, ...]) -> tuple[Mutant, ...]:
    """The mutants whose id matches one of `patterns` ("r14-*"), in the order of the table; all for no patterns."""
    for pattern in patterns:
        if not any(fnmatchcase(mutant.id, pattern) for mutant in MUTANTS):
            raise ValueError(f"mutant {pattern!r} does not exist; allowed: an id of the table, or a pattern as 'r14-*'")
    return tuple(mutant for mutant in MUTANTS if not patterns or any(fnmatchcase(mutant.id, one) for one in patterns))
