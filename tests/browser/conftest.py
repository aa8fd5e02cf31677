"""A server of its own for each file of tests, and Chromium; without either the tests are skipped and say why."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from table_server import TableServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
FAKE_MEDIA = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")


@pytest.fixture(scope="module")
def table_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running table with the module's OPTIONS; else at instant speed, and a quick match waits two seconds."""
    pytest.importorskip("starlette", reason="the extra `table` is not installed")
    folder: Path = tmp_path_factory.mktemp("table")
    options = getattr(request.module, "OPTIONS", ("--speed", "instant", "--quick-wait", "2"))
    with TableServer(folder / "table.sqlite", *options) as server:
        yield server.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium with a fresh profile and a microphone that is not real."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine (Debian: apt install chromium)")
    with sync.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", *FAKE_MEDIA]
        )
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; whatever it complains about fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    opened = context.new_page()
    problems: list[str] = []

    def note(line: ConsoleMessage) -> None:
        if line.type == "error" and "WebSocket connection" not in line.text:  # a server that is gone for a while
            problems.append(line.text)

    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", note)
    yield opened
    context.close()
    assert not problems
