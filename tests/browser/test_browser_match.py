"""Whole matches against bots, one by keyboard alone and one by touch alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages import BOTS, LONG, open_lobby, open_table, play_deal, scores, version, wait_for_decision, wait_for_news

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_DECISIONS = 14 * 60
"""A match to 200 has far fewer than sixty deals."""


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is on what is looked for."""
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


def focus_can_decide(page: Page) -> None:
    """Wait until the focus is on something that decides."""
    page.wait_for_selector(
        ".card.legal:focus, .decision .button:focus, dialog[data-dialog=sheet] .button.primary:focus"
    )


@pytest.mark.slow
def test_a_whole_match_by_keyboard_alone(page: Page, table_url: str) -> None:
    """Tab, arrows and Enter, from the lobby to the end of a match to 200: no mouse, no touch (R24)."""
    open_lobby(page, table_url)
    tab_to(page, "[data-key=kind-alone]")
    page.keyboard.press("Enter")
    tab_to(page, "[name=target]")
    page.keyboard.press("ArrowUp")  # 500, 300
    page.keyboard.press("ArrowUp")  # 200
    for seat in (1, 2, 3):
        tab_to(page, f"[name=seat-{seat}]")
        page.keyboard.type("easy")
    tab_to(page, "[data-key=start]")
    page.keyboard.press("Enter")
    deals = 0
    for _ in range(MOST_DECISIONS):
        asked = wait_for_decision(page)
        before = version(page)
        if asked == "sheet":
            deals += 1
            if page.query_selector("dialog[data-dialog=sheet] h2:has-text('the match')"):
                break
        focus_can_decide(page)
        if asked == "button":
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowRight")  # 3
        page.keyboard.press("Enter")
        wait_for_news(page, before)
    assert deals > 0
    final = scores(page)
    assert max(int(final["0 score"]), int(final["1 score"])) >= 200
    assert page.locator("dialog[data-dialog=sheet] .history tbody tr").count() == deals


@pytest.mark.slow
def test_a_whole_match_by_touch(browser: Browser, table_url: str) -> None:
    """On a phone: the first tap lifts a card and plays nothing, the second plays it."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    open_lobby(page, table_url)
    page.tap("[data-key=kind-alone]")
    page.select_option("[name=target]", "200")
    for seat, bot in BOTS.items():
        page.select_option(f"[name={seat.replace('_', '-')}]", bot)
    page.tap("[data-key=start]")
    for _ in range(MOST_DECISIONS):
        asked = wait_for_decision(page)
        before = version(page)
        if asked == "sheet":
            if page.query_selector("dialog[data-dialog=sheet] h2:has-text('the match')"):
                break
            page.tap("[data-key=next]")
        elif asked == "button":
            page.tap("[data-key=bid-57]")
        else:
            page.locator(".card.legal").first.tap(timeout=LONG)
            assert version(page) == before
            page.locator(".card.lifted").tap(timeout=LONG)
        wait_for_news(page, before)
    final = scores(page)
    assert max(int(final["0 score"]), int(final["1 score"])) >= 200
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


@pytest.mark.slow
def test_the_sheet_the_replay_and_the_last_trick(page: Page, table_url: str) -> None:
    """After a deal: items that add up, the deal stepped through, the last trick again."""
    open_table(page, table_url, "alone", **BOTS)
    play_deal(page)
    rows = page.locator(".deal-sheet tbody tr")
    table = {
        rows.nth(k).locator("th").inner_text(): rows.nth(k).locator("td").all_inner_texts() for k in range(rows.count())
    }
    for team in (0, 1):
        bags = table["Bags of this deal"][team]
        bag_points = int(bags.split("(")[1].strip(")")) if "(" in bags else 0
        items = int(table["Contract"][team]) + int(table["Nil"][team]) + int(table["Penalty for bags"][team])
        assert items + bag_points == int(table["This deal"][team])
    page.click("[data-key=replay]")
    page.wait_for_selector(".replay")
    steps = int(page.get_attribute("[data-key=replay-range]", "max") or 0)
    assert steps == 4 + 52
    page.locator("[data-key=replay-range]").fill(str(steps))
    taken = page.locator(".replay-seat .quiet-text").all_inner_texts()
    assert sum(int(text.split()[0]) for text in taken) == 13
    page.keyboard.press("Escape")
    page.click("dialog[data-dialog=sheet] .dialog-close")
    page.click("[data-key=menu-last]")
    assert page.locator(".last-trick figure").count() == 4
