"""Numbers of a range that are known, however wide the range is: its ends are numbers of a file, and may be anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator


def between(known: Collection[int], first: int, end: int) -> Iterator[int]:
    """The known numbers from ``first`` up to, not including, ``end``, in order.

    It walks through the range or through the known numbers, the shorter of the two; the look-up of a number should be
    cheap.
    """
    if end - first <= len(known):
        return (number for number in range(first, end) if number in known)
    return iter(sorted(number for number in known if first <= number < end))
