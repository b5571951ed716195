"""A run as one self-contained page: a lane per member, the reasons, and the step where the claim broke."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import jinja2

from rebalance_check.report.section import Section


def page(title: str, sections: Sequence[Section]) -> str:
    """The page as HTML; nothing in it is loaded from elsewhere, and all text of the run is escaped."""
    source = files("rebalance_check.report").joinpath("page.html.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(source).render(title=title, sections=sections)
