"""Game records (docs/records.md) of the first deals of an evaluation.

The deals are played again for it: the same agents, seed and cards give the same deals, and whether they did is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from evaluation.play import LogArray
from evaluation.starts import FIRST_ENDING, FIRST_MATCH
from evaluation.work.crew import Desk
from evaluation.work.job import Job
from evaluation.work.part import play_part
from spades_env.engine.state import StateArray
from spades_env.record import record_of, record_text
from spades_env.record.form import MAX_NAME

FIRST_GAME: Final = {"deals": 0, "matches": FIRST_MATCH, "endings": FIRST_ENDING}


def records_of(job: Job, log: LogArray, games: int) -> Iterator[dict[str, Any]]:
    """Yield a record of every deal of games 0 to `games - 1` of `job`, ordered by game, row and deal.

    `log` is that of the evaluation; ValueError if a deal comes out otherwise now, as it may with an agent that is
    given milliseconds.
    """
    agents = Desk([job]).agents(0)
    names = [agent.name for agent in agents]
    seen: list[tuple[StateArray, LogArray]] = []
    part = play_part(job, agents, 0, games, lambda states, deals: seen.append((states.copy(), deals)))
    if _without_luck(part.log) != _without_luck(log[log["game"] < games]):
        raise ValueError(f"{', '.join(names)}: played again for the record, some deal came out otherwise (option ms?)")
    states, deals = (np.concatenate(column) for column in zip(*seen, strict=True))
    for i in np.lexsort((deals["deal"], deals["row"], deals["game"])):
        row, game = int(deals["row"][i]), int(deals["game"][i])
        seats = [names[agent] for agent in job.rows[row][: job.rules.players]]
        yield record_of(
            states,
            int(i),
            origin=(job.seed, FIRST_GAME[job.kind] + game),
            players=[_short(name) for name in seats],
            meta={"kind": job.kind, "game": game, "row": row, "agents": seats},
        )


def _without_luck(log: LogArray) -> bytes:
    """Return the bytes of a log, but for the luck: it is not measured again."""
    log = log.copy()
    log["luck"] = 0
    return log.tobytes()


def _short(name: str) -> str:
    """Return a name that a record has room for; the whole one stands in its `meta`."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def records_text(job: Job, log: LogArray, games: int) -> str:
    """Return those records as JSON Lines."""
    return "".join(f"{record_text(record)}\n" for record in records_of(job, log, games))
