"""JSON as Connect's ``JsonConverter`` without schemas (``schemas.enable=false``) reads and writes it, byte for byte.

The reader is lenient where Jackson is: white space around the first value and any text after it are accepted, numbers
may begin with zeros, the last of repeated fields counts. It is strict where Jackson is: NaN, Infinity and a comma too
many are no JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeGuard

from rebalance_check.impl.protocol.java_text import low_bits
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
"""A record's value after conversion; integers have Java's 64 bits."""

_SPACE: Final = " \t\r\n"
_LONG_BITS: Final = 64


class ConversionError(RebalanceCheckError):
    """The bytes are not JSON: Kafka's converter throws a ``DataException``, and readers of records skip the record."""


def read_json(data: bytes | None) -> JsonValue:
    """The value that the bytes begin with; None for no bytes, empty bytes and the literal ``null``.

    Raises: ConversionError when the bytes begin with no JSON value.
    """
    if not data:
        return None
    text = _decoded(data).removeprefix("\ufeff").lstrip(_SPACE)
    if not text and data.strip(_SPACE.encode()) == b"":
        return None
    value: JsonValue
    try:
        if _ANY_ZEROS.search(text):
            text = _LEADING_ZEROS.sub(_without_zeros, text)
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise ConversionError(f"{text[:60]!r} is no JSON ({error}): write one JSON value") from error
    if _runs_on(value, text[end : end + 1]):
        raise ConversionError(f"{text[:60]!r} is no JSON: put a space after the first value")
    return value


def _decoded(data: bytes) -> str:
    """The text up to the first byte that is no UTF-8: the rest behind the first value is never looked at."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


_LEADING_ZEROS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.+-])(-?)0+(?=\d)', re.DOTALL)
"""A string, which stays as it is, or zeros in front of a number, which Kafka's reader allows."""


_ANY_ZEROS: Final = re.compile(r"0\d(?<![\w.+]0\d)")
"""A piece of every text from which zeros are to be taken: few have one, and the others need no second look.

It begins with the zero, and looks back from behind it, so that the search runs to the next zero at once.
"""


def _without_zeros(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else found[1]


def _runs_on(value: JsonValue, following: str) -> bool:
    """Whether a number or a literal goes on where Python's decoder stopped; strings, lists and objects end clearly."""
    if isinstance(value, dict | list | str):
        return False
    if is_number(value):
        return following != "" and following not in _SPACE
    return (value is None or isinstance(value, bool)) and (following.isalnum() or following in ("_", "$"))


def _narrowed(digits: str) -> int:
    """An integer of a record, cut to Java's 64 bits."""
    return low_bits(int(digits), _LONG_BITS)


def is_integer(value: object) -> TypeGuard[int]:
    """Whether the value is a JSON integer: not true or false, which Python counts as integers."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether the value is a JSON number."""
    return is_integer(value) or isinstance(value, float)


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_int=_narrowed, parse_constant=_no_constant)

_ESCAPES: Final = str.maketrans(
    {chr(code): f"\\u{code:04X}" for code in range(0x20)}
    | {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
)


def json_text(value: str | None) -> str:
    """A JSON string as Jackson writes it (upper-case hex in escapes, surrogates escaped), or ``null``."""
    return "null" if value is None else f'"{_OUTSIDE_BMP.sub(_surrogates, value.translate(_ESCAPES))}"'


_OUTSIDE_BMP: Final = re.compile(r"[\U00010000-\U0010ffff]")


def _surrogates(found: re.Match[str]) -> str:
    """Jackson escapes characters of two UTF-16 units, each on its own."""
    units = found[0].encode("utf-16-be")
    return f"\\u{units[:2].hex().upper()}\\u{units[2:].hex().upper()}"


def json_object(fields: Mapping[str, str]) -> str:
    """An object whose fields are JSON already, in the given order and without spaces."""
    return "{" + ",".join(f"{json_text(name)}:{value}" for name, value in fields.items()) + "}"
