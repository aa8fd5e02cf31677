"""Playing cards: suit symbols drawn as shapes (fonts may lack them), faces and the back."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import pygame

from spades_env.cards import BIG_JOKER, CLUBS, DIAMONDS, HEARTS, LITTLE_JOKER, SPADES, card_text, suit_of
from spades_env.render.rgb.paint import INK, OVER, PAPER, Colour, put, smooth, text

CARD: Final = (60, 84)
"""Width and height of a card in pixels."""

_EDGE: Final[Colour] = (120, 124, 130)
_RED: Final[Colour] = (200, 30, 40)
_BLACK: Final[Colour] = INK
_BACK: Final[Colour] = (44, 70, 130)
_BACK_LINES: Final[Colour] = (116, 146, 206)
_COURT: Final[Colour] = (246, 236, 208)
_JOKERS: Final[dict[int, Colour]] = {LITTLE_JOKER: (96, 102, 116), BIG_JOKER: (122, 46, 150)}
_COLOURS: Final[dict[int, Colour]] = {CLUBS: _BLACK, DIAMONDS: _RED, HEARTS: _RED, SPADES: _BLACK}
_RADIUS: Final = 6

Point = tuple[float, float]


@lru_cache(maxsize=128)
def face(card: int, covered: bool = False) -> pygame.Surface:
    """The face of a card; one that is `covered` by the next of a hand has no index at the lower right."""
    colour = _JOKERS.get(card, _COLOURS[suit_of(card)])

    def paint(large: pygame.Surface) -> None:
        _blank(large, PAPER)
        centre = (large.get_width() / 2, large.get_height() / 2 + 4 * OVER)
        rank = card_text(card)[0]
        if card >= LITTLE_JOKER:
            _star(large, centre, 17 * OVER, colour)
        else:
            if rank in "JQK":
                _court(large, colour)
            _symbol(large, suit_of(card), centre, (38 if rank == "A" else 28) * OVER, colour)
        corner = _index(card, colour)
        put(large, corner, topleft=(4 * OVER, 3 * OVER))
        if not covered:
            upside_down = pygame.transform.rotate(corner, 180)
            put(large, upside_down, bottomright=(large.get_width() - 4 * OVER, large.get_height() - 3 * OVER))

    return smooth(CARD, _EDGE, paint)


@lru_cache(maxsize=1)
def back() -> pygame.Surface:
    """The back of a card, the same for all."""

    def paint(large: pygame.Surface) -> None:
        _blank(large, PAPER)
        inner = large.get_rect().inflate(-8 * OVER, -8 * OVER)
        lattice = pygame.Surface(inner.size)
        lattice.fill(_BACK)
        for x in range(-inner.height, inner.width + inner.height, 9 * OVER):
            for lean in (inner.height, -inner.height):
                pygame.draw.line(lattice, _BACK_LINES, (x, 0), (x + lean, inner.height), OVER + 1)
        pygame.draw.rect(lattice, _BACK_LINES, lattice.get_rect(), 2 * OVER)
        large.blit(lattice, inner)

    return smooth(CARD, _EDGE, paint)


def _blank(large: pygame.Surface, colour: Colour) -> None:
    """A sheet of paper with a thin edge."""
    area = large.get_rect()
    pygame.draw.rect(large, _EDGE, area, border_radius=_RADIUS * OVER)
    pygame.draw.rect(large, colour, area.inflate(-2 * OVER, -2 * OVER), border_radius=(_RADIUS - 1) * OVER)


def _court(large: pygame.Surface, colour: Colour) -> None:
    """The frame by which jack, queen and king are known from afar."""
    # It begins below the strip of a covered card, where half a frame would be a stray line.
    area = pygame.Rect(0, 26 * OVER, 38 * OVER, 40 * OVER)
    area.centerx = large.get_width() // 2
    pygame.draw.rect(large, _COURT, area, border_radius=3 * OVER)
    pygame.draw.rect(large, colour, area, OVER, border_radius=3 * OVER)


def _index(card: int, colour: Colour) -> pygame.Surface:
    """Rank and suit side by side, so that a narrow strip of a covered card shows both."""
    corner = pygame.Surface((42 * OVER, 17 * OVER), pygame.SRCALPHA)
    corner.fill((*colour, 0))
    joker = card >= LITTLE_JOKER
    words = card_text(card) if joker else card_text(card)[0].replace("T", "10")
    letters = put(corner, text(words, 22 * OVER, colour), topleft=(0, 1 * OVER))
    if not joker:
        _symbol(corner, suit_of(card), (letters.right + 7 * OVER, 8 * OVER), 12 * OVER, colour)
    return corner


def _symbol(large: pygame.Surface, suit: int, centre: Point, size: float, colour: Colour) -> None:
    """A suit symbol in a square of `size` pixels around `centre`."""
    _SHAPES[suit](large, centre, size, colour)


def _diamond(large: pygame.Surface, centre: Point, size: float, colour: Colour) -> None:
    points = ((0, -0.5), (0.39, 0), (0, 0.5), (-0.39, 0))
    pygame.draw.polygon(large, colour, [_at(centre, size, point) for point in points])


def _heart(large: pygame.Surface, centre: Point, size: float, colour: Colour, up: int = 1) -> None:
    """Two circles and the tangents from both to the tip; with `up` = -1 upside down."""
    lobe, radius, tip = (0.232, -0.21), 0.25, (0.0, 0.5)
    to_tip = math.atan2(tip[1] - lobe[1], tip[0] - lobe[0])
    turn = math.acos(radius / math.dist(lobe, tip))
    touch = (lobe[0] + radius * math.cos(to_tip - turn), lobe[1] + radius * math.sin(to_tip - turn))
    outline = (touch, tip, (-touch[0], touch[1]), (-lobe[0], lobe[1]), lobe)
    pygame.draw.polygon(large, colour, [_at(centre, size, (x, up * y)) for x, y in outline])
    for side in (1, -1):
        pygame.draw.circle(large, colour, _at(centre, size, (side * lobe[0], up * lobe[1])), radius * size)


def _spade(large: pygame.Surface, centre: Point, size: float, colour: Colour) -> None:
    body = (centre[0], centre[1] - 0.06 * size)
    _heart(large, body, 0.88 * size, colour, up=-1)
    _stem(large, centre, size, colour)


def _club(large: pygame.Surface, centre: Point, size: float, colour: Colour) -> None:
    for point in ((0, -0.26), (-0.245, 0.1), (0.245, 0.1)):
        pygame.draw.circle(large, colour, _at(centre, size, point), 0.225 * size)
    pygame.draw.circle(large, colour, _at(centre, size, (0, 0.02)), 0.12 * size)
    _stem(large, centre, size, colour)


def _stem(large: pygame.Surface, centre: Point, size: float, colour: Colour) -> None:
    points = ((-0.03, 0.0), (0.03, 0.0), (0.06, 0.3), (0.2, 0.48), (-0.2, 0.48), (-0.06, 0.3))
    pygame.draw.polygon(large, colour, [_at(centre, size, point) for point in points])


def _star(large: pygame.Surface, centre: Point, radius: float, colour: Colour) -> None:
    points = []
    for k in range(10):
        length = radius if k % 2 == 0 else 0.42 * radius
        points.append((centre[0] + length * math.sin(k * math.pi / 5), centre[1] - length * math.cos(k * math.pi / 5)))
    pygame.draw.polygon(large, colour, points)


def _at(centre: Point, size: float, point: Point) -> Point:
    """A point of the unit square around the origin, on the surface."""
    return centre[0] + size * point[0], centre[1] + size * point[1]


_SHAPES: Final[dict[int, Callable[[pygame.Surface, Point, float, Colour], None]]] = {
    CLUBS: _club,
    DIAMONDS: _diamond,
    HEARTS: _heart,
    SPADES: _spade,
}
