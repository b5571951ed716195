"""The fields of a structured logger's line: a sentence, then keys and values in the form that the logger writes.

``; key: value, key: value`` of franz-go's own logger, ``key=value`` of logfmt, a JSON object behind the sentence as
zap's console encoder writes it, or a whole line of JSON or logfmt, whose fields the record has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from rebalance_check.pipeline.diagnose.logs.logfmt import logfmt

_KEY: Final = re.compile(r"(?:^|, )([a-z][a-z0-9_]*):(?: |$)")
_PAIR: Final = re.compile(r"^[a-z][a-z0-9_]*=")


def fields_of(rest: str) -> dict[str, Any]:
    """The fields that follow a sentence."""
    text = rest.strip()
    if text.startswith(";"):
        return _colons(text[1:].lstrip())
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    return dict(logfmt(text)) if _PAIR.match(text) else {}


def _colons(text: str) -> dict[str, Any]:
    keys = list(_KEY.finditer(text))
    ends = [*(key.start() for key in keys[1:]), len(text)]
    return {key[1]: text[key.end() : end].strip() for key, end in zip(keys, ends, strict=False)}


def word(fields: Mapping[str, Any], name: str) -> str:
    """A field as text; empty where it is missing, null, or a value that has none in JSON."""
    value = fields.get(name)
    if value is None or isinstance(value, dict | list):
        return ""
    text = str(value)
    return "" if text in {"<nil>", "null"} else text
