"""Practice, two players with draft and double nil, and what each setting changes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from pages import (
    BOTS,
    open_lobby,
    open_replay,
    open_table,
    play_deal,
    replay_to,
    set_field,
    version,
    wait_for_decision,
    wait_for_news,
)

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
    assert page.locator(".card.legal").count() == 0


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


MOST_DEALS = 12
"""What a test looks for comes up in every few deals."""
SPADES, OTHERS = (
    f".hand .card:is({cards})"
    for cards in (
        ", ".join(f"[data-card='{card}']" for card in range(39, 52)),
        ", ".join(f"[data-card='{card}']" for card in range(39)),
    )
)
"""The cards of the hand that are spades, and those that are not; without jokers."""


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
    assert page.locator(seen).count() >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("jokers", "found"), [(True, (1, 1, 0)), (False, (0, 0, 2))])
def test_jokers_take_the_places_of_two_twos(page: Page, table_url: str, jokers: bool, found: tuple[int, ...]) -> None:
    """With jokers a deal has both and neither red two; without, the other way (R2)."""
    open_table(page, table_url, "alone", **BOTS, jokers=jokers)
    play_deal(page)
    open_replay(page)
    cards = page.locator(".replay-cards .visually-hidden").all_text_contents()
    assert len(cards) == 52
    twos = cards.count("2 of hearts") + cards.count("2 of diamonds")
    assert (cards.count("little joker"), cards.count("big joker"), twos) == found


@pytest.mark.slow
@pytest.mark.parametrize(("direction", "step"), [("clockwise", 1), ("counter_clockwise", 3)])
def test_the_turn_goes_the_way_that_was_chosen(page: Page, table_url: str, direction: str, step: int) -> None:
    """The four bids of a deal go around the table in the direction of the rules (R4, R7)."""
    open_table(page, table_url, "alone", **BOTS, turn_direction=direction)
    play_deal(page)
    open_replay(page)
    places = ["South", "West", "North", "East"]
    bidders = []
    for k in range(1, 5):
        replay_to(page, k)
        bidders.append(places.index(page.inner_text(".replay-said").split(":")[0]))
    assert [(after - before) % 4 for before, after in itertools.pairwise(bidders)] == [step] * 3


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "penalised"), [("1", True), ("0", False)])
def test_bags_cost_what_was_chosen(page: Page, table_url: str, limit: str, penalised: bool) -> None:
    """Every bag reaches a limit of one; without a limit bags cost nothing (R21)."""
    open_table(page, table_url, "alone", **BOTS, bag_limit=limit)
    for _ in range(MOST_DEALS):
        play_deal(page, bid=1)
        row = page.locator(".deal-sheet tbody tr")
        bags, penalties = (
            row.filter(has=page.locator(f"th:text-is('{name}')")).locator("td").all_inner_texts()
            for name in ("Bags of this deal", "Penalty for bags")
        )
        if any(text != "0" for text in bags):
            break
        next_deal(page)
    assert [penalty != "0" for penalty in penalties] == [penalised and text != "0" for text in bags]
    assert any(text != "0" for text in bags)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["any", "broken"])
def test_spades_may_be_led_when_it_was_chosen(page: Page, table_url: str, when: str) -> None:
    """To the first trick, where nothing can be broken yet: a spade may be led, or not while others are held (R13)."""
    open_table(page, table_url, "alone", **BOTS, lead_spades=when)
    for _ in range(MOST_DEALS):
        wait_for_decision(page)
        before = version(page)
        page.click("[data-key=bid-57]")
        wait_for_news(page, before)
        wait_for_decision(page)
        if page.locator(".trick .played").count() == 0:
            break
        play_deal(page)
        next_deal(page)
    assert page.locator(OTHERS).count() == page.locator(f"{OTHERS}.legal").count() > 0
    assert page.locator(SPADES).count() > 0
    assert page.locator(f"{SPADES}.legal").count() == (page.locator(SPADES).count() if when == "any" else 0)


@pytest.mark.slow
@pytest.mark.parametrize(("mercy", "over"), [("-50", True), ("none", False)])
def test_mercy_ends_a_match_that_goes_on_without_it(page: Page, table_url: str, mercy: str, over: bool) -> None:
    """A team that bids thirteen and more and is set falls below -50: mercy ends the match there (R25)."""
    open_table(page, table_url, "alone", **BOTS, mercy=mercy)
    play_deal(page, bid=13)
    assert page.locator("dialog[data-dialog=sheet] h2:has-text('the match')").count() == int(over)


def next_deal(page: Page) -> None:
    """From the score sheet to the next deal, or to the next match."""
    before = version(page)
    page.click("[data-key=next]")
    wait_for_news(page, before)


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
