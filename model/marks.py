"""Marks for mypyc, which compiles some modules where that is asked for; Python passes them by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

__all__ = ["mypyc_attr"]

C = TypeVar("C", bound=type)

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**_marks: bool) -> Callable[[C], C]:
        """``allow_interpreted_subclasses``: Python code may extend the class; ``serializable``: it can be pickled."""
        return lambda marked: marked
