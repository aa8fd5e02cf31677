"""All mutants, and what of the rule text has none."""

from __future__ import annotations

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


def chosen(ids: tuple[str, ...]) -> tuple[Mutant, ...]:
    """The mutants whose id is, or begins with, one of `ids`, in the order of the table; all for no ids."""
    unknown = [id for id in ids if not any(mutant.id.startswith(id) for mutant in MUTANTS)]
    if unknown:
        raise ValueError(f"mutant {unknown[0]!r} does not exist; allowed: an id of the table or how ids begin")
    return tuple(mutant for mutant in MUTANTS if not ids or any(mutant.id.startswith(id) for id in ids))
