"""Watching four bots, at a pace that can be followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages import BOTS, open_table, version, wait_for_news

if TYPE_CHECKING:
    from playwright.sync_api import Page

OPTIONS = ("--speed", "fast")
FOUR_BOTS = {"seat_0": "easy", **BOTS}


@pytest.mark.slow
def test_watching_four_bots(page: Page, table_url: str) -> None:
    """All hands are open; paused, one step is one action; a whole deal comes to its sheet."""
    open_table(page, table_url, "watch", **FOUR_BOTS)
    page.wait_for_selector("[data-key=pause]")
    page.click("[data-key=pause]")
    page.wait_for_selector("[data-key=pause]:has-text('Go on')")
    assert page.locator(".open-hand").count() == 4
    before = version(page)
    page.click("[data-key=step]")
    wait_for_news(page, before)
    assert version(page) == before + 1
    page.click("[data-key=menu-hint]")
    page.click("[data-key=hint]")
    page.wait_for_selector(".hint .advice")
    page.click("[data-key=pause]")
    page.wait_for_selector("dialog[data-dialog=sheet]")


@pytest.mark.slow
def test_jokers_direction_and_mercy(page: Page, table_url: str) -> None:
    """Jokers are among the cards (R2), the turn passes the other way (R4), mercy stands on the rules page (R25)."""
    chosen = {"jokers": True, "turn_direction": "counter_clockwise", "mercy": "-200"}
    open_table(page, table_url, "watch", "classic", **FOUR_BOTS, **chosen)
    page.click("[data-key=pause]")
    page.wait_for_selector("[data-key=pause]:has-text('Go on')")
    assert "big joker" in page.inner_text(".open-hands") or "big joker" in page.inner_text(".trick, #live")
    page.click("[data-key=menu-rules]")
    assert "−200" in page.inner_text("[data-field=mercy]").replace("-", "−")
    assert "South, East, North, West" in page.inner_text("[data-field=turn_direction]")
