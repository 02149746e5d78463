"""Fixtures that open pages in headless Chromium, and fail a test if a page reports any error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

#: Chromium opens only pages of the tests, and has no network.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

OpenPage = Callable[..., Any]


def _absent(what: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield a browser; skip the test if there is none, but fail in CI.

    Playwright keeps an event loop running while it exists: it ends with its module, since other tests of the same
    process start loops of their own.
    """
    executable = shutil.which("chromium")
    if executable is None:
        _absent("no chromium in PATH; install it: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _absent("the Python package playwright is missing")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[OpenPage]:
    """Yield a function that opens a file's page; no page may log, raise an error or request another file."""
    contexts, complaints = [], []

    def open_(path: Path, fragment: str = "", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "offline": True, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((path.as_uri(), "data:"))
                else complaints.append(f"asked for {request.url}")
            ),
        )
        page.goto(path.as_uri() + fragment)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
