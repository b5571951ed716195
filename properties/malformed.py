"""Lines of a history that cannot be read: their fault, the value seen, and the next move."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, fields
from typing import Any, Final

import msgspec

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import EVENT_TYPES, FORMAT, RunEnded, RunStarted

TAG: Final = "event"
"""The JSON field that names the event."""

MAX_LINE: Final = 8 * 1024 * 1024
"""The longest line that is read, in bytes; an event of 2,000 members and 10,000 partitions takes a twentieth."""

_SHOWN: Final = 60
_TOO_DEEP: Final = "its JSON is nested too deeply to be an event: write one flat JSON object per line"


class MalformedHistory(RebalanceCheckError):  # noqa: N818 - named for the fault of the input
    """A line of a history cannot be read: names the file, the line, the offending value and the next move."""


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line that is no event, in place of the event that may have been in it.

    ``fault`` names source, line, value and the next move. ``group`` is the one that the line names (None where it may
    concern every group). ``is_cut``: it is the last line, and its end is missing. ``is_foreign``: it is text or an
    event of another vocabulary, so no event of this one is lost with it.
    """

    fault: str
    group: str | None = None
    is_cut: bool = False
    is_foreign: bool = False


def unread(line: bytes, where: str, fault: Exception) -> UnreadLine:
    """A line that cannot be read for the reason ``fault``; ``where`` names its source and place."""
    text = f"{where}: {explain(line, fault)}"
    seen = _json_of(line)
    if isinstance(seen, dict):
        name, group = seen.get(TAG), seen.get("group")
        concerns_all = name in (RunStarted.__name__, RunEnded.__name__) or not isinstance(group, str)
        is_foreign = isinstance(name, str) and name not in EVENT_TYPES and not _similar(name)
        return UnreadLine(text, None if concerns_all else group, is_foreign=is_foreign)
    is_cut = not line.endswith((b"\n", b"}")) and bool(line.strip())
    return UnreadLine(text, is_cut=is_cut, is_foreign=not is_cut and _is_text(line))


def unread_long(where: str, limit: int = MAX_LINE) -> UnreadLine:
    """A line that is longer than ``limit`` bytes."""
    return UnreadLine(
        f"{where}: the line is longer than {limit // (1024 * 1024)} MiB, no event is: write one JSON object per line"
    )


def explain(line: bytes, fault: Exception) -> str:
    """Why a line cannot be read, the value seen, and the next move."""
    try:
        seen = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as broken:
        return _explain_text(line, broken)
    except RecursionError:
        return _TOO_DEEP
    if not isinstance(seen, dict):
        return f"{_short(seen)} is no event: write one JSON object per line"
    name = seen.get(TAG)
    if _has_other_format(seen):
        return _explain_format(seen["format"])
    if not isinstance(name, str) or name not in EVENT_TYPES:
        return _explain_name(seen, name)
    return _explain_fields(seen, name, str(fault))


def is_of_other_format(line: bytes) -> bool:
    """Whether the line says that the whole history is written in another version of the format."""
    return _has_other_format(_json_of(line))


def _json_of(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _has_other_format(seen: Any) -> bool:
    if not isinstance(seen, dict) or seen.get(TAG) != RunStarted.__name__:
        return False
    version = seen.get("format")
    return version is not None and version != FORMAT


def _is_text(line: bytes) -> bool:
    """Whether the line is text in which no part of an event can be, such as a line of a log."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        return False
    return not text or (text.isprintable() and not set('{}[]"') & set(text))


def _explain_text(line: bytes, fault: Exception) -> str:
    if not line.strip():
        return "the line is empty: remove it, a history has one JSON object per line"
    if not line.endswith((b"\n", b"}")):
        return (
            f"the line is cut off after {len(line)} bytes ({_short(line.decode(errors='replace')[-_SHOWN:])}): the "
            f"recording was interrupted there; only a violation before it is certain, record again to judge the rest"
        )
    return f"{_short(line.decode(errors='replace').strip())} is not JSON ({fault}): write one JSON object per line"


def _explain_format(version: object) -> str:
    return (
        f"this history has format {_short(version)}, and this version of rebalance-check reads format {FORMAT}: "
        "install the version that wrote it"
    )


def _explain_name(seen: dict[str, Any], name: object) -> str:
    if TAG not in seen:
        return f"the field {TAG!r} is missing in {_short(seen)}: add the name of the event, such as 'MemberJoined'"
    near = _similar(str(name))
    hint = f"did you mean {near[0]!r}?" if near else "`rebalance-check schema` has the events that there are"
    return f"{_short(name)} is no event: {hint}"


def _similar(name: str) -> list[str]:
    return difflib.get_close_matches(name[:_SHOWN], EVENT_TYPES, n=1)


def _explain_fields(seen: dict[str, Any], name: str, fault: str) -> str:
    known = [f.name for f in fields(EVENT_TYPES[name])]
    unknown = re.search(r"unknown field `(.*?)`", fault)
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
    return f"{name}: {fault}, value {_short(value)}: write the type that `rebalance-check schema {name}` asks for"


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
