"""Findings that are alike: the same claim, broken in the same way by other members, partitions and generations."""

from __future__ import annotations

import re
from typing import Final

UUID: Final = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
NUMBER: Final = re.compile(r"\d+")
REPEATED: Final = re.compile(r"(\S*#[^\s,]*)(?:, \1(?![^\s,]))+(?: and \1(?![^\s,]))?")


def shape_of(headline: str) -> str:
    """The headline without its numbers, and with lists of like names as one: ``t-# is owned by m# and m#``.

    Two headlines of one shape are about the same kind of violation.
    """
    plain = NUMBER.sub("#", UUID.sub("#", headline))
    return REPEATED.sub(r"\1, ...", plain)
