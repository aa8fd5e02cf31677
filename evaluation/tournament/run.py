"""A tournament from its first game to the last: what is kept is taken, the rest is played and kept at once.

The schedule asks for a pair's first n games, whoever plays them and in however many parts; so interruptions, workers
and the size of parts change no result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.base import AgentError
from agents.registry import AGENTS, load_agent
from evaluation.play import LogArray, Tally
from evaluation.tournament.config import Tournament
from evaluation.tournament.contests import Contest, margins_of, pair_contests, team_contests
from evaluation.tournament.schedule import SWINGS, play_schedule
from evaluation.tournament.strength import FloatArray
from evaluation.work.backend import LOCAL, Backend
from evaluation.work.crew import Crew, Desk, open_crew
from evaluation.work.definition import definition_of, digest_of
from evaluation.work.files import files_of
from evaluation.work.job import put_together
from evaluation.work.run import run
from evaluation.work.store import PartStore
from spades_env.engine.batch import default_bag_price

GAMES_FOLDER: Final = "games"

Progress = Callable[[str, int, int], None]
"""Called with (who is playing, games finished so far, games in all at most)."""


@dataclass(frozen=True)
class Played:
    """The games of one contest, and what they took.

    Attributes:
        margins, margins_raw: float64 (games,), the contest's first team minus its second; bags at their price, and as
            scored (of matches, the same).
        log: DEAL_LOG of these games.
        tallies: of each agent of the contest.
    """

    contest: Contest
    margins: FloatArray
    margins_raw: FloatArray
    log: LogArray
    tallies: tuple[Tally, ...]


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
        text, agent = entrant.agent, load_agent(entrant.agent)
        if text.partition(":")[0] in AGENTS:
            same = agent.name  # the level and the options that are not its own
        else:
            same = files_of([text]).get(text, text) if Path(text).exists() else text
        if same in seen:
            raise AgentError(f"agents {seen[same]!r} and {text!r} are the same player; allowed: each once")
        seen[same] = text


def run_tournament(
    tournament: Tournament,
    folder: Path,
    *,
    workers: int = 1,
    backend: str | Backend = LOCAL,
    progress: Progress | None = None,
) -> Outcome:
    """Play what is not kept in `folder` and return everything; an error or Ctrl-C leaves it fit to go on."""
    check_agents(tournament)
    plans, pairs, teams = tournament.pairs(), pair_contests(tournament), team_contests(tournament)
    with open_crew(Desk([contest.job for contest in (*pairs, *teams)]), workers, Backend.of(backend)) as crew:
        hall = _Hall(tournament, folder / GAMES_FOLDER, crew, [*pairs, *teams], progress)

        def margins(p: int, games: int) -> FloatArray:
            found = hall.play(p, games).margins
            return found if pairs[p].agents[0] == plans[p].a else -found

        agents, swing = len(tournament.entrants), SWINGS[tournament.kind]
        _, stopped = play_schedule(plans, agents, tournament.games, tournament.indifference, margins, swing)
        for t, contest in enumerate(teams, len(pairs)):
            hall.play(t, contest.games)
    return Outcome(tournament, hall.played[: len(pairs)], hall.played[len(pairs) :], stopped)


class _Hall:
    """Contests by number, what has been played of each, and the crew that plays them.

    Attributes:
        played: of each contest what it was last asked for.
    """

    def __init__(
        self, tournament: Tournament, folder: Path, crew: Crew, contests: list[Contest], progress: Progress | None
    ) -> None:
        self.played: list[Played] = []
        self._labels = [entrant.label for entrant in tournament.entrants]
        self._price = default_bag_price(tournament.rules)
        self._total = tournament.games + sum(c.games for c in contests[len(tournament.pairs()) :])
        self._folder, self._crew, self._contests, self._progress = folder, crew, contests, progress

    def play(self, number: int, games: int) -> Played:
        """Return the first `games` games of a contest, played as far as they are not kept.

        Contests are asked for in order the first time.
        """
        contest = self._contests[number]
        files = self._crew.desk.files()
        place = self._folder / digest_of(definition_of(contest.job, files))[:16]
        parts = []
        with PartStore(place, contest.job, files) as store:
            for part in run(self._crew, number, games, store=store):
                parts.append(part)
                self._show(contest, number, part.first + part.count)
        whole = put_together(parts, len(contest.job.rows))
        kind = contest.job.kind
        found = Played(
            contest,
            margins_of(whole.log, kind, self._price),
            margins_of(whole.log, kind, None),
            whole.log,
            whole.tallies,
        )
        self.played[number : number + 1] = [found]
        return found

    def _show(self, contest: Contest, number: int, games: int) -> None:
        """Tell the progress that so many games of a contest are there."""
        if self._progress is not None:
            others = sum(len(played.margins) for k, played in enumerate(self.played) if k != number)
            self._progress(" v ".join(self._labels[k] for k in contest.agents), others + games, self._total)
