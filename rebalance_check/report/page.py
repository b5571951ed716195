"""A run as one self-contained page: a lane per member, the reasons, and the step where the claim broke."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import jinja2

from rebalance_check.report.section import Section
from rebalance_check.report.terminal import visible_lines


def page(title: str, sections: Sequence[Section]) -> str:
    """The page as HTML; nothing in it is loaded from elsewhere, and all text of the run is escaped,
    as HTML and, where a browser would obey a character (bidirectional overrides), as on a terminal."""
    source = files("rebalance_check.report").joinpath("page.html.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    return environment.from_string(source).render(title=title, sections=sections)


def _visible(value: object) -> object:
    """What an expression of the template prints."""
    return visible_lines(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
