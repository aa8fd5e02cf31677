"""The picture of a table: where everything stands, and how a `Scene` is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pygame

from spades_env.game import Game, View
from spades_env.render.rgb.faces import CARD, back, face
from spades_env.render.rgb.paint import (
    FAINT,
    FELT,
    FELT_MIDDLE,
    GOLD,
    INK,
    LIGHT,
    PANEL,
    PAPER,
    TEAMS,
    box,
    disc,
    put,
    text,
)
from spades_env.render.scene import BOTTOM, LEFT, RIGHT, TOP, Scene, SeatScene, scene_of

WIDTH: Final = 960
HEIGHT: Final = 640

_CENTRE: Final = (480, 312)
_RESULT: Final = (480, 218)
_PLATE: Final = (158, 46)


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the things of one place are: centres in pixels, and the way from card to card in a hand."""

    hand: tuple[int, int]
    plate: tuple[int, int]
    trick: tuple[int, int]
    open_step: tuple[int, int]
    """From card to card, faces up: the strip left free shows rank and suit."""
    closed_step: tuple[int, int]


_SPOTS: Final[dict[int, _Spot]] = {
    BOTTOM: _Spot((480, 588), (480, 516), (480, 366), (44, 0), (18, 0)),
    LEFT: _Spot((46, 350), (163, 312), (400, 312), (0, 24), (0, 14)),
    TOP: _Spot((480, 56), (480, 128), (480, 258), (33, 0), (18, 0)),
    RIGHT: _Spot((914, 350), (797, 312), (560, 312), (0, 24), (0, 14)),
}


def picture(table: Game | View) -> npt.NDArray[np.uint8]:
    """The table as pixels, uint8 of shape (640, 960, 3): every hand of a `Game`, her own alone of a `View`."""
    pixels = np.frombuffer(pygame.image.tobytes(draw(scene_of(table)), "RGB"), np.uint8)
    return pixels.reshape(HEIGHT, WIDTH, 3).copy()


def draw(scene: Scene) -> pygame.Surface:
    """The picture of a scene as a pygame surface; needs no screen."""
    surface = pygame.Surface((WIDTH, HEIGHT), 0, 32)
    surface.fill(FELT)
    put(surface, box((440, 320), FELT_MIDDLE, 150), center=_CENTRE)
    _draw_title(surface, scene)
    _draw_scores(surface, scene)
    for seat in scene.seats:
        _draw_hand(surface, seat)
        _draw_plate(surface, seat)
    _draw_middle(surface, scene)
    put(surface, text(scene.caption, 24 if scene.result else 22, LIGHT), center=_CENTRE if scene.result else (480, 440))
    if scene.rejected:
        _draw_rejected(surface, scene.rejected)
    return surface


def _draw_title(surface: pygame.Surface, scene: Scene) -> None:
    put(surface, box((226, 92), PANEL, 8), topleft=(12, 12))
    put(surface, text(scene.title, 24, LIGHT), topleft=(22, 20))
    for row, words in enumerate((scene.subtitle, scene.goal, scene.spades)):
        put(surface, text(words, 19, FAINT), topleft=(22, 44 + 18 * row))


def _draw_scores(surface: pygame.Surface, scene: Scene) -> None:
    put(surface, box((226, 92), PANEL, 8), topleft=(722, 12))
    columns = (848, 882, 914, 942)
    for x, words in zip(columns, ("score", "bags", "need", "last"), strict=True):
        put(surface, text(words, 16, FAINT), topright=(x, 20))
    for team, row in enumerate(scene.teams):
        y = 52 + 30 * team
        put(surface, box((5, 22), TEAMS[team], 2, LIGHT, 1), midleft=(728, y))
        put(surface, text(row.name, 16, LIGHT), midleft=(737, y))
        last = "" if row.last is None else f"{row.last:+d}"
        values = (str(row.score), str(row.bags), "-" if row.need is None else str(row.need), last)
        for x, words in zip(columns, values, strict=True):
            put(surface, text(words, 18, LIGHT), midright=(x, y))


def _draw_hand(surface: pygame.Surface, seat: SeatScene) -> None:
    _draw_cards(surface, seat.cards, _SPOTS[seat.place])


def _draw_cards(surface: pygame.Surface, cards: tuple[int | None, ...], spot: _Spot) -> None:
    """A hand around the centre of its place, the last card on top."""
    step = spot.closed_step if None in cards else spot.open_step
    for k, card in enumerate(cards):
        along = k - (len(cards) - 1) / 2
        centre = (spot.hand[0] + along * step[0], spot.hand[1] + along * step[1])
        covered = k < len(cards) - 1
        put(surface, back() if card is None else face(card, covered), center=centre)


def _draw_rejected(surface: pygame.Surface, cards: tuple[int, ...]) -> None:
    """What the seat looking has discarded, where the left hand is with four players."""
    spot = _SPOTS[LEFT]
    _draw_cards(surface, cards, spot)
    top = spot.hand[1] - (len(cards) - 1) / 2 * spot.open_step[1] - CARD[1] / 2
    put(surface, text("rejected", 18, FAINT), center=(spot.hand[0], top - 10))


def _draw_plate(surface: pygame.Surface, seat: SeatScene) -> None:
    """Name, bid and tricks; gold around whoever is to act, a D for the dealer."""
    x, y = _SPOTS[seat.place].plate
    colour = TEAMS[seat.seat % 2]
    put(surface, box(_PLATE, colour, 10, GOLD if seat.to_act else LIGHT, 3 if seat.to_act else 1), center=(x, y))
    name = put(surface, text(seat.name, 22, GOLD if seat.to_act else LIGHT), center=(x, y - 8))
    if seat.dealer:
        put(surface, disc(18, PAPER), center=(name.right + 14, y - 9))
        put(surface, text("D", 17, INK), center=(name.right + 14, y - 8))
    words = "no bid yet" if seat.bid == "-" else f"bid {seat.bid} · took {seat.tricks}"
    put(surface, text(words, 19, LIGHT), center=(x, y + 12))
    if seat.note:
        put(surface, text(seat.note, 17, FAINT), center=(x, y + 34 if seat.place != BOTTOM else y - 34))


def _draw_middle(surface: pygame.Surface, scene: Scene) -> None:
    """The one thing that the table is about now: score, draft, trick or bids."""
    if scene.result:
        _draw_result(surface, scene)
    elif scene.pile:
        _draw_draft(surface, scene)
    elif scene.trick:
        _draw_trick(surface, scene)
    elif scene.show_bids:
        _draw_bids(surface, scene)


def _draw_trick(surface: pygame.Surface, scene: Scene) -> None:
    for place, card in scene.trick:
        _draw_trick_card(surface, card, _SPOTS[place].trick, won=place == scene.trick_winner)


def _draw_trick_card(surface: pygame.Surface, card: int, centre: tuple[float, float], *, won: bool) -> None:
    """A card played; with a gold edge if it took the trick."""
    if won:
        put(surface, box((CARD[0] + 10, CARD[1] + 10), GOLD, 10), center=centre)
    put(surface, face(card), center=centre)


def _draw_bids(surface: pygame.Surface, scene: Scene) -> None:
    for seat in scene.seats:
        if seat.bid != "-":
            x, y = _SPOTS[seat.place].trick
            put(surface, disc(64, TEAMS[seat.seat % 2]), center=(x, y))
            words = seat.bid.split()
            for row, word in enumerate(words):
                shift = 18 * (row - (len(words) - 1) / 2)
                put(surface, text(word, 36 if word.isdigit() else 24, LIGHT), center=(x, y + shift))


def _draw_draft(surface: pygame.Surface, scene: Scene) -> None:
    """The pile face down, and beside it the card looked at."""
    x, y = _CENTRE
    for k in range(min(4, scene.pile)):
        put(surface, back(), center=(x - 50 - 2 * k, y - 2 * k))
    put(surface, text(f"pile {scene.pile}", 19, LIGHT), center=(x - 53, y + 58))
    if scene.shown is not None:
        put(surface, box((CARD[0] + 8, CARD[1] + 8), GOLD, 9), center=(x + 50, y))
        put(surface, face(scene.shown), center=(x + 50, y))
        put(surface, text("keep it?", 19, LIGHT), center=(x + 50, y + 58))


def _draw_result(surface: pygame.Surface, scene: Scene) -> None:
    """The score of the deal as a table, and below it the last trick in the order of play."""
    put(surface, box((500, 112), PANEL, 10, FAINT, 1), center=_RESULT)
    columns = (400, 462, 512, 560, 622, 670, 718)
    for row, cells in enumerate(scene.result):
        y = _RESULT[1] - 34 + 34 * row
        put(surface, text(cells[0], 18, LIGHT), midleft=(244, y))
        for x, cell in zip(columns[1:], cells[1:], strict=True):
            put(surface, text(cell, 18 if row == 0 else 20, FAINT if row == 0 else LIGHT), midright=(x, y))
    names = {seat.place: seat.name for seat in scene.seats}
    for k, (place, card) in enumerate(scene.trick):
        centre = (_CENTRE[0] + 80 * (k - (len(scene.trick) - 1) / 2), 392)
        _draw_trick_card(surface, card, centre, won=place == scene.trick_winner)
        put(surface, text(names[place], 18, LIGHT), center=(centre[0], 449))
