"""The catalogues' texts: what the page says, gathered from its modules and from the rules, and kept in .po files.

`python -m table.catalogue` brings every file under table/locales up to date: new texts come in untranslated, texts
that nobody says any more go, and a translation whose English has changed a little is marked fuzzy, which the page does
not show.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from spades_env.files import write_atomically
from table.messages import DOMAIN
from table.options import LOCALES, rule_fields

WEB: Final = Path(__file__).parent / "web"
KEYWORDS: Final = {"t": None, "tn": (1, 2)}
"""The page's functions: `t(text)`, and `tn(one, many, n)` for plurals."""
WIDTH: Final = 110

MessageId = str | tuple[str, str]


def page_texts(folder: Path = WEB) -> Iterator[tuple[MessageId, str]]:
    """Yield (text, or its English singular and plural; module that says it) of every text of the page."""
    for path in sorted(folder.glob("*.js")):
        for _, text, _, _ in extract_from_file("javascript", str(path), keywords=KEYWORDS):
            yield ((text[0], text[1]) if isinstance(text, tuple) else text), path.name


def rule_texts() -> Iterator[tuple[MessageId, str]]:
    """Yield likewise what `Rules` says of its fields; the page shows it as it comes."""
    for field in rule_fields():
        yield field["help"], "rules.py"
        for choice in field.get("choices", ()):
            yield choice["text"], "rules.py"
        if field.get("none") is not None:
            yield field["none"], "rules.py"


def template() -> Catalog:
    """All texts in English, each with where it is said."""
    catalogue = Catalog(project="spades-env", fuzzy=False)
    for text, where in (*page_texts(), *rule_texts()):
        catalogue.add(text, locations=[(where, 0)])
    return catalogue


def read_catalogue(path: Path) -> Catalog:
    """A catalogue's file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name)


def write_catalogue(path: Path, catalogue: Catalog) -> None:
    """Write a catalogue, sorted, without line numbers and dates, so that a diff shows texts alone."""
    text = io.BytesIO()
    write_po(text, catalogue, width=WIDTH, sort_output=True, include_lineno=False)
    kept = [line for line in text.getvalue().decode("utf-8").splitlines(keepends=True) if not _is_clutter(line)]
    write_atomically(path, "".join(kept))


def _is_clutter(line: str) -> bool:
    """Whether a line of the header says when, by whom or with what: the history of the files knows."""
    kept = ("Language:", "Plural-Forms", "MIME-Version", "Content-")
    return bool(re.match(r'"[A-Z][A-Za-z-]+: .*\\n"$', line)) and not line[1:].startswith(kept)


def bring_up_to_date(path: Path, texts: Catalog) -> None:
    """Bring one file up to date; the English one says the texts themselves."""
    catalogue = read_catalogue(path)
    catalogue.update(texts, no_fuzzy_matching=catalogue.locale_identifier == "en")
    catalogue.obsolete.clear()
    if catalogue.locale_identifier == "en":
        for message in catalogue:
            if message.id:
                message.string = message.id
    write_catalogue(path, catalogue)


def main() -> None:
    """Bring every catalogue up to date."""
    texts = template()
    for path in sorted(LOCALES.glob(f"*/LC_MESSAGES/{DOMAIN}.po")):
        bring_up_to_date(path, texts)


if __name__ == "__main__":
    main()
