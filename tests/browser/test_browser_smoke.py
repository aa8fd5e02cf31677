"""The page in real Chromium, in short: it opens, a card can be played, an illegal one says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pages import BOTS, open_table, version, wait_for_decision, wait_for_news

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_person_sits_down_bids_and_plays_a_card(page: Page, table_url: str) -> None:
    """Bots bid and play around her; contract, needs and her own panel follow (R7, R9, R11)."""
    open_table(page, table_url, "alone", **BOTS)
    page.click("[data-key=bid-57]")
    page.wait_for_selector(".card.legal")
    assert page.locator(".hand .card").count() == 13
    assert "3" in page.inner_text(".seat.at-bottom")
    assert page.get_attribute(".at-bottom", "aria-label").startswith("You: bid 3")
    before = version(page)
    page.locator(".card.legal").first.click()
    wait_for_news(page, before)
    page.wait_for_selector(".hand:not(:has(.card:nth-child(13)))")


def test_an_illegal_card_does_nothing_but_say_why(page: Page, table_url: str) -> None:
    """R11 or R13, in the person's words; the card stays in her hand."""
    open_table(page, table_url, "alone", **BOTS)
    page.click("[data-key=bid-57]")
    while True:
        wait_for_decision(page)
        before = version(page)
        if page.locator(".card.dimmed").count():
            break
        page.locator(".card.legal").first.click()
        wait_for_news(page, before)
    held = page.locator(".hand .card").count()
    page.locator(".card.dimmed").first.click(force=True)  # it is disabled to a screen reader
    page.wait_for_selector("#notice.shown")
    assert "rule R1" in page.inner_text("#notice")
    assert (version(page), page.locator(".hand .card").count()) == (before, held)


def test_nothing_comes_from_elsewhere(page: Page, table_url: str) -> None:
    """No request leaves the server's own host, and no script or style is inline."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_table(page, table_url, "alone", **BOTS)
    assert asked
    assert all(url.startswith((table_url, "ws://127.0.0.1")) for url in asked)
    assert page.locator("[style]:not(.hand):not(.bubble), body script:not([src])").count() == 0
