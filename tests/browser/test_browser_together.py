"""Several people: a room of two browsers with one coming back, a quick match, talk, and voice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages import BOTS, LONG, open_lobby, open_table, play_deal, table_code, version, wait_for_decision, wait_for_news
from table_server import TableServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def new_page(browser: Browser) -> Page:
    """A page of another person: a context of its own."""
    page = browser.new_context(viewport={"width": 1100, "height": 760}, permissions=["microphone"]).new_page()
    page.set_default_timeout(LONG)
    page.on("pageerror", lambda error: ERRORS.append(str(error)))
    return page


ERRORS: list[str] = []
"""What the pages of several people complain about."""


@pytest.fixture(autouse=True)
def no_errors() -> Iterator[None]:
    """Whatever a page complains about fails its test."""
    ERRORS.clear()
    yield
    assert not ERRORS


def open_room(browser: Browser, url: str) -> tuple[Page, Page]:
    """Ann opens a room, Bob comes by its link; two bots sit with them."""
    ann, bob = new_page(browser), new_page(browser)
    open_table(ann, url, "room", **{"seat_1": "easy", "seat_3": "easy"})
    open_lobby(bob, url, "Bob")
    bob.goto(f"{url}r/{table_code(ann)}")
    ann.wait_for_selector(".sitting li.person:has-text('Bob')")
    ann.click("[data-key=begin]")
    return ann, bob


def decide(*people: Page) -> bool:
    """Let whoever is asked decide; False once all see the score sheet."""
    for page in people:
        if page.query_selector("dialog[data-dialog=sheet]"):
            continue
        before = version(page)
        if page.query_selector("[data-key=bid-57]"):
            page.click("[data-key=bid-57]")
        elif page.query_selector(".card.legal"):
            page.locator(".card.legal").first.click()
        else:
            continue
        wait_for_news(page, before)
    return not all(page.query_selector("dialog[data-dialog=sheet]") for page in people)


@pytest.mark.slow
def test_a_room_of_two_people_and_two_bots(browser: Browser, table_url: str) -> None:
    """They are partners, play a deal, one loads her page again in the middle and has her seat and cards."""
    ann, bob = open_room(browser, table_url)
    for _ in range(6):
        decide(ann, bob)
    for _ in range(100):
        if ann.query_selector(".card.legal"):
            break
        decide(bob)
    held = ann.locator(".hand .card").evaluate_all("cards => cards.map(card => card.dataset.card)")
    ann.reload()
    ann.wait_for_selector(".hand .card")
    assert ann.locator(".hand .card").evaluate_all("cards => cards.map(card => card.dataset.card)") == held
    assert "Bob" in ann.inner_text(".seat.at-top")
    assert "Ann" in bob.inner_text(".seat.at-top")
    for _ in range(400):
        if not decide(ann, bob):
            break
    ann.click("[data-key=next]")
    ann.wait_for_selector("dialog[data-dialog=sheet]:has-text('Waiting for the others')")
    bob.click("[data-key=next]")
    ann.wait_for_selector("dialog[data-dialog=sheet]", state="detached")
    ann.context.close()
    bob.context.close()


@pytest.mark.slow
def test_who_finds_no_free_seat_watches_without_cards(browser: Browser, table_url: str) -> None:
    """A spectator sees the table and no hand (R30); the seat is hers once its person has left."""
    ann, bob = open_room(browser, table_url)
    eve = new_page(browser)
    open_lobby(eve, table_url, "Eve")
    eve.goto(f"{table_url}r/{table_code(ann)}")
    eve.wait_for_selector(".seat.at-top:has-text('Bob')")
    assert eve.locator(".card, .open-hand").count() == 0
    bob.click("[data-key=menu-table]")
    bob.click("[data-key=leave]")
    bob.wait_for_selector(".kind")
    ann.wait_for_selector(".seat.at-top:has-text('free seat')")
    eve.reload()
    eve.wait_for_selector(".hand .card")
    for page in (ann, bob, eve):
        page.context.close()


@pytest.mark.slow
def test_talk_is_text_and_can_be_muted(browser: Browser, table_url: str) -> None:
    """Markup is shown as it was typed; a muted person is not heard."""
    ann, bob = open_room(browser, table_url)
    bob.click("[data-key=menu-chat]")
    bob.fill("[data-key=chat-text]", "<b>hello</b>")
    bob.keyboard.press("Enter")
    ann.click("[data-key=menu-chat]")
    ann.wait_for_selector(".lines .text:has-text('<b>hello</b>')")
    assert ann.locator(".lines b").count() == 0
    bob.click("[data-key=emoji-0]")
    ann.wait_for_selector(".lines li:nth-child(2)")
    ann.locator(".lines .mute").first.click()
    bob.fill("[data-key=chat-text]", "do you hear me?")
    bob.keyboard.press("Enter")
    bob.wait_for_selector(".lines .text:has-text('hear me')")
    assert ann.locator(".lines .text:has-text('hear me')").count() == 0
    ann.context.close()
    bob.context.close()


@pytest.mark.slow
def test_voice_is_off_until_both_switch_it_on(browser: Browser, table_url: str) -> None:
    """The two browsers connect with each other; switched off, nobody is connected."""
    ann, bob = open_room(browser, table_url)
    assert ann.get_attribute("[data-key=voice]", "aria-pressed") == "false"
    ann.click("[data-key=voice]")
    ann.wait_for_selector("[data-key=voice][aria-pressed=true]")
    assert ann.locator("audio").count() == 0
    bob.click("[data-key=voice]")
    for page in (ann, bob):
        page.wait_for_selector("html[data-voices='1']", state="attached")
        assert page.locator("audio").count() == 1
    bob.click("[data-key=voice]")
    ann.wait_for_selector("html[data-voices='0']", state="attached")
    assert ann.locator("audio").count() == 0
    ann.context.close()
    bob.context.close()


@pytest.mark.slow
def test_quick_match_with_bots_filling(page: Page, table_url: str) -> None:
    """Nobody else is looking: after the wait (two seconds here) bots take the free seats."""
    open_lobby(page, table_url)
    page.click("[data-key=kind-quick]")
    page.wait_for_selector("text=Looking for players")
    wait_for_decision(page)
    assert page.locator(".seat:has-text('a bot plays')").count() == 3
    play_deal(page)


@pytest.mark.slow
def test_the_server_is_killed_and_the_table_goes_on(page: Page, tmp_path: Path) -> None:
    """After kill -9 and a new start the page comes back by itself, with the same cards and the same bids."""
    with TableServer(tmp_path / "table.sqlite", "--speed", "instant") as server:
        open_table(page, server.url, "alone", **BOTS)
        page.click("[data-key=bid-57]")
        page.wait_for_selector(".card.legal")
        cards = page.locator(".hand .card").evaluate_all("cards => cards.map(card => card.dataset.card)")
        server.stop(kill=True)
        page.wait_for_selector("#offline:not([hidden])")
        server.start()
        page.wait_for_selector("#offline", state="hidden")
        page.wait_for_selector(".card.legal")
        assert page.locator(".hand .card").evaluate_all("cards => cards.map(card => card.dataset.card)") == cards
        play_deal(page)
