"""Histories on disk: JSON lines, one event a line, read strictly.

A line is the fields of an event plus ``"event": <class name>``; ``docs/history.schema.json`` describes it for other
programs (`properties.schema` writes that file). Reading refuses what it does not understand: an unknown event, a
missing or unknown field, a wrong type, a line that is cut off. Writing streams, so that what was recorded survives
whatever happens afterwards.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, Union, get_type_hints

import msgspec

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import EVENT_TYPES, FORMAT, Event, RunStarted

TAG: Final = "event"
"""The JSON field that names the event."""

_SHOWN = 60
_TOO_DEEP = "its JSON is nested too deeply to be an event: write one flat JSON object per line"


class MalformedHistory(RebalanceCheckError):  # noqa: N818 - named for what is wrong with the input
    """A line of a history cannot be read: names the file, the line, the offending value and the next move."""


def _shape(event_type: type[Event]) -> type[msgspec.Struct]:
    """The strict form of one event: its fields and the tag, nothing else."""
    hints = get_type_hints(event_type)
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
"""What a line of a history is: one of the shapes, distinguished by its tag."""

RENAMED_IN_FORMAT_2: Final[dict[str, dict[str, str]]] = {
    "RequestParked": {"asked": "request_generation"},
    "JoinGroupReplied": {
        "asked": "request_generation",
        "told": "reply_generation",
        "given_id": "assigned_member_id",
        "shown": "listed_members",
        "skip": "skip_assignment",
    },
    "SyncGroupReplied": {"asked": "request_generation"},
    "HeartbeatReplied": {"asked": "request_generation"},
    "LeaveGroupReplied": {"asked": "request_generation"},
    "OffsetCommitReplied": {"asked": "request_generation"},
    "MemberJoined": {"claims": "owned_partitions"},
    "AssignmentComputed": {"claims": "owned_partitions", "claim_generations": "owned_generations"},
}
"""Per event, the field names of format 1 and what they are called since."""


_encoder = msgspec.json.Encoder()
_checker: msgspec.json.Decoder[msgspec.Struct] = msgspec.json.Decoder(LINE)
_builders = {SHAPES[name]: msgspec.json.Decoder(event_type) for name, event_type in EVENT_TYPES.items()}
_prefixes = {event_type: f'{{"{TAG}":"{name}",'.encode() for name, event_type in EVENT_TYPES.items()}


def encode(event: Event) -> bytes:
    """One line, without the line end: the tag first, then every field in the order of its class."""
    return _prefixes[type(event)] + _encoder.encode(event)[1:]


def decode(line: bytes, where: str = "this line") -> Event:
    """The event of one line, which errors call ``where``.

    Raises `MalformedHistory`, which says what is wrong with the line and shows the value.
    """
    try:
        event = _builders[type(_checker.decode(line))].decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise MalformedHistory(f"{where}: {_explain(line, fault)}") from None
    except RecursionError:
        raise MalformedHistory(f"{where}: {_TOO_DEEP}") from None
    return event


def read_history(path: str | Path) -> Iterator[Event]:
    """The events of a history file, in order, one at a time.

    Raises `MalformedHistory` at the first line that cannot be read (what came before has been yielded), and
    `RebalanceCheckError` when there is no such file.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as lines:
            yield from read_lines(lines, name)
    except OSError as fault:
        raise RebalanceCheckError(
            f"the history {name!r} cannot be opened ({fault.strerror}): name a file of JSON lines"
        ) from fault


def read_lines(lines: Iterable[bytes], name: str) -> Iterator[Event]:
    """The events of lines that come from anywhere; ``name`` is what errors call the source.

    Raises: MalformedHistory for a line that is no event; it names the source and the line.
    """
    check, builders = _checker.decode, _builders
    for number, line in enumerate(lines, 1):
        try:
            yield builders[type(check(line))].decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            raise MalformedHistory(f"{name}, line {number}: {_explain(line, fault)}") from None
        except RecursionError:
            raise MalformedHistory(f"{name}, line {number}: {_TOO_DEEP}") from None


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
        """Close the file; what was written stays."""
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


def _explain(line: bytes, fault: Exception) -> str:
    """Why a line cannot be read, the value seen, and what to do about it."""
    try:
        seen = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as broken:
        return _explain_text(line, broken)
    except RecursionError:
        return _TOO_DEEP
    if not isinstance(seen, dict):
        return f"{_short(seen)} is no event: write one JSON object per line"
    name = seen.get(TAG)
    if (version := seen.get("format")) is not None and version != FORMAT and name == RunStarted.__name__:
        return _explain_format(version)
    if name not in EVENT_TYPES:
        return _explain_name(seen, name)
    return _explain_fields(seen, name, str(fault))


def _explain_text(line: bytes, fault: Exception) -> str:
    if not line.strip():
        return "the line is empty: remove it, a history has one JSON object per line"
    if not line.endswith((b"\n", b"}")):
        return (
            f"the line is cut off after {len(line)} bytes ({_short(line.decode(errors='replace')[-_SHOWN:])}): the "
            f"recording was interrupted; remove this last line to judge what came before it"
        )
    return f"{_short(line.decode(errors='replace').strip())} is not JSON ({fault}): write one JSON object per line"


def _explain_format(version: object) -> str:
    if isinstance(version, int) and version < FORMAT:
        return f"this history has format {version}, not {FORMAT}: run `rebalance-check convert` on it"
    return (
        f"this history has format {_short(version)}, and this version of rebalance-check reads format {FORMAT}: "
        "install the version that wrote it, or a later one"
    )


def _explain_name(seen: dict[str, Any], name: object) -> str:
    if TAG not in seen:
        return f"the field {TAG!r} is missing in {_short(seen)}: add the name of the event, such as 'MemberJoined'"
    near = difflib.get_close_matches(str(name), EVENT_TYPES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see docs/history.schema.json for the events there are"
    return f"{_short(name)} is no event: {hint}"


def _explain_fields(seen: dict[str, Any], name: str, fault: str) -> str:
    known = [f.name for f in fields(EVENT_TYPES[name])]
    unknown = re.search(r"unknown field `(.*?)`", fault)
    if unknown and (now := RENAMED_IN_FORMAT_2.get(name, {}).get(unknown[1])):
        return (
            f"{name} has a field {unknown[1]!r}, which is {now!r} since format {FORMAT} of histories: run "
            "`rebalance-check convert` on it"
        )
    if unknown:
        return (
            f"{name} has no field {unknown[1]!r} (value {_short(seen.get(unknown[1]))}): remove it; its fields are "
            f"{', '.join(known)}"
        )
    missing = re.search(r"missing required field `(.*?)`", fault)
    if missing:
        return f"{name} lacks the field {missing[1]!r} in {_short(seen)}: add it; its fields are {', '.join(known)}"
    path = re.search(r"`\$(.*?)`$", fault)
    value = _walk(seen, path[1]) if path else seen
    return f"{name}: {fault}, value {_short(value)}: write the type that docs/history.schema.json asks for"


def _walk(seen: Any, path: str) -> Any:
    """The value at a path such as ``.members[0][1]``; as deep as the path can be followed."""
    for field, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        try:
            seen = seen[field] if field else seen[int(index)]
        except (KeyError, IndexError, TypeError):
            break
    return seen


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
