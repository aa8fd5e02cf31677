"""What a deal can have brought a team: itemised scores told by somebody are refused if no deal brings them."""

from __future__ import annotations

from spades_env.checks import shown
from spades_env.engine.state import StateArray
from spades_env.game.facts import TeamResult
from spades_env.game.position import PositionError, whole_number
from spades_env.rules import Rules

ITEMS = ("contract", "nil", "bag_points", "penalty", "bags")
_INT32 = (-(2**31), 2**31 - 1)


def most_points(rules: Rules) -> int:
    """No deal adds more than this to a team's score, or takes more from it (R17-R22)."""
    seats = _team_size(rules)
    nils = max(_nil_values(rules, seats))
    return 10 * seats * rules.hand_size + nils + rules.hand_size * (abs(rules.bag_points) + rules.bag_penalty)


def checked_result(rules: Rules, result: object) -> tuple[TeamResult, TeamResult]:
    """`result` as two TeamResult values that one deal under `rules` can have brought, or an error that names it."""
    if (
        not isinstance(result, tuple | list)
        or len(result) != 2
        or not all(isinstance(part, TeamResult) for part in result)
    ):
        raise PositionError(f"result is {shown(result)}; allowed: two TeamResult values, by team")
    first, second = (_checked_team(rules, f"result[{team}]", part) for team, part in enumerate(result))
    tricks = sum(max(part.contract, 0) // 10 + part.bags for part in (first, second))
    if tricks > rules.hand_size:
        raise PositionError(
            f"result has contracts made and bags for {tricks} tricks; allowed: {rules.hand_size} in a deal (R18)"
        )
    for own, other in ((first, second), (second, first)):
        if own.boston and (other.boston or other.bags or other.contract > 0):
            raise PositionError("result has a boston of one team and tricks of the other; allowed: one or none (R16)")
    return first, second


def write_result(states: StateArray, result: tuple[TeamResult, TeamResult]) -> None:
    """Write the checked score of the deal before into ``states[0]``."""
    for name in ITEMS:
        states["result"][name][0] = [getattr(part, name) for part in result]
    states["result"]["boston"] = next((team for team, part in enumerate(result) if part.boston), -1)
    states["result"]["scored"] = 1


def _checked_team(rules: Rules, name: str, part: TeamResult) -> TeamResult:
    """The result of one team with plain ints, every item among what the rules can bring."""
    contract, nil, bag_points, penalty, bags = (
        whole_number(f"{name}.{item}", getattr(part, item), *_INT32) for item in ITEMS
    )
    if not isinstance(part.boston, bool):
        raise PositionError(f"{name}.boston is {shown(part.boston)}; allowed: True or False")
    whole_number(f"{name}.bags", bags, 0, rules.hand_size)
    seats = _team_size(rules)
    most = 10 * min(seats * rules.hand_size, rules.max_team_bid or seats * rules.hand_size)
    if contract % 10 or abs(contract) > most:
        raise PositionError(f"{name}.contract is {contract}; allowed: a multiple of 10 in {-most}..{most} (R18)")
    nils = _nil_values(rules, seats)
    if nil not in nils:
        raise PositionError(f"{name}.nil is {nil}; allowed: {', '.join(map(str, sorted(nils)))} (R19)")
    if bag_points != bags * rules.bag_points:
        raise PositionError(f"{name}.bag_points is {bag_points}; allowed: bags * {rules.bag_points} (R21)")
    penalties = _penalties(rules, bags)
    if penalty not in penalties:
        allowed = ", ".join(map(str, penalties))
        raise PositionError(f"{name}.penalty is {penalty}; allowed with {bags} bags: {allowed} (R21)")
    return TeamResult(contract, nil, bag_points, penalty, bags, part.boston)


def _team_size(rules: Rules) -> int:
    return rules.players // 2


def _nil_values(rules: Rules, seats: int) -> set[int]:
    """What the nils of a team's seats can come to, won, lost or not bid (R19)."""
    one = {0}
    if rules.nil_allowed:
        one |= {rules.nil_value, -rules.nil_value}
    if rules.blind_nil:
        one |= {rules.blind_nil_value, -rules.blind_nil_value}
    return one if seats == 1 else {a + b for a in one for b in one}


def _penalties(rules: Rules, bags: int) -> list[int]:
    """Penalties that `bags` more bags can bring, whatever the count below the limit before (R21)."""
    limit = rules.bag_limit
    if limit == 0:
        return [0]
    fewest, most = bags // limit, (limit - 1 + bags) // limit
    if rules.bag_after == "reset":
        fewest, most = min(fewest, 1), min(most, 1)
    return [-rules.bag_penalty * count for count in range(fewest, most + 1)]
