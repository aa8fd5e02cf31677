"""Languages in the page: direction, numbers, and no English left where a catalogue is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages import BOTS, LONG, open_table

pytest.importorskip("pydantic", reason="the extra `table` is not installed")

from table.options import languages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OTHERS = [language for language in languages() if language != "en"]


def choose_language(page: Page, language: str) -> None:
    """In the dialog, as a person does."""
    page.click("[data-key=appearance]")
    page.select_option("[data-key=language]", language)
    page.wait_for_selector(f"html[lang={language}]")
    page.keyboard.press("Escape")


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_the_table_in_another_language(page: Page, table_url: str, language: str) -> None:
    """Chosen in the page and kept: the same table, its words and direction those of the language."""
    open_table(page, table_url, "alone", **BOTS)
    page.wait_for_selector(".bidding")
    english = page.inner_text(".bidding h2")
    choose_language(page, language)
    assert page.get_attribute("html", "dir") == ("rtl" if language == "ur" else "ltr")
    assert page.inner_text(".bidding h2") != english
    page.reload()
    page.wait_for_selector(f"html[lang={language}] .bidding")


@pytest.mark.slow
@pytest.mark.skipif("ur" not in OTHERS, reason="there is no Urdu catalogue yet")
@pytest.mark.parametrize("width", [360, 1280])
def test_urdu_runs_from_right_to_left(browser: Browser, table_url: str, width: int) -> None:
    """Texts and panels turn round; the table itself is a place and does not: West stays on the left (R4)."""
    context = browser.new_context(viewport={"width": width, "height": 760})
    page = context.new_page()
    page.set_default_timeout(LONG)
    open_table(page, table_url, "alone", **BOTS)
    page.wait_for_selector(".bidding")
    choose_language(page, "ur")
    page.click("[data-key=menu-table]")
    side = page.locator("#side").bounding_box()
    west, east = (page.locator(f".seat.at-{place}").bounding_box() for place in ("left", "right"))
    assert side is not None
    assert west is not None
    assert east is not None
    assert side["x"] < 2
    assert west["x"] < east["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
