"""Colours, text, smooth shapes: what every part of the picture is painted with.

pygame's shapes have jagged edges, so they are painted four times as large and scaled down. Everything is made from
its arguments alone and kept, so the same picture has the same pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import pygame

Colour = tuple[int, int, int]
Size = tuple[int, int]

FELT: Final[Colour] = (22, 92, 68)
FELT_MIDDLE: Final[Colour] = (30, 108, 80)
PANEL: Final[Colour] = (14, 58, 45)
INK: Final[Colour] = (28, 30, 38)
PAPER: Final[Colour] = (252, 251, 246)
LIGHT: Final[Colour] = (240, 244, 236)
FAINT: Final[Colour] = (158, 192, 174)
GOLD: Final[Colour] = (250, 204, 72)
TEAMS: Final[tuple[Colour, Colour]] = ((36, 78, 142), (140, 62, 40))
"""Plates of both teams."""

OVER: Final = 4
"""How many times larger shapes are painted than shown."""


def smooth(size: Size, edge: Colour, paint: Callable[[pygame.Surface], None]) -> pygame.Surface:
    """What `paint` puts on a transparent surface OVER times `size`, scaled down to `size`.

    `edge` is the colour along its outline: pixels half covered are mixed with it, so it must be the shape's own.
    """
    large = pygame.Surface((size[0] * OVER, size[1] * OVER), pygame.SRCALPHA)
    large.fill((*edge, 0))
    paint(large)
    return pygame.transform.smoothscale(large, size)


@lru_cache(maxsize=256)
def box(size: Size, colour: Colour, radius: int, outline: Colour | None = None, width: int = 0) -> pygame.Surface:
    """A filled box with round corners, and an outline inside its edge if given."""

    def paint(large: pygame.Surface) -> None:
        area = large.get_rect()
        pygame.draw.rect(large, outline or colour, area, border_radius=radius * OVER)
        if outline:
            inner = area.inflate(-2 * width * OVER, -2 * width * OVER)
            pygame.draw.rect(large, colour, inner, border_radius=max(1, radius - width) * OVER)

    return smooth(size, outline or colour, paint)


@lru_cache(maxsize=64)
def disc(diameter: int, colour: Colour) -> pygame.Surface:
    """A filled circle."""

    def paint(large: pygame.Surface) -> None:
        half = large.get_width() // 2
        pygame.draw.circle(large, colour, (half, half), half)

    return smooth((diameter, diameter), colour, paint)


@lru_cache(maxsize=4096)
def text(words: str, size: int, colour: Colour) -> pygame.Surface:
    """A line of text in pygame's bundled font, which any machine has."""
    pygame.font.init()
    # Fonts are not kept: a program that calls pygame.quit() leaves them dead, surfaces live on.
    large = pygame.font.Font(None, size * OVER).render(words, True, colour)
    # Painted large, letters keep the distances that rounding to whole pixels would spoil.
    return pygame.transform.smoothscale(large, (round(large.get_width() / OVER), round(large.get_height() / OVER)))


def put(surface: pygame.Surface, piece: pygame.Surface, **anchor: tuple[float, float]) -> pygame.Rect:
    """Blit `piece` with one of its points, such as `center` or `topleft`, at a position."""
    (name, (x, y)) = next(iter(anchor.items()))
    return surface.blit(piece, piece.get_rect(**{name: (round(x), round(y))}))
