"""Practice, two players with draft and double nil, and what each setting changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages import BOTS, open_lobby, open_table, play_deal, set_field, version, wait_for_news

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.slow
def test_practice_gives_hints_and_takes_back(page: Page, table_url: str) -> None:
    """A hint names an action that may be taken; taking back returns to the decision before."""
    open_table(page, table_url, "practice", hint="normal", **BOTS)
    page.wait_for_selector("[data-key=hint]")
    page.click("[data-key=hint]")
    page.wait_for_selector(".hint .advice strong")
    page.click("[data-key=bid-57]")
    page.wait_for_selector(".card.legal")
    page.click("[data-key=undo]")
    page.wait_for_selector(".bidding")


@pytest.mark.slow
def test_two_players_draft_and_double_nil(page: Page, table_url: str) -> None:
    """Double nil before the first draw, thirteen cards drafted, one exchanged, then the play (R27, R28)."""
    open_table(page, table_url, "alone", "two_player", seat_1="easy")
    page.wait_for_selector("[data-key=look], [data-key=blind]")
    page.click("[data-key=blind]")
    drawn = 0
    while page.wait_for_selector("[data-key=keep], [data-key=done]") and page.query_selector("[data-key=keep]"):
        before = version(page)
        page.click("[data-key=keep]" if drawn % 2 else "[data-key=take-next]")
        wait_for_news(page, before)
        drawn += 1
    assert drawn == 13
    assert page.locator(".hand .card").count() == 13
    assert "7 cards you discarded" in page.inner_text(".own")
    before = version(page)
    page.locator(".hand .card.legal").first.click()
    wait_for_news(page, before)
    page.wait_for_selector(".exchange:has-text('1 card given up')")
    page.click("[data-key=done]")
    page.wait_for_selector(".card.legal")
    assert page.locator(".hand .card").count() == 13
    assert "double nil" in page.inner_text(".seat.at-bottom")
    assert page.locator(".seat").count() == 2
    play_deal(page)
    assert "double nil" in page.inner_text(".deal-sheet")


SETTINGS = {
    "target": ("classic", {"target": "200"}, ".situation:has-text('to 200')"),
    "nil": ("classic", {"nil_allowed": False}, ".bidding:not(:has([data-key=bid-54]))"),
    "blind nil": ("classic", {"blind_nil": True, "blind_nil_deficit": "none"}, "[data-key=blind]"),
    "no bag penalty": ("classic", {"bag_limit": "0"}, ".scoreboard [data-cell=bags]:text-is('0')"),
    "spades at any time": ("classic", {"lead_spades": "any"}, ".table:not(:has(.situation .broken)) .bidding"),
    "lowest bid": ("classic", {"min_bid": "3"}, "[data-key=bid-56][aria-disabled=true]"),
    "small deck": ("classic", {"hand_size": "5"}, ".bidding:not(:has([data-key=bid-60]))"),
}
"""{what is changed: (preset, fields, what is then to be seen at the table)}."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_changes_the_game(page: Page, table_url: str, name: str) -> None:
    """What was chosen in the form is seen at the table (R8, R10, R13, R21, R24)."""
    preset, fields, seen = SETTINGS[name]
    open_table(page, table_url, "alone", preset, **BOTS, **fields)
    page.wait_for_selector(".decision .panel")
    page.wait_for_selector(seen)


def test_rules_that_do_not_go_together_are_refused_with_the_reason(page: Page, table_url: str) -> None:
    """The server's reason stands in the form, and what was chosen stays."""
    open_lobby(page, table_url)
    page.click("[data-key=kind-alone]")
    page.evaluate("document.querySelector('details.more').open = true")
    set_field(page, "jokers", True)
    set_field(page, "hand_size", "5")
    page.click("[data-key=start]")
    page.wait_for_selector(".problem:has-text('jokers')")
    assert page.is_checked("[name=jokers]")
