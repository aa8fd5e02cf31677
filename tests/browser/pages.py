"""What the tests do at the table, in a person's words. Everything goes through the page, as she would do it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

DECIDES = ".card.legal, .decision .button:not([aria-disabled=true]), dialog[data-dialog=sheet] .button.primary"
"""Whatever a person can be asked for."""
BOTS = {"seat_1": "easy", "seat_2": "easy", "seat_3": "easy"}
"""The quickest bots of the ladder on all other seats: these tests are about the page."""
LONG = 30_000
"""Milliseconds that anything may take on a busy machine."""


def open_lobby(page: Page, url: str, name: str = "Ann") -> None:
    """Open the page for a person whose browser knows her name."""
    page.set_default_timeout(LONG)
    page.add_init_script(
        "if (!localStorage.getItem('spades.preferences'))"
        f" localStorage.setItem('spades.preferences', {json.dumps(json.dumps({'name': name}))})"
    )
    page.goto(url)
    page.wait_for_selector(".kind")


def open_table(page: Page, url: str, kind: str, preset: str = "classic", **choices: str | bool) -> None:
    """Choose a kind of table in the lobby, settings by their names, and sit down."""
    open_lobby(page, url)
    page.click(f"[data-key=kind-{kind}]")
    page.select_option("[name=preset]", preset)
    page.evaluate("document.querySelector('details.more').open = true")
    for name, value in choices.items():
        set_field(page, name.replace("seat_", "seat-"), value)
    page.click("[data-key=start]")
    page.wait_for_selector(".table")


def set_field(page: Page, name: str, value: str | bool) -> None:
    """Set one field of the settings: a switch, a list or a number ("none" for no number)."""
    field = page.locator(f"[name={name}]")
    if isinstance(value, bool):
        field.set_checked(value)
    elif field.evaluate("field => field.tagName") == "SELECT":
        field.select_option(value)
    elif value == "none":
        page.set_checked(f"[data-key={name}-none]", True)
    else:
        if field.is_disabled():
            page.set_checked(f"[data-key={name}-none]", False)
        field.fill(value)
        field.press("Tab")


def wait_for_decision(page: Page) -> str:
    """Wait until the person is asked: "card", "button" or "sheet"."""
    page.wait_for_selector(DECIDES)
    if page.query_selector("dialog[data-dialog=sheet]"):
        return "sheet"
    return "card" if page.query_selector(".card.legal") else "button"


def play_deal(page: Page, bid: int = 3) -> None:
    """Play from the bid to the score sheet with the mouse: the first legal card each time."""
    while (asked := wait_for_decision(page)) != "sheet":
        before = version(page)
        if asked == "card":
            page.locator(".card.legal").first.click(timeout=LONG)
        elif page.query_selector("[data-key=look]"):
            page.click("[data-key=look]")
        else:
            page.click(f"[data-key=bid-{54 + bid}]")
        wait_for_news(page, before)


def open_replay(page: Page) -> None:
    """From the score sheet to the deal that it is about, step by step."""
    page.click("[data-key=replay]")
    page.wait_for_selector(".replay")


def replay_to(page: Page, step: int) -> None:
    """Show the position after so many actions."""
    page.locator("[data-key=replay-range]").fill(str(step))


def version(page: Page) -> int:
    """The number of the snapshot that is shown."""
    return int(page.get_attribute("#main", "data-n") or -1)


def wait_for_news(page: Page, before: int) -> None:
    """Wait for another snapshot than number `before`."""
    page.wait_for_function("n => Number(document.querySelector('#main')?.dataset.n) !== n", arg=before)


def table_code(page: Page) -> str:
    """The code of the room, from the address."""
    return page.url.rsplit("/", 1)[1]


def scores(page: Page) -> dict[str, str]:
    """The scoreboard: {"0 score": "62", ...} by team and column."""
    cells: Mapping[str, Any] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.scoreboard [data-cell]')].map("
        "cell => [`${cell.closest('tr').dataset.team} ${cell.dataset.cell}`, cell.textContent]))"
    )
    return dict(cells)
