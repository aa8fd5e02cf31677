"""Programs that hang, crash, talk nonsense or choose what is illegal: each is counted, and nothing waits for ever."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from faulty_client import BAD_HELLOS

import spades_env.envs  # noqa: F401  (registers the environment)
from agents.base import AgentError, decision_keys
from agents.process import ProcessAgent
from agents.process.client import SHOWN, TAIL, WINDOW
from spades_cli.main import main
from spades_env.engine import step
from spades_env.engine.batch import IllegalActionError
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.rules import PRESETS
from spades_env.view import empty_views, views_to_act

ROOT = Path(__file__).resolve().parent.parent
FAULTY = f"'{Path(sys.executable).as_posix()}' -S -E '{(ROOT / 'tests' / 'faulty_client.py').as_posix()}'"
FIRST_LEGAL = 54  # nil, the first legal action of a seat that bids
POSIX = pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")


def bids(n: int) -> tuple[StateArray, np.ndarray]:
    """Views and keys of `n` games whose first seat is to bid."""
    states = np.zeros(n, STATE)
    step.new_games(states, rules_to_record(PRESETS["classic"]), 1, 0)
    views, keys = empty_views(n), np.empty(n, np.uint64)
    views_to_act(states, views)
    decision_keys(states, keys)
    return views, keys


def alive(pid: int) -> bool:
    """Whether a process exists; one of ours that ended has been waited for by then."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


GONE = {
    "hang": ("timeout", "gave no reply within 2 s"),
    "exit": ("ended", "ended with status 3 without a reply; stderr: ?[31mTraceback: it is broken"),
    "half a line": ("ended", "ended with status 0 without a reply"),
    "close": ("ended", "closed its output without a reply"),
    "endless line": ("garbled", "wrote a line of more than 4096 bytes"),
    "not JSON": ("garbled", "broke the protocol: 'let me see' is no JSON; allowed: one object a line"),
    "blank": ("garbled", "broke the protocol: '' is no JSON"),
    "bytes": ("garbled", "is no JSON"),
    "deep": ("garbled", "is no JSON"),
    "list": ("garbled", "[1] is no JSON object"),
    "other id": ("garbled", "reply: id is 3; allowed: 2, the request's"),
    "id as text": ("garbled", "reply: id is '2'; allowed: 2, the request's"),
    "no text": ("garbled", "reply: action is 58; allowed: the text of an action"),
}
"""Faults after which the program is killed: how they are counted, and what is said."""


@pytest.mark.parametrize("how", GONE)
def test_a_program_at_fault_loses_one_decision_and_is_started_again(
    how: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    kind, message = GONE[how]
    with ProcessAgent(f"{FAULTY} '{how}' 2 '{(tmp_path / 'done').as_posix()}'", limit=10, restarts=1) as agent:
        agent.start()
        first = agent._client
        assert first is not None
        first._limit = 2 if how == "hang" else 10
        assert agent.act(*bids(5)).tolist() == [FIRST_LEGAL, FIRST_LEGAL, -1, FIRST_LEGAL, FIRST_LEGAL]
        assert agent.counts == {kind: 1}
        assert message in caplog.text
        assert "started again (1 of 1)" in caplog.text
        assert first._process.returncode is not None
        # It goes on in the next call as if nothing had been.
        assert agent.act(*bids(3)).tolist() == [FIRST_LEGAL] * 3


@pytest.mark.parametrize("how", ["exit", "not JSON"])
@pytest.mark.parametrize("restarts", [0, 2])
def test_restarts_are_used_up(how: str, restarts: int) -> None:
    with ProcessAgent(f"{FAULTY} '{how}'", restarts=restarts) as agent:
        with pytest.raises(AgentError) as refused:
            agent.act(*bids(5))
        assert agent.counts.total() == restarts + 1
    text = str(refused.value)
    assert GONE[how][1] in text
    assert f"restarts are used up ({restarts}" in text
    assert "\n" not in text


@pytest.mark.parametrize("how", ["illegal", "nonsense"])
def test_illegal_actions_are_counted_and_the_program_goes_on(how: str, caplog: pytest.LogCaptureFixture) -> None:
    with ProcessAgent(f"{FAULTY} {how} 2", restarts=0) as agent:
        illegal = 51 if how == "illegal" else -1  # AS as it is; no id for what is no action
        assert agent.act(*bids(5)).tolist() == [FIRST_LEGAL, FIRST_LEGAL, illegal, FIRST_LEGAL, FIRST_LEGAL]
        assert agent.counts == {"illegal": 1}
    assert caplog.text.count("is not legal") == 1


def test_lower_case_and_further_fields_are_no_fault() -> None:
    with ProcessAgent(f"{FAULTY} 'lower case' 0", restarts=0) as agent:
        assert agent.act(*bids(2)).tolist() == [FIRST_LEGAL] * 2
        assert not agent.counts


@pytest.mark.parametrize("how", ["twice", "endless lines"])
def test_lines_that_nobody_asked_for_end_it(how: str) -> None:
    with ProcessAgent(f"{FAULTY} '{how}' 2", restarts=0) as agent:
        with pytest.raises(AgentError, match=r"more lines than there were requests|id is 2; allowed: 3"):
            agent.act(*bids(6))
        assert agent.counts == {"garbled": 1}


def test_a_flood_of_lines_is_read_in_bounds() -> None:
    """Nobody asks for more meanwhile; the reader stops by itself, and the next decision tells."""
    with ProcessAgent(f"{FAULTY} 'endless lines' 2", restarts=0) as agent:
        assert agent.act(*bids(3)).tolist() == [FIRST_LEGAL] * 3
        client = agent._client
        assert client is not None
        deadline = time.monotonic() + 20
        while client._inbox.qsize() < WINDOW - 3:  # three of the first WINDOW have been asked for
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.3)
        assert client._inbox.qsize() <= WINDOW + 1  # the last says why no more are read
        with pytest.raises(AgentError, match="id is 2; allowed: 3"):
            agent.act(*bids(1))


def test_a_program_that_does_not_read_is_not_waited_for() -> None:
    """More than a pipe holds is on its way to it; writing must not block us."""
    start = time.monotonic()
    agent = ProcessAgent(f"{FAULTY} deaf", limit=0.5, restarts=0)
    with agent, pytest.raises(AgentError, match=r"gave no reply within 0\.5 s"):
        agent.act(*bids(200))
    assert time.monotonic() - start < 30


def test_much_on_stderr_neither_blocks_nor_grows(tmp_path: Path) -> None:
    script = tmp_path / "noisy.py"
    noise = "sys.stderr.write('noise ' * 200_000 + 'the end'); sys.stderr.flush()"
    script.write_text(f"import json, sys\nfor line in sys.stdin:\n    {noise}\n    sys.exit(1)\n")
    with pytest.raises(AgentError) as refused:
        ProcessAgent(f"'{Path(sys.executable).as_posix()}' -S '{script.as_posix()}'").start()
    assert str(refused.value).endswith("noise the end")
    assert SHOWN < len(str(refused.value)) < SHOWN + 300 < TAIL


@pytest.mark.parametrize("how", [*BAD_HELLOS, "silent", "banner"])
def test_a_program_without_a_proper_hello_is_refused(how: str) -> None:
    start = 0.5 if how == "silent" else 30
    with pytest.raises(AgentError) as refused:
        ProcessAgent(f"{FAULTY} '{how}'", start=start).start()
    text = str(refused.value)
    assert "cannot be started: it " in text
    assert ("gave no hello within 0.5 s" if how == "silent" else "broke the protocol: ") in text
    assert text.isprintable()


# --- Nothing is left behind ---------------------------------------------------------------------------------


def started(command: str = f"{FAULTY} nothing") -> tuple[ProcessAgent, int]:
    agent = ProcessAgent(command)
    agent.start()
    assert agent._client is not None
    return agent, agent._client._process.pid


def test_close_ends_the_process_and_another_call_starts_it_again() -> None:
    agent, pid = started()
    agent.close()
    assert not alive(pid)
    agent.close()
    with agent:
        assert agent.act(*bids(1)).tolist() == [FIRST_LEGAL]


def test_the_process_ends_with_its_agent() -> None:
    agent, pid = started()
    assert alive(pid)
    del agent
    gc.collect()
    assert not alive(pid)


def test_one_that_does_not_end_by_itself_is_killed() -> None:
    agent, pid = started(f"{FAULTY} stay")
    agent.close()
    assert not alive(pid)


@POSIX
def test_what_the_process_started_is_killed_too(tmp_path: Path) -> None:
    """`sh -c` keeps the agent proper as a child, which holds the pipes."""
    place = tmp_path / "pid"
    agent = ProcessAgent(f"""sh -c "{FAULTY} hang 0 '{place}'; true" """, limit=0.5, restarts=0)
    with agent, pytest.raises(AgentError, match="gave no reply"):
        agent.act(*bids(1))
    child = int(place.read_text())
    deadline = time.monotonic() + 10
    while alive(child) and not is_zombie(child):  # its parent is gone, so others have to clear it away
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.02)


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and nobody has asked for its status; False where there is no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


@POSIX
def test_the_interpreter_ends_it_at_exit() -> None:
    code = "import sys; from agents.process import ProcessAgent; a = ProcessAgent(sys.argv[1]); a.start()"
    code += "; print(a._client._process.pid)"
    done = subprocess.run(
        [sys.executable, "-c", code, f"{FAULTY} stay"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not alive(int(done.stdout))


def test_a_forked_child_leaves_its_parents_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, pid = started()
    parents = agent._client
    with monkeypatch.context() as patch:
        here = os.getpid()
        patch.setattr(os, "getpid", lambda: here + 1)
        assert agent.act(*bids(1)).tolist() == [FIRST_LEGAL]
        assert agent._client is not parents
        agent.close()
        assert parents is not None
        parents.close()
    assert alive(pid)
    parents._process.kill()
    parents._process.wait(10)


def test_an_interrupted_call_leaves_no_stale_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, pid = started()
    with agent:
        with monkeypatch.context() as patch:
            patch.setattr("agents.process.agent.read_reply", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                agent.act(*bids(4))
        assert not alive(pid)
        assert agent.act(*bids(4)).tolist() == [FIRST_LEGAL] * 4
        assert not agent.counts


def _interrupt(line: bytes, request_id: int) -> str:
    raise KeyboardInterrupt


# --- What the callers make of it ----------------------------------------------------------------------------


def test_an_evaluation_counts_lost_decisions_as_illegal(capsys: pytest.CaptureFixture[str]) -> None:
    """Each process fails at its 101st decision; the very first decision warms up and counts nowhere."""
    text = f"process[restarts=5]:{FAULTY} exit 100"
    assert main(["evaluate", text, "easy", "--deals", "4", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    decisions = 1 + 4 * 2 * 28
    assert found["illegal_actions_by_agent"] == {"A": decisions // 101, "B": 0}
    assert found["agents"]["A"] == "faulty"


def test_the_command_ends_in_one_line_when_restarts_are_used_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", f"process[restarts=0]:{FAULTY} exit 5", "easy", "--deals", "4"]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("spades: error: deals 0..3: agent ")
    assert "ended with status 3 without a reply" in error


def play_a_deal(env: gymnasium.Env) -> None:
    env.reset(seed=0)
    for _ in range(14):
        env.step(int(env.unwrapped.action_masks().argmax()))


def test_an_environment_names_the_agent_whose_decision_is_lost() -> None:
    env = gymnasium.make("spades_env/Spades-v0", opponents=f"process:{FAULTY} nonsense")
    with pytest.raises(IllegalActionError, match="agent 'faulty'"):
        play_a_deal(env)
