"""The end of a deal in one's own hands: claiming tricks that are certain, and saving deals as records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages import BOTS, open_replay, open_table, play_deal, replay_to, version, wait_for_decision, wait_for_news

from spades_env.record.files import read_records, table_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST_SPADE = 39
MOST_DECISIONS = 40 * 15
"""Whoever plays her lowest cards first may claim in about every fourth deal; after a match another begins."""


def _strength(card: int) -> tuple[bool, int]:
    """Spades above all others, then by rank."""
    return card >= FIRST_SPADE, card % 13


def play_until_claim(page: Page) -> None:
    """Play, the lowest cards first, until the rest of the tricks may be claimed."""
    for _ in range(MOST_DECISIONS):
        asked = wait_for_decision(page)
        if page.query_selector("[data-key=claim]"):
            return
        before = version(page)
        if asked == "sheet":
            page.click("[data-key=next]")
        elif asked == "button":
            page.click("[data-key=bid-55]")
        else:
            legal = page.locator(".hand .card.legal").evaluate_all(
                "nodes => nodes.map(node => Number(node.dataset.card))"
            )
            page.click(f".hand [data-card='{min(legal, key=_strength)}']")
        wait_for_news(page, before)
    raise AssertionError("no deal had a certain end")


@pytest.mark.slow
def test_claimed_tricks_are_played_out_and_counted(page: Page, table_url: str) -> None:
    """One click plays the cards that are left, each takes its trick, and the record holds all of them (R12)."""
    open_table(page, table_url, "alone", **BOTS)
    play_until_claim(page)
    taken = int(page.inner_text(".seat.at-bottom .taken-number"))
    left = page.locator(".hand [data-card]").count()
    page.click("[data-key=claim]")
    page.wait_for_selector("dialog[data-dialog=sheet]")
    open_replay(page)
    assert page.get_attribute("[data-key=replay-range]", "max") == "56"
    replay_to(page, 56)
    assert page.inner_text(".replay-seat.at-bottom .quiet-text") == f"{taken + left} taken"


@pytest.mark.slow
def test_a_finished_deal_is_saved_as_a_record(page: Page, table_url: str, tmp_path: Path) -> None:
    """The file that the browser keeps is one whole deal, and its outcome is what the sheet says."""
    open_table(page, table_url, "alone", **BOTS)
    play_deal(page)
    (record,) = read_records(_saved(page, "report", tmp_path))
    assert len(record["actions"]) == 56
    shown = (
        page.locator(".deal-sheet tbody tr", has=page.locator("th:text-is('This deal')"))
        .locator("td")
        .all_inner_texts()
    )
    assert [int(text) for text in shown] == list(table_of(record).scores)


@pytest.mark.slow
def test_a_deal_in_progress_is_saved_as_far_as_the_seat_may_know_it(page: Page, table_url: str, tmp_path: Path) -> None:
    """The file has her thirteen cards and nobody else's (R30)."""
    open_table(page, table_url, "alone", **BOTS)
    wait_for_decision(page)
    page.click("[data-key=menu-table]")
    (record,) = read_records(_saved(page, "report-deal", tmp_path))
    view = table_of(record)
    cards = page.locator(".hand [data-card]").evaluate_all("nodes => nodes.map(node => Number(node.dataset.card))")
    assert sorted(view.hand) == sorted(cards)
    assert record["seat"] == view.seat == 0
    assert "hands" not in record


def _saved(page: Page, key: str, folder: Path) -> Path:
    """Click what saves a file; where it lies."""
    with page.expect_download() as download:
        page.click(f"[data-key={key}]")
    place = folder / download.value.suggested_filename
    download.value.save_as(place)
    return place
