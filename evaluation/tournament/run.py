"""A tournament from its first game to the last: what is kept is taken, the rest is played and kept at once.

The schedule asks for a pair's first n games, whoever plays them and in however many parts; so interruptions, workers
and the size of parts change no result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from agents.base import AgentError
from agents.registry import AGENTS, load_agent
from evaluation.play import LogArray, Tally
from evaluation.tournament.config import Tournament
from evaluation.tournament.contests import Contest, first_games, margins_of, pair_contests, team_contests
from evaluation.tournament.schedule import play_schedule
from evaluation.tournament.store import Kept, Store, files_digest
from evaluation.tournament.strength import FloatArray
from evaluation.work.crew import Crew, Desk, open_crew
from evaluation.work.job import Part, put_together
from spades_env.engine.batch import default_bag_price

SECONDS_A_PART: Final = 2.0
"""A part takes about this long: what an interruption may cost."""
FIRST_PART: Final = 16
"""Games of a part before its pace is known."""
MOST_PART: Final = 4096

Progress = Callable[[str, int, int], None]
"""Called with (what is being played, games finished so far, games in all at most)."""


@dataclass(frozen=True)
class Played:
    """The games of one contest, and what it took.

    Attributes:
        margins, margins_raw: float64 (games,), the contest's first team minus its second; bags at their price, and as
            scored (of matches, the same).
        log: DEAL_LOG of these games.
        tallies: of each agent of the contest, over all that was played of it.
        headers: where and by what each part was played.
    """

    contest: Contest
    margins: FloatArray
    margins_raw: FloatArray
    log: LogArray
    tallies: tuple[Tally, ...]
    headers: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Outcome:
    """Everything that was played; `pairs` in the order of `Tournament.pairs`, and why no more of them."""

    tournament: Tournament
    pairs: list[Played]
    teams: list[Played]
    stopped: str


def check_agents(tournament: Tournament) -> None:
    """Load every agent once; AgentError if one is not available or two are the same player."""
    seen: dict[str, str] = {}
    for entrant in tournament.entrants:
        agent = load_agent(entrant.agent)
        named = entrant.agent.partition(":")[0] in AGENTS
        same = files_digest(entrant.agent) or (agent.name if named else entrant.agent)
        if same in seen:
            raise AgentError(f"agents {seen[same]!r} and {entrant.agent!r} are the same player; allowed: each once")
        seen[same] = entrant.agent


def run_tournament(
    tournament: Tournament, store: Store, *, workers: int = 1, progress: Progress | None = None
) -> Outcome:
    """Play what is not in `store` and return everything; PartError and KeyboardInterrupt leave it fit to go on."""
    check_agents(tournament)
    pairs, teams = pair_contests(tournament), team_contests(tournament)
    desk = Desk([contest.job for contest in (*pairs, *teams)])
    total = tournament.games + sum(contest.games for contest in teams)
    with open_crew(desk, workers) as crew:
        hall = _Hall(tournament, store, crew, [*pairs, *teams], total, progress)

        def margins(p: int, games: int) -> FloatArray:
            found = hall.play(p, games)
            pair = tournament.pairs()[p]
            return found.margins if pairs[p].agents[0] == pair.a else -found.margins

        plans = tournament.pairs()
        _, stopped = play_schedule(plans, len(tournament.entrants), tournament.games, tournament.indifference, margins)
        played = [hall.play(p, hall.games[p]) for p in range(len(pairs))]
        found = [hall.play(len(pairs) + t, contest.games) for t, contest in enumerate(teams)]
    return Outcome(tournament, played, found, stopped)


class _Hall:
    """Contests by number, the games of each asked for so far, and the crew that plays them."""

    def __init__(
        self,
        tournament: Tournament,
        store: Store,
        crew: Crew,
        contests: list[Contest],
        total: int,
        progress: Progress | None,
    ) -> None:
        self.games = [0] * len(contests)
        self._tournament, self._store, self._crew = tournament, store, crew
        self._contests, self._total, self._progress = contests, total, progress
        self._kept: dict[int, list[Kept]] = {}
        self._pace: dict[int, float] = {}

    def play(self, number: int, games: int) -> Played:
        """Return the first `games` games of a contest, played as far as they were not."""
        contest = self._contests[number]
        kept = self._kept.setdefault(number, self._store.get(contest.job, contest.first))
        held = sum(part.count for part, _ in kept)
        for part in self._parts(number, contest.first + held, contest.first + games):
            kept.append(self._store.put(contest.job, part))
            self._learn(contest, part)
            self._show(number, part.first + part.count - contest.first)
        self._show(number, games)
        return self._played(contest, kept, games)

    def _played(self, contest: Contest, kept: list[Kept], games: int) -> Played:
        whole = put_together([part for part, _ in kept], len(contest.job.rows))
        log = first_games(whole.log, contest.first + games)
        kind, price = self._tournament.kind, default_bag_price(self._tournament.rules)
        return Played(
            contest,
            margins_of(log, kind, price),
            margins_of(log, kind, None),
            log,
            whole.tallies,
            tuple(header for _, header in kept),
        )

    def _parts(self, number: int, start: int, stop: int) -> Iterator[Part]:
        """Yield games `start` to `stop` of a contest in parts, in order; as many are in work as there are workers."""
        waiting: deque[Future[Part]] = deque()
        while start < stop or waiting:
            while start < stop and len(waiting) < self._crew.workers:
                count = self._size(self._contests[number], stop - start)
                waiting.append(self._crew.submit(number, start, count))
                start += count
            yield waiting.popleft().result()

    def _size(self, contest: Contest, left: int) -> int:
        """Return how many games the next part has."""
        paces = [self._pace[agent] for agent in contest.agents if agent in self._pace]
        if len(paces) < len(contest.agents):
            return min(left, FIRST_PART)
        seconds = sum(paces) * len(contest.job.rows)
        share = -(-left // self._crew.workers)
        return max(1, min(share, MOST_PART, int(SECONDS_A_PART / max(seconds, 1e-9))))

    def _learn(self, contest: Contest, part: Part) -> None:
        """Note how many seconds an agent's seats took in one row of a game."""
        for agent, tally in zip(contest.agents, part.tallies, strict=True):
            self._pace[agent] = tally.seconds / (part.count * len(contest.job.rows))

    def _show(self, number: int, games: int) -> None:
        """Note that so many games of a contest are there, and tell the progress."""
        self.games[number] = games
        if self._progress is not None:
            names = " v ".join(self._tournament.entrants[k].label for k in self._contests[number].agents)
            self._progress(names, sum(self.games), self._total)
