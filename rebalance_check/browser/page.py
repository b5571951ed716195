"""The page of the explorer: the scripts of all pages of histories, and its own."""

from __future__ import annotations

from typing import Final

from rebalance_check.report.pages.render import SHARED_SCRIPTS, page

SCRIPTS: Final = (
    *SHARED_SCRIPTS,
    "explorer_requests.js",
    "explorer_state.js",
    "explorer_search.js",
    "explorer_kafka.js",
    "explorer.js",
)


def explorer_page() -> str:
    """The page; it asks the server that it came from, and no other."""
    return page("rebalance-check: explore", scripts=SCRIPTS, connects=True)
