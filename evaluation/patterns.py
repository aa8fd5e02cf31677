"""Regular expressions that users give to choose among duels or tasks."""

from __future__ import annotations

import re
import warnings


def pattern(text: str) -> re.Pattern[str]:
    """Return the compiled expression; ValueError says what is wrong with one that is none, or is ambiguous.

    Python only warns of sets such as "[[a]", whose meaning is to change; a warning is no answer to give a user.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return re.compile(text)
    except (re.error, FutureWarning) as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
