"""The door to the pictures, which need pygame-ce, the extra `render`: it is imported when first asked for."""

from __future__ import annotations

import importlib
from types import ModuleType


class MissingExtraError(ModuleNotFoundError, ValueError):
    """A render mode whose library is not installed; the message names the extra."""


def load_pictures(render_mode: str) -> ModuleType:
    """The package `spades_env.render.rgb`, or an error that says what `render_mode` needs."""
    try:
        return importlib.import_module("spades_env.render.rgb")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "pygame":
            raise
        raise MissingExtraError(
            f"render_mode={render_mode!r} needs pygame-ce, which is not installed: pip install 'spades-env[render]'",
            name="pygame",
        ) from None
