"""A run as one self-contained page: a lane per member, the reasons, and the step where the claim broke."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.report.section import Section
from rebalance_check.report.template import rendered


def page(title: str, sections: Sequence[Section]) -> str:
    """The page as HTML."""
    return rendered("page.html.jinja", title=title, sections=sections)
