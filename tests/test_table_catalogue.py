"""The page's catalogues: every text of the page and of the rules is in each, nothing else, and gaps are kept."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("babel", reason="the extra `table` is not installed")

from babel.messages.catalog import Message

from table.catalogue import page_texts, read_catalogue, rule_texts, template
from table.messages import DOMAIN, read_catalogues
from table.options import LOCALES

FILES = sorted(LOCALES.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def _forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def _gaps(text: str) -> Counter[str]:
    return Counter(re.findall(r"\{(\w+)\}", text))


def _messages(path: Path) -> list[Message]:
    return [message for message in read_catalogue(path) if message.id]


def test_the_texts_are_found() -> None:
    """The extraction sees plain texts, plurals and the rules' own."""
    texts = {text for text, _ in (*page_texts(), *rule_texts())}
    assert "Your turn" in texts
    assert ("{n} trick", "{n} tricks") in texts
    assert "score that ends the match" in texts
    assert len(texts) > 250


def test_no_text_is_both_plain_and_plural() -> None:
    """A catalogue has one message for one English text."""
    texts = {text for text, _ in page_texts()}
    assert not {text for text in texts if isinstance(text, str)} & {
        text[0] for text in texts if isinstance(text, tuple)
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.parent.name)
def test_a_catalogue_has_exactly_the_texts_of_the_page(path: Path) -> None:
    """`python -m table.catalogue` brings it up to date."""
    wanted = {message.id for message in template() if message.id}
    there = {tuple(text) if isinstance(text, list) else text for text in (message.id for message in _messages(path))}
    assert there == wanted


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.parent.name)
def test_a_catalogue_is_complete_and_keeps_the_gaps(path: Path) -> None:
    """Every text and plural form is translated, and says the same numbers and names."""
    for message in _messages(path):
        assert not message.fuzzy, message.id
        forms = _forms(message.string)
        assert all(forms), message.id
        assert len(forms) == (1 if isinstance(message.id, str) else 2), message.id
        for form in forms:
            missing = _gaps(_forms(message.id)[-1]) - _gaps(form)
            assert set(missing) <= {"n"} if len(forms) == 2 else not missing, (message.id, form)
            assert set(_gaps(form)) <= set(_gaps(_forms(message.id)[-1])), (message.id, form)


def test_what_the_server_hands_out() -> None:
    """English is always there; a plural is a list under its singular; Urdu runs from right to left."""
    catalogues = read_catalogues()
    assert catalogues["en"]["messages"]["{n} trick"] == ["{n} trick", "{n} tricks"]
    assert catalogues["en"]["direction"] == "ltr"
    assert catalogues.get("ur", {"direction": "rtl"})["direction"] == "rtl"
