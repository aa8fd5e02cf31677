"""Who plays in a tournament, under which rules and for how long, read strictly from arguments or a YAML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from evaluation.duplicate import MAX_DEALS
from evaluation.fields import check_fields, line_of_text, list_field, rules_text, whole_field
from spades_env.checks import finite_number
from spades_env.configs import ConfigError, config_path, load_mapping
from spades_env.rules import Rules, as_rules

KINDS: Final = ("deals", "matches")
DEPTH: Final = 4
"""Levels of the file: the tournament, its agents, an agent or the rules."""
FIELDS: Final = ("agents", "rules", "kind", "games", "min_games", "seat_games", "indifference", "reference", "seed")
AGENT_FIELDS: Final = ("agent", "label", "min_games", "max_games")

DEFAULT_MIN: Final = {"deals": 200, "matches": 20}
DEFAULT_GAMES_A_PAIR: Final = {"deals": 500, "matches": 50}
DEFAULT_INDIFFERENCE: Final = {"deals": 0.5, "matches": 0.01}
MOST_AGENTS: Final = 100


@dataclass(frozen=True)
class Entrant:
    """An agent that takes part.

    Attributes:
        label: her name in the tables, unique.
        agent: text for `load_agent`.
        min_games, max_games: duplicate games that a pair of hers plays at first, and at most; of a pair's two
            agents the smaller number counts, so that a slow agent holds nobody up.
    """

    label: str
    agent: str
    min_games: int
    max_games: int


@dataclass(frozen=True)
class Pair:
    """Two entrants by their numbers, `a` < `b`, and how many duplicate games they play at least and at most."""

    a: int
    b: int
    least: int
    most: int


@dataclass(frozen=True)
class Tournament:
    """What is played; equal tournaments come to equal results.

    Attributes:
        rules_text: the rules as they were asked for, for tables.
        kind: "deals": single deals from 0:0, in points per deal; "matches": whole ones, in shares of matches.
        games: duplicate games of all pairs together, at most.
        seat_games: games of mixed teams, each played in four rotations; 0: none.
        indifference: a difference not worth telling apart, in points per deal or share of matches.
        reference: label of the agent whose strength is 0; None: the mean is.
    """

    entrants: tuple[Entrant, ...]
    rules: Rules
    rules_text: str
    kind: str
    games: int
    seat_games: int
    indifference: float
    reference: str | None
    seed: int

    def pairs(self) -> list[Pair]:
        """Return all pairs in the order of the entrants."""
        return [
            Pair(a, b, min(x.min_games, y.min_games, x.max_games, y.max_games), min(x.max_games, y.max_games))
            for (a, x), (b, y) in combinations(enumerate(self.entrants), 2)
        ]


def load_tournament(name_or_file: str, **changes: Any) -> Tournament:
    """Return the tournament of a YAML file, or a shipped one such as "tournament"; `changes` replace its fields."""
    is_file = name_or_file.lower().endswith((".yaml", ".yml"))
    path = Path(name_or_file) if is_file else config_path(f"eval/{name_or_file}.yaml")
    source = str(path) if is_file else name_or_file
    return tournament_from(load_mapping(path, max_depth=DEPTH) | changes, source)


def tournament_from(data: Mapping[str, Any], source: str = "tournament") -> Tournament:
    """Return the tournament of a mapping as the file holds it; `source` names it in errors."""
    check_fields(data, FIELDS, source)
    kind = data.get("kind", "deals")
    if kind not in KINDS:
        raise ConfigError(f"{source}: kind is {kind!r}; allowed: {', '.join(KINDS)}")
    least = whole_field(data.get("min_games", DEFAULT_MIN[kind]), f"{source}: min_games", MAX_DEALS, low=2)
    agents = list_field(data, "agents", source)
    entrants = tuple(_entrant(fields, least, f"{source}: agent {k}") for k, fields in enumerate(agents, 1))
    _check_labels(entrants, source)
    try:
        rules = as_rules(data.get("rules", "classic"))
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from None
    pairs = len(entrants) * (len(entrants) - 1) // 2
    games = data.get("games", max(least, DEFAULT_GAMES_A_PAIR[kind]) * pairs)
    indifference = finite_number(
        f"{source}: indifference", data.get("indifference", DEFAULT_INDIFFERENCE[kind]), ConfigError
    )
    if indifference < 0:
        raise ConfigError(f"{source}: indifference is {indifference}; allowed: a number from 0 on")
    tournament = Tournament(
        entrants=entrants,
        rules=rules,
        rules_text=rules_text(data.get("rules", "classic")),
        kind=kind,
        games=whole_field(games, f"{source}: games", MAX_DEALS, low=2),
        seat_games=whole_field(data.get("seat_games", 0), f"{source}: seat_games", MAX_DEALS),
        indifference=indifference,
        reference=_reference(data.get("reference"), entrants, source),
        seed=whole_field(data.get("seed", 0), f"{source}: seed", 2**63 - 1),
    )
    _check_budget(tournament, source)
    return tournament


def _entrant(fields: Any, least: int, where: str) -> Entrant:
    """Return one agent of the list: a text alone, or a mapping."""
    if isinstance(fields, str):
        fields = {"agent": fields}
    check_fields(fields, AGENT_FIELDS, where)
    agent = line_of_text(fields.get("agent"), f"{where}: agent")
    most = whole_field(fields.get("max_games", MAX_DEALS), f"{where}: max_games", MAX_DEALS, low=2)
    first = whole_field(fields.get("min_games", min(least, most)), f"{where}: min_games", MAX_DEALS, low=2)
    if first > most:
        raise ConfigError(f"{where}: min_games is {first}; allowed: up to her max_games, {most}")
    return Entrant(line_of_text(fields.get("label", agent), f"{where}: label"), agent, first, most)


def _check_labels(entrants: Sequence[Entrant], source: str) -> None:
    """Raise if there are too few or too many agents, or two of one label or text."""
    if not 2 <= len(entrants) <= MOST_AGENTS:
        raise ConfigError(f"{source}: agents are {len(entrants)}; allowed: 2 to {MOST_AGENTS}")
    for name in ("agent", "label"):
        seen: set[str] = set()
        for entrant in entrants:
            value = getattr(entrant, name)
            if value in seen:
                raise ConfigError(f"{source}: {name} {value!r} stands there twice; allowed: once")
            seen.add(value)


def _reference(label: Any, entrants: Sequence[Entrant], source: str) -> str | None:
    """Return the label of the reference agent, if there is to be one."""
    labels = [entrant.label for entrant in entrants]
    if label is not None and label not in labels:
        raise ConfigError(f"{source}: reference is {label!r}; allowed: one of {', '.join(labels)}")
    return None if label is None else str(label)


def _check_budget(tournament: Tournament, source: str) -> None:
    """Raise if not every pair can play its first games, or mixed teams are impossible."""
    needed = sum(pair.least for pair in tournament.pairs())
    if tournament.games < needed:
        raise ConfigError(
            f"{source}: games is {tournament.games}; allowed: from {needed} on, "
            f"the first games of {len(tournament.pairs())} pairs"
        )
    if tournament.seat_games and (len(tournament.entrants) < 4 or tournament.rules.players != 4):
        raise ConfigError(
            f"{source}: seat_games is {tournament.seat_games}; allowed: 0, "
            "as mixed teams need four agents and rules for four players"
        )
