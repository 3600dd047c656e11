"""The built documentation site in a browser: it needs no network, nothing overflows, and the search finds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.browser import Browser
from tests.test_docs import build

WIDE, NARROW = 1400, 420
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNLOADED = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
FOUND = "[...document.querySelectorAll('*')].filter(e => e.shadowRoot).map(e => e.shadowRoot.textContent).join(' ')"
WIDEST = ("index", "claims", "robustness", "leaderboard", "gallery")  # pages with the widest tables and pictures
SEARCH_INDEX = "*/search*"  # every page would build it anew
PATIENCE = 20.0  # seconds until the search must have answered

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_the_site_works_from_disk():
    assert build.main() == 0
    pages = sorted(page for page in build.SITE.rglob("*.html") if page.name != "404.html")
    assert len(pages) > 20
    with Browser() as browser:
        browser.call("Network.setBlockedURLs", urls=[SEARCH_INDEX])
        for page in pages:
            sizes = ((NARROW, True), (WIDE, False)) if page.stem in WIDEST else ((NARROW, True),)
            for width, dark in sizes:
                browser.open(page, width, dark=dark)
                assert browser.evaluate(OVERFLOW) <= 0, (page, width)
                assert browser.evaluate(UNLOADED) == [], page
        browser.call("Network.setBlockedURLs", urls=[])
        _search(browser, build.SITE / "index.html", "half-life", "Rewards that drift")
        assert [url for url in browser.requests if url.startswith(("http", "//", "ws"))] == []
        assert browser.errors == []


def _search(browser: Browser, page: Path, words: str, expected: str) -> None:
    """Type into the search box and wait for a result."""
    browser.open(page, WIDE)
    deadline = time.monotonic() + PATIENCE
    while expected not in (found := browser.evaluate(FOUND)) and time.monotonic() < deadline:
        if not browser.evaluate("document.activeElement.shadowRoot != null"):
            browser.evaluate("document.querySelector('.md-search__button').click()")
            time.sleep(0.3)
            browser.call("Input.insertText", text=words)
        time.sleep(0.3)
    assert expected in found
