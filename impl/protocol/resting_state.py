"""Reads all that an object remembers, in a form in which two runs that wish the same can be compared.

Nothing is listed by hand but what may differ: a field that is added later is read, too. Of a member id, a time or a
partition it counts that there is one, and not which.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

from rebalance_check.impl.protocol.topic_partition import TopicPartition

PACKAGE: Final = __name__.partition(".")[0]

_NUMBERED: Final = re.compile(r"\bm\d+(-instance)?-\d+\b")
"""Member ids as the simulator makes them: a process, and a number."""

_TIME: Final = "_ms"
"""How names of times end; a point in time counts for whether it has come."""

_DURATION: Final = re.compile(r"(timeout|interval|^_?auto_commit|first|most)_ms$")
"""Names of times that are no points in time."""

_VALUES: Final = (int, float, str, tuple, frozenset)

_UNSET: Final = object()
"""What a slot holds that nothing was stored in yet."""

_NAMES: Final[dict[type, tuple[str, ...]]] = {}
"""Of each class the names of its fields or slots."""

_DEFAULTS: Final[dict[type, dict[str, Any]]] = {}
"""Of each class the values that its objects share until they have their own."""

_HAVE_FIELDS: Final[dict[type, bool]] = {}
"""Whether objects of a class are read field by field."""

_DEPTH: Final = 4
"""So deep objects within objects are read."""


def state_of(subject: object, now_ms: int, but: Collection[str] = ()) -> dict[str, str]:
    """Each field of ``subject``, and of the objects in it, by its path; ``but`` are names that are left out."""
    reading = _Reading(now_ms, frozenset(but))
    reading.read(subject, "", _DEPTH)
    return reading.state


class _Reading:
    """What was read at ``now_ms``, without the fields of the names ``but``."""

    def __init__(self, now_ms: int, but: frozenset[str]) -> None:
        self.state: dict[str, str] = {}
        self._now_ms = now_ms
        self._but = but

    def read(self, subject: object, path: str, depth: int) -> None:
        """The fields of an object that is found at ``path``, and of the objects in it, ``depth`` deep."""
        stored = _attributes(subject)
        for name in sorted(stored):
            if name in self._but:
                continue
            where, value = f"{path}{name.lstrip('_')}", stored[name]
            if depth and _is_ours(value):
                self.read(value, f"{where}.", depth - 1)
            else:
                self.state[where] = _shown(name, value, self._now_ms)


def _attributes(subject: object) -> dict[str, Any]:
    """What is stored in an object, in its dictionary, in slots, or as the default of its class."""
    kind = type(subject)
    if kind not in _NAMES:
        names = [each.name for each in fields(subject)] if is_dataclass(subject) else slots_of(kind)
        _NAMES[kind] = tuple(names)
        _DEFAULTS[kind] = {} if is_dataclass(subject) else _defaults(kind)
    found = dict(_DEFAULTS[kind])
    for name in _NAMES[kind]:
        value = getattr(subject, name, _UNSET)
        if value is not _UNSET:
            found[name] = value
    found.update(getattr(subject, "__dict__", {}))
    return found


def slots_of(kind: type) -> Iterator[str]:
    """The names of what objects of a class store in slots: those it names, and those that a compiled class has."""
    for each in kind.__mro__:
        yield from getattr(each, "__slots__", ())
        yield from getattr(each, "__mypyc_attrs__", ())


def _defaults(kind: type) -> dict[str, Any]:
    """The values that stand in a class until an object has its own."""
    ours = (each for each in reversed(kind.__mro__) if each.__module__.partition(".")[0] == PACKAGE)
    return {
        name: value
        for each in ours
        for name, value in vars(each).items()
        if name.startswith("_") and not name.startswith("__") and (value is None or isinstance(value, _VALUES))
    }


def _is_ours(value: object) -> bool:
    """Whether it is an object of this package with fields of its own."""
    kind = type(value)
    if kind not in _HAVE_FIELDS:
        _HAVE_FIELDS[kind] = _has_fields(kind)
    return _HAVE_FIELDS[kind]


def _has_fields(kind: type) -> bool:
    """Whether objects of a class are of this package and have fields of their own; functions have none."""
    is_plain = issubclass(kind, Enum | tuple | Mapping | type | Exception)
    is_called = any("__call__" in vars(each) for each in kind.__mro__)
    return kind.__module__.partition(".")[0] == PACKAGE and not (is_plain or is_called)


def _shown(name: str, value: object, now_ms: int) -> str:
    """One value: times as past or to come, ids and partitions without their numbers."""
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith(_TIME) and not _DURATION.search(name):
        return "to come" if value > now_ms else "past"
    return _plain(value)


def _plain(value: object) -> str:
    if value is None or isinstance(value, int | float):  # most of them
        return str(value)
    match value:
        case TopicPartition():
            return value.topic
        case str():
            return _NUMBERED.sub("a member", value) if "m" in value else value
        case Mapping():
            return ", ".join(sorted({f"{_plain(key)}: {_plain(each)}" for key, each in value.items()})) or "nothing"
        case set() | frozenset() | list() | tuple():
            return ", ".join(sorted({_plain(each) for each in value})) or "nothing"
        case bytes():
            return f"{len(value)} bytes"
        case _:
            return str(value) if isinstance(value, Enum) else _kind(value)


def _kind(value: object) -> str:
    """What a value is that has no text: all functions are alike, compiled or not."""
    return "function" if callable(value) else type(value).__name__
