"""Tables drawn by pygame-ce, the extra `render`: `picture` as an array, `Window` on the screen.

Only modules of this package import pygame; whoever uses them imports them late, through `spades_env.render.extra`.
"""

import os

# pygame greets on stdout when it is imported, which belongs to the program that uses us.
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

from spades_env.render.rgb.table import HEIGHT, WIDTH, draw, picture
from spades_env.render.rgb.window import Window, WindowError

__all__ = ["HEIGHT", "WIDTH", "Window", "WindowError", "draw", "picture"]
