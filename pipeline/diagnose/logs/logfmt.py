"""Lines of logfmt, ``time=... level=INFO msg="joining group" group=g``, as structured loggers of Go write them."""

from __future__ import annotations

import re
from typing import Final

LOGFMT: Final = re.compile(r"(?:time|ts|t|level)=\S+ .*\bmsg=")
"""The begin of such a line."""
_PAIR: Final = re.compile(r'(?P<name>[\w.@-]+)=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s"]*))(?=\s|$)')
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}


def logfmt(text: str) -> dict[str, str]:
    """The pairs of a line; the first of a name counts."""
    pairs: dict[str, str] = {}
    for found in _PAIR.finditer(text):
        quoted = found["quoted"]
        value = found["bare"] if quoted is None else _ESCAPE.sub(lambda part: _ESCAPED.get(part[1], part[1]), quoted)
        pairs.setdefault(found["name"], value)
    return pairs
