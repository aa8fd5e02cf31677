"""Learned policies on disk and at play: exact round trip, refusal of damaged and foreign files, other rules refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")

from safetensors.torch import load_file, save_file  # noqa: E402
from test_symmetry import renamed  # noqa: E402

from agents.base import AgentError  # noqa: E402
from agents.learned.network import PolicyNetwork  # noqa: E402
from agents.learned.policy import LearnedAgent, load_policy  # noqa: E402
from agents.learned.sampling import sample_rows  # noqa: E402
from agents.learned.weights import Description, input_size, policy_bytes, read_policy  # noqa: E402
from agents.registry import load_agent  # noqa: E402
from evaluation.duplicate import evaluate  # noqa: E402
from evaluation.work.files import files_of  # noqa: E402
from spades_env.actions import NUM_ACTIONS  # noqa: E402
from spades_env.engine import step  # noqa: E402
from spades_env.engine.state import STATE, rules_to_record  # noqa: E402
from spades_env.observation.blocks import FLAT_SCALES, FLAT_SIZE  # noqa: E402
from spades_env.observation.flat import encode_views  # noqa: E402
from spades_env.observation.symmetry import ACTION_MAPS, permute_rows, symmetries  # noqa: E402
from spades_env.rules import PRESETS, Rules  # noqa: E402
from spades_env.view import empty_views, views_to_act, write_view_masks  # noqa: E402

KEYS = np.arange(64, dtype=np.uint64)


def network(rules: Rules, hidden: tuple[int, ...] = (16, 8), seed: int = 0) -> PolicyNetwork:
    torch.manual_seed(seed)
    return PolicyNetwork(input_size(rules), hidden)


def policy_file(
    path: Path, rules: Rules = PRESETS["classic"], hidden: tuple[int, ...] = (16, 8), seed: int = 0
) -> Path:
    tensors = network(rules, hidden, seed).tensors()
    path.write_bytes(policy_bytes(tensors, Description(rules, hidden, "float32", {"deals": 1})))
    return path


def some_states(rules: Rules, n: int = 64) -> np.ndarray:
    """Games at random moments of a deal."""
    states = np.zeros(n, STATE)
    step.new_games(states, rules_to_record(rules), 5, 0)
    rng = np.random.default_rng(1)
    for i in range(n):
        for _ in range(int(rng.integers(20))):
            step.apply(states, i, _random(states, i, rng))
    return states


def views_of(states: np.ndarray) -> np.ndarray:
    views = empty_views(len(states))
    views_to_act(states, views)
    return views


def some_views(rules: Rules, n: int = 64) -> np.ndarray:
    """Views of games at random moments of a deal."""
    return views_of(some_states(rules, n))


def _random(states: np.ndarray, i: int, rng: np.random.Generator) -> int:
    cards, calls = step.legal_masks(states, i)
    legal = [a for a in range(54) if cards >> a & 1] + [54 + k for k in range(19) if calls >> k & 1]
    return int(rng.choice(legal))


@pytest.mark.parametrize("preset", list(PRESETS))
def test_round_trip_plays_the_same_legal_moves(tmp_path: Path, preset: str) -> None:
    rules = PRESETS[preset]
    views, keys = some_views(rules), np.arange(64, dtype=np.uint64)
    before = LearnedAgent(network(rules).tensors(), rules).act(views, keys)
    after = load_policy(policy_file(tmp_path / "p.safetensors", rules)).act(views, keys)
    assert (before == after).all()
    result = evaluate(load_agent(str(tmp_path / "p.safetensors")), "random", rules, deals=8)
    assert result.to_dict()["illegal_actions"] == 0


@pytest.mark.parametrize("preset", list(PRESETS))
def test_the_kernel_computes_what_the_network_does(preset: str) -> None:
    rules = PRESETS[preset]
    net, views = network(rules, (32, 16, 8)), some_views(rules, 200)
    observations, masks = np.zeros((200, FLAT_SIZE), np.uint8), np.zeros((200, NUM_ACTIONS), np.int8)
    encode_views(views, observations)
    write_view_masks(views, masks)
    with torch.inference_mode():
        logits, values = net(torch.from_numpy(observations), torch.from_numpy(masks).bool())
    found = LearnedAgent(net.tensors(), rules).outputs(views)
    assert np.allclose(found[:, :NUM_ACTIONS], logits.numpy(), rtol=1e-4, atol=1e-4)
    assert np.allclose(found[:, NUM_ACTIONS], values.numpy(), rtol=1e-4, atol=1e-4)


def test_outputs_are_the_same_bytes_in_any_batch() -> None:
    views = some_views(PRESETS["classic"])
    agent = LearnedAgent(network(PRESETS["classic"]).tensors(), PRESETS["classic"])
    whole = agent.outputs(views)
    for size in (1, 7):
        parts = [agent.outputs(views[k : k + size]) for k in range(0, len(views), size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_choice_does_not_depend_on_the_batch() -> None:
    rules = PRESETS["classic"]
    views, keys = some_views(rules), np.arange(64, dtype=np.uint64)
    agent = LearnedAgent(network(rules).tensors(), rules, sample=True)
    together = agent.act(views, keys)
    alone = [int(agent.act(views[k : k + 1], keys[k : k + 1])[0]) for k in range(64)]
    assert together.tolist() == alone


def test_sampling_follows_the_probabilities_and_never_draws_zero() -> None:
    p = np.tile(np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0], np.float32), (20_000, 1))
    out = np.empty(20_000, np.int64)
    sample_rows(p, np.arange(20_000, dtype=np.uint64), out)
    shares = np.bincount(out, minlength=6) / 20_000
    assert shares == pytest.approx([0, 0.5, 0, 0.3, 0.2, 0], abs=0.012)
    assert shares[[0, 2, 5]].sum() == 0


def test_scaled_first_layer_equals_scaled_input() -> None:
    net = network(PRESETS["classic"])
    rows = torch.randint(0, 256, (32, FLAT_SIZE), dtype=torch.uint8)
    scaled = rows.float() * torch.from_numpy(FLAT_SCALES)
    first = net.trunk.layers[0]
    n = net.trunk.n_inputs
    slow = torch.relu(first(scaled[:, :n]))
    slow = torch.relu(net.trunk.layers[1](slow))
    assert torch.allclose(net.trunk(rows), slow, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize(("preset", "jokers", "names"), [("classic", False, 6), ("modern", True, 2)])
def test_the_answer_under_several_names_of_the_suits_is_their_mean(preset: str, jokers: bool, names: int) -> None:
    rules = PRESETS[preset].replace(jokers=jokers)
    net = network(rules)
    agent = LearnedAgent(net.tensors(), rules, renamings=6)
    views = some_views(rules)
    rows, masks = np.zeros((64, FLAT_SIZE), np.uint8), np.zeros((64, NUM_ACTIONS), np.int8)
    encode_views(views, rows)
    write_view_masks(views, masks)
    logits, values = np.zeros((64, NUM_ACTIONS)), np.zeros(64)
    allowed, everything = symmetries(rules), torch.ones(64, NUM_ACTIONS, dtype=torch.bool)
    assert len(allowed) == names
    for k in allowed:
        said, value = net(torch.from_numpy(permute_rows("flat", rows, k)), everything)
        logits += said.detach().numpy()[:, ACTION_MAPS[k]] / names
        values += value.detach().numpy() / names
    found = agent.outputs(views)
    legal = masks.astype(bool)
    assert np.allclose(found[:, :NUM_ACTIONS][legal], logits[legal], rtol=1e-4, atol=1e-4)
    assert (found[:, :NUM_ACTIONS][~legal] < -1e30).all()
    assert np.allclose(found[:, NUM_ACTIONS], values, rtol=1e-4, atol=1e-4)
    once = LearnedAgent(net.tensors(), rules).outputs(views)
    assert not np.allclose(once[:, :NUM_ACTIONS][legal], logits[legal], rtol=1e-2, atol=1e-2)


def test_under_all_names_of_the_suits_a_renamed_game_is_played_alike() -> None:
    rules = PRESETS["classic"]
    states = some_states(rules)
    views, others = views_of(states), views_of(np.concatenate([renamed(states[i : i + 1], 4) for i in range(64)]))
    alike = []
    for n in (6, 1):
        agent = LearnedAgent(network(rules).tensors(), rules, renamings=n)
        wanted, found = (agent.outputs(some)[:, :NUM_ACTIONS] for some in (views, others))
        alike.append(np.isclose(found[:, ACTION_MAPS[4]], wanted, rtol=1e-4, atol=1e-4).all(axis=1).mean())
    assert alike[0] == 1.0
    assert alike[1] < 0.2


def test_a_policy_file_takes_the_number_of_names(tmp_path: Path) -> None:
    text = f"{policy_file(tmp_path / 'p.safetensors')}:renamings=6"
    agent = load_agent(text)
    assert isinstance(agent, LearnedAgent)
    assert len(agent.net.actions) == 6
    assert agent.name == text
    assert len(load_agent(text.replace("=6", "=1")).net.actions) == 1  # type: ignore[attr-defined]
    assert files_of([text]) == {text: files_of([text.partition(":")[0]])[text.partition(":")[0]]}
    with pytest.raises(AgentError, match=r"renamings='7' is not allowed: .* 1 to 6"):
        load_agent(text.replace("=6", "=7"))
    with pytest.raises(AgentError, match=r"unknown option 'sample': one of renamings"):
        load_agent(text.replace("renamings=6", "sample=1"))
    with pytest.raises(AgentError, match="no such file"):
        load_agent(f"{tmp_path / 'q.safetensors'}:renamings=6")
    with pytest.raises(AgentError, match=r"renamings is 0; allowed: an int 1\.\.6"):
        load_policy(tmp_path / "p.safetensors", renamings=0)


def test_several_policies_decide_by_the_mean_of_their_answers(tmp_path: Path) -> None:
    rules = PRESETS["classic"]
    files = [policy_file(tmp_path / "a.safetensors", rules), policy_file(tmp_path / "b+c.safetensors", rules, seed=1)]
    views = some_views(rules)
    alone = [load_policy(file).outputs(views) for file in files]
    legal = alone[0][:, :NUM_ACTIONS] > -1e30
    mean = sum(each.astype(np.float64) for each in alone) / 2
    found = load_policy(files).outputs(views)
    assert np.allclose(found[:, :NUM_ACTIONS][legal], mean[:, :NUM_ACTIONS][legal], rtol=1e-4, atol=1e-4)
    assert np.allclose(found[:, NUM_ACTIONS], mean[:, NUM_ACTIONS], rtol=1e-4, atol=1e-4)
    assert not np.allclose(alone[0][:, :NUM_ACTIONS][legal], mean[:, :NUM_ACTIONS][legal], rtol=1e-2, atol=1e-2)
    assert load_agent(str(files[1])).act(views, KEYS).tolist() == load_policy(files[1]).act(views, KEYS).tolist()


def test_several_policies_in_an_agents_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rules = PRESETS["classic"]
    run = tmp_path / "run"
    run.mkdir()
    policy_file(tmp_path / "a.safetensors", rules)
    policy_file(run / "policy.safetensors", rules, seed=1)
    views = some_views(rules)
    agent = load_agent("a.safetensors+run:renamings=2")
    assert agent.name == "a.safetensors+run:renamings=2"
    wanted = load_policy([tmp_path / "a.safetensors", run], renamings=2).act(views, KEYS)
    assert agent.act(views, KEYS).tolist() == wanted.tolist()
    digests = [files_of([text])[text] for text in ("a.safetensors", "a.safetensors+run:renamings=2", "run")]
    assert len(set(digests)) == 3
    policy_file(tmp_path / "m.safetensors", PRESETS["modern"])
    with pytest.raises(
        AgentError, match=r"'a.safetensors' and 'm.safetensors' cannot decide together; allowed: of the"
    ):
        load_agent("a.safetensors+m.safetensors")
    policy_file(tmp_path / "w.safetensors", rules, hidden=(32, 8))
    with pytest.raises(
        AgentError, match=r"have layers of \[\[902, 16, 8, 74\], \[902, 32, 8, 74\]\]; allowed: all the"
    ):
        load_agent("a.safetensors+w.safetensors")
    with pytest.raises(AgentError, match=r"'b.safetensors': there is no such file"):
        load_agent("a.safetensors+b.safetensors")


def test_policy_of_other_rules_is_refused() -> None:
    agent = LearnedAgent(network(PRESETS["classic"]).tensors(), PRESETS["classic"])
    agent.act(some_views(PRESETS["table"]), np.arange(64, dtype=np.uint64))  # differs in target and direction alone
    with pytest.raises(AgentError, match="blind_nil"):
        agent.act(some_views(PRESETS["modern"]), np.arange(64, dtype=np.uint64))


@pytest.mark.parametrize("knows_match", [False, True])
@pytest.mark.parametrize("own", [None, 7])
def test_a_limit_of_deals_that_it_never_saw_changes_no_choice(own: int | None, knows_match: bool) -> None:
    """R26: at tables with another `max_deals` the observation's `deals_left` is not what the policy learned with."""
    rules = PRESETS["classic"].replace(max_deals=own)
    agent = LearnedAgent(network(rules).tensors(), rules, knows_match=knows_match)
    wanted = agent.outputs(some_views(rules))
    for limit in (None, 1, 100):
        assert agent.outputs(some_views(rules.replace(max_deals=limit))).tobytes() == wanted.tobytes()


def test_rules_that_differ_are_named_as_in_rules() -> None:
    rules = PRESETS["modern"].replace(blind_nil_deficit=None, lead_spades="any")
    agent = LearnedAgent(network(rules).tensors(), rules)
    message = (
        "was trained for blind_nil_deficit = none, lead_spades = any "
        "and cannot play with blind_nil_deficit = 100, lead_spades = broken$"
    )
    with pytest.raises(AgentError, match=message):
        agent.act(some_views(PRESETS["modern"], 2), np.arange(2, dtype=np.uint64))


def rewrite(path: Path, change: Any) -> None:
    """Change the description of a policy file and write it again, intact otherwise."""
    tensors = load_file(path)
    _, description = read_policy(path)
    header = json.loads(_metadata(policy_bytes(network(PRESETS["classic"]).tensors(), description)))
    save_file(tensors, path, {"spades_env": json.dumps(change(header))})


def _metadata(data: bytes) -> str:
    size = int.from_bytes(data[:8], "little")
    return str(json.loads(data[8 : 8 + size])["__metadata__"]["spades_env"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h | {"format": "other"}, "format is 'other'"),
        (lambda h: h | {"version": 99}, "version is 99"),
        (lambda h: h | {"observation_version": 0}, "observation_version is 0"),
        (lambda h: h | {"num_actions": 72}, "num_actions is 72"),
        (lambda h: h | {"hidden": [16, 10**9]}, "hidden is"),
        (lambda h: h | {"hidden": [16, 9]}, "allowed"),
        (lambda h: h | {"hidden": "16"}, "hidden is"),
        (lambda h: h | {"precision": "int1"}, "precision is"),
        (lambda h: h | {"rules": {"preset": "chess"}}, "rules lack or do not know bag_after, .*preset"),
        (lambda h: h | {"rules": None}, "rules are missing; allowed: an object with every field"),
        (lambda h: h | {"rules": {}}, "rules lack or do not know bag_after"),
        (lambda h: h | {"rules": _without(h["rules"], "jokers")}, "rules lack or do not know jokers; allowed"),
        (lambda h: h | {"rules": h["rules"] | {"joker": True}}, "rules lack or do not know joker; allowed"),
        (lambda h: h | {"rules": h["rules"] | {"target": 0}}, "rules: target=0 is not allowed"),
        (lambda h: h | {"trained": [1]}, "trained is no object"),
        (lambda h: h | {"hidden": [16]}, r"tensors do not fit the description: trunk\.layers\.1"),
        (lambda h: [1, 2], "format is None"),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(tmp_path: Path, change: Any, message: str) -> None:
    path = policy_file(tmp_path / "p.safetensors")
    rewrite(path, change)
    with pytest.raises(AgentError, match=message):
        load_agent(str(path))


def _without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def test_a_claim_of_huge_layers_is_refused_before_memory_is_asked_for(tmp_path: Path) -> None:
    """A few bytes may claim 16 layers of 8192: 4 GB, which are not to be had for the asking."""
    path = policy_file(tmp_path / "p.safetensors")
    rewrite(path, lambda header: header | {"hidden": [8192] * 16})
    with pytest.raises(AgentError, match="tensors do not fit the description"):
        load_policy(path)


def test_tensors_of_another_type_are_refused(tmp_path: Path) -> None:
    path = policy_file(tmp_path / "p.safetensors")
    tensors = load_file(path)
    tensors["value_head.bias"] = tensors["value_head.bias"].double()
    save_file(tensors, path, {"spades_env": _metadata(path.read_bytes())})
    with pytest.raises(AgentError, match=r"tensor value_head\.bias is F64 \(1,\); allowed: F32 \(1,\)"):
        load_policy(path)


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = policy_file(tmp_path / "p.safetensors")
    whole = path.read_bytes()
    pickled = pickle.dumps({"weights": [1, 2, 3]})
    for data in (
        b"",
        whole[:100],
        whole[: len(whole) // 2],
        pickled,
        b"\xff" * 64,
        (2**60).to_bytes(8, "little"),
    ):
        path.write_bytes(data)
        with pytest.raises(AgentError, match="damaged"):
            load_agent(str(path))
    save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(AgentError, match="no description"):
        load_agent(str(path))
    with pytest.raises(AgentError, match="no such file"):
        load_agent(str(tmp_path / "missing.safetensors"))
    with pytest.raises(AgentError, match="no file"):
        load_agent(str(tmp_path))


def test_weights_with_nan_are_refused(tmp_path: Path) -> None:
    rules = PRESETS["classic"]
    net = network(rules)
    with torch.no_grad():
        net.value_head.bias.fill_(float("nan"))
    path = tmp_path / "p.safetensors"
    path.write_bytes(policy_bytes(net.tensors(), Description(rules, (16, 8), "float32", {})))
    with pytest.raises(AgentError, match=r"value_head\.bias holds NaN"):
        load_policy(path)
