"""One window of Chromium for all tests of pages; a test fails where its page writes anything to the console."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Browser, open_browser


@pytest.fixture(scope="session")
def window() -> Iterator[Browser]:
    """Chromium, started once."""
    with open_browser() as opened:
        yield opened


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """The window on an empty page; at the end its console must be empty."""
    window.open("about:blank")
    window.errors()
    yield window
    assert window.errors() == []
