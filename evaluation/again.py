"""A result played again: a part of what a file holds, compared figure by figure, exactly.

Figures are functions of agents, rules, seed and number of games, so whoever has the agents comes to the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from evaluation.duplicate import evaluate, evaluate_line_up
from evaluation.endings import play_endings
from evaluation.report.forms import EVALUATION, LADDER, TOURNAMENT
from evaluation.report.read import Source
from evaluation.result import Evaluation
from evaluation.text import Values
from spades_env.rules import Rules

DECISIONS_A_DEAL: Final = 28
"""Of one team: bids and cards."""
DEALS_A_MATCH: Final = 10
"""About, for how long it will take."""

Figures = dict[str, Any]
Play = Callable[[], Figures]


@dataclass(frozen=True)
class Item:
    """A part of a result that can be played again by itself.

    Attributes:
        label: what it is, for messages.
        seconds: about how long it takes, by the times in the file.
        told: the figures that the file has; `play` comes to those that it should have.
    """

    label: str
    seconds: float
    told: Figures
    play: Play


@dataclass(frozen=True)
class Difference:
    """A figure that came out otherwise."""

    label: str
    name: str
    told: Any
    found: Any


def items_of(source: Source) -> list[Item]:
    """Return what of an evaluation, a ladder or a tournament can be played again; what cannot is left out."""
    makers = {EVALUATION: _of_evaluation, LADDER: _of_ladder, TOURNAMENT: _of_tournament}
    return list(makers[source.kind](source.data)) if source.kind in makers else []


def chosen(items: Sequence[Item], seconds: float) -> list[Item]:
    """Return the items that take least, as many as fit into so many seconds; one at least."""
    found: list[Item] = []
    total = 0.0
    for item in sorted(items, key=lambda item: (item.seconds, item.label)):
        total += item.seconds
        if found and total > seconds:
            break
        found.append(item)
    return found


def differences(item: Item, found: Figures) -> list[Difference]:
    """Return the figures that are not exactly what the file has."""
    return [Difference(item.label, name, told, found[name]) for name, told in item.told.items() if found[name] != told]


def _of_evaluation(data: Values) -> Iterator[Item]:
    """Yield the whole evaluation: agents stand in it by name and are loaded by that.

    One that went on until its half-width stops where it did, if it may not go on for longer.
    """
    agents = data.get("line_up") or data["agents"].values()
    control = data.get("control")

    def play() -> Figures:
        asked = {name: data[name] for name in ("matches", "seed", "bag_price")}
        asked["luck_playouts"] = control["playouts"] if control else 0
        asked |= _reference(control.get("reference") if control else None)
        asked["half_width"] = data.get("half_width_asked")
        asked["deals" if asked["half_width"] is None else "max_deals"] = data["deals"]
        play_them = evaluate_line_up if data.get("line_up") else _evaluate_two
        return _of_both(play_them(list(agents), Rules.from_dict(data["rules"]), **asked).to_dict())

    yield Item(" v ".join(agents), data["seconds"], _of_both(data), play)


def _reference(used: Values | None) -> Values:
    """Return how `evaluate` is asked for the reference pairs that a result has."""
    if used is None:
        return {}
    pairs = [tuple(pair) for pair in used["pairs"]]
    return {"reference": pairs, "reference_plays": used["plays"], "reference_deals": used["deals"]}


def _of_both(data: Values) -> Figures:
    """Return what of an evaluation is compared; with controls, the margin without what they explain, too."""
    figures = {name: data[name] for name in ("margin", "margin_raw", "match_win_rate", "illegal_actions")}
    if data.get("control"):
        figures["control.margin"] = data["control"]["margin"]
    return {**figures, "bid_histogram": _histograms(data["stats"])}


def _evaluate_two(agents: Sequence[str], rules: Rules, **asked: Any) -> Evaluation:
    a, b = agents
    return evaluate(a, b, rules, **asked)


def _histograms(stats: Values) -> Any:
    return [stats[side]["bid_histogram"] for side in "AB"]


def _of_ladder(data: Values) -> Iterator[Item]:
    """Yield every duel of two agents."""
    for duel in data["duels"]:
        measured = duel["measured"]
        if measured is None or duel["b"] is None:
            continue
        names = ("margin", "margin_raw") if duel["kind"] == "deals" else ("win_rate",)
        told = {**{name: measured[name] for name in names}, "bid_histogram": _histograms(measured["stats"])}
        if duel["kind"] == "endings":
            del told["bid_histogram"]
        yield Item(duel["label"], measured["seconds"], told, partial(_play_duel, duel))


def _play_duel(duel: Values) -> Figures:
    rules = Rules.from_dict(duel["rules"])
    if duel["kind"] == "endings":
        low, high = duel["scores"]
        endings = play_endings(duel["a"], duel["b"], rules, starts=duel["games"], scores=(low, high), seed=duel["seed"])
        return {"win_rate": endings.win_rate.to_dict()}
    games, deals = duel["games"], duel["kind"] == "deals"
    played = {"deals": games} if deals else {"deals": 2, "matches": games}
    found = evaluate(duel["a"], duel["b"], rules, seed=duel["seed"], **played).to_dict()
    stats = found["stats" if deals else "match_stats"]
    figures = {"margin": found["margin"], "margin_raw": found["margin_raw"], "win_rate": found["match_win_rate"]}
    return {**figures, "bid_histogram": _histograms(stats)}


def _of_tournament(data: Values) -> Iterator[Item]:
    """Yield every pair: all pairs of a seed play the deals that `evaluate` plays with it."""
    agents = {agent["label"]: agent for agent in data["agents"]}
    for pair in data["pairs"]:
        a, b = agents[pair["a"]], agents[pair["b"]]
        times = [agent.get("ms_per_decision") or 0.0 for agent in (a, b)]
        deals = 2 * pair["games"] * (1 if data["kind"] == "deals" else DEALS_A_MATCH)
        seconds = deals * DECISIONS_A_DEAL * sum(times) / 1000
        play = partial(_play_pair, data, a["agent"], b["agent"], pair["games"])
        yield Item(f"{pair['a']} v {pair['b']}", seconds, {"margin": pair["margin"]}, play)


def _play_pair(data: Values, a: str, b: str, games: int) -> Figures:
    """Return the margin of a pair; of matches the share won less the share lost."""
    rules = Rules.from_dict(data["rules"])
    if data["kind"] == "deals":
        return {"margin": evaluate(a, b, rules, deals=games, seed=data["seed"]).margin.to_dict()}
    won = evaluate(a, b, rules, deals=2, matches=games, seed=data["seed"]).match_win_rate
    assert won is not None
    return {"margin": {name: 2.0 * value - 1.0 for name, value in won.to_dict().items()}}
