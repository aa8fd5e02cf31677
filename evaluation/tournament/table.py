"""What a tournament came to, as plain values: the JSON contract, described in docs/tournament.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.intervals import Interval, mean_interval, pair_win_interval
from evaluation.machine import machine, versions
from evaluation.play import Tally
from evaluation.statistics import deal_statistics
from evaluation.tournament.config import Tournament
from evaluation.tournament.rating import Rating, rate
from evaluation.tournament.run import Outcome
from evaluation.tournament.schedule import SWINGS, Neighbours, ranking, ranking_doubts
from evaluation.tournament.strength import (
    FloatArray,
    Games,
    bootstrap,
    games_of_pairs,
    games_of_teams,
    half_widths,
    strengths,
)
from evaluation.work.definition import code_hash
from spades_env.engine.batch import default_bag_price

Found = dict[str, Any]


def found_by(outcome: Outcome) -> Found:
    """Return everything worth knowing of an outcome."""
    tournament = outcome.tournament
    margins = _margins(outcome, raw=False)
    strength = strengths(_games(outcome, margins))
    order = ranking(strength)
    plans, swing = tournament.pairs(), SWINGS[tournament.kind]
    doubts = ranking_doubts(plans, len(tournament.entrants), margins, tournament.indifference, swing)
    agents = _agents(outcome, margins)
    return {
        "kind": tournament.kind,
        "rules": tournament.rules.to_dict(),
        "preset": tournament.rules.preset_name,
        "rules_text": tournament.rules_text,
        "seed": tournament.seed,
        "bag_price": _bag_price(tournament),
        "reference": tournament.reference,
        "indifference": tournament.indifference,
        "games_allowed": tournament.games,
        "games": sum(map(len, margins)),
        "seat_games": sum(len(played.margins) for played in outcome.teams),
        "stopped": outcome.stopped,
        "misfit": _misfit(outcome, margins, strength),
        "agents": [{"rank": rank, **agents[k]} for rank, k in enumerate(order, 1)],
        "neighbours": [_neighbours(outcome, doubt) for doubt in doubts],
        "pairs": [_pair(outcome, p, margins[p], strength) for p in range(len(margins))],
        "code": code_hash(),
        "versions": versions(),
        "machine": machine(),
    }


def _bag_price(tournament: Tournament) -> float | None:
    """Return the points of a bag in margins; matches count bags as scored."""
    return default_bag_price(tournament.rules) if tournament.kind == "deals" else None


def _margins(outcome: Outcome, *, raw: bool) -> list[FloatArray]:
    """Return agent a minus agent b of every pair's games."""
    found = []
    for pair, played in zip(outcome.tournament.pairs(), outcome.pairs, strict=True):
        values = played.margins_raw if raw else played.margins
        found.append(values if played.contest.agents[0] == pair.a else -values)
    return found


def _games(outcome: Outcome, margins: Sequence[FloatArray]) -> Games:
    pairs = [(pair.a, pair.b) for pair in outcome.tournament.pairs()]
    return games_of_pairs(pairs, len(outcome.tournament.entrants), margins)


def _agents(outcome: Outcome, margins: Sequence[FloatArray]) -> list[Found]:
    """Return what is known of each agent, in the order of the list."""
    entrants = outcome.tournament.entrants
    is_deals = outcome.tournament.kind == "deals"
    strength = _intervals(outcome, _games(outcome, margins))
    raw = _intervals(outcome, _games(outcome, _margins(outcome, raw=True))) if is_deals else None
    ratings = _pair_ratings(outcome, margins)
    seats, seat_ratings = _seats(outcome)
    return [
        {
            "label": entrant.label,
            "agent": entrant.agent,
            "strength": strength[k].to_dict(),
            "strength_raw": None if raw is None else raw[k].to_dict(),
            "rating": ratings[k].to_dict(),
            "seat_strength": None if seats is None else seats[k].to_dict(),
            "seat_rating": None if seat_ratings is None else seat_ratings[k].to_dict(),
            "games": sum(len(played.margins) for played in outcome.pairs if k in played.contest.agents),
            **_decisions(outcome, k),
            "stats": _statistics(outcome, k),
        }
        for k, entrant in enumerate(entrants)
    ]


def _intervals(outcome: Outcome, games: Games) -> list[Interval]:
    """Return the strengths with their intervals, the reference agent, or the mean, at 0."""
    mean, samples = strengths(games), bootstrap(games, outcome.tournament.seed)
    labels = [entrant.label for entrant in outcome.tournament.entrants]
    if outcome.tournament.reference is not None:
        zero = labels.index(outcome.tournament.reference)
        mean, samples = mean - mean[zero], samples - samples[:, [zero]]
    half = half_widths(samples)
    return [Interval(float(m), float(m - h), float(m + h)) for m, h in zip(mean, half, strict=True)]


def _pair_ratings(outcome: Outcome, margins: Sequence[FloatArray]) -> list[Rating]:
    """Return ratings by the games of pairs, a pair being two teams of one."""
    pairs = np.array([(pair.a, pair.b) for pair in outcome.tournament.pairs()])
    teams = np.repeat(pairs, [len(values) for values in margins], axis=0)[:, :, None]
    return rate(teams, np.concatenate(list(margins)), len(outcome.tournament.entrants), outcome.tournament.seed)


def _seats(outcome: Outcome) -> tuple[list[Interval] | None, list[Rating] | None]:
    """Return strengths and ratings by the games of mixed teams, None without such games."""
    if not outcome.teams:
        return None, None
    line_ups = np.array([played.contest.agents for played in outcome.teams])
    lengths = [len(played.margins) for played in outcome.teams]
    margins = np.concatenate([played.margins for played in outcome.teams])
    games = games_of_teams(line_ups, len(outcome.tournament.entrants), [played.margins for played in outcome.teams])
    teams = np.repeat(line_ups[:, [[0, 2], [1, 3]]], lengths, axis=0)
    ratings = rate(teams, margins, len(outcome.tournament.entrants), outcome.tournament.seed)
    return _intervals(outcome, games), ratings


def _decisions(outcome: Outcome, agent: int) -> Found:
    """Return what an agent's decisions in all games came to."""
    total = Tally()
    for played in (*outcome.pairs, *outcome.teams):
        for k, tally in zip(played.contest.agents, played.tallies, strict=True):
            if k == agent:
                total += tally
    return {"illegal_actions": total.illegal, "ms_per_decision": total.ms_per_decision}


def _statistics(outcome: Outcome, agent: int) -> Found:
    """Return what happened to an agent's teams in the games of her pairs."""
    logs, teams = [], []
    for played in outcome.pairs:
        if agent in played.contest.agents:
            first = played.log["team_of_a"].astype(np.int64)
            logs.append(played.log)
            teams.append(first if played.contest.agents[0] == agent else 1 - first)
    return deal_statistics(np.concatenate(logs), np.concatenate(teams), _bag_price(outcome.tournament))


def _misfit(outcome: Outcome, margins: Sequence[FloatArray], strength: FloatArray) -> float:
    """Return the root mean square, over pairs, of the mean margin less the difference of the strengths."""
    pairs = outcome.tournament.pairs()
    off = [values.mean() - (strength[p.a] - strength[p.b]) for p, values in zip(pairs, margins, strict=True)]
    return float(np.sqrt(np.mean(np.square(off))))


def _neighbours(outcome: Outcome, found: Neighbours) -> Found:
    entrants = outcome.tournament.entrants
    return {
        "upper": entrants[found.upper].label,
        "lower": entrants[found.lower].label,
        "difference": found.difference,
        "standard_error": found.error,
        "doubt": found.doubt,
        "settled": found.settled,
    }


def _pair(outcome: Outcome, p: int, margins: FloatArray, strength: FloatArray) -> Found:
    """Return what a pair's games came to."""
    pair = outcome.tournament.pairs()[p]
    entrants = outcome.tournament.entrants
    is_deals = outcome.tournament.kind == "deals"
    return {
        "a": entrants[pair.a].label,
        "b": entrants[pair.b].label,
        "games": len(margins),
        "margin": (mean_interval(margins) if is_deals else _share_interval(margins)).to_dict(),
        "margin_raw": mean_interval(_margins(outcome, raw=True)[p]).to_dict() if is_deals else None,
        "won": int((margins > 0).sum()),
        "drawn": int((margins == 0).sum()),
        "lost": int((margins < 0).sum()),
        "expected": float(strength[pair.a] - strength[pair.b]),
    }


def _share_interval(margins: FloatArray) -> Interval:
    """Return the share of matches won less the share lost, by Wilson's interval of the share won."""
    won = pair_win_interval((1.0 + margins) / 2.0)
    return Interval(2.0 * won.mean - 1.0, 2.0 * won.low - 1.0, 2.0 * won.high - 1.0)
