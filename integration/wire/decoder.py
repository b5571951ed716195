"""Requests from bytes, as strictly as Kafka's generated classes (``org.apache.kafka.common.message``) read them.

kafka-python's own decoder reads what Kafka refuses: null where the protocol has no null, a negative length, a string
that goes on behind the end of the frame, and a varint of any length, in a time that is quadratic in the frame. The
schemas are kafka-python's, and so are the classes of what comes out.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

from rebalance_check.integration.wire.malformed import MalformedFrame

MAX_STRING_BYTES: Final = 0x7FFF
"""The longest string; only the compact form could say a longer one."""

MAX_VARINT_BYTES: Final = 5

MAX_ELEMENTS: Final = 50_000
"""How many elements all arrays of a request may have together. Kafka has no such limit; what it protects is the others
who share the event loop, and the memory, in which an element takes a hundred times its bytes."""

_FORMATS: Final = {
    "int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q", "float64": ">d",
}  # fmt: skip
_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")


class Cursor:
    """The bytes of a frame, how far they are read, and how many elements arrays may still have."""

    __slots__ = ("at", "data", "elements")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at
        self.elements = MAX_ELEMENTS

    def number(self, form: struct.Struct) -> Any:
        """The next number of this form. `struct.error` at the end of the frame."""
        (value,) = form.unpack_from(self.data, self.at)
        self.at += form.size
        return value

    def take(self, length: int) -> bytes:
        """The next ``length`` bytes.

        Raises:
            MalformedFrame: the frame ends before.
        """
        end = self.at + length
        if end > len(self.data):
            raise MalformedFrame(f"{length} bytes, of which the frame has {len(self.data) - self.at}")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def unsigned_varint(self) -> int:
        """The next number of at most five bytes; like Java's int it may come out negative (``ByteUtils``).

        Raises:
            MalformedFrame: it has more bytes, or the frame ends inside.
        """
        value = 0
        for position in range(MAX_VARINT_BYTES):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << 7 * position
            if byte < 0x80:
                value &= 0xFFFFFFFF
                return value - (1 << 32) if value >> 31 else value
        raise MalformedFrame(f"a varint of more than {MAX_VARINT_BYTES} bytes")


Read = Callable[[Cursor], Any]


def decode_body(message: Any, version: int, cursor: Cursor) -> Any:
    """The request of class ``message`` and ``version`` that begins where ``cursor`` stands.

    Raises:
        MalformedFrame: Kafka could not read it either; the message says which field.
    """
    try:
        request = _reader_of(message, version)(cursor)
    except struct.error:
        raise MalformedFrame(f"{message.name} v{version} that ends before its last field") from None
    except MalformedFrame as error:
        raise MalformedFrame(f"{message.name} v{version} with {error}") from None
    return request


@cache
def _reader_of(message: Any, version: int) -> Read:
    is_flexible = bool(message.flexible_version_q(version))
    return _struct(message._struct, message[None], version, is_flexible)


def _struct(field: Any, made: Any, version: int, is_flexible: bool) -> Read:
    """Reads a struct into an object of the class ``made``; fields that its version lacks are left to their defaults."""
    untagged = [(each.name, _field(each, version, is_flexible)) for each in field.untagged_fields(version)]
    tagged = {each.tag: (each.name, _field(each, version, is_flexible)) for each in _tagged(field, version)}

    def read(cursor: Cursor) -> Any:
        found = object.__new__(made)
        found._version, found.tags, found.unknown_tags = version, None, None
        for name, value in untagged:
            setattr(found, name, value(cursor))
        if is_flexible:
            _read_tags(cursor, found, tagged)
        return found

    return read


def _tagged(field: Any, version: int) -> Sequence[Any]:
    fields: Sequence[Any] = field.tagged_fields(version)._fields
    return fields


def _read_tags(cursor: Cursor, found: Any, tagged: dict[int, tuple[str, Read]]) -> None:
    for _ in range(cursor.unsigned_varint()):
        tag, size = cursor.unsigned_varint(), cursor.unsigned_varint()
        if tag in tagged:
            name, value = tagged[tag]
            setattr(found, name, value(cursor))
            found.tags = {*(found.tags or ()), name}
        elif size < 0:
            raise MalformedFrame(f"a tagged field of {size} bytes")
        else:
            cursor.take(size)


def _field(field: Any, version: int, is_flexible: bool) -> Read:
    nullable = bool(field.nullable_for_version_q(version))
    if field.is_array():
        return _array(field, version, is_flexible, nullable)
    return _simple(field.name, field.type_str, is_flexible, nullable)


def _array(field: Any, version: int, is_flexible: bool, nullable: bool) -> Read:
    inner = field.array_of
    if field.is_struct_array():
        item = _struct(inner, inner.data_class, version, is_flexible)
    else:
        item = _simple(f"{field.name} element", inner.type_str, is_flexible, nullable=False)

    def read(cursor: Cursor) -> Any:
        count = _size(cursor, _INT32, is_flexible)
        if count < 0:
            _check_null(field.name, nullable)
            return None
        if count > len(cursor.data) - cursor.at:
            raise MalformedFrame(f"{count} elements of {field.name} in {len(cursor.data) - cursor.at} bytes")
        cursor.elements -= count
        if cursor.elements < 0:
            raise MalformedFrame(f"more than {MAX_ELEMENTS:,} elements, with {count:,} of {field.name}")
        return [item(cursor) for _ in range(count)]

    return read


def _size(cursor: Cursor, form: struct.Struct, is_flexible: bool) -> int:
    """How many elements or bytes follow, negative for null: a number of this form, or the compact one of flexible
    versions."""
    size: int = cursor.unsigned_varint() - 1 if is_flexible else cursor.number(form)
    return size


def _check_null(name: str, nullable: bool) -> None:
    if not nullable:
        raise MalformedFrame(f"null as {name}, which cannot be null")


def _simple(name: str, type_: str, is_flexible: bool, nullable: bool) -> Read:
    if type_ == "string":
        return _string(name, is_flexible, nullable)
    if type_ in ("bytes", "records"):
        return _bytes(name, is_flexible, nullable)
    if type_ == "bool":
        return lambda cursor: cursor.take(1) != b"\0"
    if type_ == "uuid":
        return lambda cursor: uuid.UUID(bytes=cursor.take(16))
    form = struct.Struct(_FORMATS[type_])
    return lambda cursor: cursor.number(form)


def _string(name: str, is_flexible: bool, nullable: bool) -> Read:
    """Bytes that are no UTF-8 are replaced, as Java does when it makes a string of them."""

    def read(cursor: Cursor) -> str | None:
        length = _size(cursor, _INT16, is_flexible)
        if length < 0:
            _check_null(name, nullable)
            return None
        if length > MAX_STRING_BYTES:
            raise MalformedFrame(f"{length} bytes of {name}, which has at most {MAX_STRING_BYTES}")
        return cursor.take(length).decode(errors="replace")

    return read


def _bytes(name: str, is_flexible: bool, nullable: bool) -> Read:
    def read(cursor: Cursor) -> bytes | None:
        length = _size(cursor, _INT32, is_flexible)
        if length < 0:
            _check_null(name, nullable)
            return None
        return cursor.take(length)

    return read


def read_client_id(cursor: Cursor, *, is_flexible: bool) -> str | None:
    """The client id, in a request's header behind its first eight bytes, in any version of the old form.

    Raises:
        MalformedFrame: the header is no header.
    """
    try:
        client_id = _HEADER_CLIENT_ID(cursor)
    except struct.error:
        raise MalformedFrame("a request that ends inside its header") from None
    if is_flexible:
        _read_tags(cursor, _NoFields(), {})
    return None if client_id is None else str(client_id)


class _NoFields:
    tags: Any = None


_HEADER_CLIENT_ID: Final = _string("client_id", is_flexible=False, nullable=True)
