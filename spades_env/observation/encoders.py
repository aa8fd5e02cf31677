"""The encoders of a view by name, each with its layout and its batched kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from spades_env.checks import form_of
from spades_env.engine.state import StateArray
from spades_env.engine.write import Bytes
from spades_env.observation.blocks import FLAT, Layout
from spades_env.observation.features import encode_views_features
from spades_env.observation.flat import encode_views
from spades_env.observation.more_blocks import FEATURES, SEQUENCE
from spades_env.observation.sequence import encode_views_sequence
from spades_env.view import VIEW


@dataclass(frozen=True)
class Encoder:
    """One way to write what a seat knows as a row of bytes; `encode_views(views, out)` fills uint8 (n, layout.size)."""

    name: str
    layout: Layout
    encode_views: Callable[[StateArray, Bytes], None]

    def write(self, views: StateArray, out: npt.NDArray[Any]) -> None:
        """Encode `views`, dtype VIEW (n,), into `out`, uint8 or float32 of shape (n or more, layout.size)."""
        if not isinstance(views, np.ndarray) or views.dtype != VIEW or views.ndim != 1:
            raise ValueError(f"views are {form_of(views)}; allowed: an array of dtype VIEW and shape (n,)")
        if not isinstance(out, np.ndarray) or not (out.flags.c_contiguous and out.flags.writeable) or out.ndim != 2:
            raise ValueError(f"out is {form_of(out)}; allowed: a contiguous, writeable array (n, {self.layout.size})")
        if out.dtype == np.uint8:
            self.encode_views(views, out)
            return
        if out.dtype != np.float32:
            raise ValueError(f"out has dtype {out.dtype}; allowed: uint8 or float32")
        rows = np.empty(out.shape, np.uint8)
        self.encode_views(views, rows)
        n = len(views)
        np.multiply(rows[:n], self.layout.scales, out=out[:n])


ENCODERS: Final = {
    encoder.name: encoder
    for encoder in (
        Encoder("flat", FLAT, encode_views),
        Encoder("sequence", SEQUENCE, encode_views_sequence),
        Encoder("features", FEATURES, encode_views_features),
    )
}
"""Every encoder of a view; the state encoder takes states and is not among them."""
