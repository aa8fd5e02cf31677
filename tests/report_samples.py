"""Result files of every kind for the tests of reports and leaderboard: small, made up, and of the writers' form."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from spades_env.rules import Rules

PLACE: dict[str, Any] = {
    "versions": {"spades_env": "1.2.3", "python": "3.11.7", "torch": None},
    "machine": {"processor": "Some CPU", "cores": 2, "system": "Linux x86_64"},
}
STATS: dict[str, Any] = {
    "bid_mean": 2.75,
    "table_bid_mean": 11.0,
    "bid_histogram": [10, 20, 30, 25, 10, 5, 0, 0, 0, 0, 0, 0, 0, 0],
    "nil_attempts": 10,
    "nil_made": 6,
    "nil_rate": 0.1,
    "nil_success": 0.6,
    "blind_nil_attempts": 2,
    "blind_nil_made": 1,
    "set_rate": 0.125,
    "bags_per_deal": 1.5,
}


def interval(mean: float, half: float = 1.0) -> dict[str, float]:
    """An interval of a mean."""
    return {"mean": mean, "low": mean - half, "high": mean + half}


def evaluation(a: str = "hard", b: str = "normal", mean: float = 30.0, **changes: Any) -> dict[str, Any]:
    """What `spades evaluate --json` writes."""
    return {
        "agents": {"A": a, "B": b},
        "margin": interval(mean),
        "margin_raw": interval(mean - 10),
        "match_win_rate": {"mean": 0.75, "low": 0.7, "high": 0.8},
        "deals": 4000,
        "matches": 100,
        "seed": 5,
        "bag_price": -9.0,
        "rules": Rules().to_dict(),
        "preset": "classic",
        "illegal_actions": 0,
        "illegal_actions_by_agent": {"A": 0, "B": 0},
        "ms_per_decision": {"A": 0.93, "B": 0.0006},
        "stats": {"A": copy.deepcopy(STATS), "B": {**STATS, "nil_attempts": 0, "nil_made": 0, "nil_success": None}},
        "match_stats": {"A": None, "B": None},
        "seconds": 12.5,
        **PLACE,
        **changes,
    }


def ladder() -> dict[str, Any]:
    """What `spades ladder` writes: duels by deals, matches and endings, one agent alone, one not available."""

    def duel(a: str, b: str | None, kind: str, **changes: Any) -> dict[str, Any]:
        measured = {
            "margin": interval(28.2) if kind == "deals" and b else None,
            "margin_raw": interval(32.0) if kind == "deals" and b else None,
            "bag_price": -9.0 if kind == "deals" else None,
            "win_rate": None if kind == "deals" or not b else {"mean": 0.6, "low": 0.55, "high": 0.65},
            "stats": {"A": copy.deepcopy(STATS), "B": copy.deepcopy(STATS) if b else None},
            "illegal_actions": {"A": 0, "B": 0} if b else {"A": 0},
            "ms_per_decision": {"A": 0.0006, "B": 0.0001} if b else {"A": 0.0006},
            "seconds": 3.0,
            "code": "c0de00000001",
            "same_code": True,
            **PLACE,
        }
        return {
            "section": "Levels",
            "label": f"{a} v {b}, classic, {kind}",
            "rules_text": "classic",
            "goal": 10.0 if kind == "deals" and b else None,
            "status": "met",
            "reason": None,
            "a": a,
            "b": b,
            "rules": Rules().to_dict(),
            "kind": kind,
            "games": 1000,
            "seed": 0,
            "scores": [350, 490] if kind == "endings" else None,
            "measured": measured,
            **changes,
        }

    duels = [
        duel("easy", "normal", "deals"),
        duel("normal", "easy", "matches", section="Matches"),
        duel("hard", "normal", "endings", section="Matches"),
        duel("normal", None, "deals", section="Alone", status="measured"),
        duel("missing", "normal", "deals", status="not available", reason="no such file", measured=None),
    ]
    return {"command": "spades ladder --only x", "duels": duels, **PLACE}


def tournament(*labels: str, kind: str = "deals") -> dict[str, Any]:
    """What `spades tournament` writes; each agent is 10 points weaker than the one before."""
    names = labels or ("hard", "normal", "easy")
    agents = [
        {
            "rank": k,
            "label": name,
            "agent": name,
            "strength": interval(10.0 - 10 * k, 2.0),
            "strength_raw": interval(11.0 - 10 * k, 2.0) if kind == "deals" else None,
            "rating": {"mu": 30.0 - k, "sigma": 1.25, "order_spread": 0.5},
            "seat_strength": None,
            "seat_rating": None,
            "games": 800,
            "illegal_actions": 0,
            "ms_per_decision": 0.01,
            "stats": copy.deepcopy(STATS),
        }
        for k, name in enumerate(names, 1)
    ]
    pairs = [
        {"a": a, "b": b, "games": 400, "margin": interval(10.0 * (k - j)), "margin_raw": None, "expected": 10.0}
        for j, a in enumerate(names)
        for k, b in enumerate(names)
        if j < k
    ]
    neighbours = [
        {"upper": a, "lower": b, "difference": 10.0, "standard_error": 1.0, "doubt": 0.0125, "settled": True}
        for a, b in pairwise(names)
    ]
    return {
        "command": "spades tournament hard normal easy",
        "kind": kind,
        "rules": Rules().to_dict(),
        "preset": "classic",
        "rules_text": "classic",
        "seed": 3,
        "games": 1200,
        "reference": None,
        "code": "c0de00000002",
        "agents": agents,
        "neighbours": neighbours,
        "pairs": pairs,
        **PLACE,
    }


def benchmark(scale: float = 1.0) -> dict[str, Any]:
    """What `spades benchmark` writes: a task by partners, one with calibration, one that an agent cannot do."""

    def task(name: str, unit: str, higher_is_better: bool) -> dict[str, Any]:
        return {
            "id": name,
            "version": 2,
            "title": f"Title of {name}",
            "definition": f"Definition of {name}, against `normal`.",
            "metric": "margin",
            "unit": unit,
            "higher_is_better": higher_is_better,
            "rules": "classic",
            "games": 100,
            "of": "deals",
            "suites": ["core", "full"],
        }

    def result(agent: str, name: str, headline: Any, figures: Any, reason: str | None = None) -> dict[str, Any]:
        return {
            "agent": agent,
            "task": name,
            "task_version": 2,
            "headline": headline,
            "reason": reason,
            "n": 100,
            "figures": figures,
            "illegal_actions": 0,
            "ms_per_decision": 0.5,
            "seconds": 1.0,
            "code": "c0de00000003",
            **PLACE,
        }

    partners = {"self_play": interval(4.0), "by_partner": {"easy": interval(-3.0), "random": interval(-9.0)}}
    bins = [{"predicted": 0.25, "observed": 0.3, "n": 40}, {"predicted": 0.75, "observed": 0.7, "n": 60}]
    return {
        "command": "spades benchmark normal hard",
        "suite": "core",
        "scale": scale,
        "comparable": scale == 1.0,
        "reference": "normal",
        "tasks": [task("cross_play", "points per deal", False), task("nil_decision", "points per decision", False)],
        "results": [
            result("normal", "cross_play", interval(2.0), partners),
            result("hard", "cross_play", interval(3.0), partners),
            result("normal", "nil_decision", interval(1.5), {"calibration": {"brier": 0.2, "ece": 0.05, "bins": bins}}),
            result("hard", "nil_decision", None, {}, "the agent does not say"),
        ],
        **PLACE,
    }


def exploit() -> list[dict[str, Any]]:
    """What `spades exploit --json` writes of small games: two agents, one of them sampled, in two games."""
    return [
        {
            "kind": "exact",
            "agent": agent,
            "game": game,
            "exploitability": 20.25 + k,
            "seats": [{"seat": seat, "best_response": 20.0, "agent": -0.25, "gain": 20.25 + k} for seat in range(2)],
            "players": 2,
            "pack_size": 8,
            "hand_size": 3,
            "deals": 560,
            "bag_price": -9.0,
            "samples": samples,
            "seed": 11,
            "information_sets": 8000,
            "illegal_actions": 0,
            "rules": Rules.preset("two_player").to_dict(),
            "seconds": 1.5,
            "code": "c0de00000004",
            **PLACE,
        }
        for k, (agent, game, samples) in enumerate(
            (("random", "two_6", None), ("random", "two_8", None), ("easy", "two_8", 32))
        )
    ]


def response(agent: str = "lowest") -> dict[str, Any]:
    """What `spades exploit AGENT --budget N --json` writes."""
    return {
        "kind": "trained",
        "agent": agent,
        "exploitability_at_least": 57.9,
        "margin": interval(58.2, 0.3),
        "margin_raw": interval(60.0, 0.3),
        "budget": 60_000,
        "deals": 10_000,
        "bag_price": -9.0,
        "seed": 12,
        "rules": "classic",
        "start": None,
        "minutes": 2.5,
        "policy": "runs/response-lowest",
        "code": "c0de00000004",
        **PLACE,
    }


def training(name: str = "first", seed: int = 1) -> dict[str, Any]:
    """The results.json of a run: the first evaluation far below the others, rates from the second on."""

    def against(mean: float) -> dict[str, Any]:
        return {"easy": {"margin": interval(mean), "margin_raw": interval(mean), "stats": copy.deepcopy(STATS)}}

    history = [
        {
            "deals": 45_000 * k,
            "minutes": 1.0 * k,
            "opponents": against(-200.0 if k == 0 else 2.0 * k),
            "deals_log": {"nil_rate": 0.02, "nil_success": None, "set_rate": 0.3} if k else {},
        }
        for k in range(4)
    ]
    final = {"deals": 135_000, "minutes": 3.0, "opponents": against(6.0)}
    return {"config": {"name": name, "seed": seed, "rules": "classic"}, "history": history, "final": final, **PLACE}


def write(path: Path, data: Any) -> Path:
    """Write `data` as JSON to `path`, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path
