"""Known differences: behaviour that two subjects are known not to share, and the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rebalance_check.impl.comparison.difference import Difference


def _never(_: Any) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """One known difference: ``what`` happens, the ``reason``, which ``subjects`` and versions show it, the ``source``.

    ``concerns`` says whether a subject is one of them; ``recognises`` tells it from other differences. ``foresees``
    says of a step that it would show it: such a step is spared, where a run could not go on after it. ``examples`` are
    the smallest runs that show it.
    """

    name: str
    reason: str
    subjects: str
    source: str
    what: str = ""
    concerns: Callable[[Any], bool] = bool
    recognises: Callable[[Difference], bool] = _never
    foresees: Callable[[Any], bool] = _never
    examples: tuple[Any, ...] = ()


def known(entries: Iterable[KnownDifference], subject: Any, difference: Difference) -> KnownDifference | None:
    """The entry that explains a difference which ``subject`` shows; None where the list has none."""
    return next((each for each in entries if each.concerns(subject) and each.recognises(difference)), None)


def foreseen(entries: Iterable[KnownDifference], step: Any) -> KnownDifference | None:
    """The entry that a step would show."""
    return next((each for each in entries if each.foresees(step)), None)
