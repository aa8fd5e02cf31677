"""Tournaments: strict lists, margins, results that nothing but the definition decides, the page and the command."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import AgentError
from evaluation.duplicate import evaluate, evaluate_line_up
from evaluation.statistics import deal_statistics
from evaluation.tournament.config import Tournament, load_tournament, tournament_from
from evaluation.tournament.contests import TEAM_GAMES, margins_of, pair_contests, team_contests
from evaluation.tournament.page import markdown
from evaluation.tournament.run import Outcome, check_agents, run_tournament
from evaluation.tournament.table import found_by
from evaluation.work.crew import Desk
from evaluation.work.definition import definition_of, digest_of
from evaluation.work.files import files_of
from evaluation.work.job import Job
from spades_cli.main import main
from spades_env.configs import ConfigError
from spades_env.rules import Rules

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ["easy", "conservative", "random", "lowest"]


def tournament(**fields: Any) -> Tournament:
    """A small tournament of four agents; `fields` replace what it says."""
    return tournament_from({"agents": AGENTS, "games": 120, "min_games": 10, "seat_games": 8, "seed": 3} | fields)


def played(folder: Path, workers: int = 1, **fields: Any) -> Outcome:
    return run_tournament(tournament(**fields), folder, workers=workers)


def lasting(outcome: Outcome) -> dict[str, Any]:
    """What an outcome comes to, without what depends on the clock."""
    found = found_by(outcome)
    for agent in found["agents"]:
        del agent["ms_per_decision"]
    return found


def differences(one: Any, two: Any, where: str = "") -> list[str]:
    """Where two JSON values differ, and what stands there."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return [text for name in one for text in differences(one[name], two[name], f"{where}.{name}")]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [text for k in range(len(one)) for text in differences(one[k], two[k], f"{where}[{k}]")]
    return [] if one == two else [f"{where}: {one!r} and {two!r}"]


# --- Lists --------------------------------------------------------------------------------------------------


def test_a_list_is_read_with_its_defaults(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "agents:\n  - easy\n  - {agent: hard, label: H, min_games: 5, max_games: 50}\n"
        "  - {agent: expert, max_games: 9}\n"
        "rules: {preset: table, target: 200}\n",
        encoding="utf-8",
    )
    found = load_tournament(str(path))
    assert [(e.label, e.agent, e.min_games) for e in found.entrants] == [
        ("easy", "easy", 200),
        ("H", "hard", 5),
        ("expert", "expert", 9),
    ]
    assert found.rules == Rules.preset("table", target=200)
    assert (found.rules_text, found.kind, found.games, found.seed) == ("table, target=200", "deals", 1500, 0)
    assert (found.seat_games, found.indifference, found.reference) == (0, 0.5, None)
    assert [(p.a, p.b, p.least, p.most) for p in found.pairs()] == [(0, 1, 5, 50), (0, 2, 9, 9), (1, 2, 5, 9)]
    assert load_tournament(str(path), seed=4, rules="modern").rules == Rules.preset("modern")
    assert load_tournament(str(path), kind="matches").entrants[0].min_games == 20


def test_the_shipped_list_has_ten_agents_and_spares_the_slow() -> None:
    found = load_tournament("tournament")
    assert len(found.entrants) >= 10
    most = {entrant.agent: entrant.max_games for entrant in found.entrants}
    assert most["expert"] < most["hard"] < most["normal"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"agent": []}, "unknown field 'agent': did you mean 'agents'?"),
        ({"agents": ["easy"]}, "agents are 1; allowed: 2 to 100"),
        ({"agents": "easy"}, "agents is a str; allowed: a list with at least one entry"),
        ({"agents": ["easy", "easy"]}, "agent 'easy' stands there twice"),
        ({"agents": ["easy", {"agent": "random", "label": "easy"}]}, "label 'easy' stands there twice"),
        ({"agents": ["easy", 3]}, "agent 2 is an int"),
        ({"agents": ["easy", {"label": "x"}]}, "agent 2: agent is None; allowed: text on one line"),
        ({"agents": ["easy", {"agent": "hard", "max_games": 1}]}, "agent 2: max_games is 1"),
        ({"agents": ["easy", {"agent": "hard", "min_games": 9, "max_games": 5}]}, "min_games is 9; allowed: up to"),
        ({"kind": "endings"}, "kind is 'endings'; allowed: deals, matches"),
        ({"rules": "clasic"}, "preset 'clasic' does not exist"),
        ({"games": 59}, "games is 59; allowed: from 60 on, the first games of 6 pairs"),
        ({"games": 60.0}, "games is 60.0; allowed: an int"),
        ({"min_games": 1}, "min_games is 1; allowed: an int 2"),
        ({"seed": -1}, "seed is -1"),
        ({"indifference": -0.5}, "indifference is -0.5; allowed: a number from 0 on"),
        ({"indifference": "x"}, "indifference is 'x'; allowed: a finite number"),
        ({"reference": "normal"}, "reference is 'normal'; allowed: one of easy, conservative, random, lowest"),
        ({"agents": ["easy", "random", "lowest"]}, "seat_games is 8; allowed: 0, as mixed teams need four agents"),
        ({"rules": "two_player"}, "seat_games is 8; allowed: 0"),
    ],
)
def test_what_is_wrong_in_a_list_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tournament(**fields)
    assert message in str(caught.value)


def test_the_same_player_twice_is_refused(tmp_path: Path) -> None:
    for twice in (["easy", "easy:error=0.05"], ["hard", "hard:worlds=50"]):
        with pytest.raises(AgentError, match="are the same player"):
            run_tournament(tournament_from({"agents": twice}), tmp_path)


# --- Games --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["modern", "two_player"])
def test_pairs_are_what_evaluate_finds(tmp_path: Path, rules: str) -> None:
    outcome = played(tmp_path, rules=rules, seat_games=0)
    for pair, found in zip(outcome.tournament.pairs(), found_by(outcome)["pairs"], strict=True):
        expected = evaluate(AGENTS[pair.a], AGENTS[pair.b], rules, deals=found["games"], seed=3)
        assert found["margin"] == pytest.approx(expected.margin.to_dict())
        assert found["margin_raw"] == pytest.approx(expected.margin_raw.to_dict())
        counts = [(expected.margins > 0).sum(), (expected.margins == 0).sum(), (expected.margins < 0).sum()]
        assert [found["won"], found["drawn"], found["lost"]] == counts


def test_matches_are_what_evaluate_finds(tmp_path: Path) -> None:
    outcome = played(tmp_path, kind="matches", agents=["random", "easy"], games=6, min_games=6, seat_games=0)
    expected = evaluate("random", "easy", deals=2, matches=6, seed=3)
    found = found_by(outcome)
    assert expected.match_win_rate is not None
    for name, share in expected.match_win_rate.to_dict().items():
        assert found["pairs"][0]["margin"][name] == pytest.approx(2 * share - 1)
    assert found["agents"][0]["label"] == "easy"
    assert found["agents"][0]["stats"] == deal_statistics(
        expected.match_log, 1 - expected.match_log["team_of_a"].astype(np.int64)
    )
    assert (found["bag_price"], found["agents"][0]["strength_raw"]) == (None, None)


def test_statistics_are_those_of_all_games_of_an_agent(tmp_path: Path) -> None:
    found = found_by(played(tmp_path, agents=["easy", "random"], games=10, seat_games=0))
    expected = evaluate("easy", "random", deals=10, seed=3)
    by_label = {agent["label"]: agent for agent in found["agents"]}
    assert by_label["easy"]["stats"] == expected.stats(0)
    assert by_label["random"]["stats"] == expected.stats(1)
    assert by_label["easy"]["illegal_actions"] == 0


def test_mixed_teams_turn_around_the_table() -> None:
    """Four different agents on other seats each time; a line-up a b a b is the duplicate game, twice over."""
    rows = team_contests(tournament())[0].job.rows
    assert [list(np.roll(range(4), k)) for k in range(4)] == [list(row) for row in rows]
    names = ("easy", "random", "easy", "random")
    part = Desk([Job(names, Rules(), rows, seed=3)]).play(0, 0, 5)
    expected = evaluate("easy", "random", deals=5, seed=3)
    assert margins_of(part.log, "deals", -9.0) == pytest.approx(expected.margins)
    names = ("easy", "random", "conservative", "lowest")
    mixed = Desk([Job(names, Rules(), rows, seed=3)]).play(0, 0, 5)
    expected = evaluate_line_up(names, deals=5, seed=3)
    assert margins_of(mixed.log, "deals", -9.0) == pytest.approx(expected.margins)
    assert margins_of(mixed.log, "deals", None) == pytest.approx(expected.margins_raw)


def test_line_ups_have_deals_of_their_own() -> None:
    contests = team_contests(tournament(seat_games=12))
    assert [contest.games for contest in contests] == [TEAM_GAMES, TEAM_GAMES, 2]
    seeds = {contest.job.seed for contest in contests} | {pair_contests(tournament())[0].job.seed}
    assert len(seeds) == 4
    assert contests[0].job.agents == tuple(AGENTS[k] for k in contests[0].agents)
    few = tournament(agents=[*AGENTS, {"agent": "highest", "max_games": 6}], min_games=2, seat_games=200)
    assert sum(4 in contest.agents for contest in team_contests(few)) == 2  # 10 games: no line-up is cut in two


# --- The same results, whatever happens -----------------------------------------------------------------------


def test_workers_and_parts_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = lasting(played(tmp_path / "a"))
    assert lasting(played(tmp_path / "a")) == expected  # all kept
    assert lasting(played(tmp_path / "b", workers=2)) == expected
    monkeypatch.setattr("evaluation.work.run.FIRST_SIZE", 3)
    monkeypatch.setattr("evaluation.work.run.MOST_GAMES", 3)
    assert lasting(played(tmp_path / "c")) == expected
    assert lasting(played(tmp_path / "d", seed=4)) != expected


def test_an_interrupted_tournament_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = lasting(played(tmp_path / "whole"))
    asked: list[tuple[int, int, int]] = []
    play = Desk.play

    def counted(desk: Desk, job: int, first: int, count: int) -> Any:
        if len(asked) in stops:
            stops.remove(len(asked))
            raise KeyboardInterrupt
        asked.append((job, first, count))
        return play(desk, job, first, count)

    monkeypatch.setattr(Desk, "play", counted)
    stops = {0, 3, 8, 14}
    while stops:
        with pytest.raises(KeyboardInterrupt):
            played(tmp_path / "parts")
    assert lasting(played(tmp_path / "parts")) == expected
    assert len(asked) == len(set(asked)) > 14  # nothing was played twice
    played(tmp_path / "parts")
    assert len(asked) == len(set(asked))


@pytest.mark.slow
def test_a_killed_tournament_goes_on(tmp_path: Path) -> None:
    """SIGKILL in the middle, from outside: what is kept is whole, and the end is the same."""
    arguments = ["--deals", "3000", "--min-deals", "400", "--seed", "3", *AGENTS]
    command = [sys.executable, "-m", "spades_cli.main", "tournament", *arguments, "--out", str(tmp_path / "killed")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.DEVNULL)
    while len(list(tmp_path.rglob("*.part"))) < 8 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    wanted = tournament_from({"agents": AGENTS, "games": 3000, "min_games": 400, "seed": 3})
    found = lasting(run_tournament(wanted, tmp_path / "killed"))
    assert found == lasting(run_tournament(wanted, tmp_path / "whole"))


def test_agents_are_added_to_a_finished_tournament(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"agents": ["random", "easy", "conservative"], "games": 90, "seat_games": 0}
    played(tmp_path / "grows", **few)
    asked: list[set[str]] = []
    play = Desk.play

    def noted(desk: Desk, job: int, first: int, count: int) -> Any:
        asked.append({str(agent) for agent in desk.jobs[job].agents})
        return play(desk, job, first, count)

    monkeypatch.setattr(Desk, "play", noted)
    # The old pairs keep their games, also when they stand in another order.
    more = {"agents": ["lowest", "easy", "conservative", "random"], "games": 60, "seat_games": 0}
    grown = lasting(played(tmp_path / "grows", **more))
    assert asked
    assert all("lowest" in pair for pair in asked)
    assert grown == lasting(played(tmp_path / "fresh", **more))


def test_other_definitions_are_other_games(tmp_path: Path) -> None:
    policy = tmp_path / "p.safetensors"
    others = [{"seed": 1}, {"rules": "modern"}, {"kind": "matches"}, {"agents": [AGENTS[1], AGENTS[2]]}, {}]
    found = [pair_contests(tournament(**fields, seat_games=0))[0].job for fields in others]
    definitions = [definition_of(job, {}) for job in found]
    for content in (b"one", b"two"):
        policy.write_bytes(content)
        definitions.append(definition_of(Job(("easy", str(policy)), Rules()), files_of([str(policy)])))
    assert len({digest_of(definition) for definition in definitions}) == 7
    # What else a tournament plays is not part of a pair.
    assert pair_contests(tournament(games=500, min_games=3, indifference=3))[0].job == found[-1]
    assert pair_contests(tournament(agents=AGENTS[::-1]))[-1].job == found[-1]


def test_the_same_policy_file_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.tournament.run.load_agent", lambda text: text)
    names = []
    for name, content in (("a", b"one"), ("b", b"two"), ("c", b"one")):
        (tmp_path / f"{name}.safetensors").write_bytes(content)
        names.append(str(tmp_path / f"{name}.safetensors"))
    check_agents(tournament_from({"agents": names[:2]}))
    with pytest.raises(AgentError, match=r"a\.safetensors' and .*c\.safetensors' are the same player"):
        check_agents(tournament_from({"agents": names}))


def test_damaged_games_are_refused(tmp_path: Path) -> None:
    played(tmp_path)
    path = sorted(tmp_path.rglob("*.part"))[0]
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=path.name):
        played(tmp_path)


# --- What it comes to ------------------------------------------------------------------------------------------


def test_a_reference_agent_is_at_0(tmp_path: Path) -> None:
    mean = {agent["label"]: agent["strength"] for agent in lasting(played(tmp_path))["agents"]}
    assert sum(strength["mean"] for strength in mean.values()) == pytest.approx(0, abs=1e-9)
    found = lasting(played(tmp_path, reference="random"))
    for agent in found["agents"]:
        shifted = mean[agent["label"]]["mean"] - mean["random"]["mean"]
        assert agent["strength"]["mean"] == pytest.approx(shifted)
    zero = next(agent for agent in found["agents"] if agent["label"] == "random")
    assert zero["strength"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert zero["seat_strength"] == {"mean": 0.0, "low": 0.0, "high": 0.0}


def test_the_ranking_and_its_neighbours(tmp_path: Path) -> None:
    found = lasting(played(tmp_path))
    assert [agent["rank"] for agent in found["agents"]] == [1, 2, 3, 4]
    assert [agent["label"] for agent in found["agents"]][:2] == ["easy", "conservative"]
    strengths = [agent["strength"]["mean"] for agent in found["agents"]]
    assert strengths == sorted(strengths, reverse=True)
    for above, below, neighbours in zip(found["agents"], found["agents"][1:], found["neighbours"], strict=False):
        assert (neighbours["upper"], neighbours["lower"]) == (above["label"], below["label"])
        assert neighbours["difference"] == pytest.approx(above["strength"]["mean"] - below["strength"]["mean"])
    assert found["games"] == sum(pair["games"] for pair in found["pairs"]) <= 120
    assert found["seat_games"] == 8


def cells(page: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading, first line first, without the line of dashes."""
    lines = [line for line in page.split(f"## {heading}\n")[1].split("\n## ")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return rows[:1] + rows[2:]


def test_the_page_shows_all_of_it(tmp_path: Path) -> None:
    found = found_by(played(tmp_path))
    found["agents"][0]["strength"] = {"mean": 12.345, "low": 10.0, "high": 14.69}
    found["agents"][0] |= {"ms_per_decision": 0.00012345, "illegal_actions": 7}
    page = markdown(found, "spades tournament --x")
    head, first, *rest = cells(page, "Ranking")
    shown = dict(zip(head, first, strict=True))
    assert (shown["agent"], shown["strength"], shown["ms"], shown["illegal"]) == ("easy", "+12.3 ± 2.3", "0.00012", "7")
    assert len(rest) == 3
    assert {"as scored", "rating", "seat strength", "seat rating"} <= set(head)
    cross = cells(page, "Cross-table")
    pair = next(p for p in found["pairs"] if {p["a"], p["b"]} == {"easy", "conservative"})
    half = (pair["margin"]["high"] - pair["margin"]["low"]) / 2
    mean = pair["margin"]["mean"] * (1 if pair["a"] == "easy" else -1)
    assert cross[1] == ["1", "easy", "", f"{mean:+.1f} ± {half:.1f}", *cross[1][4:]]
    assert cross[2][2] == f"{-mean:+.1f} ± {half:.1f}"
    counts = cells(page, "Games of each pair")
    assert counts[1][3] == counts[2][2] == str(pair["games"])
    assert cells(page, "What the agents did")[1][2] == f"{found['agents'][0]['stats']['bid_mean']:.2f}"
    assert "4 agents, rules classic, seed 3" in page
    assert page.endswith("```\nspades tournament --x\n```\n")


def test_a_page_of_matches(tmp_path: Path) -> None:
    fields = {"kind": "matches", "agents": ["easy", "conservative"], "games": 4, "min_games": 4, "seat_games": 0}
    found = found_by(played(tmp_path, **fields))
    found["pairs"][0]["margin"] = {"mean": 0.5, "low": 0.204, "high": 0.651}
    page = markdown(found, "c")
    assert cells(page, "Cross-table")[1:] == [
        ["1", "easy", "", "+50.0 % [+20, +65]"],
        ["2", "conservative", "-50.0 % [-65, -20]", ""],
    ]
    assert "share of duplicate matches won less share lost" in page
    assert {"as scored", "seat rating"}.isdisjoint(cells(page, "Ranking")[0])


def test_an_open_order_is_said(tmp_path: Path) -> None:
    outcome = played(tmp_path, agents=["easy", "lowest"], games=6, min_games=3, seat_games=0)
    found = found_by(outcome)
    found["neighbours"][0] |= {"settled": False, "doubt": 0.31, "upper": "easy", "lower": "lowest"}
    assert "Order open, with the chance that it is wrong: easy – lowest (31%)." in markdown(found, "c")


# --- The command -----------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `spades tournament` and return exit status, stdout and stderr."""
    status = main(["tournament", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_end_to_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("--deals", "120", "--min-deals", "10", "--seat-games", "8", "--seed", "3")
    status, out, err = run(capsys, *options, *AGENTS)
    assert (status, err) == (0, "")
    assert all(label in out for label in AGENTS)
    found = json.loads(Path("tournament/tournament.json").read_text(encoding="utf-8"))
    expected = found_by(run_tournament(tournament(), Path("tournament")))
    del found["command"]
    assert differences(found, expected) == []
    page = Path("tournament/tournament.md").read_text(encoding="utf-8")
    # The command at the end shows the same, and plays nothing: times are the same, too.
    status, again, _ = run(capsys, *shlex.split(page.rstrip().splitlines()[-2])[2:], "--json", "-")
    again_found = json.loads(again)
    del again_found["command"]
    assert differences(again_found, found) == []
    assert Path("tournament/tournament.md").read_text(encoding="utf-8") == page


def test_ctrl_c_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Desk, "play", stopped)
    status, out, err = run(capsys, "easy", "random", "--out", "x")
    assert (status, out) == (130, "")
    assert err == f"spades: interrupted; finished games are in {Path('x/games')}, the same command goes on\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("easy",), "agents are 1; allowed: 2 to 100"),
        (("easy", "esy"), "agent 'esy' does not exist: did you mean 'easy'?"),
        (("easy", "random", "--deals", "7"), "games is 7; allowed: from 200 on"),
        (("easy", "random", "--config", "x.yaml"), "agents are given and --config, too"),
        (("--config", "nothing"), "config 'eval/nothing.yaml' is not shipped"),
        (("easy", "random", "--workers", "0"), "workers is 0; allowed: an int 1..256"),
        (("easy", "cheating"), "sees the hidden cards"),
        (("hard", "hard:worlds=50"), "are the same player"),
    ],
)
def test_errors_are_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("spades: error: ")
    assert err.count("\n") == 1
    assert message in err
