"""Histories on disk: JSON lines, one event a line, read strictly.

A line is the fields of an event plus ``"event": <class name>``; ``rebalance-check schema`` describes it for other
programs (`properties.schema` writes that file). The reader refuses an unknown event, a missing or unknown field, a
wrong type, a line that is cut off. The writer streams, so that a killed process loses no event that it recorded before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from types import TracebackType, UnionType
from typing import Annotated, Any, BinaryIO, Final, Self, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event
from rebalance_check.properties.malformed import (
    MAX_LINE,
    TAG,
    MalformedHistory,
    UnreadLine,
    is_of_other_format,
    unread,
    unread_long,
)

INTEGER: Final = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer in a line: 64 bits, as Kafka has. A larger one has no seconds and no place in a table."""


def _bounded(hint: Any) -> Any:
    """The type of a field, whose integers have 64 bits."""
    if hint is int:
        return INTEGER
    inner = tuple(map(_bounded, get_args(hint)))
    if isinstance(hint, UnionType):
        return Union[inner]  # noqa: UP007 - a union of a computed list has no other spelling
    return tuple.__class_getitem__(inner) if get_origin(hint) is tuple else hint


def _shape(event_type: type[Event]) -> type[msgspec.Struct]:
    """The strict form of one event: its fields and the tag, nothing else."""
    hints = {name: _bounded(hint) for name, hint in get_type_hints(event_type).items()}
    members = [
        (f.name, hints[f.name]) if f.default is MISSING else (f.name, hints[f.name], f.default)
        for f in fields(event_type)
    ]
    shape = msgspec.defstruct(
        event_type.__name__, members, tag=event_type.__name__, tag_field=TAG, forbid_unknown_fields=True, kw_only=True
    )
    shape.__doc__ = event_type.__doc__
    return shape


SHAPES: Final = {name: _shape(event_type) for name, event_type in EVENT_TYPES.items()}
"""The strict form of each event, by name."""

LINE: Final = Union[tuple(SHAPES.values())]  # noqa: UP007 - a union of a computed list has no other spelling
"""A line of a history: one of the shapes, distinguished by its tag."""

Scanned: TypeAlias = Event | UnreadLine
"""A line of a file, read: an event, or the fault that hides one."""

_PIECE: Final = 64 * 1024
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_encoder = msgspec.json.Encoder()
_checker: msgspec.json.Decoder[msgspec.Struct] = msgspec.json.Decoder(LINE)
_builders = {SHAPES[name]: msgspec.json.Decoder(event_type) for name, event_type in EVENT_TYPES.items()}
_prefixes = {event_type: f'{{"{TAG}":"{name}",'.encode() for name, event_type in EVENT_TYPES.items()}


def encode(event: Event) -> bytes:
    """One line, without the line end: the tag first, then every field in the order of its class."""
    return _prefixes[type(event)] + _encoder.encode(event)[1:]


def decode(line: bytes, where: str = "this line") -> Event:
    """The event of one line, which errors call ``where``.

    Raises `MalformedHistory`, which names the fault of the line and shows the value.
    """
    try:
        return _builders[type(_checker.decode(line))].decode(line)
    except _UNREADABLE as fault:
        raise MalformedHistory(unread(line, where, fault).fault) from None


def read_history(path: str | Path) -> Iterator[Event]:
    """The events of a history file, in order, one at a time.

    Raises `MalformedHistory` at the first line that cannot be read (the events before it have been yielded), and
    `RebalanceCheckError` when there is no such file.
    """
    return _strictly(scan_history(path))


def scan_history(path: str | Path) -> Iterator[Scanned]:
    """As `read_history`, but a line that cannot be read is passed on as an `UnreadLine`, and reading goes on.

    No line of more than `MAX_LINE` bytes is held in memory.

    Raises: RebalanceCheckError when there is no such file, and MalformedHistory when it has another format.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            yield from scan_lines(_lines_of(file), name)
    except OSError as fault:
        raise RebalanceCheckError(
            f"the history {name!r} cannot be opened ({fault.strerror}): name a file of JSON lines"
        ) from fault


def _strictly(scanned: Iterable[Scanned]) -> Iterator[Event]:
    for one in scanned:
        if isinstance(one, UnreadLine):
            raise MalformedHistory(one.fault)
        yield one


def scan_lines(lines: Iterable[bytes], name: str) -> Iterator[Scanned]:
    """The events of lines, and an `UnreadLine` for each that is none; ``name`` is the name of their source in faults.

    Raises: MalformedHistory for the `RunStarted` of another version of the format: then no line can be trusted.
    """
    check, builders = _checker.decode, _builders
    for number, line in enumerate(lines, 1):
        try:
            yield builders[type(check(line))].decode(line)
        except _UNREADABLE as fault:
            where = f"{name}, line {number}"
            if len(line) > MAX_LINE:
                yield unread_long(where)
                continue
            found = unread(line, where, fault)
            if is_of_other_format(line):
                raise MalformedHistory(found.fault) from None
            yield found


def _lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; one that is too long is cut there, and its rest is passed over piece by piece."""
    read = file.readline
    while line := read(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            piece = line
            while piece and not piece.endswith(b"\n"):
                piece = read(_PIECE)
        yield line


class HistoryWriter:
    """Writes events to a file as they happen; each is handed to the operating system before the next is taken.

    A context manager, and callable with an event, so that it can be the listener of a recorder. The folder is made if
    it is not there. ``count`` is the number of events written.

    Raises: OSError when the file cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.count = 0
        self._file = self.path.open("wb")

    def __call__(self, event: Event) -> None:
        """Write one event."""
        self._file.write(encode(event) + b"\n")
        self._file.flush()
        self.count += 1

    def close(self) -> None:
        """Close the file; the events written before stay."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def write_history(path: str | Path, events: Iterable[Event]) -> int:
    """Write a history and return the number of events; if ``events`` raises, all that came before is in the file.

    Raises: OSError when the file cannot be written.
    """
    with HistoryWriter(path) as write:
        for event in events:
            write(event)
        return write.count


def recorded(path: str | Path, events: Iterable[Event]) -> Iterator[Event]:
    """Pass the events on, each after it was written: the evidence is on disk before it is judged."""
    with HistoryWriter(path) as write:
        for event in events:
            write(event)
            yield event
