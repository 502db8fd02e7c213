"""A real Chromium, and pages to look at with it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from cardquota.cluster.serving import BodyLimits, HttpServer
from cardquota_dev.build.installed_program import CHROMIUM, found_program
from harness.loop_in_thread import loop_in_thread
from harness.page_reader import PageReader

CHIEF = {"Authorization": "Bearer chief"}


@pytest.fixture(scope="module")  # while it is there, a loop runs here: no other test can run one
def browser() -> Iterator[Browser]:
    chromium = found_program(CHROMIUM)
    if chromium is None:
        pytest.skip("no Chromium: `python -m cardquota_dev build --browser` installs it, as root")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


@dataclass
class PageFaults:
    """What a page has done that it is not to do."""

    requests: list[str] = field(default_factory=list)
    """URLs, of other hosts too: none is let through to these."""
    faults: list[str] = field(default_factory=list)
    """Errors and warnings in its console, exceptions, and dialogs."""

    def told(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            self.faults.append(said.text)


Opens = Callable[..., AbstractContextManager[tuple[Page, PageFaults]]]


@pytest.fixture
def opened(browser: Browser) -> Opens:
    """Opens a URL in a profile of its own, for a block. Whatever is done in it: no fault shows, and
    no other host is asked for anything.
    """

    @contextmanager
    def open_page(url: str, **options: Any) -> Iterator[tuple[Page, PageFaults]]:
        watched = PageFaults()
        with browser.new_context(**options) as context:
            context.on("request", lambda request: watched.requests.append(request.url))
            page = context.new_page()
            page.on("console", watched.told)
            page.on("pageerror", lambda error: watched.faults.append(str(error)))
            page.on("dialog", lambda dialog: watched.faults.append(f"dialog {dialog.message}"))
            page.goto(url)
            page.wait_for_selector("#live.on", timeout=20_000)
            yield page, watched
        assert watched.faults == []
        assert [one for one in watched.requests if not one.startswith(url)] == []

    return open_page


@contextmanager
def serving(reader: PageReader) -> Iterator[str]:
    """Its page on a socket; the URL."""
    with loop_in_thread() as loop:
        server = HttpServer(reader.page.answer, BodyLimits(0, 0))
        starting = server.start("127.0.0.1", 0, None)
        asyncio.run_coroutine_threadsafe(starting, loop).result(10)
        host, port = server.addresses[0]
        try:
            yield f"http://{host}:{port}/page/"
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(1), loop).result(10)
