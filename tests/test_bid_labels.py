"""Labels for bids: which bids are forced, what they bring by hand, common random numbers, shards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from agents.base import Agent, decision_keys  # noqa: E402
from agents.learned.forward import LOWEST  # noqa: E402
from agents.learned.network import PolicyNetwork  # noqa: E402
from agents.learned.policy import LearnedAgent  # noqa: E402
from agents.learned.weights import Tensors, input_size  # noqa: E402
from agents.registry import load_agent  # noqa: E402
from spades_env.actions import FIRST_BID, NIL  # noqa: E402
from spades_env.engine.batch import legal_action_list  # noqa: E402
from spades_env.engine.lockstep import decision_key  # noqa: E402
from spades_env.engine.rollout import apply_choices  # noqa: E402
from spades_env.engine.state import PHASE_BID, PHASE_DEAL_OVER, StateArray  # noqa: E402
from spades_env.engine.step import apply  # noqa: E402
from spades_env.observation.blocks import FLAT  # noqa: E402
from spades_env.rules import PRESETS, Rules  # noqa: E402
from spades_env.view import empty_views, views_to_act  # noqa: E402
from training.bid_labels import (  # noqa: E402
    BIDS,
    FIRST_DEAL,
    BidTask,
    line_ups,
    make_bid_shards,
    plausible,
    read_bid_labels,
    value_bids,
)
from training.seats import SeatVecEnv  # noqa: E402
from training.sections import BidLabelsConfig  # noqa: E402
from training.shards import LabelError, shard_path  # noqa: E402

CLASSIC = PRESETS["classic"]
BAG_PRICE = -9


def weights_of(rules: Rules, seed: int = 0) -> Tensors:
    """A small network that bids and plays by chance."""
    torch.manual_seed(seed)
    return PolicyNetwork(input_size(rules), [16]).tensors()


def task(rules: Rules = CLASSIC, **changes: Any) -> BidTask:
    settings: dict[str, Any] = {"games": 12, "shards": 2, "width": 1, "chance": 0.2}
    return BidTask(BidLabelsConfig(**settings | changes), rules, BAG_PRICE, weights_of(rules), False)


def policy(the_task: BidTask) -> LearnedAgent:
    return LearnedAgent(the_task.tensors, the_task.rules)


def dealt(the_task: BidTask, number: int) -> StateArray:
    """The deals of a shard before anything was done."""
    config = the_task.config
    table = SeatVecEnv(the_task.rules, config.games, config.seed, the_task.bag_price)
    table.deal(FIRST_DEAL + number * config.games)
    return table.states


def played_by_hand(states: StateArray, seats: list[Agent], bidder: int, bid: int | None) -> int:
    """Play one deal action by action; `bidder` bids `bid` if there is one. Her team's margin, from the result (R17)."""
    views, keys = empty_views(1), np.zeros(1, np.uint64)
    while int(states[0]["phase"]) < PHASE_DEAL_OVER:
        legal, seat = legal_action_list(states, 0), int(states[0]["turn"])
        views_to_act(states, views)
        decision_keys(states, keys)
        action = legal[0] if len(legal) == 1 else int(seats[seat].act(views, keys)[0])
        if bid is not None and seat == bidder and int(states[0]["phase"]) == PHASE_BID:
            action = FIRST_BID + bid
        apply(states, 0, action)
    result, team = states[0]["result"], bidder % 2
    points = [int(result["contract"][t]) + int(result["nil"][t]) + BAG_PRICE * int(result["bags"][t]) for t in (0, 1)]
    return points[team] - points[1 - team]


@pytest.mark.parametrize("opponents", [None, "random"])
def test_every_bid_tried_is_worth_what_its_deal_brings(opponents: str | None) -> None:
    """Each value is that of the deal played over with this bid; with her own bid, of the deal as nobody touched it.

    `random` chooses by its keys: all copies meet the same luck, and so does the deal that nobody has touched.
    """
    the_task = task(opponents=opponents, opponents_share=1.0)
    own = policy(the_task)
    other = own if opponents is None else load_agent(opponents)
    labels = value_bids(the_task, 1, own, None if opponents is None else other)
    assert labels.deals.tolist() == list(range(12, 24))
    for row, game in enumerate(dealt(the_task, 1)):
        bidder = (int(game["first"]) + 12 + row) % 4
        seats: list[Agent] = [own if seat % 2 == bidder % 2 else other for seat in range(4)]
        tried = np.flatnonzero(labels.tried[row])
        found = [played_by_hand(np.array([game]), seats, bidder, int(bid)) for bid in tried]
        assert found == labels.values[row, tried].tolist()
        untouched = played_by_hand(np.array([game]), seats, bidder, None)
        assert untouched == labels.values[row, int(labels.logits[row].argmax())]


def test_opponents_sit_in_their_share_of_the_deals() -> None:
    """On the seats of the other team, and in the same deals whatever the shard's size."""
    states, bidders = dealt(task(games=2000), 0), np.arange(2000) % 4
    config = task(opponents="easy", opponents_share=0.3).config
    owners = line_ups(states, bidders, 4, config)
    meets = owners.any(axis=1)
    assert meets.mean() == pytest.approx(0.3, abs=0.03)
    against = (np.arange(4) - bidders[:, None]) % 2 == 1
    assert (owners[meets] == against[meets]).all()
    assert (line_ups(states[7:9], bidders[7:9], 4, config) == owners[7:9]).all()
    assert not line_ups(states, bidders, 4, task().config).any()


def test_copies_share_their_keys_as_long_as_the_same_seat_acts() -> None:
    """After different bids the next seat's key is the same; another game's or another turn's is not."""
    states = dealt(task(), 0)[:2].copy()
    copies = np.repeat(states, 3)
    apply_choices(copies, np.arange(6), FIRST_BID + np.array([0, 3, 5, 0, 3, 5]))
    keys = [int(decision_key(copy)) for copy in copies]
    assert len(set(keys[:3])) == len(set(keys[3:])) == 1
    assert keys[0] != keys[3]
    copies[1]["turn"] = (int(copies[1]["turn"]) + 1) % 4
    assert int(decision_key(copies[1])) != keys[0]


def test_plausible_bids_by_hand() -> None:
    """Nil, one to each side of the likeliest ordinary bid, and what is likely enough; nothing that is not legal."""
    logits = np.full((3, BIDS), -20, np.float32)
    logits[0, 4] = 1
    logits[1, [0, 3, 9]] = 2, 1, 0.5  # nil is her own, 9 has 14 %
    logits[2, 1] = 0
    logits[2, [0, 2]] = LOWEST
    tried = plausible(logits, BidLabelsConfig(width=1, chance=0.1))
    assert [np.flatnonzero(row).tolist() for row in tried] == [[0, 3, 4, 5], [0, 2, 3, 4, 9], [1]]


def test_all_places_in_the_order_of_bidding_come_alike() -> None:
    """R5, R7: row k is the bid of a seat after k, modulo 4, others have bid."""
    the_task = task()
    labels, states = value_bids(the_task, 0, policy(the_task), None), dealt(the_task, 0)
    for row, game in enumerate(states):
        hand = int(game["hands"][(int(game["first"]) + row) % 4])
        seen = labels.observations[row][FLAT.block("own_hand").slice]
        assert sum(int(bit) << card for card, bit in enumerate(seen)) == hand


@pytest.mark.parametrize("rules", [PRESETS["modern"], PRESETS["two_player"], replace(CLASSIC, max_team_bid=5)])
def test_other_rules(rules: Rules) -> None:
    """Drafts are played first, double nils (R28) leave no bid, and a cap (R8) leaves fewer."""
    the_task = task(rules, width=13)
    labels = value_bids(the_task, 0, policy(the_task), None)
    assert 0 < len(labels) <= 12
    assert (labels.tried == (labels.logits > LOWEST)).all()
    assert labels.tried[:, NIL - FIRST_BID].all()
    if rules.max_team_bid:
        assert not labels.tried[:, 6:].any()


def test_shards_are_the_same_whoever_makes_them(tmp_path: Path) -> None:
    shown: list[tuple[int, int]] = []
    make_bid_shards(task(), tmp_path / "one", show=lambda *now: shown.append(now))
    for first in (1, 0):
        make_bid_shards(task(), tmp_path / "two", first=first, step=2)
    assert shown == [(1, 2), (2, 2)]
    for number in range(2):
        assert shard_path(tmp_path / "one", number).read_bytes() == shard_path(tmp_path / "two", number).read_bytes()
    labels = read_bid_labels(task(), tmp_path / "one")
    assert labels.deals.tolist() == list(range(24))


def test_shards_of_other_policies_rules_and_settings_are_refused(tmp_path: Path) -> None:
    make_bid_shards(task(), tmp_path)
    others = (
        replace(task(), tensors=weights_of(CLASSIC, 1)),
        replace(task(), rules=PRESETS["table"]),
        replace(task(), bag_price=1),
        replace(task(), knows_match=True),
        task(width=2),
        task(opponents="easy"),
    )
    for other in others:
        with pytest.raises(LabelError, match=r"labels-00000.* made by another configuration, policy"):
            read_bid_labels(other, tmp_path)
    with pytest.raises(LabelError, match=r"labels-00002.* missing; allowed: all of 0\.\.2"):
        read_bid_labels(task(shards=3), tmp_path)
    path = shard_path(tmp_path, 1)
    for data in (path.read_bytes()[:300], shard_path(tmp_path, 0).read_bytes()):
        path.write_bytes(data)
        with pytest.raises(LabelError, match="labels-00001"):
            read_bid_labels(task(), tmp_path)
