"""Game records: written, read and replayed to the same bytes; files; the page about them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rules import random_rules
from record_games import SUITED, again, changed, go_on, play, preset_or_random_rules, some_game, suited_game

from spades_env.engine.batch import SpadesBatch
from spades_env.engine.step import advance
from spades_env.game import Game, PositionError
from spades_env.record import RecordError, append_records, read_records, record_for_seat, record_of, record_text
from spades_env.record.form import DEAL_FIELDS, SEAT_FIELDS
from spades_env.rules import PRESETS

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=60)
@given(seeds)
def test_a_record_leads_back_to_the_same_bytes(seed: int) -> None:
    rng = random.Random(seed)
    game = some_game(preset_or_random_rules(seed), rng)
    record = game.to_record()
    read = again(record)
    assert read == record
    assert Game.from_record(read).to_bytes() == game.to_bytes()
    assert Game.from_record(read).to_record() == record
    # Bytes remember neither the seed nor, after a penalty under "reset", the bags before; a key leads here, too.
    by_key = Game.from_bytes(game.to_bytes()).to_record()
    assert "key" in by_key
    assert Game.from_record(again(by_key)).to_bytes() == game.to_bytes()


@pytest.mark.parametrize("rules", PRESETS)
def test_every_deal_of_a_match_in_a_file(rules: str, tmp_path: Path) -> None:
    """Also what comes after the last one: the key is in the record."""
    path, rng, game = tmp_path / "match.jsonl", random.Random(rules), Game(rules, seed=11, match=2)
    deals = []
    for _ in range(4):
        play(game, rng)
        deals.append(game.copy())
        assert append_records(path, [game.to_record()]) == 1
        go_on(game)
    found = [Game.from_record(record) for record in read_records(path)]
    assert [one.to_bytes() for one in found] == [one.to_bytes() for one in deals]
    go_on(found[-1])
    assert found[-1].hands == game.hands
    assert found[-1].dealer == game.dealer


@settings(max_examples=15)
@given(seeds)
def test_a_record_stands_at_every_action(seed: int) -> None:
    rng = random.Random(seed)
    game = Game(random_rules(np.random.default_rng(seed)), seed=seed)
    steps = [game.copy()]
    while not game.deal_over:
        game.apply(rng.choice(game.legal_actions()))
        steps.append(game.copy())
    record = game.to_record()
    for count in {0, 1, len(steps) // 2, len(steps) - 1, rng.randrange(len(steps))}:
        assert Game.from_record(record, actions=count).to_bytes() == steps[count].to_bytes()
    with pytest.raises(PositionError, match=rf"actions is {len(steps)}; allowed: an int 0..{len(steps) - 1}"):
        Game.from_record(record, actions=len(steps))


def test_given_cards_come_back() -> None:
    game = suited_game()
    record = game.to_record()
    assert record["hands"] == SUITED
    assert (record["seed"], record["game"], record["dealer"]) == (7, 0, 3)
    assert record["outcome"]["tricks"] == [13, 0, 0, 0]
    # R18, R19: seats 0 and 2 bid 10 and took 13; seat 1's nil was made and seat 3 was set.
    assert record["outcome"]["scores"] == [103, 80]
    assert [part["boston"] for part in record["outcome"]["result"]] == [True, False]
    assert Game.from_record(again(record)).to_bytes() == game.to_bytes()


def test_the_deal_before_is_told_while_a_deal_goes_on() -> None:
    game, rng = Game(seed=3), random.Random(3)
    play(game, rng)
    before = game.to_record()["outcome"]["result"]
    game.next_deal()
    play(game, rng, 10)
    record = game.to_record()
    assert record["last_result"] == before
    assert record["outcome"] is None
    assert Game.from_record(again(record)).to_bytes() == game.to_bytes()


def test_bags_that_a_penalty_forgot_are_told() -> None:
    """`bag_after: reset`: the state after the deal says 0 bags whether there were 8 or 9 before."""
    game = Game({"bag_after": "reset", "nil_allowed": False}, hands=SUITED, dealer=3, bags=(9, 0))
    for bid in ("bid 4", "bid 1", "bid 4", "bid 1"):
        game.apply(bid)
    while not game.deal_over:
        game.apply(game.legal_actions()[0])
    assert game.bags == (0, 0)
    for same in (game, game.copy(), Game.from_record(game.to_record())):
        assert same.to_record()["bags"] == [9, 0]


def test_a_game_advanced_by_a_kernel_has_a_record() -> None:
    """Environments advance the states of their game themselves."""
    game, rng = Game({"max_deals": 100}, seed=4), random.Random(4)
    play(game, rng)
    advance(game.states, 0)
    play(game, rng)
    record = game.to_record()
    assert (record["deal"], record["preset"]) == (1, "classic")
    assert Game.from_record(record).to_bytes() == game.to_bytes()


def test_games_of_a_batch_have_records() -> None:
    batch = SpadesBatch(3, "modern", seed=9, first_game=5)
    for n in range(40):
        batch.step(batch.sample_actions(1, n))
    for i in range(3):
        record = record_of(batch.states, i, origin=(9, 5 + i), meta={"i": i})
        assert len(record["actions"]) == 40
        assert Game.from_record(record).states[0] == batch.states[i]
        assert record_of(batch.states, i)["key"] == f"{int(batch.states['key'][i]):016x}"
    with pytest.raises(RecordError, match=r"no record: its actions do not lead to its state, origin or bags"):
        record_of(batch.states, 0, origin=(9, 6))
    batch.states["tricks"][0, 0] += 1
    with pytest.raises(RecordError, match=r"no record: its actions do not lead to its state"):
        record_of(batch.states, 0)
    batch.states["actions"][1, 0] = 5
    with pytest.raises(RecordError, match=r"no record: actions\[0\] is not legal"):
        record_of(batch.states, 1)


def test_names_and_meta_are_kept() -> None:
    names, meta = ["Ann", "Bo", "Çelik", "Δ"], {"event": "final", "x": [1, 2.5, None, {"y": True}]}
    record = again(suited_game().to_record(players=names, meta=meta))
    assert (record["players"], record["meta"]) == (names, meta)
    assert "meta" not in record_for_seat(record, 1)
    assert record_for_seat(record, 1)["players"] == names


# ---------------------------------------------------------------- files


def test_files_of_records(tmp_path: Path) -> None:
    file, good = tmp_path / "deals.jsonl", suited_game().to_record()
    with pytest.raises(FileNotFoundError):
        list(read_records(file))
    assert append_records(file, []) == 0
    assert list(read_records(file)) == []
    seat = record_for_seat(good, 2)
    assert append_records(file, [good, seat]) == 2
    assert list(read_records(file)) == [good, seat]
    assert file.read_bytes().count(b"\n") == 2
    with pytest.raises(RecordError, match=r"outcome is null"):
        append_records(file, [changed(good, ("outcome",), None)])
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))
    assert list(read_records(file)) == [good, seat]  # the last newline is not missed
    with pytest.raises(RecordError, match=r"ends in the middle of a line"):
        append_records(file, [good])


def test_a_record_that_no_reader_takes_is_not_written() -> None:
    record = suited_game().to_record()
    with pytest.raises(RecordError, match=r"record has 7\d+ bytes as a line; allowed: 65536"):
        record_text(record | {"meta": {"log": "x" * 70_000}})
    with pytest.raises(RecordError, match=r'record has a field "mta"'):
        record_text(record | {"mta": {}})
    with pytest.raises(RecordError, match=r"players is a list of 5; allowed: a list of 2..4"):
        suited_game().to_record(players=["a"] * 5)


# ---------------------------------------------------------------- docs/records.md

PAGE = Path(__file__).resolve().parent.parent / "docs" / "records.md"


@pytest.mark.parametrize(("heading", "fields"), [("Fields of a deal", DEAL_FIELDS), ("Fields of a seat", SEAT_FIELDS)])
def test_the_page_has_every_field(heading: str, fields: Any) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{field.name}` | {field.need} | {field.meaning} |" for field in fields]


def test_the_pages_examples_are_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    example = page.split("```json\n", 1)[1].split("```", 1)[0]
    game = Game.from_record(json.loads(example))
    assert game.deal_over
    monkeypatch.chdir(tmp_path)
    blocks = [part.split("```", 1)[0] for part in page.split("```python\n")[1:]]
    assert len(blocks) >= 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/records.md", "exec"), names)
