"""The pictures of docs/table.md, made again: `python tests/browser/screenshots.py docs/images [NAME ...]`.

Starts a table with a fixed seed, plays as far as each picture needs, and writes PNGs with few colours.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import CHROMIUM
from pages import BOTS, LONG, open_table, play_deal, version, wait_for_news
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from table_server import TableServer

from spades_env.files import write_atomically

COLOURS = 256
DESKTOP, PHONE = (1280, 800), (360, 740)
SEATS = {"seat_1": "normal", "seat_2": "normal", "seat_3": "normal", "speed": "fast"}


@contextmanager
def new_page(
    browser: Browser, size: tuple[int, int] = DESKTOP, *, dark: bool = False, touch: bool = False
) -> Iterator[Page]:
    """A page of a person of her own."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        device_scale_factor=2 if touch else 1,
        has_touch=touch,
        is_mobile=touch,
    )
    page = context.new_page()
    page.set_default_timeout(LONG)
    yield page
    context.close()


def play_cards(page: Page, count: int) -> None:
    """Bid three and play the first legal card so many times; then wait for the next decision."""
    if page.query_selector("[data-key=look]"):
        page.click("[data-key=look]")
    page.click("[data-key=bid-57]")
    for _ in range(count):
        page.wait_for_selector(".card.legal")
        before = version(page)
        page.locator(".card.legal").last.click()
        wait_for_news(page, before)
    page.wait_for_selector(".card.legal")
    page.mouse.move(2, 2)
    page.wait_for_timeout(600)


def desktop(browser: Browser, url: str) -> bytes:
    with new_page(browser) as page:
        open_table(page, url, "alone", **SEATS)
        play_cards(page, 3)
        return page.screenshot()


def phone(browser: Browser, url: str) -> bytes:
    with new_page(browser, PHONE, touch=True) as page:
        open_table(page, url, "alone", **SEATS)
        play_cards(page, 2)
        return page.screenshot()


def dark(browser: Browser, url: str) -> bytes:
    with new_page(browser, dark=True) as page:
        open_table(page, url, "alone", **SEATS)
        page.evaluate("document.documentElement.dataset.deck = 'four'")
        play_cards(page, 4)
        return page.screenshot()


def bidding(browser: Browser, url: str) -> bytes:
    with new_page(browser) as page:
        open_table(page, url, "alone", "modern", **SEATS, blind_nil_deficit="none")
        page.wait_for_selector("[data-key=blind]")
        return page.screenshot()


def sheet(browser: Browser, url: str) -> bytes:
    with new_page(browser) as page:
        open_table(page, url, "alone", **{**BOTS, "speed": "fast"})
        play_deal(page)
        page.mouse.move(2, 2)
        return page.screenshot()


def replay(browser: Browser, url: str) -> bytes:
    with new_page(browser) as page:
        open_table(page, url, "alone", **{**BOTS, "speed": "fast"})
        play_deal(page)
        page.click("[data-key=replay]")
        page.wait_for_selector(".replay")
        page.locator("[data-key=replay-range]").fill("18")
        return page.screenshot()


def hint(browser: Browser, url: str) -> bytes:
    with new_page(browser) as page:
        open_table(page, url, "practice", **SEATS, hint="hard")
        play_cards(page, 2)
        while not page.query_selector(".values"):  # on a fresh machine the agent is compiled first
            page.click("[data-key=hint]")
            page.wait_for_timeout(5000)
        page.click(".beliefs summary")
        page.mouse.move(2, 2)
        return page.screenshot()


def draft(browser: Browser, url: str) -> bytes:
    with new_page(browser) as page:
        open_table(page, url, "alone", "two_player", seat_1="easy", speed="fast")
        page.click("[data-key=look]")
        for _ in range(7):
            page.wait_for_selector("[data-key=keep]")
            before = version(page)
            page.click("[data-key=keep]")
            wait_for_news(page, before)
        page.wait_for_selector("[data-key=keep]")
        return page.screenshot()


def urdu(browser: Browser, url: str) -> bytes:
    with new_page(browser) as page:
        open_table(page, url, "alone", **SEATS)
        page.wait_for_selector(".bidding")
        page.click("[data-key=appearance]")
        page.select_option("[data-key=language]", "ur")
        page.wait_for_selector("html[lang=ur]")
        page.keyboard.press("Escape")
        play_cards(page, 3)
        return page.screenshot()


PICTURES: dict[str, Callable[[Browser, str], bytes]] = {
    picture.__name__: picture for picture in (desktop, phone, dark, bidding, sheet, replay, hint, draft, urdu)
}


def small(png: bytes) -> bytes:
    """The same picture with few colours: a fraction of the bytes."""
    out = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def main(folder: Path, names: list[str]) -> None:
    """Write table-NAME.png for each name, all of them by default."""
    with (
        tempfile.TemporaryDirectory() as place,
        TableServer(Path(place) / "t.sqlite", "--seed", "7") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for name in names or PICTURES:
            write_atomically(folder / f"table-{name}.png", small(PICTURES[name](browser, server.url)))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
