"""Kafka's classic struct types, read and written: big endian, lengths in front, no tagged fields.

The reader knows the compact types of flexible versions (KIP-482), too.
"""

from __future__ import annotations

import struct
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")
_STRING_MAX: Final = 0x7FFF


class MalformedBytes(RebalanceCheckError):  # noqa: N818 - named for its meaning, like every error of this project
    """Bytes that Kafka's own reader would refuse: the value being read, the field, at which offset, and why."""

    def __init__(self, what: str, field: str, offset: int, problem: str) -> None:
        super().__init__(f"cannot read {what}: field {field!r} at byte {offset} {problem}; look at the writer's codec")
        self.what = what
        self.field = field
        self.offset = offset
        self.problem = problem


class Reader:
    """Reads fields one after another from ``data``; each method names the field for the error message.

    ``what`` names the expected content of the bytes. Bytes behind the last field read are ignored, as with
    Kafka's readers.
    """

    __slots__ = ("_data", "_offset", "_what")

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._what = what
        self._offset = 0

    @property
    def exhausted(self) -> bool:
        """No byte is left."""
        return self._offset >= len(self._data)

    def fail(self, field: str, problem: str) -> MalformedBytes:
        """The error to raise for ``field`` at the present offset."""
        return MalformedBytes(self._what, field, self._offset, problem)

    def int16(self, field: str) -> int:
        """A signed 16-bit number."""
        return self._number(_INT16, field)

    def int32(self, field: str) -> int:
        """A signed 32-bit number."""
        return self._number(_INT32, field)

    def int64(self, field: str) -> int:
        """A signed 64-bit number."""
        return self._number(_INT64, field)

    def string(self, field: str) -> str:
        """A string that may not be null.

        Raises: `MalformedBytes`.
        """
        value = self.nullable_string(field)
        if value is None:
            raise self.fail(field, "is a null string where none is allowed")
        return value

    def nullable_string(self, field: str) -> str | None:
        """A string; any negative length is null. Invalid UTF-8 reads as U+FFFD, as Java decodes it."""
        length = self.int16(field)
        return None if length < 0 else self._take(length, field).decode("utf-8", "replace")

    def nullable_bytes(self, field: str) -> bytes | None:
        """Bytes; any negative length is null."""
        length = self.int32(field)
        return None if length < 0 else self._take(length, field)

    def count(self, field: str) -> int:
        """The number of elements of an array that may not be null.

        Raises: `MalformedBytes`.
        """
        count = self.nullable_count(field)
        if count is None:
            raise self.fail(field, "is a null array where none is allowed")
        return count

    def nullable_count(self, field: str) -> int | None:
        """The number of elements of an array; any negative number is null.

        An element takes at least a byte, so a count beyond the bytes left is refused before anything is allocated.
        """
        count = self.int32(field)
        if count > len(self._data) - self._offset:
            raise self.fail(field, f"announces {count} elements with {len(self._data) - self._offset} bytes left")
        return None if count < 0 else count

    def uvarint(self, field: str) -> int:
        """An unsigned number of seven bits a byte, at most 32 bits long."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self._take(1, field)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise self.fail(field, "is a number of more than 32 bits")

    def compact_string(self, field: str) -> str:
        """A string of a flexible version that may not be null.

        Raises: `MalformedBytes`.
        """
        value = self.compact_nullable_string(field)
        if value is None:
            raise self.fail(field, "is a null string where none is allowed")
        return value

    def compact_nullable_string(self, field: str) -> str | None:
        """A string of a flexible version: its length and one, 0 for null."""
        length = self.uvarint(field)
        return None if length == 0 else self._take(length - 1, field).decode("utf-8", "replace")

    def compact_bytes(self, field: str) -> bytes:
        """Bytes of a flexible version; null reads as none."""
        return self._take(max(self.uvarint(field) - 1, 0), field)

    def compact_count(self, field: str) -> int:
        """The number of elements of an array of a flexible version; null reads as 0.

        Raises: `MalformedBytes`.
        """
        count = max(self.uvarint(field) - 1, 0)
        if count > len(self._data) - self._offset:
            raise self.fail(field, f"announces {count} elements with {len(self._data) - self._offset} bytes left")
        return count

    def skip_tagged_fields(self, field: str) -> None:
        """The tagged fields at the end of a struct of a flexible version, which a later release may have added."""
        for _ in range(self.uvarint(field)):
            self.uvarint(field)
            self._take(self.uvarint(field), field)

    def _number(self, form: struct.Struct, field: str) -> int:
        value: int = form.unpack(self._take(form.size, field))[0]
        return value

    def _take(self, length: int, field: str) -> bytes:
        end = self._offset + length
        if end > len(self._data):
            raise self.fail(field, f"needs {length} bytes, {len(self._data) - self._offset} are left")
        taken = self._data[self._offset : end]
        self._offset = end
        return taken


class Writer:
    """Collects fields; `done` gives the bytes."""

    __slots__ = ("_bytes",)

    def __init__(self) -> None:
        self._bytes = bytearray()

    def int16(self, value: int) -> None:
        """A signed 16-bit number."""
        self._bytes += _INT16.pack(value)

    def int32(self, value: int) -> None:
        """A signed 32-bit number."""
        self._bytes += _INT32.pack(value)

    def int64(self, value: int) -> None:
        """A signed 64-bit number."""
        self._bytes += _INT64.pack(value)

    def nullable_string(self, value: str | None) -> None:
        """A string, or null."""
        if value is None:
            self.int16(-1)
        else:
            self.string(value)

    def string(self, value: str) -> None:
        """A string of at most 32767 bytes in UTF-8.

        Raises: `RebalanceCheckError` for a longer one.
        """
        encoded = value.encode("utf-8")
        if len(encoded) > _STRING_MAX:
            raise RebalanceCheckError(
                f"cannot write a string of {len(encoded)} bytes ({value[:20]!r}...): Kafka's limit is {_STRING_MAX}"
            )
        self.int16(len(encoded))
        self._bytes += encoded

    def nullable_bytes(self, value: bytes | None) -> None:
        """Bytes, or null."""
        if value is None:
            self.int32(-1)
            return
        self.int32(len(value))
        self._bytes += value

    def done(self) -> bytes:
        """Everything written so far."""
        return bytes(self._bytes)
