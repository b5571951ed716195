"""The base of values: an immutable value is shared by all copies of its holder."""

from __future__ import annotations

from typing import Any, Self


class Value:
    """Never changes once it is made, and holds nothing that does: a deep copy of it is itself."""

    __slots__ = ()

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self
