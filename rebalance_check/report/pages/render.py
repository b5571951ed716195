"""HTML from one base template: styles and scripts are inlined, data is embedded, and nothing else is loaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

import jinja2
import msgspec
from markupsafe import Markup

from rebalance_check.report.terminal import visible_lines

STYLE: Final = "page.css"
SHARED_SCRIPTS: Final = (
    "text.js",
    "columns.js",
    "timeline.js",
    "window.js",
    "scale.js",
    "lanes.js",
    "tooltip.js",
    "filters.js",
    "run.js",
)
"""The scripts that every page of histories needs, in the order in which one builds on the other."""

UNSAFE_IN_DATA: Final = re.compile(r"[^ -;=-~]")
"""Characters that embedded JSON does not hold as they are: the begin of a tag, and all but plain characters."""


def page(
    title: str,
    *,
    scripts: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
    about: Iterable[str] = (),
    template: str = "base.html.jinja",
    **values: Any,
) -> str:
    """The page as HTML. All text is escaped as HTML, and where a browser would obey a character, as on a terminal.

    ``scripts`` are names of files of this package, ``data`` is embedded by id as JSON, ``about`` are lines under the
    title. ``values`` are for a ``template`` of its own.
    """
    style, codes = _static(STYLE), [_static(name) for name in scripts]
    return _environment().get_template(template).render(
        title=title,
        about=list(about),
        style=style,
        scripts=codes,
        data=[(name, embedded(document)) for name, document in (data or {}).items()],
        policy=_policy(style, codes),
        **values,
    )  # fmt: skip


def embedded(document: Any) -> Markup:
    """The document as JSON that no element of a page can end, in plain characters."""
    try:
        text = msgspec.json.encode(document).decode()
    except UnicodeEncodeError:  # a lone surrogate: a byte of a file name that is no UTF-8
        text = json.dumps(msgspec.to_builtins(document))
    return Markup(UNSAFE_IN_DATA.sub(lambda found: _escape(found[0]), text))


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if character <= "\x7f" else json.dumps(character)[1:-1]


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _text("templates", name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )


def _static(name: str) -> Markup:
    """A script or a style as it stands in the page."""
    return Markup(_text("static", name))


def _text(folder: str, name: str) -> str:
    return files("rebalance_check.report").joinpath(folder, name).read_text(encoding="utf-8")


def _visible(value: object) -> object:
    """The text that an expression of the template prints."""
    return visible_lines(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _policy(style: str, scripts: Sequence[str]) -> str:
    """The rights of the page: to run these scripts and no others, and to load nothing."""
    runs = " ".join(map(_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {runs}; connect-src 'none'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
