"""A window that shows pictures of a table, at the pace that the environment says."""

from __future__ import annotations

from typing import Any

import pygame

from spades_env.game import Game, View
from spades_env.render.rgb.table import HEIGHT, WIDTH, draw
from spades_env.render.scene import scene_of


class WindowError(RuntimeError):
    """No window can be opened here; the message says what to do instead."""


class Window:
    """One window; it opens with the first picture. A copy of it, or a pickle, is a window not yet opened."""

    def __init__(self) -> None:
        self._clock: Any = None
        self._dismissed = False

    def show(self, table: Game | View, fps: float) -> None:
        """Show the table, then wait until 1 / `fps` seconds have passed since the picture before.

        Once the user has closed the window nothing is shown, and nothing waited for, any more.
        """
        if self._dismissed:
            return
        screen = self._screen()
        if pygame.event.get(pygame.QUIT):
            self.close()
            self._dismissed = True
            return
        screen.blit(draw(scene_of(table)), (0, 0))
        pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Close the window; the next picture opens another, unless the user closed this one."""
        if self._clock is not None:
            self._clock = None
            pygame.display.quit()

    def _screen(self) -> pygame.Surface:
        """The window's surface, opened if need be; pygame has one window a process."""
        screen = pygame.display.get_surface() if pygame.display.get_init() else None
        if self._clock is None or screen is None:
            try:
                pygame.display.init()
                screen = pygame.display.set_mode((WIDTH, HEIGHT))
            except pygame.error as error:
                raise WindowError(
                    f"render_mode='human' cannot open a window ({error}); allowed: a machine with a screen, "
                    "render_mode='rgb_array', or SDL_VIDEODRIVER=dummy"
                ) from None
            pygame.display.set_caption("Spades")
            self._clock = pygame.time.Clock()
        return screen

    def __reduce__(self) -> tuple[type[Window], tuple[()]]:
        return Window, ()
