"""The kinds of result files, the keys that tell them apart, and what each kind's file must have.

More is let pass, as the commands may add fields. The pages of docs about the commands describe them.
"""

from __future__ import annotations

from typing import Any, Final

from evaluation.report.shape import NUMBER, Each, Maybe

EVALUATION, LADDER, TOURNAMENT, BENCHMARK, EXPLOIT, TRAINING, RECORDS = (
    "evaluation",
    "ladder",
    "tournament",
    "benchmark",
    "exploit",
    "training",
    "records",
)
"""The kinds: of `spades evaluate`, `ladder`, `tournament`, `benchmark`, `exploit`, `train`, and of game records."""

INTERVAL: Final = {"mean": NUMBER, "low": NUMBER, "high": NUMBER}
STATS: Final = {
    "bid_mean": NUMBER,
    "table_bid_mean": NUMBER,
    "bid_histogram": [int],
    "nil_attempts": int,
    "nil_made": int,
    "nil_rate": NUMBER,
    "nil_success": Maybe(NUMBER),
    "blind_nil_attempts": int,
    "blind_nil_made": int,
    "set_rate": Maybe(NUMBER),
    "bags_per_deal": NUMBER,
}
SEAT_STATS: Final = {
    "bid_mean": NUMBER,
    "tricks_mean": NUMBER,
    "nil_rate": NUMBER,
    "nil_success": Maybe(NUMBER),
    "short_rate": Maybe(NUMBER),
}
PLACE: Final = {"versions": Each((str, type(None))), "machine": {"processor": str, "cores": int, "system": str}}
TIMES: Final = Each((*NUMBER, type(None)))

FORMS: Final[dict[str, Any]] = {
    EVALUATION: {
        "agents": Maybe({"A": str, "B": str}),
        "line_up": Maybe([str]),
        "margin": INTERVAL,
        "margin_raw": INTERVAL,
        "control": Maybe(
            {
                "margin": INTERVAL,
                "playouts": int,
                "variance_ratio": NUMBER,
                "reference": Maybe({"pairs": [[str]], "plays": int, "deals": int}),
            }
        ),
        "seat_stats": Maybe([SEAT_STATS]),
        "ms_per_decision_by_seat": Maybe([(*NUMBER, type(None))]),
        "match_win_rate": Maybe(INTERVAL),
        "deals": int,
        "matches": int,
        "seed": int,
        "bag_price": NUMBER,
        "rules": dict,
        "preset": Maybe(str),
        "illegal_actions": int,
        "ms_per_decision": Maybe(TIMES),
        "stats": {"A": STATS, "B": STATS},
        "seconds": NUMBER,
        "command": Maybe(str),
        "half_width_asked": Maybe(NUMBER),
        "code": Maybe(str),
        **PLACE,
    },
    LADDER: {
        "command": str,
        "duels": [
            {
                "section": str,
                "label": str,
                "rules_text": str,
                "a": str,
                "b": Maybe(str),
                "rules": dict,
                "kind": str,
                "games": int,
                "seed": int,
                "goal": Maybe(NUMBER),
                "scores": Maybe([int]),
                "status": str,
                "reason": Maybe(str),
                "measured": Maybe(
                    {
                        "margin": Maybe(INTERVAL),
                        "margin_raw": Maybe(INTERVAL),
                        "win_rate": Maybe(INTERVAL),
                        "stats": {"A": STATS, "B": Maybe(STATS)},
                        "illegal_actions": Each(int),
                        "ms_per_decision": TIMES,
                        "seconds": NUMBER,
                        "code": str,
                        **PLACE,
                    }
                ),
            }
        ],
        **PLACE,
    },
    TOURNAMENT: {
        "command": str,
        "kind": str,
        "rules": dict,
        "rules_text": str,
        "seed": int,
        "games": int,
        "reference": Maybe(str),
        "code": Maybe(str),
        "agents": [
            {
                "rank": int,
                "label": str,
                "agent": str,
                "strength": INTERVAL,
                "strength_raw": Maybe(INTERVAL),
                "rating": {"mu": NUMBER, "sigma": NUMBER},
                "seat_strength": Maybe(INTERVAL),
                "seat_rating": Maybe({"mu": NUMBER, "sigma": NUMBER}),
                "games": int,
                "illegal_actions": int,
                "ms_per_decision": Maybe(NUMBER),
                "stats": STATS,
            }
        ],
        "neighbours": [{"upper": str, "lower": str, "difference": NUMBER, "doubt": NUMBER, "settled": bool}],
        "pairs": [{"a": str, "b": str, "games": int, "margin": INTERVAL}],
        **PLACE,
    },
    BENCHMARK: {
        "command": str,
        "suite": str,
        "scale": NUMBER,
        "tasks": [
            {
                "id": str,
                "version": int,
                "title": str,
                "definition": str,
                "metric": str,
                "unit": str,
                "higher_is_better": bool,
                "games": int,
                "of": str,
            }
        ],
        "results": [
            {
                "agent": str,
                "task": str,
                "task_version": int,
                "headline": Maybe(INTERVAL),
                "reason": Maybe(str),
                "figures": dict,
                "illegal_actions": int,
                "ms_per_decision": Maybe(NUMBER),
                "seconds": NUMBER,
                "code": str,
                **PLACE,
            }
        ],
        **PLACE,
    },
    EXPLOIT: {"results": [{"kind": str}]},
    TRAINING: {
        "config": {"name": str, "seed": int},
        "history": [
            {
                "deals": int,
                "minutes": NUMBER,
                "opponents": Each({"margin": INTERVAL, "margin_raw": Maybe(INTERVAL), "stats": STATS}),
                "deals_log": Maybe(Each((*NUMBER, type(None)))),
            }
        ],
        "final": {
            "deals": int,
            "minutes": NUMBER,
            "opponents": Each({"margin": INTERVAL, "margin_raw": Maybe(INTERVAL), "stats": STATS}),
        },
        **PLACE,
    },
}
EXPLOIT_FORMS: Final[dict[str, Any]] = {
    "exact": {
        "agent": str,
        "game": str,
        "exploitability": NUMBER,
        "seats": [{"seat": int, "best_response": NUMBER, "agent": NUMBER, "gain": NUMBER}],
        "players": int,
        "pack_size": int,
        "hand_size": int,
        "deals": int,
        "samples": Maybe(int),
        "seed": int,
        "information_sets": int,
        "illegal_actions": int,
        "seconds": NUMBER,
        "command": Maybe(str),
        "code": Maybe(str),
        **PLACE,
    },
    "trained": {
        "agent": str,
        "exploitability_at_least": NUMBER,
        "margin": INTERVAL,
        "margin_raw": INTERVAL,
        "budget": int,
        "deals": int,
        "seed": int,
        "rules": (str, dict),
        "start": Maybe(str),
        "minutes": NUMBER,
        "command": Maybe(str),
        "code": Maybe(str),
        **PLACE,
    },
}
"""Of each result in a file of `spades exploit`, by its `kind`."""
TELLING: Final = (
    (EVALUATION, ("margin", "margin_raw", "stats", "bag_price")),
    (LADDER, ("duels",)),
    (TOURNAMENT, ("pairs", "neighbours")),
    (BENCHMARK, ("suite", "tasks", "results")),
    (TRAINING, ("config", "history", "final")),
)
"""Keys that only a kind's file has."""
