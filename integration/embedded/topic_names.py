"""The names that topics may have (``org.apache.kafka.common.internals.Topic``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MAX_LENGTH: Final = 249

_LETTERS: Final = re.compile(r"[a-zA-Z0-9._-]+")


def wrong_name(name: str) -> str:
    """Kafka's message about a name that no topic may have; "" for a good one."""
    if not name:
        why = "the empty string is not allowed"
    elif name in (".", ".."):
        why = f"'{name}' is not allowed"
    elif len(name) > MAX_LENGTH:
        why = f"the length of '{name}' is longer than the max allowed length {MAX_LENGTH}"
    elif _LETTERS.fullmatch(name) is None:
        why = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return ""
    return f"Topic name is invalid: {why}"


def collision(name: str, others: Iterable[str]) -> str:
    """Another topic whose name differs in points and underscores only, which Kafka's metrics take for the same; "" for
    none."""
    if not {".", "_"} & {*name}:
        return ""
    return next((other for other in others if other != name and _unified(other) == _unified(name)), "")


def _unified(name: str) -> str:
    return name.replace(".", "_")
