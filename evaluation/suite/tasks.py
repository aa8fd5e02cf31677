"""The tasks of the suite, in the order of reports, and the choice of some of them."""

from __future__ import annotations

from typing import Final

from evaluation.patterns import pattern
from evaluation.suite.beliefs import BELIEFS
from evaluation.suite.duel_tasks import DUELS
from evaluation.suite.endgames import ENDGAMES
from evaluation.suite.exploit import EXPLOIT_SMALL, EXPLOIT_TRAINED
from evaluation.suite.nil_decision import NIL_DECISION
from evaluation.suite.nil_play import NIL_PLAY
from evaluation.suite.partners import PARTNER_TASKS
from evaluation.suite.task import Task

SUITES: Final = ("core", "full")
ORDER: Final = (
    "bid_only",
    "play_only",
    "nil_decision",
    "nil_cover",
    "nil_attack",
    "endgames",
    "bag_control",
    "one_deal",
    "match",
    "endings",
    "ad_hoc",
    "cross_play",
    "two_player",
    "beliefs",
    "transfer",
    "exploit_small",
    "exploit_trained",
)

_TASKS: Final = (
    *DUELS,
    *PARTNER_TASKS,
    *NIL_PLAY,
    NIL_DECISION,
    ENDGAMES,
    BELIEFS,
    EXPLOIT_SMALL,
    EXPLOIT_TRAINED,
)
TASKS: Final[tuple[Task, ...]] = tuple(sorted(_TASKS, key=lambda task: ORDER.index(task.id)))


class SuiteError(ValueError):
    """A choice of tasks that is none; the message says what there is."""


def choose_tasks(suite: str = "full", only: str | None = None) -> list[Task]:
    """Return the tasks of a suite whose id has a match of the regular expression `only`."""
    if suite not in SUITES:
        raise SuiteError(f"suite is {suite!r}; allowed: {', '.join(SUITES)}")
    tasks = [task for task in TASKS if suite in task.suites]
    if only is None:
        return tasks
    try:
        wanted = pattern(only)
    except ValueError as error:
        raise SuiteError(f"only: {error}") from None
    chosen = [task for task in tasks if wanted.search(task.id)]
    if not chosen:
        raise SuiteError(f"only is {only!r}, which no task of {suite} matches: {', '.join(task.id for task in tasks)}")
    return chosen
