"""Requests as bytes, by filling templates that are derived from the ordinary encoder.

The ordinary encoder (`request_to_wire` and kafka-python's classes) builds an object for each message, header and item
before it writes a byte. A template is made once for each api, version and shape (how many items, which of them share a
topic): the ordinary encoder writes a sample, writes it again with one value changed, and where the bytes differ that
value has its slot. How the slot is written (which width, which length in front) is read off the same bytes, and a
template is used only after it has written two other samples exactly as the ordinary encoder does. Nothing here knows
the layout of a message, so there is one source of truth for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, Final, NamedTuple

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.requests import request_to_wire
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

REMEMBERED: Final = 1 << 16
"""How many strings of one encoding are kept before all are forgotten: member ids, topics and metadata come again."""

TEMPLATES_KEPT: Final = 1 << 12

Value = str | bytes | int | bool | None
Path = tuple[str | int, ...]
"""Where a value stands in a request: the name of a field, or a field, the number of an item, and its field."""

Fill = Callable[[Any], bytes]
Shape = Hashable

NOT_ON_THE_WIRE: Final = frozenset({"version", "client_host"})

KINDS: Final[dict[str, type]] = {"str": str, "str | None": str, "int": int, "bool": bool, "bytes": bytes}
"""The kinds of a request's fields, by annotation; all others are sequences of items."""


class Pair(NamedTuple):
    """An item of a request that is a plain pair."""

    topic: str
    partition: int


ITEMS: Final[dict[type, tuple[str, type]]] = {
    msg.JoinGroupRequest: ("protocols", msg.JoinProtocol),
    msg.SyncGroupRequest: ("assignments", msg.SyncAssignment),
    msg.LeaveGroupRequest: ("members", msg.MemberIdentity),
    msg.OffsetCommitRequest: ("offsets", msg.CommittedOffset),
    msg.TxnOffsetCommitRequest: ("offsets", msg.CommittedOffset),
    msg.OffsetFetchRequest: ("partitions", Pair),
    msg.OffsetDeleteRequest: ("partitions", Pair),
}
"""The field of a request that holds items, and what they are."""

OF_TOPICS: Final = frozenset({Pair, msg.CommittedOffset})
"""Items that belong to a topic: those of one topic travel together."""


# ------------------------------------------------------------------------------------------------ the ordinary encoder


def ordinary(request: msg.GroupRequest) -> bytes:
    """A request with its header, correlation id 0, as it stands behind the length on a wire: nothing is remembered."""
    message = request_to_wire(request)
    message.with_header(correlation_id=0, client_id=request.client_id)
    return bytes(message.encode(header=True))


# ------------------------------------------------------------------------------------------------ filling


def encoded(request: msg.GroupRequest) -> bytes:
    """The bytes of `ordinary`, about eight times faster."""
    cls = type(request)
    key = (cls, request.version, shape_of(request))
    fill = _fills.get(key)
    if fill is None:
        if len(_fills) >= TEMPLATES_KEPT:
            _fills.clear()
        fill = _fills[key] = derived(*key)
    return fill(request)


_fills: dict[tuple[type[msg.GroupRequest], int, Shape], Fill] = {}


def shape_of(request: msg.GroupRequest) -> Shape:
    """How many items there are; where they belong to topics, of which topic each is, by order of appearance."""
    held = ITEMS.get(type(request))
    if held is None:
        return 0
    items: Sequence[Any] | None = getattr(request, held[0])
    if items is None or held[1] not in OF_TOPICS:
        return None if items is None else len(items)
    topics: dict[str, int] = {}
    if held[1] is Pair:
        return tuple(topics.setdefault(topic, len(topics)) for topic, _ in items)
    return tuple(topics.setdefault(item.topic, len(topics)) for item in items)


class Prefixed(dict[Any, bytes]):
    """Strings behind their length, each written once."""

    def __init__(self, length: Callable[[int], bytes], nothing: bytes) -> None:
        super().__init__()
        self._length, self._nothing = length, nothing

    def __missing__(self, value: str | bytes | None) -> bytes:
        if len(self) >= REMEMBERED:
            self.clear()
        if value is None:
            made = self._nothing
        else:
            data = value.encode() if isinstance(value, str) else bytes(value)
            made = self._length(len(data)) + data
        self[value] = made
        return made


def varint(number: int) -> bytes:
    """An unsigned varint."""
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


INT16, INT32 = struct.Struct(">h"), struct.Struct(">i")
INTEGERS: Final[dict[int, Callable[[Any], bytes]]] = {
    1: struct.Struct(">b").pack, 2: INT16.pack, 4: INT32.pack, 8: struct.Struct(">q").pack,
}  # fmt: skip
"""How a number of so many bytes is written."""


class Written(NamedTuple):
    """A way to write strings: what stands before ``size`` bytes, and how it is called."""

    length: Callable[[int], bytes]
    write: Callable[[Any], bytes]


def _written(length: Callable[[int], bytes], nothing: bytes) -> Written:
    return Written(length, Prefixed(length, nothing).__getitem__)


STRINGS: Final[dict[type, tuple[Written, ...]]] = {
    str: (_written(lambda size: varint(size + 1), b"\0"), _written(INT16.pack, INT16.pack(-1))),
    bytes: (_written(lambda size: varint(size + 1), b"\0"), _written(INT32.pack, INT32.pack(-1))),
}
"""How strings and bytes may be written, that of the flexible versions first."""


# ------------------------------------------------------------------------------------------------ deriving


class Slot(NamedTuple):
    """A value of a request: where it stands, and what it is."""

    path: Path
    kind: type

    @property
    def expression(self) -> str:
        """The value of request ``r``, as Python reads it."""
        parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"r{''.join(parts)}"


class Place(NamedTuple):
    """The bytes of a sample that a slot fills, and how."""

    start: int
    end: int
    slot: Slot
    write: Callable[[Any], bytes]


def derived(cls: type[msg.GroupRequest], version: int, shape: Shape) -> Fill:
    """The template of an api, a version and a shape, as a function that fills it.

    `RebalanceCheckError` where the ordinary encoder does not write values one by one; whatever that encoder raises for
    a request that its version cannot carry.
    """
    slots = slots_of(cls, shape)
    marks = {slot.path: _mark(slot, number) for number, slot in enumerate(slots)}
    sample = ordinary(_request(cls, version, shape, marks))
    places: list[Place] = []
    for slot in slots:
        changed = {**marks, slot.path: _changed(marks[slot.path])}
        other = ordinary(_request(cls, version, shape, changed))
        if other != sample:  # equal where this version does not carry the value
            places.append(_place(slot, marks[slot.path], sample, other))
    fill = _compiled(sample, sorted(places, key=lambda place: place.start))
    for values in (_short, _long):
        request = _request(cls, version, shape, {slot.path: values(slot, n) for n, slot in enumerate(slots)})
        if fill(request) != ordinary(request):
            raise _underivable(cls, version, "another sample is written differently")
    return fill


def slots_of(cls: type[msg.GroupRequest], shape: Shape) -> list[Slot]:
    """The values of a request of this shape; a topic has one slot, where it appears first."""
    slots = [Slot((name,), kind) for name, kind in _scalars(cls) if name not in NOT_ON_THE_WIRE]
    for number, first in enumerate(_firsts(shape)):
        field, item = ITEMS[cls]
        for at, (name, kind) in enumerate(_scalars(item)):
            if name != "topic" or first == number:
                slots.append(Slot((field, number, at if item is Pair else name), kind))
    return slots


def _scalars(cls: type) -> Iterator[tuple[str, type]]:
    """The fields of a request or an item that hold one value."""
    if cls is Pair:
        yield from (("topic", str), ("partition", int))
        return
    for each in fields(cls):
        if (kind := KINDS.get(str(each.type))) is not None:
            yield each.name, kind


def _firsts(shape: Shape) -> list[int]:
    """Of each item the first one that shares its topic; items without topics stand alone."""
    if isinstance(shape, tuple):
        return [shape.index(topic) for topic in shape]
    return [] if shape is None else list(range(int(str(shape))))


def _request(cls: type[Any], version: int, shape: Shape, values: Mapping[Path, Value]) -> msg.GroupRequest:
    """The request with these values."""
    known: dict[str, Any] = {str(path[0]): value for path, value in values.items() if len(path) == 1}
    if cls in ITEMS:
        field, item = ITEMS[cls]
        known[field] = None if shape is None else tuple(_items(field, item, shape, values))
    made: msg.GroupRequest = cls(version=version, **known)
    return made


def _items(field: str, item: Any, shape: Shape, values: Mapping[Path, Any]) -> Iterator[Any]:
    for number, first in enumerate(_firsts(shape)):
        steps = [(name, at if item is Pair else name) for at, (name, _) in enumerate(_scalars(item))]
        yield item(**{
            name: values[field, first if name == "topic" else number, step] for name, step in steps
        })  # fmt: skip


# ------------------------------------------------------------------------------------------------ samples


def _mark(slot: Slot, number: int) -> Value:
    """A value for the first sample; no two topics are alike."""
    if slot.kind is bool:
        return False
    if slot.kind is int:
        return 300 + number
    text = f"{number:05d}"
    return text if slot.kind is str else text.encode()


def _changed(value: Value) -> Value:
    """Another value, of which every byte is different."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return ~value
    assert value is not None
    return value.translate({ord("0") + n: ord("a") + n for n in range(10)}) if isinstance(value, str) else bytes(
        byte + 0x30 for byte in value
    )  # fmt: skip


def _short(slot: Slot, number: int) -> Value:
    """Nothing where that is possible."""
    if slot.kind is int:
        return -1
    if slot.kind is bool:
        return True
    if "topic" in slot.path or 0 in slot.path[2:]:
        return str(number)
    return None if slot.path[-1] in {"group_instance_id", "reason"} else slot.kind()


def _long(slot: Slot, number: int) -> Value:
    """Lengths that take two bytes of a varint, and letters that take two bytes of UTF-8."""
    if slot.kind is int:
        return 17 * number
    if slot.kind is bool:
        return False
    text = f"{number}ü" * 100
    return text if slot.kind is str else text.encode()


# ------------------------------------------------------------------------------------------------ slots in bytes


def _place(slot: Slot, value: Value, sample: bytes, other: bytes) -> Place:
    """Where two samples differ that differ in one value, and how that value is written there."""
    differing = [at for at, (a, b) in enumerate(zip(sample, other, strict=True)) if a != b]
    start, end = differing[0], differing[-1] + 1
    if len(differing) == end - start:
        if not isinstance(value, str | bytes):
            return Place(start, end, slot, INTEGERS[end - start])
        for written in STRINGS[slot.kind]:
            before = written.length(len(value))
            if end - start == len(value) and sample[start - len(before) : start] == before:
                return Place(start - len(before), end, slot, written.write)
    raise RebalanceCheckError(
        f"{slot.expression} is not written in one piece at {start} of {sample!r}: the ordinary encoder does something "
        f"that no template can; leave this request to it"
    )


def _compiled(sample: bytes, places: Sequence[Place]) -> Fill:
    """A function that writes what stands between the places as it is, and each place anew."""
    space: dict[str, Any] = {"join": b"".join}
    ends = [Place(0, 0, Slot((), str), bytes), *places, Place(len(sample), len(sample), Slot((), str), bytes)]
    parts: list[str] = []
    for number, (before, place) in enumerate(pairwise(ends)):
        if between := sample[before.end : place.start]:
            parts.append(repr(between))
        if place.slot.path:
            space[f"w{number}"] = place.write
            parts.append(f"w{number}({place.slot.expression})")
    made: Fill = eval(f"lambda r: join(({', '.join(parts)},))", space)
    return made


def _underivable(cls: type, version: int, why: str) -> RebalanceCheckError:
    return RebalanceCheckError(
        f"no template of {cls.__name__} v{version} can be derived: {why}; this is a defect of wire.templates"
    )
