"""The duels of a ladder, read strictly from a YAML file: unknown fields and values out of range are refused by name."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.duplicate import MAX_DEALS
from evaluation.fields import check_fields, line_of_text, list_field, rules_text, whole_field
from spades_env.checks import finite_number
from spades_env.configs import ConfigError, config_path, load_mapping
from spades_env.rules import Rules, as_rules

KINDS: Final = ("deals", "matches", "endings")
DEPTH: Final = 6
"""Levels of the file: the ladder, its sections, a section, its duels, a duel, its rules or scores."""

LADDER_FIELDS: Final = ("seed", "sections")
SECTION_FIELDS: Final = ("title", "duels")
DUEL_FIELDS: Final = ("a", "b", "rules", "kind", "games", "goal", "seed", "scores")


@dataclass(frozen=True)
class Duel:
    """Two agents, or one with herself, and what they play.

    Attributes:
        a, b: texts for `load_agent`; without `b`, agent `a` sits on every seat.
        rules_text: the rules as the file says them, for tables.
        kind: "deals": single deals from 0:0; "matches": whole ones; "endings": matches from given scores.
        games: duplicate deals, matches or endings, each played twice, the teams swapped; by one agent, once.
        goal: what the lower end of the 95 % interval must exceed: of `margin` in points per deal, or of the share
            of matches won (0..1); None: measured only.
        scores: of endings: lowest and highest score of a team, multiples of 10, before the points of its bags.
        section: heading under which the duel is shown.
    """

    a: str
    b: str | None
    rules: Rules
    rules_text: str
    kind: str
    games: int
    seed: int
    goal: float | None
    scores: tuple[int, int] | None
    section: str

    @property
    def label(self) -> str:
        """The duel in one line, which is what `--only` looks at."""
        who = f"{self.a} self-play" if self.b is None else f"{self.a} v {self.b}"
        return f"{who}, {self.rules_text}, {self.kind}"

    def definition(self) -> dict[str, Any]:
        """Return, as plain values, everything that decides the figures."""
        return {
            "a": self.a,
            "b": self.b,
            "rules": self.rules.to_dict(),
            "kind": self.kind,
            "games": self.games,
            "seed": self.seed,
            "scores": list(self.scores) if self.scores else None,
        }

    def scaled(self, factor: float) -> Duel:
        """Return the duel with `factor` times as many games, at least 2."""
        games = min(MAX_DEALS, max(2, round(self.games * factor)))
        return dataclasses.replace(self, games=games)


def load_ladder(name_or_file: str) -> list[Duel]:
    """Return the duels of a YAML file, or of a shipped ladder such as "ladder"."""
    is_file = name_or_file.lower().endswith((".yaml", ".yml"))
    path = Path(name_or_file) if is_file else config_path(f"eval/{name_or_file}.yaml")
    return ladder_from(load_mapping(path, max_depth=DEPTH), str(path) if is_file else name_or_file)


def ladder_from(data: Mapping[str, Any], source: str) -> list[Duel]:
    """Return the duels of a mapping as the file holds it; `source` names it in errors."""
    check_fields(data, LADDER_FIELDS, source)
    seed = whole_field(data.get("seed", 0), f"{source}: seed", 2**63 - 1)
    duels: list[Duel] = []
    for k, section in enumerate(list_field(data, "sections", source), 1):
        where = f"{source}: section {k}"
        check_fields(section, SECTION_FIELDS, where)
        title = line_of_text(section.get("title"), f"{where}: title")
        for n, fields in enumerate(list_field(section, "duels", where), 1):
            duels.append(_duel(fields, title, seed, f"{where}, duel {n}"))
    seen: dict[str, Duel] = {}
    for duel in duels:
        key = json.dumps(duel.definition())
        if key in seen:
            raise ConfigError(
                f"{source}: {duel.label} stands there twice, in {seen[key].section!r} and {duel.section!r}"
            )
        seen[key] = duel
    return duels


def _duel(fields: Any, section: str, seed: int, where: str) -> Duel:
    """Return one duel; anything it leaves out has the default of docs/evaluation.md."""
    check_fields(fields, DUEL_FIELDS, where)
    b = fields.get("b")
    kind = fields.get("kind", "deals")
    if kind not in KINDS:
        raise ConfigError(f"{where}: kind is {kind!r}; allowed: {', '.join(KINDS)}")
    try:
        rules = as_rules(fields.get("rules", "classic"))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    duel = Duel(
        a=line_of_text(fields.get("a"), f"{where}: a"),
        b=None if b is None else line_of_text(b, f"{where}: b"),
        rules=rules,
        rules_text=rules_text(fields.get("rules", "classic")),
        kind=kind,
        games=whole_field(fields.get("games"), f"{where}: games", MAX_DEALS, low=2),
        seed=whole_field(fields.get("seed", seed), f"{where}: seed", 2**63 - 1),
        goal=_goal(fields.get("goal"), kind, where),
        scores=_scores(fields.get("scores"), rules, where) if kind == "endings" else None,
        section=section,
    )
    if duel.b is None and (duel.goal is not None or kind == "endings"):
        raise ConfigError(f"{where}: without b an agent plays with herself: there is no goal and no kind 'endings'")
    if "scores" in fields and kind != "endings":
        raise ConfigError(f"{where}: scores are for kind 'endings'; {kind} begin at 0:0")
    return duel


def _goal(goal: Any, kind: str, where: str) -> float | None:
    """Return the bound asked for: points per deal, or a share of matches."""
    if goal is None:
        return None
    value = finite_number(f"{where}: goal", goal, ConfigError)
    if kind != "deals" and not 0 <= value < 1:
        raise ConfigError(f"{where}: goal is {goal!r}; of {kind} it is a share of wins: 0 to below 1")
    return value


def _scores(scores: Any, rules: Rules, where: str) -> tuple[int, int]:
    """Return the lowest and highest score at which endings begin; by default the last 150 points before the target.

    Of a target that is no multiple of 10 the default is as if it were the next lower one.
    """
    if scores is None:
        target = rules.target // 10 * 10
        scores = [target - 150, target - 10]
    floor = -1_000_000 if rules.mercy is None else rules.mercy
    good = isinstance(scores, list) and len(scores) == 2 and all(type(s) is int and s % 10 == 0 for s in scores)
    if not good or not floor < scores[0] <= scores[1] <= rules.target - 10:
        raise ConfigError(
            f"{where}: scores is {scores!r}; allowed: [lowest, highest], multiples of 10 "
            f"above {floor} and up to {rules.target - 10}"
        )
    return scores[0], scores[1]
