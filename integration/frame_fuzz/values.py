"""Random values for the fields of requests: names that meet again, numbers at their limits, null anywhere."""

from __future__ import annotations

import random
from typing import Any, Final

TOPICS: Final = ("t", "u", "created-0", "created-1", "none", "", "a b", "x" * 260)
GROUPS: Final = ("g", "h", "i", "j", "k", "", "simple", "\x1b[2J", "gr\u00fcn", "\u202egroup", "nul\0", "x" * 300)
INSTANCES: Final = ("i0", "i1", "", "a b", "x" * 300)
PROTOCOLS: Final = ("range", "sticky", "roundrobin", "", "\u00e9")
TEXTS: Final = ("", "a", "-", "null", "\0", "\u2028", "x" * 1_000, "consumer")

INT_BITS: Final = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}

NULL_SHARE: Final = 0.015
REPEAT_SHARE: Final = 0.3
LONG_ARRAY_SHARE: Final = 0.01
LONG_ARRAY: Final = 300

SUBSCRIPTIONS: Final = (
    b"", b"\0", b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff", b"\0\1\0\0\0\2\0\1t\0\1u\xff\xff\xff\xff\0\0\0\0",
    b"\0\3\0\0\0\1\0\1t\xff\xff\xff\xff\0\0\0\0\0\0\0\7\0\2r1", b"\x7f\xff\xff\xff", b"\xff" * 40, b"z" * 500,
)  # fmt: skip


class Values:
    """Draws the values of one seed; ``members`` are ids of replies, each with its group and generation."""

    def __init__(self, seed: int) -> None:
        self.draws = random.Random(seed)
        self.members: list[tuple[str, str, int]] = []
        self.bound: tuple[str, str, int] | None = None
        self.api = ""

    def begin(self, api: str) -> None:
        """A new request of this api: most often that of a member that is known, with its group and generation."""
        self.api = api
        known = self.members and self.draws.random() < 0.6
        self.bound = self.draws.choice(self.members) if known else None

    def learn(self, group: str, member: str, generation: int) -> None:
        """A reply named a member."""
        self.members = [*self.members[-20:], (group, member, generation)]

    def is_null(self) -> bool:
        """Whether this one is null, be that allowed or not."""
        return self.draws.random() < NULL_SHARE

    def count(self) -> int:
        """How many elements an array has."""
        if self.draws.random() < LONG_ARRAY_SHARE:
            return self.draws.randrange(LONG_ARRAY)
        return self.draws.choice((0, 1, 1, 1, 2, 2, 3, 5))

    def repeated(self, elements: list[Any]) -> list[Any]:
        """The elements, of which one may stand there several times."""
        if elements and self.draws.random() < REPEAT_SHARE:
            elements = [*elements, *[self.draws.choice(elements)] * self.draws.randrange(1, 3)]
        return elements

    def text(self, name: str) -> str:
        """A string for the field of this name."""
        if self.bound is not None and self.draws.random() < 0.8:
            if name == "group_id":
                return self.bound[0]
            if name == "member_id":
                return self.bound[1]
        return self.draws.choice(self._texts(name))

    def _texts(self, name: str) -> tuple[str, ...]:
        if name in ("group_id", "groups element", "groups_names element", "coordinator_keys element", "key"):
            return (*("g", "h") * 6, *GROUPS)
        if name in ("name", "topic"):
            return (*TOPICS, *("range",) * 8, "sticky")
        if name == "group_instance_id":
            return INSTANCES
        if name == "protocol_name":
            return ("range",) * 12 + PROTOCOLS
        if name == "protocol_type":
            return ("consumer",) * 12 + ("connect", "")
        if name == "member_id":
            return ("", "", "", "m-1", *(member for _, member, _ in self.members[-4:]))
        return (*TEXTS, "Stable", "classic")

    def octets(self, name: str) -> bytes:
        """Bytes for the field of this name."""
        if name == "metadata" and self.draws.random() < 0.7:
            return self.draws.choice(SUBSCRIPTIONS)
        return self.draws.randbytes(self.draws.choice((0, 0, 1, 8, 60)))

    def number(self, name: str, bits: int) -> int:
        """A number for the field of this name, of so many bits without its sign."""
        if name in ("generation_id", "generation_id_or_member_epoch") and self.bound is not None:
            return self.draws.choice((self.bound[2], self.bound[2], self.bound[2], self.bound[2] + 1, -1))
        if name in _USUAL and self.draws.random() < 0.8:
            return self.draws.choice(_USUAL[name])
        top = 1 << bits
        return self.draws.choice((-1, 0, 1, 2, 3, top - 1, -top, self.draws.randrange(-top, top)))


_USUAL: Final = {
    "session_timeout_ms": (100, 60_000, 60_000, 600_000, 1_800_000),
    "rebalance_timeout_ms": (60_000, 60_000, 60_000, 600_000, 10_000, 0, -1),
    "partition_index": (0, 0, 1, 2, 3, 4),
    "partition_indexes element": (0, 0, 1, 2, 3, 4),
    "partition": (0, 0, 1, 2, 3, 4),
    "index": (0, 0, 1, 2, 3, 4),
    "max_wait_ms": (0, 0, 1, 50, -1),
    "timestamp": (-1, -2, -3, 0),
    "num_partitions": (1, 2, -1, 0),
    "key_type": (0, 0, 1, 2),
    "acks": (-1, 0, 1),
    "session_id": (0, 0, 0, 7),
    "retention_time_ms": (-1, 0, 1, 60_000),
}
"""The most frequent values of a field of this name."""
