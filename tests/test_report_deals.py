"""The deal viewer: what its data says is what the engine says, and its pure functions, run by Node, step rightly."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from record_games import play, preset_or_random_rules

from evaluation.report.deals import bags_so_far, deal_values
from evaluation.report.html import SCRIPT, TEMPLATES
from evaluation.report.tricks import card_symbol, hand_symbols, score_table, trick_table
from spades_env.game import Game

NODE = shutil.which("node")


def finished(rules: Any, seed: int) -> Game:
    """A deal of random play."""
    game = Game(rules, seed=seed)
    play(game, random.Random(seed))
    return game


@pytest.mark.parametrize("seed", range(60))
def test_the_data_of_a_deal_is_what_the_engine_says(seed: int) -> None:
    game = finished(preset_or_random_rules(seed), seed)
    deal = deal_values(game.to_record(), "file")
    end = deal["stands"][-1]
    players = game.players
    assert end["tricks"] == game.tricks[:players]
    assert end["broken"] == game.broken
    assert len(deal["stands"]) == len(deal["steps"]) + 1
    assert len(deal["winners"]) == sum(end["tricks"])
    assert [deal["winners"].count(seat) for seat in range(players)] == end["tricks"]
    plays = [[seat, text] for seat, kind, text in deal["steps"] if kind == "play"]
    assert len(plays) == len(game.plays)
    for seat in range(players):  # the hands are what was played: all tricks are (R12)
        assert sorted(deal["hands"][seat]) == sorted(text for other, text in plays if other == seat)
    assert game.result is not None
    for team, part in enumerate(game.result):
        assert deal["outcome"]["result"][team]["points"] == part.points
        assert deal["outcome"]["scores"][team] == deal["scores"][team] + part.points


@pytest.mark.parametrize("seed", range(120))
def test_bags_so_far_end_as_the_bags_of_the_deal(seed: int) -> None:
    """R18, R20, R22 and the further options: what is counted while it is played comes to what is scored."""
    game = finished(preset_or_random_rules(seed), 1_000 + seed)
    assert game.result is not None
    assert [bags_so_far(game, team) for team in (0, 1)] == [part.bags for part in game.result]


def test_a_draft_is_told_before_the_steps() -> None:
    game = finished("two_player", 4)
    deal = deal_values(game.to_record(), "file")
    assert len(deal["notes"]) >= 26
    assert {kind for _, kind, _ in deal["steps"][:-26]} <= {"call"}
    assert [kind for _, kind, _ in deal["steps"][-26:]] == ["play"] * 26
    assert all(len(hand) == 13 for hand in deal["hands"])


def test_a_deal_that_is_not_over_has_no_score() -> None:
    game = Game("classic", seed=3)
    play(game, random.Random(3), 11)
    deal = deal_values(game.to_record(), "file")
    assert deal["outcome"] is None
    assert score_table(deal).rows == []
    assert len(trick_table(deal).rows) == 2


def test_cards_have_symbols() -> None:
    assert [card_symbol(card) for card in ("AS", "TH", "2D", "KC", "BJ")] == ["A♠", "T♥", "2♦", "K♣", "big joker"]
    assert hand_symbols(["LJ", "AS", "3S", "KH", "2C"]) == "little joker ♠ A 3 ♥ K ♣ 2"


# ---------------------------------------------------------------- the script


def run_node(code: str, *values: Any) -> Any:
    """What JavaScript `code` returns, with the viewer as V and the values as X."""
    program = f"""
      const V = require({json.dumps(str(TEMPLATES / SCRIPT))});
      const X = JSON.parse(require("fs").readFileSync(0, "utf-8"));
      process.stdout.write(JSON.stringify((() => {{ {code} }})()));
    """
    done = subprocess.run(
        [str(NODE), "-e", program], input=json.dumps(values), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
@pytest.mark.parametrize("rules", ["modern", "two_player"])
def test_the_viewer_steps_through_a_deal(rules: str) -> None:
    deal = deal_values(finished(rules, 11).to_record(), "file")
    code = """
      return X[0].steps.concat([null]).map((_, k) => {
        const p = V.positionAt(X[0], k);
        const trick = p.trick && [p.trick.number, p.trick.plays.length, p.trick.winner];
        return [p.played.size, trick, p.turn, p.over, p.said];
      });
    """
    found = run_node(code, deal)
    size, played = len(deal["seats"]), 0
    for step, (count, trick, turn, over, said) in enumerate(found):
        played += step > 0 and deal["steps"][step - 1][1] == "play"
        assert count == played
        if played:
            number = (played - 1) // size
            whole = played % size == 0
            winner = deal["winners"][number] if whole else None
            assert trick == [number, size if whole else played % size, winner]
            assert ("wins trick" in said) == whole
        else:
            assert trick is None
        assert over == (step == len(deal["steps"]))
        assert turn == (None if over else deal["steps"][step][0])


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_addresses_and_keys_stay_in_range() -> None:
    deals = [{"steps": [0] * 5}, {"steps": [0] * 9}]
    hashes = ["", "#deal=2&step=7", "#deal=99&step=99", "#step=3", "#deal=0", "#deal=-1&step=x", "#deal=1&step=2&z"]
    found = run_node(
        "return X[1].map((hash) => { const r = V.readHash(hash, X[0]); return [r.deal, r.step]; });", deals, hashes
    )
    assert found == [[0, 0], [1, 7], [1, 9], [0, 3], [0, 0], [0, 0], [0, 2]]
    assert run_node("return V.readHash(V.hashOf(1, 4), X[0]);", deals) == {"deal": 1, "step": 4, "asked": True}
    keys = ["ArrowRight", "ArrowLeft", "Home", "End", "Tab"]
    assert run_node("return X[0].map((key) => V.stepOfKey(key, 5, 5));", keys) == [5, 4, 0, 5, None]
    assert run_node("return X[0].map((key) => V.stepOfKey(key, 0, 5));", keys) == [1, 0, 0, 5, None]


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_cards_in_words() -> None:
    found = run_node("return X[0].map((text) => V.cardOf(text).name);", ["AS", "TH", "2D", "KC", "LJ", "BJ"])
    assert found == ["ace of spades", "10 of hearts", "2 of diamonds", "king of clubs", "little joker", "big joker"]


def test_the_script_writes_text_and_nothing_else() -> None:
    """Names from files reach the page by textContent alone."""
    script = Path(TEMPLATES / SCRIPT).read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "</"):
        assert way not in script
