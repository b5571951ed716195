"""Events are checked when Python code makes them, so that a field of a wrong type never reaches a judge or a file.

A string where a tuple of partitions belongs would pass for the partitions ``t``, ``-`` and ``1``. Decoding a
line checks types by itself and does not come by here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import partial
from types import NoneType, UnionType
from typing import Any, Final, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from rebalance_check.model.vocabulary.event_base import Event
from rebalance_check.model.vocabulary.field_types import fits_of

_SHOWN: Final = 60


class MalformedEvent(TypeError):  # noqa: N818 - named for what is wrong with the event
    """An event was made with a value of a wrong type: names the event, the field, the value, and what belongs there."""


E = TypeVar("E", bound=Event)


def check_when_made(event_type: type[E]) -> None:
    """Have each event of this type that Python code makes refuse fields of a wrong type, with `MalformedEvent`.

    The ``__init__`` that dataclasses make of a frozen class passes by its ``__setattr__`` with a call by name for each
    field. The one that is compiled here writes into the slots, in a third of the time.
    """
    hints = get_type_hints(event_type)
    types = {f.name: hints[f.name] for f in fields(event_type)}
    defaults = {f.name: f.default for f in fields(event_type) if f.default is not MISSING}
    space: dict[str, Any] = {"refuse": partial(_refuse, event_type, types), "class_of": type}
    for name, hint in types.items():
        space[f"usual_{name}"], space[f"fits_{name}"] = _usual_class(hint), fits_of(hint)
        space[f"set_{name}"] = getattr(event_type, name).__set__
        space[f"default_{name}"] = defaults.get(name)
    file = f"<__init__ of {event_type.__name__}>"
    exec(compile(_making_source(types, defaults), file, "exec"), space)
    making = space["__init__"]
    making.__annotations__ = {**{f.name: f.type for f in fields(event_type)}, "return": None}
    making.__qualname__, making.__module__ = f"{event_type.__qualname__}.__init__", event_type.__module__
    type.__setattr__(event_type, "__init__", making)


def _making_source(types: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """An ``__init__`` that looks at the type of each field, and then writes all of them into their slots."""
    required = [name for name in types if name not in defaults]
    given = ", ".join([*required, *(f"{name}=default_{name}" for name in defaults)])
    lines = [f"def __init__(self, *, {given}):"]
    for name in types:
        wrong = f"class_of({name}) is not usual_{name} and not fits_{name}({name})"
        unless = f"{name} is not default_{name} and " if name in defaults else ""
        lines.append(f"    if {unless}{wrong}: refuse({name!r}, {name})")
    lines += [f"    set_{name}(self, {name})" for name in types]
    return "\n".join(lines)


def _refuse(event_type: type[Event], types: Mapping[str, Any], name: str, value: object) -> NoReturn:
    raise MalformedEvent(
        f"{event_type.__name__}.{name} is {_short(value)} ({type(value).__name__}): write {described(types[name])}"
    )


def described(hint: Any) -> str:
    """A type in words: ``a tuple of str``."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is UnionType:
        return " or ".join(map(described, inner))
    if origin is tuple and inner[1:] == (...,):
        return f"a tuple of {_in_plural(inner[0])}"
    if origin is tuple:
        return f"({', '.join(map(_in_plural, inner))})"
    return {NoneType: "None", int: "an int"}.get(hint, f"a {hint.__name__}")


def _in_plural(hint: Any) -> str:
    if get_origin(hint) is None:
        return str(hint.__name__)
    return described(hint).removeprefix("a ")


def _usual_class(hint: Any) -> type | None:
    """The class of nearly all values of a field; None where a value must be looked at (a tuple, a `Literal`)."""
    if get_origin(hint) is UnionType:
        return _usual_class(get_args(hint)[0])
    return hint if isinstance(hint, type) and get_origin(hint) is None else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
