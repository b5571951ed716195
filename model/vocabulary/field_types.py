"""Whether a value is of the type that a field of an event has."""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Any, Literal, TypeAlias, get_args, get_origin

Fits: TypeAlias = Callable[[Any], bool]
"""Whether a value is of a field's type."""


def fits_of(hint: Any) -> Fits:
    """The check for one type: ``str``, ``int``, ``bool``, a ``Literal``, tuples of these, or one of several."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda value: type(value) is not bool and value in inner
    if origin is UnionType:
        choices = tuple(fits_of(one) for one in inner)
        return lambda value: any(fits(value) for fits in choices)
    if origin is tuple and inner[1:] == (...,):
        fits_one, only = fits_of(inner[0]), frozenset((inner[0],))
        return lambda value: (
            isinstance(value, tuple) and (only.issuperset(map(type, value)) or all(map(fits_one, value)))
        )
    if origin is tuple:
        parts = tuple(fits_of(one) for one in inner)
        return lambda value: (
            isinstance(value, tuple)
            and len(value) == len(parts)
            and all(fits(part) for fits, part in zip(parts, value, strict=True))
        )
    if hint is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    return lambda value: isinstance(value, hint)
