"""Rules: the presets against the published matrix, and every range and refusal by name."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spades_env.configs import config_path
from spades_env.rules import FIELD_NAMES, PRESETS, Rules, RulesError, as_rules

# The complete matrix of the rules document, retyped by hand. Fields for small decks come after it.
CLASSIC: dict[str, Any] = {
    "players": 4,
    "deal": "dealt",
    "target": 500,
    "mercy": None,
    "turn_direction": "clockwise",
    "first_seat": "next",
    "nil_allowed": True,
    "nil_value": 100,
    "blind_nil": False,
    "blind_nil_value": 200,
    "blind_nil_deficit": 100,
    "blind_nil_exchange": 0,
    "jokers": False,
    "lead_spades": "broken",
    "forced_lead_breaks": False,
    "failed_nil": "bags_only",
    "both_nil": "independent",
    "contract": "team",
    "bag_limit": 10,
    "bag_penalty": 100,
    "bag_points": 1,
    "bag_after": "carry",
    "min_bid": 1,
    "max_team_bid": None,
    "opening_lead": "any",
    "first_trick_spades": "allow",
    "draft_second_card_seen": False,
    "max_deals": None,
    "suits": 4,
    "ranks": 13,
    "hand_size": 13,
}
MATRIX: dict[str, dict[str, Any]] = {
    "classic": CLASSIC,
    "table": {**CLASSIC, "target": 300, "turn_direction": "counter_clockwise"},
    "modern": {
        **CLASSIC,
        "mercy": -200,
        "blind_nil": True,
        "blind_nil_value": 200,
        "blind_nil_deficit": 100,
        "blind_nil_exchange": 0,
    },
    "two_player": {
        **CLASSIC,
        "players": 2,
        "deal": "draft",
        "blind_nil": True,
        "blind_nil_value": 200,
        "blind_nil_deficit": None,
        "blind_nil_exchange": 3,
        "forced_lead_breaks": True,
        "failed_nil": "ignored",
    },
}

# field: lowest, highest, whether None is allowed
RANGES: dict[str, tuple[int, int, bool]] = {
    "target": (1, 1_000_000, False),
    "mercy": (-1_000_000, -1, True),
    "nil_value": (0, 100_000, False),
    "blind_nil_value": (0, 100_000, False),
    "blind_nil_deficit": (0, 1_000_000, True),
    "blind_nil_exchange": (0, 13, False),
    "bag_limit": (0, 1_000, False),
    "bag_penalty": (0, 100_000, False),
    "bag_points": (-1_000, 1_000, False),
    "min_bid": (1, 13, False),
    "max_team_bid": (2, 26, True),
    "max_deals": (1, 1_000_000, True),
    "suits": (1, 4, False),
    "ranks": (2, 13, False),
    "hand_size": (1, 13, False),
}
CHOICES: dict[str, set[Any]] = {
    "players": {2, 4},
    "deal": {"dealt", "draft"},
    "turn_direction": {"clockwise", "counter_clockwise"},
    "first_seat": {"next", "dealers_left"},
    "lead_spades": {"broken", "any", "only_spades_left"},
    "failed_nil": {"bags_only", "help_partner", "ignored"},
    "both_nil": {"independent", "unit"},
    "contract": {"team", "individual"},
    "bag_after": {"carry", "reset"},
    "opening_lead": {"any", "low_club"},
    "first_trick_spades": {"allow", "forbid"},
}
FLAGS = {"nil_allowed", "blind_nil", "jokers", "forced_lead_breaks", "draft_second_card_seen"}

# What else must be set for a legal value at the edge of its range to be possible at all.
COMPANIONS: dict[str, dict[str, Any]] = {
    "blind_nil_exchange": {"players": 2, "deal": "draft", "blind_nil": True},
    "suits": {"hand_size": 1},
    "ranks": {"hand_size": 1},
    "draft_second_card_seen": {"players": 2, "deal": "draft"},
    "deal": {"players": 2},
}


# ---------------------------------------------------------------- presets


def test_the_four_presets_and_no_others() -> None:
    assert list(PRESETS) == ["classic", "table", "modern", "two_player"]


@pytest.mark.parametrize("name", MATRIX)
def test_preset_equals_the_matrix(name: str) -> None:
    assert Rules.preset(name).to_dict() == MATRIX[name]
    assert Rules.preset(name).preset_name == name


def test_defaults_are_classic() -> None:
    assert Rules() == Rules.preset("classic")


def test_presets_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PRESETS["mine"] = Rules()  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        PRESETS["classic"].target = 300  # type: ignore[misc]


@pytest.mark.parametrize("name", MATRIX)
def test_shipped_file_is_the_preset(name: str) -> None:
    """configs/rules/*.yaml are what `to_yaml` writes, so they cannot drift from the code."""
    path = config_path(f"rules/{name}.yaml")
    assert Rules.from_yaml(path) == PRESETS[name]
    assert path.read_text(encoding="utf-8") == PRESETS[name].to_yaml()


def test_preset_overrides_and_preset_name() -> None:
    rules = Rules.preset("modern", target=300)
    assert (rules.target, rules.mercy, rules.preset_name) == (300, -200, None)
    assert rules.replace(target=500).preset_name == "modern"
    assert Rules.preset("classic", target=300, turn_direction="counter_clockwise").preset_name == "table"


# ---------------------------------------------------------------- single fields


def test_every_field_is_checked_here() -> None:
    assert set(RANGES) | set(CHOICES) | FLAGS == set(FIELD_NAMES) == set(CLASSIC)


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name: str) -> None:
    low, high, none_allowed = RANGES[name]
    extra = COMPANIONS.get(name, {})
    for value in {low, high} | ({None} if none_allowed else set()):
        companions = dict(extra)
        if name == "hand_size" and value == 13:
            companions = {}
        assert getattr(Rules.preset("classic", **companions, **{name: value}), name) == value
    for value in (low - 1, high + 1) if none_allowed else (low - 1, high + 1, None):
        _refused(name, value, f"an int {low}..{high}", extra)


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("value", [True, False, 2.0, "2", [2], float("nan")])
def test_int_fields_take_ints_only(name: str, value: object) -> None:
    _refused(name, value, "an int ", COMPANIONS.get(name, {}))


@pytest.mark.parametrize("name", sorted(FLAGS))
def test_flags_take_bools_only(name: str) -> None:
    extra = COMPANIONS.get(name, {})
    assert getattr(Rules(**extra, **{name: True}), name) is True
    for value in (0, 1, "yes", None, 1.0):
        _refused(name, value, "true or false", extra)


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name: str) -> None:
    extra = COMPANIONS.get(name, {})
    for value in CHOICES[name]:
        assert getattr(Rules(**extra, **{name: value}), name) == value
    for value in ("other", "", None, True, 4.0, 3, ["next"]):
        _refused(name, value, " or ", extra)


def test_messages_stay_short_whatever_is_given() -> None:
    for value in ("x" * 10_000, 1 << 50_000, [[1] * 1000] * 1000, {"a": 1}):
        with pytest.raises(RulesError) as caught:
            Rules(target=value)  # type: ignore[arg-type]
        assert len(str(caught.value)) < 200


# ---------------------------------------------------------------- refused combinations

TWO = {"players": 2}
INDIVIDUAL = {"contract": "individual"}
SMALL = {"suits": 4, "ranks": 12, "hand_size": 5}
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    # preset, overrides, field refused, a field or value the message must name beside it
    ("two_player", {"turn_direction": "counter_clockwise"}, "turn_direction", "players=2"),
    ("two_player", {"first_seat": "dealers_left"}, "first_seat", "players=2"),
    ("two_player", {"both_nil": "unit"}, "both_nil", "players=2"),
    ("two_player", {"contract": "individual"}, "contract", "players=2"),
    ("two_player", {"failed_nil": "help_partner"}, "failed_nil", "players=2"),
    ("two_player", {"max_team_bid": 13}, "max_team_bid", "players=2"),
    ("classic", {**TWO, "turn_direction": "counter_clockwise"}, "turn_direction", "players=2"),
    ("classic", {**TWO, "first_seat": "dealers_left"}, "first_seat", "players=2"),
    ("classic", {**TWO, "both_nil": "unit"}, "both_nil", "players=2"),
    ("classic", {**TWO, **INDIVIDUAL}, "contract", "players=2"),
    ("classic", {**TWO, "failed_nil": "help_partner"}, "failed_nil", "players=2"),
    ("classic", {**TWO, "max_team_bid": 13}, "max_team_bid", "players=2"),
    ("classic", {"draft_second_card_seen": True}, "draft_second_card_seen", "players=4"),
    ("classic", {**TWO, "draft_second_card_seen": True}, "draft_second_card_seen", "deal='dealt'"),
    ("modern", {"blind_nil_exchange": 1}, "blind_nil_exchange", "players=4"),
    ("modern", {**TWO, "blind_nil_exchange": 1}, "blind_nil_exchange", "deal='dealt'"),
    ("classic", {"deal": "draft"}, "deal", "players=4"),
    ("two_player", {"players": 4}, "deal", "players=4"),
    ("classic", {**INDIVIDUAL, "failed_nil": "help_partner"}, "failed_nil", "contract='individual'"),
    ("classic", {**INDIVIDUAL, "both_nil": "unit"}, "both_nil", "contract='individual'"),
    ("classic", {"min_bid": 4, "max_team_bid": 7}, "max_team_bid", "min_bid=4"),
    ("modern", {"nil_allowed": False}, "blind_nil", "nil_allowed=False"),
    ("classic", {**SMALL, "min_bid": 6}, "min_bid", "hand_size=5"),
    ("classic", {**SMALL, "jokers": True}, "jokers", "ranks=12"),
    ("classic", {"jokers": True, "hand_size": 12}, "jokers", "hand_size=12"),
    ("two_player", {"ranks": 12}, "deal", "ranks=12"),
    ("two_player", {"suits": 3}, "deal", "suits=3"),
    ("two_player", {"hand_size": 12}, "deal", "hand_size=12"),
    ("classic", {"suits": 3}, "hand_size", "suits=3"),
    ("classic", {"ranks": 12}, "hand_size", "ranks=12"),
    ("classic", {**TWO, "suits": 1}, "hand_size", "players=2"),
    ("classic", {"suits": 3, "hand_size": 5, "opening_lead": "low_club"}, "opening_lead", "suits=3"),
]


@pytest.mark.parametrize(("preset", "overrides", "field", "other"), REFUSED)
def test_refused_combinations(preset: str, overrides: dict[str, Any], field: str, other: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules.preset(preset, **overrides)
    message = str(caught.value)
    value = {**MATRIX[preset], **overrides}[field]
    assert message.startswith(f"{field}={value!r} is refused with ")
    assert other in message


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.int64(500), "np.int64(500)"),
        (500.0, "500.0"),
        ((500,), "a tuple"),
        (np.zeros(2), "a ndarray"),
        ({}, "a dict"),
    ],
)
def test_a_value_of_another_type_is_shown(value: Any, shown: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules(target=value)
    assert str(caught.value) == f"target={shown} is not allowed: an int 1..1000000"


@pytest.mark.parametrize(
    ("field", "value"), [("mercy", 0), ("target", 0), ("bag_penalty", -1), ("min_bid", 0), ("min_bid", 14)]
)
def test_values_refused_anywhere(field: str, value: int) -> None:
    for preset in PRESETS:
        with pytest.raises(RulesError, match=f"{field}={value} is not allowed"):
            Rules.preset(preset, **{field: value})


@pytest.mark.parametrize(
    "overrides",
    [
        {"jokers": True},
        {"mercy": -200},
        {"lead_spades": "any"},
        {"lead_spades": "only_spades_left"},
        {"opening_lead": "low_club"},
        {"first_trick_spades": "forbid"},
        {"bag_limit": 0},
        {"bag_penalty": 0},
        {"bag_points": 0},
        {"bag_after": "reset"},
        {"failed_nil": "bags_only"},
        {"draft_second_card_seen": True},
        {"blind_nil": False},
        {"deal": "dealt", "blind_nil_exchange": 0},
        {"deal": "dealt", "blind_nil_exchange": 0, "suits": 2, "ranks": 8, "hand_size": 8},
    ],
)
def test_options_that_work_in_two_player(overrides: dict[str, Any]) -> None:
    assert Rules.preset("two_player", **overrides).players == 2


def test_limits_of_combinations_are_allowed() -> None:
    assert Rules(min_bid=4, max_team_bid=8).max_team_bid == 8
    assert Rules(suits=2, ranks=2, hand_size=1).hand_size == 1
    assert Rules(suits=1, ranks=4, hand_size=1).suits == 1
    assert Rules(hand_size=5, min_bid=5, ranks=5).min_bid == 5
    assert Rules(opening_lead="low_club", ranks=4, hand_size=4).opening_lead == "low_club"


# ---------------------------------------------------------------- reading and writing


def test_unknown_fields_are_named_with_a_suggestion() -> None:
    for build in (Rules.preset("classic").replace, lambda **k: Rules.preset("classic", **k), _from_dict):
        with pytest.raises(RulesError, match="unknown rule field 'bag_penality': did you mean 'bag_penalty'"):
            build(bag_penality=50)
    with pytest.raises(RulesError, match="unknown rule field 'zzz': one of players, deal, target"):
        Rules.from_dict({"zzz": 1})


@pytest.mark.parametrize("name", ["name", "self", "cls", "preset_name", "_x"])
def test_names_of_our_own_code_are_no_fields(name: str) -> None:
    with pytest.raises(RulesError, match=f"unknown rule field '{name}'"):
        Rules.from_dict({name: 1})


def test_keys_that_are_no_text_are_refused() -> None:
    with pytest.raises(RulesError, match="unknown rule field '1'"):
        Rules.from_dict({1: 2})  # type: ignore[dict-item]


def test_unknown_presets_are_named_with_a_suggestion() -> None:
    with pytest.raises(RulesError, match="preset 'clasic' does not exist: did you mean 'classic'"):
        Rules.preset("clasic")
    with pytest.raises(RulesError, match="preset 7 does not exist: one of classic, table, modern, two_player"):
        Rules.from_dict({"preset": 7})


def test_from_dict_takes_a_base() -> None:
    assert Rules.from_dict({}) == Rules()
    assert Rules.from_dict({"preset": "modern", "target": 300}) == Rules.preset("modern", target=300)


def test_from_dict_leaves_its_argument_alone() -> None:
    values = {"preset": "modern", "target": 300}
    Rules.from_dict(values)
    assert values == {"preset": "modern", "target": 300}


@given(
    st.sampled_from(sorted(PRESETS)),
    st.integers(1, 1_000_000),
    st.none() | st.integers(-1_000_000, -1),
    st.sampled_from(["broken", "any", "only_spades_left"]),
    st.booleans(),
)
def test_round_trips(preset: str, target: int, mercy: int | None, lead: str, jokers: bool) -> None:
    rules = Rules.preset(preset, target=target, mercy=mercy, lead_spades=lead, jokers=jokers)
    assert Rules.from_dict(rules.to_dict()) == rules
    assert pickle.loads(pickle.dumps(rules)) == rules == copy.deepcopy(rules)
    assert len({rules, rules.replace()}) == 1


def test_yaml_round_trip(tmp_path: Path) -> None:
    rules = Rules.preset("two_player", jokers=True, mercy=-300, max_deals=7)
    path = tmp_path / "mine.yaml"
    path.write_text(rules.to_yaml(), encoding="utf-8")
    assert Rules.from_yaml(path) == Rules.from_yaml(str(path)) == rules


def test_yaml_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("preset: modern\ntarget: 0\n", encoding="utf-8")
    with pytest.raises(RulesError, match=r"mine\.yaml: target=0 is not allowed"):
        Rules.from_yaml(path)
    path.write_text("target: 300\ntarget: 400\n", encoding="utf-8")
    with pytest.raises(RulesError, match=r"mine\.yaml, line 2: key 'target' is given twice"):
        Rules.from_yaml(path)
    with pytest.raises(FileNotFoundError):
        Rules.from_yaml(tmp_path / "none.yaml")


def test_as_rules(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text("preset: table\n", encoding="utf-8")
    rules = PRESETS["table"]
    assert as_rules(rules) is rules
    for spec in ("table", {"preset": "table"}, path, str(path)):
        assert as_rules(spec) == rules
    for wrong in (None, 4, ["table"]):
        with pytest.raises(RulesError, match=r"a preset's name, a \.yaml file or a mapping"):
            as_rules(wrong)  # type: ignore[arg-type]


# ---------------------------------------------------------------- documentation


def test_every_field_is_documented_where_it_is_declared() -> None:
    for spec in dataclasses.fields(Rules):
        assert spec.metadata["help"]
        assert spec.metadata["allowed"]
        assert spec.metadata["paragraph"].startswith("R")


def test_describe_tells_every_value() -> None:
    rows = {name: (value, meaning) for name, value, meaning in Rules.preset("modern").describe()}
    assert list(rows) == list(FIELD_NAMES)
    assert rows["mercy"] == (-200, "score at or below which a team has lost")
    assert rows["lead_spades"] == ("broken", "once spades are broken, or from a hand of spades only")
    classic = {name: meaning for name, _, meaning in Rules().describe()}
    assert classic["mercy"] == "no low score ends it"
    assert classic["blind_nil"] == "no nil is bid blind"
    assert all(meaning and "\n" not in meaning for meaning in classic.values())


def _refused(name: str, value: object, allowed: str, extra: dict[str, Any]) -> None:
    """Check that a value is refused with the field's name and what is allowed."""
    with pytest.raises(RulesError) as caught:
        Rules.preset("classic", **extra, **{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name}=")
    assert "is not allowed: " in message
    assert allowed in message


def _from_dict(**values: Any) -> Rules:
    return Rules.from_dict(values)
