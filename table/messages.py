"""The page's words: gettext catalogues under table/locales, read once and handed out as JSON.

English is the source: its texts are the msgids. Plural forms are in the order "one", "other" of CLDR, which all
languages of the page use; which one a number takes is the browser's own Intl.PluralRules to say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babel.core import Locale
from babel.messages.pofile import read_po

from table.options import LOCALES

DOMAIN = "table"


def read_catalogues(folder: Path = LOCALES) -> dict[str, dict[str, Any]]:
    """{language: catalogue} for English and every catalogue in `folder`."""
    found = {path.parent.parent.name: path for path in sorted(folder.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))}
    catalogues = {language: _catalogue(language, path) for language, path in found.items()}
    catalogues.setdefault("en", {"language": "en", "direction": "ltr", "messages": {}})
    return catalogues


def _catalogue(language: str, path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        catalogue = read_po(file, locale=language)
    messages: dict[str, Any] = {}
    for message in catalogue:
        if not message.id or message.fuzzy:
            continue
        key = message.id[0] if isinstance(message.id, tuple | list) else message.id
        if message.context:
            key = f"{message.context}\x04{key}"
        text = list(message.string) if isinstance(message.string, tuple | list) else message.string
        if text and (isinstance(text, str) or all(text)):
            messages[key] = text
    direction = Locale.parse(language).text_direction
    return {"language": language, "direction": direction, "messages": messages}
