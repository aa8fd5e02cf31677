"""Wrong values given to the library: an error that says what and what is allowed, and nothing has changed.

The table is the systematic one; what belongs to one class alone stands with its other tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import spades_env
from agents.base import Agent, AgentError
from agents.registry import load_agent
from evaluation.duplicate import evaluate
from evaluation.line_up import split_line_up
from spades_env.actions import action_text, bid_action, parse_action
from spades_env.cards import card_text, cards_of, hand_text, mask_of, parse_card, parse_hand
from spades_env.configs import parse_mapping, parse_value
from spades_env.engine.batch import SpadesBatch
from spades_env.envs.aec import SpadesAECEnv
from spades_env.envs.single import SpadesEnv
from spades_env.envs.vector import SpadesVectorEnv
from spades_env.game import Game, View
from spades_env.observation import ENCODERS, FLAT_SIZE, decode_flat, encode_views, explain, permute_rows
from spades_env.record import deal_text, parse_deal, record_for_seat
from spades_env.rules import Rules, as_rules
from spades_env.view import empty_views

BIG = 10**5000
"""Too long for Python to write out: a message that tries to raises an error of its own."""
LONG = "x" * 100_000

Case = tuple[str, Callable[[], Any], str]


def hands(**changes: Any) -> list[Any]:
    """Four good hands, some of them replaced: `hands(_1=...)`."""
    good: list[Any] = list(Game(seed=3).hands)
    for seat, hand in changes.items():
        good[int(seat[1:])] = hand
    return good


VALUES: list[Case] = [
    # rules
    ("rules: unknown field", lambda: Rules.preset("classic", targt=5), "did you mean 'target'?"),
    ("rules: bool for int", lambda: Rules(target=True), "target=True is not allowed: an int"),
    ("rules: int for bool", lambda: Rules(jokers=1), "jokers=1 is not allowed: true or false"),
    ("rules: float", lambda: Rules(target=500.0), "target=500.0 is not allowed"),
    ("rules: nan", lambda: Rules(target=float("nan")), "target=nan is not allowed"),
    ("rules: huge", lambda: Rules(target=BIG), "an int of 16610 bits"),
    ("rules: text", lambda: Rules(target="500"), "target='500' is not allowed"),
    ("rules: list", lambda: Rules(lead_spades=["any"]), "lead_spades=a list is not allowed"),
    ("rules: NumPy", lambda: Rules(target=np.int64(500)), "target="),
    ("rules: surrogate", lambda: Rules(lead_spades="\ud800"), "lead_spades='\\ud800'"),
    ("rules: long name", lambda: as_rules(LONG), "does not exist"),
    ("rules: number", lambda: as_rules(5), "rules 5 not allowed"),
    ("rules: bytes", lambda: as_rules(b"classic"), "not allowed"),
    ("rules: key", lambda: as_rules({5: 1}), "unknown rule field"),
    ("rules: preset in a mapping", lambda: as_rules({"preset": ["classic"]}), "preset a list does not exist"),
    # YAML
    ("yaml: empty", lambda: parse_mapping("", "x"), "x: holds nothing"),
    ("yaml: twice", lambda: parse_mapping("a: 1\na: 2", "x"), "key 'a' is given twice"),
    ("yaml: merge", lambda: parse_mapping("a: 1\n<<: {b: 2}", "x", max_depth=3), "merge keys"),
    ("yaml: alias bomb", lambda: parse_mapping("a: &a [1]\nb: [*a, *a]", "x", max_depth=3), "*a repeats a whole"),
    ("yaml: deep", lambda: parse_mapping("a: " + "[" * 60_000, "x", max_depth=5), "nested deeper than 5"),
    ("yaml: deep blocks", lambda: parse_mapping("- " * 30_000, "x", max_depth=5), "nested deeper than 5"),
    ("yaml: number as key", lambda: parse_mapping("5: 1", "x"), "key 5 is an int"),
    ("yaml: list as key", lambda: parse_mapping("[1]: 1", "x", max_depth=3), "a key must be plain text"),
    ("yaml: date", lambda: parse_mapping("a: 2020-13-45", "x"), "not valid YAML"),
    ("yaml: bool tag", lambda: parse_mapping("a: !!bool maybe", "x"), "a value does not fit its tag"),
    ("yaml: int tag", lambda: parse_mapping('a: !!int ""', "x"), "a value does not fit its tag"),
    ("yaml: time tag", lambda: parse_mapping("a: !!timestamp noon", "x"), "a value does not fit its tag"),
    ("yaml: object", lambda: parse_mapping("a: !!python/name:os.system", "x"), "could not determine a constructor"),
    ("yaml: bytes", lambda: parse_mapping(b"a: \xff", "x"), "not UTF-8 text (byte 3)"),
    ("yaml: null byte", lambda: parse_mapping("a: \x00", "x"), "not valid YAML"),
    ("yaml: two documents", lambda: parse_mapping("a: 1\n---\nb: 2", "x"), "not valid YAML"),
    ("yaml: digits", lambda: parse_mapping("a: " + "9" * 5000, "x"), "not valid YAML"),
    ("yaml: two values", lambda: parse_value("1\nb: 2", "x"), "more than one value"),
    # cards, hands, actions
    ("card: text", lambda: parse_card("1S"), "card '1S' does not exist"),
    ("card: long", lambda: parse_card(LONG), "does not exist"),
    ("card: None", lambda: parse_card(None), "card None does not exist"),  # type: ignore[arg-type]
    ("card: id", lambda: card_text(54), "card ids are 0..53"),
    ("card: negative", lambda: card_text(-1), "card -1 does not exist"),
    ("card: huge", lambda: card_text(BIG), "card"),
    ("card: bool", lambda: card_text(True), "card True is no card id"),
    ("card: float", lambda: card_text(3.0), "card 3.0 is no card id"),  # type: ignore[arg-type]
    ("hand: twice", lambda: parse_hand("AS AS"), "card AS (id 51) is given twice"),
    ("hand: twice as id", lambda: mask_of([51, 51]), "is given twice"),
    ("hand: mask", lambda: cards_of(1 << 54), "is no hand: only bits 0..53"),
    ("hand: negative mask", lambda: hand_text(-1), "is no hand"),
    ("action: id", lambda: action_text(73), "action 73 does not exist: an int 0..72"),
    ("action: bool", lambda: action_text(False), "action False does not exist"),
    ("action: None", lambda: action_text(None), "action None does not exist"),  # type: ignore[arg-type]
    ("action: float", lambda: action_text(np.float64(3)), "does not exist"),  # type: ignore[arg-type]
    ("action: huge", lambda: action_text(BIG), "an int of 16610 bits"),
    ("action: text", lambda: parse_action("bid 14"), "action 'bid 14' does not exist"),
    ("bid: 14", lambda: bid_action(14), "bid 14 does not exist: an int 0..13"),
    ("deal: text", lambda: parse_deal("5: AS"), "deal is '5: AS'"),
    ("deal: long", lambda: parse_deal("0:" + LONG), "deal is"),
    ("deal: twice", lambda: parse_deal("0: AS AS | 2C"), "given twice"),
    ("deal: both", lambda: deal_text(dealer=0, hands=hands(), pile="AS"), "hands and pile"),
    # games
    ("game: short hand", lambda: Game(hands=hands(_1="AS KS")), "hands[1]"),
    ("game: three hands", lambda: Game(hands=hands()[:3]), "allowed: 4 hands"),
    ("game: huge list", lambda: Game(hands=[[BIG]]), "hands are a list; allowed: 4 hands"),
    ("game: same hand", lambda: Game(hands=hands(_1=hands()[0])), "cards that no other seat holds"),
    ("game: joker", lambda: Game(hands=hands(_0=[52, *hands()[0][1:]])), "cards that are in this pack"),
    ("game: 2H with jokers", lambda: Game(Rules(jokers=True), hands=hands()), "cards that are in this pack"),
    ("game: floats", lambda: Game(hands=np.ones((4, 13))), "is no card id"),
    ("game: dealer", lambda: Game(dealer=4), "dealer is 4; allowed: an int 0..3"),
    ("game: dealer of two", lambda: Game("two_player", dealer=2), "dealer is 2; allowed: an int 0..1"),
    ("game: seed", lambda: Game(seed=-1), "seed is -1"),
    ("game: huge seed", lambda: Game(seed=BIG), "seed is an int of 16610 bits"),
    ("game: bool seed", lambda: Game(seed=True), "seed is True"),
    ("game: scores", lambda: Game(scores=(0, 0, 0)), "allowed: two ints"),  # type: ignore[arg-type]
    ("game: won", lambda: Game(scores=(500, 0)), "team 0 has won this one"),
    ("game: bags", lambda: Game(bags=(10, 0)), "bags[0] is 10; allowed: an int 0..9"),
    ("game: action", lambda: Game(seed=1).apply(53), "may not do 53"),
    ("game: no action", lambda: Game(seed=1).apply(73), "action is 73"),
    ("game: seat of a view", lambda: Game(seed=1).view(4), "seat is 4"),
    ("game: bytes", lambda: Game.from_bytes(b"SPDSGAME"), "is no saved game"),
    ("game: text for bytes", lambda: Game.from_bytes("x"), "data is a str"),  # type: ignore[arg-type]
    ("game: bytes changed", lambda: Game.from_bytes(Game(seed=1).to_bytes()[:-1] + b"x"), "damaged"),
    ("record: seat", lambda: record_for_seat(Game(seed=1).to_record(), 4), "seat is 4"),
    ("record: number", lambda: Game.from_record(5), "record is 5"),  # type: ignore[arg-type]
    ("view: seat", lambda: View.from_known("classic", seat=7, dealer=0, hand="AS"), "seat is 7"),
    ("view: actions", lambda: View.from_known("classic", seat=0, dealer=0, hand=None, actions="nil"), "actions are"),
    # environments
    ("env: episode", lambda: SpadesAECEnv(episode="day"), "episode is 'day'"),  # type: ignore[arg-type]
    ("env: reward", lambda: SpadesAECEnv(reward=[LONG]), "reward is"),  # type: ignore[arg-type]
    ("env: win of a deal", lambda: SpadesAECEnv(reward="win", episode="deal"), "a deal has no winner"),
    ("env: bag price", lambda: SpadesAECEnv(episode="deal", bag_price=float("nan")), "bag_price is nan"),
    ("env: penalty", lambda: SpadesAECEnv(illegal_penalty=BIG), "illegal_penalty is an int of"),
    ("env: observation", lambda: SpadesAECEnv(observation="pixels"), "observation is 'pixels'"),
    ("env: dtype", lambda: SpadesAECEnv(dtype="float64"), "dtype is 'float64'"),  # type: ignore[arg-type]
    ("env: render mode", lambda: SpadesAECEnv(render_mode="html"), "render_mode is 'html'"),
    ("env: render seat", lambda: SpadesAECEnv(render_seat=9), "render_seat is 9"),
    ("env: max deals", lambda: SpadesAECEnv(max_deals=0), "max_deals=0 is not allowed"),
    ("gym: seat", lambda: SpadesEnv(seat=4), "seat is 4"),
    ("gym: seat of two", lambda: SpadesEnv("two_player", seat=2), "seat is 2; allowed: an int 0..1"),
    ("gym: team", lambda: SpadesEnv(team=1), "team is 1"),  # type: ignore[arg-type]
    ("gym: partner", lambda: SpadesEnv(partner=5), "partner is 5"),  # type: ignore[arg-type]
    ("gym: partner of two", lambda: SpadesEnv("two_player", partner="random"), "two players have no partners"),
    ("gym: opponents", lambda: SpadesEnv(opponents=("random",) * 3), "opponents are"),  # type: ignore[arg-type]
    ("vector: number", lambda: SpadesVectorEnv(num_envs=0), "num_envs is 0"),
    ("vector: huge number", lambda: SpadesVectorEnv(num_envs=2**40), "num_envs is 1099511627776"),
    ("vector: autoreset", lambda: SpadesVectorEnv(autoreset_mode="never"), "autoreset_mode is 'never'"),
    ("vector: rendering", lambda: SpadesVectorEnv(render_mode="ansi"), "render_mode is 'ansi'"),
    ("batch: number", lambda: SpadesBatch(2**40), "n is 1099511627776"),
    ("batch: float", lambda: SpadesBatch(1.5), "n is 1.5"),  # type: ignore[arg-type]
    ("batch: price", lambda: SpadesBatch(1, bag_price=-9.0), "bag_price is refused"),
    ("batch: first game", lambda: SpadesBatch(1, first_game=2**31), "first_game is 2147483648"),
    # arrays
    ("rows: short", lambda: encode_views(empty_views(2), np.zeros((2, 5), np.uint8)), "wrong length"),
    ("rows: too few", lambda: ENCODERS["flat"].write(empty_views(3), np.zeros((2, FLAT_SIZE), np.uint8)), "fewer rows"),
    ("rows: dtype", lambda: ENCODERS["flat"].write(empty_views(1), np.zeros((1, FLAT_SIZE))), "float64"),
    ("rows: no views", lambda: ENCODERS["flat"].write(np.zeros(3), np.zeros((3, FLAT_SIZE), np.uint8)), "views"),
    ("rows: frozen", lambda: ENCODERS["flat"].write(empty_views(1), frozen((1, FLAT_SIZE))), "out"),
    ("rows: every other", lambda: ENCODERS["flat"].write(empty_views(2), sparse((2, FLAT_SIZE))), "out"),
    ("rows: sizes", lambda: permute_rows("flat", np.zeros((2, 5), np.uint8), 0), "rows have shape"),
    ("decode: size", lambda: decode_flat(np.zeros(5, np.uint8)), "5"),
    ("decode: zeros", lambda: decode_flat(np.zeros(FLAT_SIZE, np.uint8)), "allowed"),
    ("explain: size", lambda: explain(np.zeros(5)), "5"),
    # agents and evaluation
    ("agent: class", lambda: load_agent(type(load_agent("easy"))), "is a class"),  # type: ignore[arg-type]
    ("agent: object", lambda: load_agent(object()), "is no agent"),  # type: ignore[arg-type]
    ("evaluate: deals", lambda: evaluate("easy", "easy", deals=1), "deals is 1"),
    ("evaluate: seed", lambda: evaluate("easy", "easy", deals=2, seed=1.5), "seed is 1.5"),  # type: ignore[arg-type]
    ("evaluate: price", lambda: evaluate("easy", "easy", deals=2, bag_price=float("inf")), "bag_price is inf"),
    ("line-up: empty", lambda: split_line_up(""), "agent"),
]


def frozen(shape: tuple[int, ...]) -> np.ndarray:
    """An array that may not be written."""
    rows = np.zeros(shape, np.uint8)
    rows.flags.writeable = False
    return rows


def sparse(shape: tuple[int, ...]) -> np.ndarray:
    """An array whose entries do not lie side by side."""
    return np.zeros((shape[0], 2 * shape[1]), np.uint8)[:, ::2]


@pytest.mark.parametrize(("call", "text"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES])
def test_wrong_values(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the text is compared below)
        call()
    message = str(caught.value)
    assert text in message
    assert "\n" not in message
    assert len(message) < 1500


# --- What has a state keeps it --------------------------------------------------------------------------------

BAD_ACTIONS: list[Any] = [
    *(73, -1, 2**31, 2**64, BIG, True, False, None, 3.0, float("nan"), "54", b"6", [54], np.float32(54)),
    *(np.array([54]), np.array(54.0), np.array(True), np.uint64(2**64 - 1), object(), complex(54)),
]
SHOWN = [str(type(action).__name__) for action in BAD_ACTIONS]


def illegal_now(env: SpadesAECEnv) -> int:
    """An action that exists and is not legal."""
    return int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"] == 0)[0])


@pytest.mark.parametrize("action", BAD_ACTIONS, ids=SHOWN)
def test_a_refused_action_changes_no_game(action: Any) -> None:
    env = spades_env.env()
    env.reset(seed=1)
    env.step(54)
    before = env._states.tobytes()
    for wrong in (action, illegal_now(env)):
        with pytest.raises((ValueError, TypeError)):
            env.step(wrong)
        assert env._states.tobytes() == before
    game = Game(seed=1)
    saved = game.to_bytes()
    with pytest.raises(ValueError):  # noqa: PT011 (any of the project's errors)
        game.apply(action)
    assert game.to_bytes() == saved


BAD_BATCHES: list[tuple[Any, str]] = [
    (np.zeros(3, np.int64), "shape"),
    (np.zeros((2, 1), np.int64), "shape"),
    (np.zeros(2), "float64"),
    (np.zeros(2, np.bool_), "bool"),
    (np.array(["54", "54"]), "<U2"),
    (np.array([54, None]), "object"),
    (np.array([54, 2**64 - 1], np.uint64), "may not do"),
    ([54, 73], "may not do"),
    ([54, -(2**63)], "may not do"),
    ([54, 0], "may not do"),
    (None, "shape"),
    ("54", "shape"),
]


@pytest.mark.parametrize(("actions", "text"), BAD_BATCHES, ids=[text for _, text in BAD_BATCHES])
def test_refused_actions_change_no_batch(actions: Any, text: str) -> None:
    batch = SpadesBatch(2, seed=1)
    env = SpadesVectorEnv(num_envs=2, on_illegal="raise")
    env.reset(seed=1)
    for states, step in ((batch.states, batch.step), (env.states, env.step)):
        before = states.tobytes()
        with pytest.raises(ValueError):  # noqa: PT011 (any of the project's errors)
            step(actions)
        assert states.tobytes() == before
    with pytest.raises(ValueError, match=text):
        batch.step(actions)


def test_arrays_in_any_order_are_taken() -> None:
    """Not contiguous, read-only, of other integer types: the same steps."""
    plain, strided, narrow = (SpadesBatch(2, seed=1) for _ in range(3))
    plain.step(np.array([55, 55]))
    strided.step(np.array([55, 0, 55, 0])[::2])
    actions = np.array([55, 55], np.uint8)
    actions.flags.writeable = False
    narrow.step(actions)
    assert plain.states.tobytes() == strided.states.tobytes() == narrow.states.tobytes()


RESETS: list[tuple[Any, Any]] = [
    (BIG, None),
    (-1, None),
    (True, None),
    (1.0, None),
    ("1", None),
    (1, 5),
    (1, [5]),
    (1, "dealer"),
    (1, {"seat": 1}),
    (1, {5: 1}),
    (1, {"hands": "AS"}),
    (1, {"hands": [[BIG]] * 4}),
    (1, {"dealer": 4}),
    (1, {"dealer": BIG}),
    (1, {"scores": [0]}),
    (1, {"scores": [BIG, 0]}),
    (1, {"bags": [99, 0]}),
    (1, {"deal": -1}),
    (1, {"pile": "AS"}),
]


@pytest.mark.parametrize(("seed", "options"), RESETS, ids=lambda part: ascii(type(part).__name__))
def test_a_refused_reset_changes_nothing_anywhere(seed: Any, options: Any) -> None:
    single, vector = SpadesEnv(), SpadesVectorEnv(num_envs=2)
    aec = spades_env.env()
    for env, states in (
        (aec, lambda: aec._states),
        (single, lambda: single.table._states),
        (vector, lambda: vector.states),
    ):
        env.reset(seed=3)
        before = states().tobytes()
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the text is compared below)
            env.reset(seed=seed, options=options)
        assert len(str(caught.value)) < 1500
        assert states().tobytes() == before
    vector.step(np.array([int(np.flatnonzero(mask)[0]) for mask in vector.action_masks()]))


SEEDS = ["short", "negative", "huge", "floats", "bool", "text", "huge number"]


@pytest.mark.parametrize("seed", [[1], [1, -1], [1, BIG], [1.0, 2.0], [True, 1], "12", BIG], ids=SEEDS)
def test_wrong_seeds_of_many_games(seed: Any) -> None:
    env = SpadesVectorEnv(num_envs=2)
    env.reset(seed=3)
    before = env.states.tobytes()
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)
    assert env.states.tobytes() == before


@pytest.mark.parametrize(
    "mask", [5, [True, False], np.zeros(2, bool), np.ones(3, bool), np.ones(2, int), np.ones((2, 1), bool)]
)
def test_wrong_reset_masks(mask: Any) -> None:
    env = SpadesVectorEnv(num_envs=2)
    env.reset(seed=3)
    before = env.states.tobytes()
    with pytest.raises(ValueError, match="reset_mask is"):
        env.reset(options={"reset_mask": mask})
    assert env.states.tobytes() == before


def test_numpy_seeds_are_seeds() -> None:
    """Not wrong at all: both environments of Gymnasium take what `Game` takes."""
    for env in (SpadesEnv(), SpadesVectorEnv(num_envs=2)):
        taken, plain = env.reset(seed=np.int64(5)), env.reset(seed=5)  # type: ignore[arg-type]
        assert str(taken) == str(plain)


# --- Agents -------------------------------------------------------------------------------------------------

VIEWS: list[tuple[Any, Any, str]] = [
    (np.zeros(2), np.zeros(2, np.uint64), "views are float64"),
    (empty_views(2)[:, None], np.zeros(2, np.uint64), "views are"),
    (empty_views(2), np.zeros(3, np.uint64), "keys are"),
    (empty_views(2), np.zeros(2, np.int64), "keys are int64"),
    (empty_views(2), None, "keys are"),
    (None, np.zeros(2, np.uint64), "views are"),
    ([empty_views(1)], np.zeros(1, np.uint64), "views are"),
]


@pytest.mark.parametrize("name", ["random", "conservative", "easy", "normal", "lowest", "highest", "suit_odds"])
def test_agents_refuse_what_are_no_views(name: str) -> None:
    agent: Agent = load_agent(name)
    for views, keys, text in VIEWS:
        with pytest.raises(AgentError, match=text):
            agent.act(views, keys)


def test_the_table_is_large_enough() -> None:
    ways = len(BAD_ACTIONS) + len(BAD_BATCHES) + len(RESETS) + len(VIEWS)
    assert len(VALUES) + ways > 150
