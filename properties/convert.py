"""Rewrites histories of format 1 into the present format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import FORMAT, RunStarted
from rebalance_check.properties.history import decode, encode
from rebalance_check.properties.malformed import RENAMED_IN_FORMAT_2, TAG


def convert_line(line: bytes, where: str = "this line") -> bytes:
    """One line in the present format, without its end; a line of that format stays as it is, byte for byte.

    Raises `MalformedHistory`, which calls the line ``where``, if it is an event of neither format.
    """
    renamed = _renamed(line)
    event = decode(renamed, where)
    return line.rstrip(b"\r\n") if renamed is line else encode(event)


def convert_file(path: Path, out: Path | None = None) -> int:
    """Rewrite the history at ``path`` into ``out`` (default: in its own place), whole or not at all.

    Returns the number of lines that changed. Raises `RebalanceCheckError` when a file cannot be read or written, and
    `MalformedHistory` for a line that is an event of neither format; what stood at ``out`` is then as it was.
    """
    target = out or path
    partial = target.with_name(f"{target.name}.converting")
    changed = 0
    try:
        with path.open("rb") as lines, partial.open("wb") as converted:
            for number, line in enumerate(lines, 1):
                text = convert_line(line, f"{path}, line {number}")
                converted.write(text + b"\n")
                changed += text != line.rstrip(b"\r\n")
        partial.replace(target)
    except OSError as fault:
        raise RebalanceCheckError(
            f"the history {str(path)!r} cannot be converted into {str(target)!r} ({fault.strerror}): name a file of "
            "JSON lines, and a place that can be written"
        ) from fault
    finally:
        partial.unlink(missing_ok=True)
    return changed


def _renamed(line: bytes) -> bytes:
    """The line with the present names of its fields; the very same object where nothing bears an old one."""
    try:
        fields: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return line  # the strict reader says what is wrong with it
    if not isinstance(fields, dict):
        return line
    event = str(fields.get(TAG))
    names = RENAMED_IN_FORMAT_2.get(event, {})
    begins = event == RunStarted.__name__ and fields.get("format", 1) == 1
    if not begins and not names.keys() & fields.keys():
        return line
    present = {names.get(name, name): value for name, value in fields.items()}
    return msgspec.json.encode(present | {"format": FORMAT} if begins else present)
