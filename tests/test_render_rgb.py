"""Pictures of a table: what is in them, what is hidden, the same pixels for the same knowledge; and the window."""

from __future__ import annotations

import copy
import pickle
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pygame = pytest.importorskip("pygame")

from record_games import SUITED, play  # noqa: E402
from test_leak import CASES, collect, scrambled  # noqa: E402

import spades_env  # noqa: E402
from spades_env.cards import NUM_CARDS  # noqa: E402
from spades_env.engine.state import PHASE_DEAL_OVER, rules_from_record  # noqa: E402
from spades_env.envs.aec import SpadesAECEnv  # noqa: E402
from spades_env.game import Game, View  # noqa: E402
from spades_env.render import extra  # noqa: E402
from spades_env.render.rgb import HEIGHT, WIDTH, Window, picture  # noqa: E402
from spades_env.render.rgb.faces import CARD, back, face  # noqa: E402
from spades_env.render.rgb.window import WindowError  # noqa: E402
from spades_env.render.scene import BOTTOM, LEFT, RIGHT, TOP, Scene, scene_of  # noqa: E402
from spades_env.view import empty_views, view_of  # noqa: E402

BIDS = ("bid 13", "nil", "bid 2", "bid 1")


def suited(*actions: str, rules: str = "classic") -> Game:
    """South holds all spades and leads; West clubs, North diamonds, East hearts."""
    return Game.from_position(rules, dealer=3, hands=SUITED, actions=actions)


def holds(pixels: npt.NDArray[np.uint8], sprite: Any) -> int:
    """How often the upper left part of a card, which no other card covers, is found in a picture pixel for pixel."""
    card = np.frombuffer(pygame.image.tobytes(sprite, "RGB"), np.uint8).reshape(CARD[1], CARD[0], 3)
    patch = card[4:20, 4:30]
    key, count = patch[8].tobytes(), 0
    for y, row in enumerate(pixels[: HEIGHT - 16]):
        line, at = row.tobytes(), -1
        while (at := line.find(key, at + 1)) >= 0:
            x = at // 3
            count += at % 3 == 0 and y >= 8 and np.array_equal(pixels[y - 8 : y + 8, x : x + 26], patch)
    return count


def seen_cards(table: Game | View) -> set[int]:
    """Cards whose faces are in the picture."""
    pixels = picture(table)
    return {card for card in range(NUM_CARDS) if holds(pixels, face(card, covered=True))}


# ---------------------------------------------------------------- what is in it


def test_the_array_is_a_picture() -> None:
    pixels = picture(suited())
    assert (pixels.shape, pixels.dtype) == ((640, 960, 3), np.uint8)
    assert pixels.flags.writeable
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50


def test_all_faces_differ() -> None:
    faces = [pygame.image.tobytes(face(card), "RGBA") for card in range(NUM_CARDS)]
    faces.append(pygame.image.tobytes(back(), "RGBA"))
    assert len(set(faces)) == NUM_CARDS + 1


def test_a_game_shows_every_card_and_a_view_her_own_and_the_trick() -> None:
    game = suited(*BIDS, "AS", "2C")
    assert seen_cards(game) == set(range(52))
    view = game.view(2)
    assert seen_cards(view) == {*view.hand, 51, 0}
    assert holds(picture(view), back()) > 0
    assert holds(picture(game), back()) == 0


def test_the_suits_keep_their_colours() -> None:
    """Red suits are drawn in red and black ones are not, also those without a letter in any font."""
    for card in range(52):
        pixels = np.frombuffer(pygame.image.tobytes(face(card), "RGB"), np.uint8).reshape(-1, 3).astype(int)
        red = ((pixels[:, 0] > 150) & (pixels[:, 1] < 80)).sum()
        assert (red > 100) == (13 <= card < 39), card


def by_place(scene: Scene) -> dict[int, str]:
    return {seat.place: seat.name for seat in scene.seats}


def test_whoever_looks_sits_below_and_partner_opposite() -> None:
    """R4: seats are clockwise, so the next one is at the left of whoever looks, under either turn direction."""
    game = suited(rules="table")
    assert by_place(scene_of(game)) == {BOTTOM: "South", LEFT: "West", TOP: "North", RIGHT: "East"}
    assert by_place(scene_of(game.view(3))) == {BOTTOM: "East", LEFT: "South", TOP: "West", RIGHT: "North"}
    assert by_place(scene_of(Game("two_player").view(1))) == {BOTTOM: "seat 1", TOP: "seat 0"}


def test_a_scene_tells_the_table() -> None:
    game = Game("modern", seed=5, dealer=2, scores=(210, -40), bags=(2, 9), hands=SUITED)
    for action in ("bid 3", "bid 4", "nil", "blind nil"):  # East, South, West; North is not eligible
        if action in game.legal_texts():
            game.apply(action)
    scene = scene_of(game)
    assert [(team.name, team.score, team.bags) for team in scene.teams] == [
        ("South & North", 210, 2),
        ("West & East", -40, 9),
    ]
    assert (scene.title, scene.goal) == ("Spades · modern", "target 500 · mercy -200")
    assert [seat.dealer for seat in scene.seats] == [False, False, True, False]
    assert sum(seat.to_act for seat in scene.seats) == 1


def test_the_winner_of_a_trick_is_marked_until_the_next_lead() -> None:
    game = suited(*BIDS, "AS", "2C", "2D")
    assert (scene_of(game).trick_winner, scene_of(game).caption) == (None, "trick 1 · South led · East to play")
    game.apply("2H")
    scene = scene_of(game.view(1))
    assert scene.trick == ((RIGHT, 51), (BOTTOM, 0), (LEFT, 13), (TOP, 26))
    assert (scene.trick_winner, scene.caption) == (RIGHT, "trick 1 to South · South to lead")
    game.apply("KS")
    assert (scene_of(game).trick, scene_of(game).trick_winner) == (((BOTTOM, 50),), None)


def test_bids_lie_on_the_table_while_bidding() -> None:
    scenes = [scene_of(suited(*BIDS[:k])) for k in range(5)]
    assert [scene.show_bids for scene in scenes] == [False, True, True, True, False]
    assert [seat.bid for seat in scenes[2].seats] == ["13", "nil", "-", "-"]


def test_the_deal_ends_with_its_score() -> None:
    game = suited(*BIDS)
    play(game, random.Random(1))
    rows = scene_of(game.view(3)).result
    assert [row[0] for row in rows] == ["", "South & North (boston)", "West & East"]
    assert game.result is not None
    assert rows[1][1:] == ("-150", "0", "0", "0", "-150", "-150")
    assert rows[2][1:] == ("-10", "+100", "0", "0", "+90", "90")


# ---------------------------------------------------------------- what is hidden


def test_cards_not_looked_at_stay_face_down() -> None:
    """R10: also for the seat herself."""
    game = Game("modern", hands=SUITED, dealer=3, scores=(0, 100))
    scene = scene_of(game.view(0))
    assert scene.seats[0].cards == (None,) * 13
    assert scene.seats[0].note == "has not looked"
    assert seen_cards(game.view(0)) == set()
    game.apply("look")
    assert seen_cards(game.view(0)) == set(range(39, 52))


@pytest.mark.parametrize("name", CASES)
def test_backs_are_as_many_as_cards(name: str) -> None:
    """Counted from public facts alone, and right in every phase."""
    rules, phases = CASES[name]
    states = collect(rules, phases, 6, seed=3)
    for i in range(len(states)):
        game = Game.__new__(Game)
        game._states, game._rules = states[i : i + 1], rules_from_record(states[i]["rules"])
        for seat in range(game.players):
            scene = scene_of(game.view(seat))
            assert [len(s.cards) for s in scene.seats] == [len(hand) for hand in game.hands]


@pytest.mark.parametrize("name", CASES)
def test_what_a_seat_cannot_know_moves_no_pixel(name: str) -> None:
    """R30: hidden cards are permuted, and the picture with `render_seat` stays the same byte for byte."""
    rules, phases = CASES[name]
    states = collect(rules, tuple(phase for phase in phases if phase <= PHASE_DEAL_OVER), 3, seed=4)
    rng = np.random.default_rng(4)
    for i in range(len(states)):
        seat = int(rng.integers(rules.players))
        other = scrambled(states, i, seat, rng)
        one, two = (_seen(table, row, seat) for table, row in ((states, i), (other, 0)))
        assert one.tobytes() == two.tobytes()


def _seen(states: Any, i: int, seat: int) -> npt.NDArray[np.uint8]:
    views = empty_views(1)
    view_of(states, i, seat, views, 0)
    return picture(View(views))


def test_the_test_of_hiding_can_fail() -> None:
    """The whole truth does differ where hidden hands are permuted."""
    states = suited().states
    other = scrambled(states, 0, 0, np.random.default_rng(1))
    assert other["hands"].tobytes() != states["hands"].tobytes()
    game = suited()
    twin = game.copy()
    twin._states = other
    assert picture(game).tobytes() != picture(twin).tobytes()


def test_a_draft_shows_the_card_to_its_seat_alone() -> None:
    """R27, R29: pile, card looked at, what was rejected."""
    game = Game("two_player", seed=5, dealer=0)
    for action in ("draw", "take next", "draw", "keep"):
        game.apply(action)
    shown = game.view(0).shown
    scene = scene_of(game.view(0))
    assert (scene.pile, scene.shown) == (48, shown)
    assert scene.rejected == tuple(game.view(0).rejected)
    assert len(scene.rejected) == 1
    assert shown in seen_cards(game.view(0))
    assert scene_of(game.view(1)).shown is None
    assert seen_cards(game.view(1)) == set(game.view(1).hand)


# ---------------------------------------------------------------- environments and window


def rgb_env(**options: Any) -> SpadesAECEnv:
    env = spades_env.env(render_mode="rgb_array", **options)
    env.reset(seed=7)
    return env


def test_same_state_same_pixels() -> None:
    first, second = rgb_env(render_seat=2), rgb_env(render_seat=2)
    rng = random.Random(7)
    for _ in range(12):
        one, two = first.render(), second.render()
        assert isinstance(one, np.ndarray)
        assert isinstance(two, np.ndarray)
        assert one.tobytes() == two.tobytes()
        action = rng.choice(np.flatnonzero(first.observe(first.agent_selection)["action_mask"]).tolist())
        first.step(action)
        second.step(action)
    assert np.array_equal(first.render(), picture(first.game.view(2)))


def test_a_picture_needs_no_screen_and_survives_pygame_quit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    env = rgb_env()
    before = env.render()
    pygame.quit()
    assert not pygame.display.get_init()
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    assert not np.array_equal(env.render(), before)
    assert not pygame.display.get_init()


def test_the_gymnasium_environment_renders_too() -> None:
    env = spades_env.SpadesEnv(render_mode="rgb_array", render_seat=0, episode="deal")
    env.reset(seed=1)
    assert np.array_equal(env.render(), picture(env.game.view(0)))
    env.close()


@pytest.fixture
def dummy_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A screen that is not there, and no waiting between pictures."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(SpadesAECEnv.metadata, "render_fps", 10_000)
    pygame.quit()
    yield
    pygame.quit()


def human_env(**options: Any) -> SpadesAECEnv:
    env = spades_env.env(render_mode="human", **options)
    env.reset(seed=7)
    return env


def on_screen() -> npt.NDArray[np.uint8]:
    pixels = np.frombuffer(pygame.image.tobytes(pygame.display.get_surface(), "RGB"), np.uint8)
    return pixels.reshape(HEIGHT, WIDTH, 3)


def step_first(env: SpadesAECEnv) -> None:
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))


def test_the_window_follows_the_game_and_closes(dummy_screen: None) -> None:
    env = human_env(render_seat=1)
    assert np.array_equal(on_screen(), picture(env.game.view(1)))
    step_first(env)
    assert np.array_equal(on_screen(), picture(env.game.view(1)))
    assert env.render() is None
    env.close()
    assert not pygame.display.get_init()
    env.close()
    env.render()
    assert pygame.display.get_init()
    env.close()


def test_the_end_of_a_deal_is_shown_before_the_next(dummy_screen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[bool] = []
    monkeypatch.setattr(Window, "show", lambda self, table, fps: shown.append(table.deal_over))
    env = human_env()
    while env.game.deal == 0:
        step_first(env)
    assert shown.count(True) == 1
    assert shown[-2:] == [True, False]


def test_a_window_that_the_user_closed_stays_closed(dummy_screen: None) -> None:
    env = human_env()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    step_first(env)
    assert not pygame.display.get_init()
    step_first(env)
    assert not pygame.display.get_init()


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_live_environment_with_a_window_is_copied(dummy_screen: None, twin_of: Any) -> None:
    env = human_env()
    twin = twin_of(env)
    step_first(twin)
    assert np.array_equal(on_screen(), picture(twin.game))
    env.close()
    twin.close()


def test_without_a_screen_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "nosuchdriver")
    env = spades_env.env(render_mode="human")
    with pytest.raises(WindowError, match=r"cannot open a window .*; allowed: .* render_mode='rgb_array'"):
        env.reset(seed=1)


@pytest.mark.parametrize("mode", ["rgb_array", "human"])
def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    for name in [name for name in sys.modules if name.startswith("spades_env.render.rgb")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(extra.MissingExtraError) as caught:
        spades_env.env(render_mode=mode)
    assert str(caught.value) == (
        f"render_mode='{mode}' needs pygame-ce, which is not installed: pip install 'spades-env[render]'"
    )
    assert isinstance(caught.value, ValueError)
