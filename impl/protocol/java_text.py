"""Text as Java's own methods take it apart, where Kafka's readers depend on their leniency."""

from __future__ import annotations

from typing import Final

_INT_END: Final = 2**31


def split_hyphens(text: str) -> list[str]:
    """``text.split("-")`` in Java: empty pieces at the end fall away, so hyphens at the end vanish."""
    return text.rstrip("-").split("-")


def parse_int(text: str) -> int | None:
    """``Integer.parseInt`` for a text without a minus: a plus sign and any Unicode decimal digit of one UTF-16 unit."""
    digits = text.removeprefix("+")
    if not digits.isdecimal() or not (digits.isascii() or max(digits) <= "\uffff"):
        return None
    number = int(digits)
    return number if number < _INT_END else None


def low_bits(number: int, bits: int) -> int:
    """Java's narrowing conversion: the low ``bits`` as a signed number."""
    half = 1 << (bits - 1)
    return (number + half) % (1 << bits) - half
