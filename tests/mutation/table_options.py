"""Mutants of the options: every field of `Rules` ignored in turn, the presets, the refusals and the ranges."""

from __future__ import annotations

from .mutant import RULES, STATE, Mutant

RULES_TESTS = "tests/test_rules.py"
REFEREE_TESTS = "tests/test_engine_vs_referee.py"

# field: (what the engine's record is given, what it is given instead, where the golden cases do not meet it)
_IGNORED: dict[str, tuple[str, str]] = {
    "target": ('"target": rules.target', '"target": 500'),
    "mercy": ("NONE if rules.mercy is None else rules.mercy", "NONE"),
    "nil_value": ('"nil_value": rules.nil_value', '"nil_value": 100'),
    "blind_nil_value": ('"blind_nil_value": rules.blind_nil_value', '"blind_nil_value": 200'),
    "blind_nil_deficit": ("NONE if rules.blind_nil_deficit is None else rules.blind_nil_deficit", "100"),
    "bag_limit": ('"bag_limit": rules.bag_limit', '"bag_limit": 10'),
    "bag_penalty": ('"bag_penalty": rules.bag_penalty', '"bag_penalty": 100'),
    "bag_points": ('"bag_points": rules.bag_points', '"bag_points": 1'),
    "max_deals": ("rules.max_deals or 0", "0"),
    "players": ('"players": rules.players', '"players": 4'),
    "deal": ('rules.deal == "draft",\n        "step"', '0,\n        "step"'),
    "turn_direction": ('1 if rules.turn_direction == "clockwise" else rules.players - 1', "1"),
    "first_seat": ('rules.first_seat == "dealers_left"', "0"),
    "nil_allowed": ('"nil_allowed": rules.nil_allowed', '"nil_allowed": 1'),
    "blind_nil": ('"blind_nil": rules.blind_nil,', '"blind_nil": 0,'),
    "blind_nil_exchange": ('"exchange": rules.blind_nil_exchange', '"exchange": 3 * (rules.deal == "draft")'),
    "jokers": ('"jokers": rules.jokers', '"jokers": 0'),
    "lead_spades": ("_LEADS[rules.lead_spades]", "LEAD_BROKEN"),
    "forced_lead_breaks": (
        '"forced_lead_breaks": rules.forced_lead_breaks',
        '"forced_lead_breaks": rules.players == 2',
    ),
    "failed_nil": ("_FAILED[rules.failed_nil]", "FAILED_BAGS_ONLY"),
    "both_nil": ('rules.both_nil == "unit",\n        "individual"', '0,\n        "individual"'),
    "contract": ('rules.contract == "individual",\n        "bag_reset"', '0,\n        "bag_reset"'),
    "bag_after": ('rules.bag_after == "reset",\n        "min_bid"', '0,\n        "min_bid"'),
    "min_bid": ('"min_bid": rules.min_bid', '"min_bid": 1'),
    "max_team_bid": ("rules.max_team_bid or 0", "0"),
    "opening_lead": ('rules.opening_lead == "low_club"', "0"),
    "first_trick_spades": ('rules.first_trick_spades == "forbid"', "0"),
    "draft_second_card_seen": ('"second_seen": rules.draft_second_card_seen', '"second_seen": 0'),
    "suits": ('"suits": rules.suits', '"suits": 4'),
    "ranks": ('"ranks": rules.ranks', '"ranks": 13'),
    "hand_size": ('"hand_size": rules.hand_size', '"hand_size": 13'),
}
_BY_RANDOM_RULES = {"jokers", "suits", "ranks", "blind_nil_value", "blind_nil_exchange"}

OPTION_MUTANTS = tuple(
    Mutant(
        f"option-{name.replace('_', '-')}-ignored",
        name,
        STATE,
        old,
        new,
        f"`{name}` is not read: the engine plays on with the usual value",
        REFEREE_TESTS if name in _BY_RANDOM_RULES else "tests/test_golden_engine.py",
    )
    for name, (old, new) in _IGNORED.items()
)


def _preset(name: str, breaks: str, old: str, new: str, means: str) -> Mutant:
    return Mutant(f"preset-{name}", breaks, RULES, old, new, means, RULES_TESTS)


PRESET_MUTANTS = (
    _preset("table-target", "target", "Rules(target=300,", "Rules(target=500,", "`table` is played to 500"),
    _preset(
        "table-direction",
        "turn_direction",
        'Rules(target=300, turn_direction="counter_clockwise")',
        "Rules(target=300)",
        "`table` goes clockwise",
    ),
    _preset("modern-mercy", "mercy R25", "Rules(mercy=-200,", "Rules(mercy=-500,", "`modern` has mercy at -500"),
    _preset(
        "modern-blind-nil", "blind_nil R10", "mercy=-200, blind_nil=True", "mercy=-200", "`modern` has no blind nil"
    ),
    _preset(
        "two-player-deficit",
        "blind_nil_deficit R28",
        "            blind_nil_deficit=None,\n",
        "            blind_nil_deficit=100,\n",
        "double nil needs a deficit",
    ),
    _preset(
        "two-player-exchange",
        "blind_nil_exchange R28",
        "blind_nil_exchange=3,",
        "blind_nil_exchange=2,",
        "two cards are exchanged",
    ),
    _preset(
        "two-player-lead-breaks",
        "forced_lead_breaks R14",
        "            forced_lead_breaks=True,\n",
        "",
        "in `two_player` a forced spade lead does not break",
    ),
    _preset(
        "two-player-failed-nil",
        "failed_nil R22",
        '            failed_nil="ignored",\n',
        "",
        "in `two_player` a failed nil's tricks are bags",
    ),
    _preset(
        "two-player-double-nil",
        "blind_nil R28",
        '            deal="draft",\n            blind_nil=True,\n',
        '            deal="draft",\n',
        "`two_player` has no double nil",
    ),
)


def _refusal(name: str, breaks: str, old: str, means: str) -> Mutant:
    """A combination that is refused no longer: `old` is its condition."""
    return Mutant(f"refusal-{name}", breaks, RULES, old, f"False and {old}", means, RULES_TESTS)


REFUSAL_MUTANTS = (
    _refusal(
        "two-direction", "turn_direction players", 'two and r.turn_direction != "clockwise"', "two seats turn around"
    ),
    _refusal(
        "two-first-seat", "first_seat players", 'two and r.first_seat != "next"', "two seats have a dealer's left"
    ),
    _refusal("two-both-nil", "both_nil players", 'two and r.both_nil != "independent"', "one seat bids two nils"),
    _refusal("two-contract", "contract players", 'two and r.contract != "team"', "a team of one has two contracts"),
    _refusal(
        "two-help-partner", "failed_nil players", 'two and r.failed_nil == "help_partner"', "one seat helps a partner"
    ),
    _refusal("two-cap", "max_team_bid players", "two and r.max_team_bid is not None", "a team of one has a team's cap"),
    _refusal("four-draft", "deal players", 'r.deal == "draft" and not two', "four players draft"),
    _refusal(
        "dealt-second-card",
        "draft_second_card_seen deal",
        "no_draft and r.draft_second_card_seen",
        "a second card is seen where nobody drafts",
    ),
    _refusal(
        "dealt-exchange",
        "blind_nil_exchange deal",
        "no_draft and r.blind_nil_exchange > 0",
        "cards are exchanged where there are no discards",
    ),
    _refusal(
        "individual-help",
        "contract failed_nil",
        'r.contract == "individual" and r.failed_nil == "help_partner"',
        "a failed nil helps a contract that is the partner's alone",
    ),
    _refusal(
        "individual-unit",
        "contract both_nil",
        'r.contract == "individual" and r.both_nil == "unit"',
        "two nils are one contract where each has her own",
    ),
    _refusal(
        "cap-below-two-bids",
        "max_team_bid min_bid",
        "r.max_team_bid is not None and r.max_team_bid < 2 * r.min_bid",
        "a cap leaves the partner no bid",
    ),
    _refusal(
        "blind-without-nil", "blind_nil nil_allowed", "r.blind_nil and not r.nil_allowed", "blind nil without nil"
    ),
    _refusal("bid-above-hand", "min_bid hand_size", "r.min_bid > r.hand_size", "no ordinary bid is low enough"),
    _refusal("small-draft", "deal suits ranks hand_size", 'r.deal == "draft" and small', "a draft of a small deck"),
    _refusal("small-jokers", "jokers suits ranks hand_size", "r.jokers and small", "jokers in a small deck"),
    _refusal(
        "too-few-cards",
        "hand_size suits ranks players",
        "r.hand_size * r.players > r.suits * r.ranks",
        "more cards are dealt than there are",
    ),
    _refusal(
        "low-club-without-clubs",
        "opening_lead suits",
        'r.opening_lead == "low_club" and r.suits < 4',
        "clubs are led from a deck without clubs",
    ),
)


def _range(name: str, breaks: str, old: str, new: str, means: str) -> Mutant:
    return Mutant(f"refusal-{name}", breaks, RULES, old, new, means, RULES_TESTS)


RANGE_MUTANTS = (
    _range("target-zero", "target", '"R24", 1, 1_000_000)', '"R24", 0, 1_000_000)', "a match to 0 is accepted"),
    _range("mercy-zero", "mercy", "-1_000_000, -1, none", "-1_000_000, 0, none", "mercy at 0 is accepted"),
    _range("penalty-negative", "bag_penalty", '"R21", 0, 100_000)', '"R21", -100, 100_000)', "bags win points"),
    _range("bid-zero", "min_bid", '"R8", 1, 13)', '"R8", 0, 13)', "an ordinary bid of 0 is accepted"),
)
