"""House rules as one frozen, validated value: `Rules`, the four presets, and YAML.

Every choice is a field, documented where it is declared; R-numbers are the paragraphs of docs/rules.md.
Nothing here plays: the engine copies these fields into its rules record.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Number
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import yaml

from spades_env.configs import ConfigError, kind_of, load_mapping


class RulesError(ValueError):
    """A rule field, value or combination that is not allowed; the message names all three."""


def _number(help: str, paragraph: str, low: int, high: int, *, none: str | None = None) -> dict[str, Any]:
    """Return the metadata of an int field; `none` is what None means where None is allowed, else None."""
    allowed = f"an int {low}..{high}" + ("" if none is None else ", or None (null)")

    def accepts(value: object) -> bool:
        if value is None:
            return none is not None
        return type(value) is int and low <= value <= high

    def meaning(value: object) -> str:
        return none if value is None and none is not None else help

    bounds = {"low": low, "high": high, "none": none}
    return {"help": help, "allowed": allowed, "paragraph": paragraph, "accepts": accepts, "meaning": meaning} | bounds


def _choice(help: str, paragraph: str, meanings: Mapping[Any, str]) -> dict[str, Any]:
    """Return the metadata of a field with named values; `meanings` says what each stands for."""
    names = [repr(value) for value in meanings]
    allowed = f"{', '.join(names[:-1])} or {names[-1]}"

    def accepts(value: object) -> bool:
        return any(type(value) is type(choice) and value == choice for choice in meanings)

    return {
        "help": help,
        "allowed": allowed,
        "paragraph": paragraph,
        "accepts": accepts,
        "meaning": lambda value: meanings[value],
        "choices": dict(meanings),
    }


def _flag(help: str, paragraph: str, *, yes: str, no: str) -> dict[str, Any]:
    """Return the metadata of a field that is true or false."""
    return _choice(help, paragraph, {True: yes, False: no}) | {"allowed": "true or false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one match. The defaults are preset `classic`; every value is checked on construction."""

    players: Literal[2, 4] = field(
        default=4, metadata=_choice("seats", "R4, R27", {4: "two partnerships", 2: "each seat a team"})
    )
    deal: Literal["dealt", "draft"] = field(
        default="dealt",
        metadata=_choice(
            "how hands come about",
            "R6, R27",
            {"dealt": "the cards are dealt", "draft": "two players draw: keep a card or take the next one"},
        ),
    )
    target: int = field(default=500, metadata=_number("score that ends the match", "R24", 1, 1_000_000))
    mercy: int | None = field(
        default=None,
        metadata=_number("score at or below which a team has lost", "R25", -1_000_000, -1, none="no low score ends it"),
    )
    turn_direction: Literal["clockwise", "counter_clockwise"] = field(
        default="clockwise",
        metadata=_choice(
            "which way the turn passes",
            "R4",
            {"clockwise": "South, West, North, East", "counter_clockwise": "South, East, North, West"},
        ),
    )
    first_seat: Literal["next", "dealers_left"] = field(
        default="next",
        metadata=_choice(
            "who bids and leads first",
            "R4, R5",
            {"next": "the next seat in the turn direction", "dealers_left": "always the dealer's left"},
        ),
    )
    nil_allowed: bool = field(
        default=True,
        metadata=_flag("nil may be bid", "R8", yes="a bid of no trick at all", no="every bid is 1 or more"),
    )
    nil_value: int = field(default=100, metadata=_number("points a nil wins or loses", "R19", 0, 100_000))
    blind_nil: bool = field(
        default=False,
        metadata=_flag(
            "blind nil (double nil in a draft) may be bid",
            "R10, R28",
            yes="nil may be bid before seeing one's cards",
            no="no nil is bid blind",
        ),
    )
    blind_nil_value: int = field(default=200, metadata=_number("points a blind nil wins or loses", "R19", 0, 100_000))
    blind_nil_deficit: int | None = field(
        default=100,
        metadata=_number("points behind that allow blind nil", "R10", 0, 1_000_000, none="whatever the score"),
    )
    blind_nil_exchange: int = field(default=0, metadata=_number("most cards exchanged after a draft", "R28", 0, 13))
    jokers: bool = field(
        default=False,
        metadata=_flag("jokers in play", "R2", yes="two top spades instead of 2H, 2D", no="the ordinary 52 cards"),
    )
    lead_spades: Literal["broken", "any", "only_spades_left"] = field(
        default="broken",
        metadata=_choice(
            "when spades may be led",
            "R13",
            {
                "broken": "once spades are broken, or from a hand of spades only",
                "any": "at any time",
                "only_spades_left": "only from a hand of spades only",
            },
        ),
    )
    forced_lead_breaks: bool = field(
        default=False,
        metadata=_flag(
            "a forced spade lead breaks spades",
            "R14",
            yes="a spade lead breaks spades too",
            no="only a spade on another suit breaks spades",
        ),
    )
    failed_nil: Literal["bags_only", "help_partner", "ignored"] = field(
        default="bags_only",
        metadata=_choice(
            "what the tricks of a failed nil are",
            "R20, R22",
            {
                "bags_only": "bags, and no help to the contract",
                "help_partner": "tricks towards the partner's bid",
                "ignored": "nothing",
            },
        ),
    )
    both_nil: Literal["independent", "unit"] = field(
        default="independent",
        metadata=_choice(
            "how two nils of one team score",
            "R9",
            {"independent": "each by itself", "unit": "both values won or both lost; no bags"},
        ),
    )
    contract: Literal["team", "individual"] = field(
        default="team",
        metadata=_choice(
            "whose tricks make a bid",
            "R9, R17",
            {"team": "the partners' together", "individual": "the bidder's alone"},
        ),
    )
    bag_limit: int = field(default=10, metadata=_number("bags that cost a penalty (0: none)", "R21", 0, 1_000))
    bag_penalty: int = field(default=100, metadata=_number("points lost at the bag limit", "R21", 0, 100_000))
    bag_points: int = field(default=1, metadata=_number("points each bag scores", "R21", -1_000, 1_000))
    bag_after: Literal["carry", "reset"] = field(
        default="carry",
        metadata=_choice(
            "bags left after a penalty",
            "R21",
            {"carry": "those over the limit stay", "reset": "none; one penalty a deal at most"},
        ),
    )
    min_bid: int = field(default=1, metadata=_number("lowest ordinary bid", "R8", 1, 13))
    max_team_bid: int | None = field(
        default=None,
        metadata=_number("most that partners may bid together", "R8", 2, 26, none="no cap on a team's bids"),
    )
    opening_lead: Literal["any", "low_club"] = field(
        default="any",
        metadata=_choice(
            "the first trick of a deal",
            "R15",
            {"any": "an ordinary lead", "low_club": "every seat plays her lowest club"},
        ),
    )
    first_trick_spades: Literal["allow", "forbid"] = field(
        default="allow",
        metadata=_choice(
            "spades in the first trick",
            "R15",
            {"allow": "as in any trick", "forbid": "only from a hand of spades only"},
        ),
    )
    draft_second_card_seen: bool = field(
        default=False,
        metadata=_flag(
            "see the card thrown away after keeping one",
            "R27",
            yes="the discarded second card is looked at",
            no="the discarded second card stays unseen",
        ),
    )
    max_deals: int | None = field(
        default=None, metadata=_number("most deals in a match", "R26", 1, 1_000_000, none="played to the end")
    )
    suits: int = field(default=4, metadata=_number("suits in the pack, the highest ones", "R1", 1, 4))
    ranks: int = field(default=13, metadata=_number("ranks in each suit, the highest ones", "R1", 2, 13))
    hand_size: int = field(default=13, metadata=_number("cards in each hand", "R1", 1, 13))

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = getattr(self, spec.name)
            if not spec.metadata["accepts"](value):
                raise RulesError(f"{spec.name}={_shown(value)} is not allowed: {spec.metadata['allowed']}")
        for applies, name, others, allowed in (*_clashes_of_seats(self), *_clashes(self)):
            if applies:
                clash = ", ".join(f"{other}={getattr(self, other)!r}" for other in others.split(", "))
                raise RulesError(f"{name}={getattr(self, name)!r} is refused with {clash}: {allowed}")

    @classmethod
    def preset(cls, name: str, /, **overrides: Any) -> Rules:
        """Return a preset ("classic", "table", "modern", "two_player") with some fields overridden."""
        base = PRESETS.get(name) if isinstance(name, str) else None
        if base is None:
            raise RulesError(f"preset {_shown(name)} does not exist: {_named(name, PRESETS)}")
        return base.replace(**overrides)

    def replace(self, /, **overrides: Any) -> Rules:
        """Return a copy with some fields overridden; the copy is checked like any other value."""
        for name in overrides:
            if name not in FIELD_NAMES:
                raise RulesError(f"unknown rule field {_shown(name)}: {_named(name, FIELD_NAMES)}")
        return dataclasses.replace(self, **overrides)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rules:
        """Return the rules of a mapping; key "preset" is the base (default classic), the rest overrides."""
        overrides = {name if isinstance(name, str) else _shown(name): values[name] for name in values}
        overrides.pop("preset", None)
        return cls.preset(values.get("preset", "classic"), **overrides)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Rules:
        """Return the rules of a YAML file, a flat mapping as for `from_dict`; errors name the file."""
        try:
            values = load_mapping(path)
        except ConfigError as error:
            raise RulesError(str(error)) from None
        try:
            return cls.from_dict(values)
        except RulesError as error:
            raise RulesError(f"{path}: {error}") from None

    def to_dict(self) -> dict[str, int | str | bool | None]:
        """Return all fields as plain Python values, in the order of declaration."""
        return {name: getattr(self, name) for name in FIELD_NAMES}

    def to_yaml(self) -> str:
        """Return YAML that `from_yaml` reads back as this value; each line says what is allowed."""
        lines = []
        for spec in dataclasses.fields(self):
            line = yaml.safe_dump({spec.name: getattr(self, spec.name)}).strip()
            lines.append(f"{line:<32}  # {spec.metadata['help']}: {spec.metadata['allowed']}\n")
        return "".join(lines)

    @property
    def preset_name(self) -> str | None:
        """Name of the preset that this value equals, or None."""
        return next((name for name, rules in PRESETS.items() if rules == self), None)

    def describe(self) -> list[tuple[str, int | str | bool | None, str]]:
        """Return (field, value, what the value means in one line) for every field."""
        return [
            (spec.name, getattr(self, spec.name), spec.metadata["meaning"](getattr(self, spec.name)))
            for spec in dataclasses.fields(self)
        ]


FIELD_NAMES: tuple[str, ...] = tuple(spec.name for spec in dataclasses.fields(Rules))
"""Names of all rule fields, in the order of declaration."""


def as_rules(spec: Rules | str | Path | Mapping[str, Any]) -> Rules:
    """Return the rules that `spec` stands for: a value, a preset's name, a YAML file or a mapping.

    Text that ends in ".yaml" or ".yml" is a file; any other text is a preset's name.
    """
    if isinstance(spec, Rules):
        return spec
    if isinstance(spec, Mapping):
        return Rules.from_dict(spec)
    if isinstance(spec, Path) or (isinstance(spec, str) and spec.lower().endswith((".yaml", ".yml"))):
        return Rules.from_yaml(spec)
    if isinstance(spec, str):
        return Rules.preset(spec)
    raise RulesError(f"rules {_shown(spec)} not allowed: a Rules, a preset's name, a .yaml file or a mapping")


def _clashes(r: Rules) -> Iterator[tuple[bool, str, str, str]]:
    """Yield (whether it applies, field refused, fields it does not go with, what is allowed) per combination.

    What each refuses stands in docs/rules.md, "Further options, and what is refused".
    """
    yield (
        r.contract == "individual" and r.failed_nil == "help_partner",
        "failed_nil",
        "contract",
        "where each makes her own bid a nil helps nobody; use 'bags_only' or 'ignored'",
    )
    yield (
        r.contract == "individual" and r.both_nil == "unit",
        "both_nil",
        "contract",
        "where each makes her own bid each nil counts by itself; use 'independent'",
    )
    yield (
        r.max_team_bid is not None and r.max_team_bid < 2 * r.min_bid,
        "max_team_bid",
        "min_bid",
        "at least twice min_bid, or a partner could not bid",
    )
    yield r.blind_nil and not r.nil_allowed, "blind_nil", "nil_allowed", "a blind nil is a nil; use false"
    yield r.min_bid > r.hand_size, "min_bid", "hand_size", "bids run up to hand_size"
    small = (r.suits, r.ranks, r.hand_size) != (4, 13, 13)
    deck = "suits, ranks, hand_size"
    yield (
        r.deal == "draft" and small,
        "deal",
        deck,
        "a draft takes the full pack: suits 4, ranks 13, hand_size 13",
    )
    yield (
        r.jokers and small,
        "jokers",
        deck,
        "jokers are in the full pack only: suits 4, ranks 13, hand_size 13",
    )
    yield (
        r.hand_size * r.players > r.suits * r.ranks,
        "hand_size",
        "players, suits, ranks",
        "hand_size * players is at most suits * ranks, the cards in the pack",
    )
    yield (
        r.opening_lead == "low_club" and r.suits < 4,
        "opening_lead",
        "suits",
        "clubs are in the pack with suits 4 only; use 'any'",
    )


def _clashes_of_seats(r: Rules) -> Iterator[tuple[bool, str, str, str]]:
    """Yield, as `_clashes`, the combinations refused for two players only, or for all but the draft."""
    two = r.players == 2
    yield r.deal == "draft" and not two, "deal", "players", "a draft is for players 2; four are 'dealt'"
    yield (
        two and r.turn_direction != "clockwise",
        "turn_direction",
        "players",
        "two seats alternate; 'clockwise'",
    )
    yield two and r.first_seat != "next", "first_seat", "players", "of two seats the 'next' one begins"
    yield two and r.both_nil != "independent", "both_nil", "players", "a team of one; use 'independent'"
    yield two and r.contract != "team", "contract", "players", "a team of one has one bid; use 'team'"
    yield (
        two and r.failed_nil == "help_partner",
        "failed_nil",
        "players",
        "a team of one has no partner; use 'ignored' or 'bags_only'",
    )
    yield (
        two and r.max_team_bid is not None,
        "max_team_bid",
        "players",
        "a team of one has one bid; use None (null)",
    )
    no_draft = r.deal != "draft"
    yield (
        no_draft and r.draft_second_card_seen,
        "draft_second_card_seen",
        "players, deal",
        "only a draft has a second card to see; use false",
    )
    yield (
        no_draft and r.blind_nil_exchange > 0,
        "blind_nil_exchange",
        "players, deal",
        "cards are exchanged with the discards of a draft; use 0",
    )


def _shown(value: object) -> str:
    """Return a value for a message: plain values as written, anything long or nested by its type."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an int of {value.bit_length()} bits"
    if isinstance(value, str) and len(value) > 60:
        return f"{value[:57]!r}..."
    if value is None or isinstance(value, str | Number):
        return repr(value)
    return kind_of(value)


def _named(name: object, known: Iterable[str]) -> str:
    """Return the nearest known name as a suggestion, or the list of all known names."""
    names = list(known)
    close = difflib.get_close_matches(str(name)[:60], names, n=1) if isinstance(name, str) else []
    return f"did you mean {close[0]!r}?" if close else f"one of {', '.join(names)}"


PRESETS: Mapping[str, Rules] = MappingProxyType(
    {
        "classic": Rules(),
        "table": Rules(target=300, turn_direction="counter_clockwise"),
        "modern": Rules(mercy=-200, blind_nil=True),
        "two_player": Rules(
            players=2,
            deal="draft",
            blind_nil=True,
            blind_nil_deficit=None,
            blind_nil_exchange=3,
            forced_lead_breaks=True,
            failed_nil="ignored",
        ),
    }
)
"""The four published rule sets; a preset is nothing but a set of defaults."""
