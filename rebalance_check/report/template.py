"""Pages from templates: self-contained, and all text of a run escaped."""

from __future__ import annotations

from typing import Any

import jinja2

from rebalance_check.report.terminal import visible_lines


def rendered(template: str, **values: Any) -> str:
    """The page that ``template``, a file of this package, makes of the values; nothing in it is loaded from elsewhere.

    All text of the values is escaped: as HTML, and where a browser would obey a character (bidirectional overrides), as
    on a terminal.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rebalance_check.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    return environment.get_template(template).render(values)


def _visible(value: object) -> object:
    """What an expression of the template prints."""
    return visible_lines(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
