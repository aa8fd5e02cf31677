"""What a seat or a spectator is told of the game: public facts, and a seat's own from her `View` alone (R30).

Cards and actions are the engine's ids, lists are by seat or by team.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from spades_env.actions import FIRST_BID, MAX_BID
from spades_env.game import Game, View
from spades_env.game.facts import Facts
from spades_env.game.reasons import why_not
from spades_env.render.ansi import team_need
from table.claims import certain_line


def public_part(facts: Game | View) -> dict[str, Any]:
    """What everybody at the table knows. Works on a view as on a game and uses nothing that is not in both."""
    return {
        "phase": facts.phase,
        "turn": facts.turn,
        "dealer": facts.dealer,
        "first": facts.first,
        "match": facts.match,
        "deal": facts.deal,
        "bids": facts.bids,
        "blind": facts.blind,
        "looked": facts.looked,
        "tricks": facts.tricks,
        "broken": facts.broken,
        "scores": list(facts.scores),
        "bags": list(facts.bags),
        "contracts": [contract(facts, team) for team in (0, 1)],
        "needs": [team_need(facts, team) for team in (0, 1)],
        "cards_left": cards_left(facts),
        "pile_left": facts.pile_left,
        "exchanged": list(facts.exchanged),
        "trick": [list(play) for play in facts.trick],
        "last_trick": last_trick(facts),
        "played": [list(play) for play in facts.plays],
        "winner": facts.winner,
        "truncated": facts.truncated,
        "result": result_part(facts) if facts.deal_over else None,
    }


def seat_part(view: View) -> dict[str, Any]:
    """What a seat knows besides: her cards and, when she is to act, what she may do and why not the rest."""
    drafting = view.rules.deal == "draft"
    mine = view.turn == view.seat
    legal = view.legal_actions()
    return {
        "hand": view.hand,
        "legal": legal,
        "why": reasons(view, legal) if mine else {},
        "claim": mine and certain_line(view) is not None,
        "shown": view.shown if drafting else None,
        "rejected": view.rejected,
        "thrown": view.thrown,
    }


def watcher_part(game: Game) -> dict[str, Any]:
    """What a spectator sees where nobody but agents plays: all hands, and what the seat to act may do."""
    turn = game.turn
    shown = None if turn is None else game.view(turn).shown
    return {"hands": game.hands, "legal": game.legal_actions(), "shown": shown}


def reasons(view: View, legal: list[int]) -> dict[str, dict[str, Any]]:
    """Why she may not play a card she holds, or bid a number; by action id as text (a key of a JSON object)."""
    if view.phase == "play":
        tried = view.hand
    elif view.phase == "bid":
        tried = list(range(FIRST_BID, FIRST_BID + MAX_BID + 1))
    else:
        return {}
    return {str(action): reason_part(view, action) for action in tried if action not in legal}


def reason_part(view: View, action: int) -> dict[str, Any]:
    """One reason, to be translated: `words` with gaps for `values`."""
    reason = why_not(view, action)
    return {
        "key": reason.key,
        "words": reason.words,
        "values": dict(reason.values),
        "paragraph": reason.paragraph,
    }


def contract(facts: Facts, team: int) -> int:
    """Sum of the team's ordinary bids so far (R9)."""
    return sum(facts.bids[seat] or 0 for seat in range(team, facts.players, 2))


def cards_left(facts: Facts) -> list[int]:
    """How many cards each seat holds, which everybody can count."""
    held = [facts.rules.hand_size] * facts.players
    if facts.rules.deal == "draft":
        held = drafted(facts)
    for seat, _ in facts.plays:
        held[seat] -= 1
    return held


def drafted(facts: Facts) -> list[int]:
    """Cards that each seat has drawn: the dealer draws first, then they alternate (R27); exchanges end even."""
    draws = (52 - facts.pile_left) // 2
    held = [0, 0]
    held[facts.dealer], held[1 - facts.dealer] = (draws + 1) // 2, draws // 2
    if facts.phase == "exchange" and facts.turn is not None:
        held[facts.turn] -= facts.exchanged[facts.turn]
    return held


def last_trick(facts: Facts) -> dict[str, Any] | None:
    """The trick completed last in this deal: its plays in order, and who took it."""
    winners = facts.trick_winners
    if not winners:
        return None
    end = len(facts.plays) - len(facts.trick)
    plays = facts.plays[end - facts.players : end]
    return {"plays": [list(play) for play in plays], "winner": winners[-1], "number": len(winners) - 1}


def result_part(facts: Facts) -> list[dict[str, Any]] | None:
    """The itemised score of the deal that is over, by team."""
    if facts.result is None:
        return None
    return [asdict(part) | {"points": part.points} for part in facts.result]
