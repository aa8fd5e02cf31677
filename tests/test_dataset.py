"""Datasets of decisions: rows against games played one by one; any cut and any workers; damage; reader; command."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

pytest.importorskip("pyarrow", reason="needs the extra `data`")

import pyarrow.parquet as pq

from agents.base import decision_keys
from agents.registry import load_agent
from evaluation.dataset.columns import COLUMNS, METADATA_KEY
from evaluation.dataset.decisions import CHUNK_DEALS
from evaluation.dataset.generate import generate
from evaluation.dataset.read import Batch, open_dataset
from evaluation.dataset.spec import DatasetError, DatasetSpec, dataset_spec
from evaluation.dataset.store import CARD_FILE, LIST_FILE, LOCK_FILE
from spades_cli.main import main
from spades_env.engine.batch import default_bag_price
from spades_env.game import Game
from spades_env.observation.encoders import ENCODERS
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, view_of

ROOT = Path(__file__).resolve().parent.parent
LINE_UP = ("easy", "random", "lowest", "random")


def made(folder: Path, line_up: Any = "easy", deals: int = 20, **fields: Any) -> Batch:
    """All rows of a dataset made in `folder`."""
    generate(dataset_spec(line_up, deals, **fields), folder)
    return rows_of(folder)


def rows_of(folder: Path) -> Batch:
    batches = list(open_dataset(folder).batches(1000))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != LOCK_FILE)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def same(one: Batch, other: Batch) -> None:
    assert list(one) == list(other)
    for name, values in one.items():
        assert np.array_equal(values, other[name]), name


# --- What the rows say --------------------------------------------------------------------------------------


def played_by_hand(spec: DatasetSpec) -> list[dict[str, Any]]:
    """The rows of a dataset without exploration, from `Game` objects, one decision at a time."""
    line_up = spec.line_up * spec.rules.players if len(spec.line_up) == 1 else spec.line_up
    agents = [load_agent(text) for text in line_up]
    rows = []
    for deal in range(spec.deals):
        game = Game(spec.rules, seed=spec.seed, game=deal)
        noted = []
        while not game.deal_over:
            seat = game.turn
            assert seat is not None
            views, key = empty_views(1), np.empty(1, np.uint64)
            view_of(game.states, 0, seat, views, 0)
            decision_keys(game.states, key)
            action = int(agents[seat].act(views.copy(), key)[0])
            row: dict[str, Any] = {"deal": deal, "seat": seat, "step": len(game.actions), "action": action}
            row["mask"] = [a in game.legal_actions() for a in range(73)]
            row["phase"] = ("blind", "bid", "play", "draft", "exchange").index(game.phase)
            row["agent"] = list(dict.fromkeys(line_up)).index(line_up[seat])
            row["explored"] = False
            if spec.writer is not None:
                out = np.empty((1, spec.writer.layout.size), np.uint8)
                spec.writer.write(views, out)
                row["observation"] = out[0].tolist()
            noted.append(row)
            game.apply(action)
        assert game.result is not None
        for row in noted:
            rows.append(row | outcome(game, row["seat"], spec.price))
    return sorted(rows, key=lambda row: (row["deal"], row["seat"], row["step"]))


def outcome(game: Game, seat: int, bag_price: float) -> dict[str, Any]:
    """What the deal came to for a seat (R17-R21)."""
    assert game.result is not None
    own, other = game.result[seat % 2], game.result[1 - seat % 2]
    bid, tricks = game.bids[seat], game.tricks[seat]
    return {
        "margin": own.contract + own.nil - other.contract - other.nil + bag_price * (own.bags - other.bags),
        "margin_raw": own.points - other.points,
        "points": own.points,
        "bid": bid,
        "tricks": tricks,
        "nil": -1 if bid else int(tricks == 0),
    }


@pytest.mark.parametrize(
    ("rules", "encoder"),
    [
        (PRESETS["classic"], "flat"),
        (PRESETS["table"], "features"),
        (PRESETS["modern"].replace(jokers=True, blind_nil_deficit=None), "sequence"),
        (PRESETS["two_player"], "flat"),
        (Rules(suits=2, ranks=4, hand_size=2), "none"),
    ],
    ids=["classic", "table", "modern", "two_player", "small"],
)
def test_rows_are_those_of_games_played_by_hand(tmp_path: Path, rules: Rules, encoder: str) -> None:
    """Cards, order, observations, masks, actions and outcomes; every column is compared."""
    line_up = LINE_UP[: rules.players]
    spec = dataset_spec(line_up, 12, rules, seed=5, encoder=encoder)
    expected = played_by_hand(spec)
    found = made(tmp_path / "d", line_up, 12, rules=rules, seed=5, encoder=encoder)
    names = {name for name, _, _ in COLUMNS} - ({"observation"} if encoder == "none" else set())
    assert set(found) == names == set(expected[0])
    for name in names:
        assert found[name].tolist() == [row[name] for row in expected], name


def test_observations_are_bytes_of_the_layout(tmp_path: Path) -> None:
    found = made(tmp_path / "d", deals=3)
    hand = ENCODERS["flat"].layout.block("own_hand").slice
    assert found["observation"].dtype == np.uint8
    held = found["observation"][:, hand].sum(axis=1)
    assert held[found["phase"] == 1].tolist() == [13] * 12
    assert found["mask"].dtype == np.bool_
    assert found["mask"][np.arange(len(held)), found["action"]].all()


def test_a_share_of_decisions_is_random(tmp_path: Path) -> None:
    """Explored actions are uniform over the legal ones, and the others are the agent's own."""
    found = made(tmp_path / "d", "lowest", 300, epsilon=0.25, encoder="none")
    explored = found["explored"]
    assert abs(explored.mean() - 0.25) < 0.02
    bids = explored & (found["phase"] == 1)
    counts = np.bincount(found["action"][bids] - 54, minlength=14)
    assert counts.min() > 0
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 40  # chi square, 13 degrees, 1 in 5,000
    own = ~explored & (found["phase"] == 1)
    assert set(found["action"][own].tolist()) == {55}
    assert made(tmp_path / "all", "lowest", 2, epsilon=1.0, encoder="none")["explored"].all()


def test_an_agent_that_breaks_the_rules_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "cheat.py").write_text(
        "import numpy as np\n\n\nclass Cheat:\n    name = 'cheat'\n\n"
        "    def act(self, views, keys):\n        return np.zeros(len(views), np.int16)\n",
        encoding="utf-8",
    )
    code = "import sys; from spades_cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "generate", "--agent", "cheat:Cheat", "--deals", "5", "--out", "d"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    error = done.stderr.splitlines()[-1]
    assert error.startswith("spades: error: agent 'cheat': action 0 in deal 0; allowed there: nil, bid 1,")


# --- The same bytes -----------------------------------------------------------------------------------------


def test_workers_and_cuts_change_nothing(tmp_path: Path) -> None:
    deals = CHUNK_DEALS + 44
    options: dict[str, Any] = {"encoder": "features", "epsilon": 0.1, "seed": 3}
    spec = dataset_spec(LINE_UP, deals, part_deals=64, **options)
    totals = [generate(spec, tmp_path / f"{workers}", workers=workers, command="x") for workers in (1, 2)]
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert totals[0] == totals[1]
    assert len(list((tmp_path / "1" / "data").iterdir())) == 5
    same(rows_of(tmp_path / "1"), made(tmp_path / "whole", LINE_UP, deals, **options))


def test_progress_ends_at_the_number_of_decisions(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    spec = dataset_spec("easy", 40, part_deals=10, encoder="none")
    generate(spec, tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (40 * 56, 40 * 56)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


# --- Going on, and what is refused --------------------------------------------------------------------------

SMALL = dataset_spec("easy", 50, part_deals=10, encoder="features")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The contents of the dataset of SMALL."""
    folder = tmp_path_factory.mktemp("whole")
    generate(SMALL, folder)
    return contents(folder)


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def interrupted(monkeypatch: pytest.MonkeyPatch, folder: Path, after: int) -> None:
    """Make parts of SMALL in `folder` until Ctrl-C is pressed in the one after `after` others."""
    from evaluation.dataset import generate as module

    made_parts, make = [], module.make_part

    def stop(*arguments: Any) -> Any:
        if len(made_parts) == after:
            raise KeyboardInterrupt
        made_parts.append(arguments[4])
        return make(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, "make_part", stop)
        with pytest.raises(KeyboardInterrupt):
            generate(SMALL, folder)


def test_an_interrupted_one_goes_on(tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(monkeypatch, tmp_path, 3)
    assert len(list((tmp_path / "data").iterdir())) == 3
    with pytest.raises(DatasetError, match="is not complete"):
        open_dataset(tmp_path)
    # What a crash may leave: files half written, a part without its line, a line broken off.
    (tmp_path / "data" / ".part-000003.parquet.x1.tmp").write_bytes(b"half")
    (tmp_path / f".{CARD_FILE}.x2.tmp").write_bytes(b"half")
    (tmp_path / "data" / "part-000003.parquet").write_bytes(b"not noted")
    with (tmp_path / LIST_FILE).open("ab") as file:
        file.write(b'{"digest": "1')
    generate(SMALL, tmp_path)
    assert contents(tmp_path) == whole
    generate(SMALL, tmp_path)
    assert contents(tmp_path) == whole


def test_a_lost_part_is_made_again(tmp_path: Path, whole: dict[str, bytes]) -> None:
    write(tmp_path, whole)
    (tmp_path / "data" / "part-000002.parquet").unlink()
    with pytest.raises(DatasetError, match=r"part-000002\.parquet is missing"):
        list(open_dataset(tmp_path).batches())
    generate(SMALL, tmp_path)
    assert contents(tmp_path) == whole


def flipped(data: bytes) -> bytes:
    """One bit changed in the middle."""
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("data/part-000001.parquet", flipped, "is damaged"),
        ("data/part-000001.parquet", lambda data: data[:-1], "is damaged"),
        ("data/part-000001.parquet", lambda data: b"", "is damaged"),
        (LIST_FILE, lambda data: data.replace(b'"part": 1', b'"part": 7'), "is damaged in line 2"),
        (LIST_FILE, lambda data: b"[]\n" + data, "is damaged in line 1"),
        ("dataset.json", lambda data: b"{", "is no JSON text"),
        ("dataset.json", lambda data: b"[]", "does not describe a dataset"),
        ("dataset.json", lambda data: data.replace(b'"version": 1', b'"version": 2'), "has version 2 where 1 is read"),
        ("dataset.json", lambda data: data.replace(b'"seed": 0', b'"seed": 1'), "seed is 1 there and 0 here"),
    ],
)
def test_what_is_damaged_or_foreign_is_refused(
    tmp_path: Path, whole: dict[str, bytes], name: str, change: Any, problem: str
) -> None:
    changed = change(whole[name])
    assert changed != whole[name]
    write(tmp_path, whole | {name: changed})
    with pytest.raises(DatasetError, match=problem) as caught:
        generate(SMALL, tmp_path)
    assert "\n" not in str(caught.value)
    assert contents(tmp_path) == whole | {name: changed}


def test_another_dataset_is_refused_by_what_differs(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, whole)
    for spec, difference in (
        (dataset_spec("random", 50, part_deals=10, encoder="features"), r"agents is \['easy'\] there and \['random'\]"),
        (dataset_spec("easy", 60, part_deals=10, encoder="features"), "deals is 50 there and 60 here"),
        (dataset_spec("easy", 50, part_deals=10, encoder="none"), "encoder is 'features' there and 'none' here"),
        (dataset_spec("easy", 50, "table", part_deals=10, encoder="features"), "rules is"),
    ):
        with pytest.raises(DatasetError, match=difference):
            generate(spec, tmp_path)
    monkeypatch.setattr("evaluation.dataset.spec.hash_of_sources", lambda sources: "other")
    with pytest.raises(DatasetError, match="made by other source code"):
        generate(SMALL, tmp_path)
    assert contents(tmp_path) == whole


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"is no dataset and holds 'thesis\.txt'"):
        generate(SMALL, tmp_path)
    assert contents(tmp_path) == {"thesis.txt": b"mine"}


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with FileLock(tmp_path / LOCK_FILE), pytest.raises(DatasetError, match="in use by another process"):
        generate(SMALL, tmp_path)


def test_a_full_disk_is_an_error_and_no_damage(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No room for a line of the list, for a part, for another line, and for the card."""
    real, calls = os.fsync, []
    for full_at in (3, 5, 4, 2):
        calls.clear()

        def fsync(handle: int, at: int = full_at) -> None:
            calls.append(handle)
            if len(calls) == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(handle)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            with pytest.raises(OSError, match="No space left"):
                generate(SMALL, tmp_path)
        assert not list(tmp_path.rglob("*.tmp"))
    generate(SMALL, tmp_path)
    assert contents(tmp_path) == whole


def test_a_limit_of_the_system_is_one_line_and_it_goes_on(tmp_path: Path) -> None:
    """Files may not grow as large as a part: the system refuses the write, in a worker too; then they may."""
    command = [sys.executable, "-m", "spades_cli.main", "generate", "--agent", "easy", "--deals", "40"]
    command += ["--part-deals", "20", "--workers", "2", "--out", str(tmp_path / "d")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))

    # Kernels are compiled first: their cache has files, too.
    generate(dataset_spec("easy", 40, part_deals=20), tmp_path / "free")
    full = subprocess.run(command, env=environment, cwd=ROOT, preexec_fn=limit, capture_output=True, text=True)
    assert full.returncode == 1
    error = full.stderr.splitlines()[-1]
    assert error.startswith("spades: error: ")
    assert "File too large" in error
    subprocess.run(command, env=environment, cwd=ROOT, check=True)
    same(rows_of(tmp_path / "d"), rows_of(tmp_path / "free"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"line_up": ("easy", "easy")}, "line_up has 2 agents; allowed: 1 or 4"),
        ({"deals": 0}, "deals is 0"),
        ({"deals": True}, "deals is True"),
        ({"encoder": "state"}, "encoder is 'state'; allowed: flat, sequence, features, none"),
        ({"epsilon": 1.5}, r"epsilon is 1\.5; allowed: 0\.\.1"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"bag_price": float("inf")}, "bag_price is inf"),
        ({"part_deals": 0}, "part_deals is 0"),
        ({"licence": "a\nb"}, "licence is"),
    ],
)
def test_impossible_specs_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataset_spec(**{"line_up": "easy", "deals": 5} | arguments)


def test_agents_that_are_objects_are_refused(tmp_path: Path) -> None:
    spec = dataset_spec((load_agent("easy"),), 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is an object; allowed where games are kept"):
        generate(spec, tmp_path)


# --- Reading ------------------------------------------------------------------------------------------------


def test_batches_have_all_rows_once(tmp_path: Path) -> None:
    spec = dataset_spec("easy", 2 * CHUNK_DEALS + 20, encoder="none", part_deals=300)
    generate(spec, tmp_path)
    dataset = open_dataset(tmp_path)
    assert dataset.rows == spec.deals * 56
    in_order = list(dataset.batches(1000))
    assert [len(batch["deal"]) for batch in in_order] == [1000] * 29 + [792]
    key = np.concatenate([batch["deal"] * 100 + batch["step"] for batch in in_order])
    shuffled = [
        np.concatenate([batch["deal"] * 100 + batch["step"] for batch in dataset.batches(1000, seed=seed)])
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(shuffled[0], shuffled[1])
    assert not np.array_equal(shuffled[0], shuffled[2])
    assert not np.array_equal(shuffled[0], key)
    assert np.array_equal(np.sort(shuffled[2]), np.sort(key))
    some = next(dataset.batches(10, columns=["action", "mask"]))
    assert list(some) == ["action", "mask"]
    assert some["mask"].shape == (10, 73)
    for wrong in (["observation"], ["acton"], []):
        with pytest.raises(DatasetError, match="columns"):
            next(dataset.batches(10, columns=wrong))
    with pytest.raises(DatasetError, match="size is 0"):
        next(dataset.batches(0))


def test_any_reader_of_parquet_reads_it(tmp_path: Path) -> None:
    spec = dataset_spec(LINE_UP, 30, part_deals=10)
    generate(spec, tmp_path, command="spades generate --deals 30")
    table = pq.read_table(tmp_path / "data")
    assert table.num_rows == 30 * 56
    assert table.column("agent").to_pylist()[:28:14] == ["easy", "random"]
    assert all(not field.nullable and field.metadata[b"meaning"] for field in table.schema)
    described = json.loads(table.schema.metadata[METADATA_KEY])
    assert described["command"] == "spades generate --deals 30"
    assert described["definition"]["agents"] == ["easy", "random", "lowest"]
    assert described["definition"]["line_up"] == [0, 1, 2, 1]
    assert described["definition"]["bag_price"] == default_bag_price(spec.rules) == -9
    first = np.frombuffer(table.column("observation")[0].as_py(), np.uint8)
    assert np.array_equal(first, next(open_dataset(tmp_path).batches(1))["observation"][0])


def test_a_flipped_bit_is_found_when_reading(tmp_path: Path, whole: dict[str, bytes]) -> None:
    name = "data/part-000001.parquet"
    write(tmp_path, whole | {name: flipped(whole[name])})
    dataset = open_dataset(tmp_path)
    with pytest.raises(DatasetError, match=r"part-000001\.parquet is damaged"):
        list(dataset.batches())
    with pytest.raises(DatasetError, match=r"part-000001\.parquet is damaged"):
        dataset.check()


def test_a_part_of_another_dataset_is_found_when_reading(tmp_path: Path, whole: dict[str, bytes]) -> None:
    generate(dataset_spec("random", 50, part_deals=10, encoder="features"), tmp_path / "other")
    name = "data/part-000000.parquet"
    write(tmp_path / "d", whole | {name: (tmp_path / "other" / name).read_bytes()})
    with pytest.raises(DatasetError, match="is part of another dataset"):
        list(open_dataset(tmp_path / "d").batches())
    write(tmp_path / "e", whole | {name: b"PAR1 but not really PAR1"})
    with pytest.raises(DatasetError, match="is damaged, or no part of a dataset"):
        list(open_dataset(tmp_path / "e").batches())
    with pytest.raises(DatasetError, match=r"is no dataset: it has no dataset\.json"):
        open_dataset(tmp_path / "nowhere")


def test_observations_of_another_version_are_refused(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, whole)
    monkeypatch.setattr("evaluation.dataset.read.OBSERVATION_VERSION", 99)
    with pytest.raises(DatasetError, match="observations of version 1; allowed: 99"):
        open_dataset(tmp_path)


# --- The command and the card -------------------------------------------------------------------------------


def test_the_command_and_its_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "d")
    command = ["generate", "--lineup", "easy,lowest,easy,lowest", "--deals", "40", "--encoder", "features"]
    assert main([*command, "--epsilon", "0.5", "--workers", "2", "--out", out]) == 0
    assert f"{out}: 2,240 decisions of 40 deals, " in capsys.readouterr().out
    card = (tmp_path / "d" / CARD_FILE).read_text(encoding="utf-8")
    found = rows_of(tmp_path / "d")
    expected = (
        "license: mit\n",
        "2,240 decisions of 40 single deals",
        "`spades generate --lineup easy,lowest,easy,lowest --deals 40 --encoder features --epsilon 0.5`",
        "| bid | 160 | 7.1 % |",
        "| `observation` | fixed_size_binary[131] |",
        "| `bag_limit` | 10 |",
        f"| with one legal action | {(found['mask'].sum(axis=1) == 1).sum()} |",
        f"| lowest | 80 | 1,120 | {100 * found['explored'][found['agent'] == 1].mean():.1f} % |",
    )
    for text in expected:
        assert text in card, text
    bids = found["bid"][(found["agent"] == 0) & (found["phase"] == 1)]
    shares = " | ".join(f"{100 * (bids == bid).mean():.1f} %" for bid in range(14))
    assert f"| easy | {shares} |" in card


def test_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    examples = re.findall(r"(?ms)^```python\n(.*?)^```$", page)
    assert len(examples) == 2
    monkeypatch.chdir(tmp_path)
    generate(dataset_spec("easy", 10), "deals")
    for example in examples:
        names: dict[str, Any] = {}
        exec(compile(example, "docs/datasets.md", "exec"), names)
    first = next(open_dataset("deals").batches(560))
    assert np.array_equal(names["rows"], first["observation"])
    assert np.array_equal(names["legal"], first["mask"])


def test_the_page_lists_the_columns() -> None:
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8").split("## Columns")[1].split("##")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", page) == [name for name, _, _ in COLUMNS]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "easy", "--lineup", "a,b", "--out", "d"], "--lineup stands instead of --agent"),
        (["--agent", "esay", "--out", "d"], "did you mean 'easy'?"),
        (["--agent", "cheating", "--out", "d"], "sees the hidden cards"),
        (["--encoder", "flt", "--out", "d"], "encoder is 'flt'; allowed: flat, sequence, features, none"),
        (["--workers", "0", "--out", "d"], "workers is 0"),
        ([], "Missing option '--out'"),
    ],
)
def test_wrong_options_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "--deals", "5", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
