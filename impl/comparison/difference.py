"""A difference: two subjects did the same steps, and then did not show the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from rebalance_check.model.shrink import ddmin

SHOWN_STEPS: Final = 12
"""So many steps stand in the text of a difference, the last ones; all of them are in ``steps``."""

SHOWN_CHARACTERS: Final = 1_000
"""So much of one step or value stands in the text."""

SHRINK_RUNS: Final = 400
"""How often a run is repeated, at most, to make a difference smaller."""


class Absent:
    """The value of a field that a side does not show at all."""

    def __repr__(self) -> str:
        """``nothing``."""
        return "nothing"


ABSENT: Final = Absent()


class Field(NamedTuple):
    """One thing that both sides show: its name, its value on the first side and on the second."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two ``sides`` part: the ``steps`` up to there, the last of which both did, and each one's observation then.

    ``origin`` says where the steps come from, such as a seed. ``kind`` names the subject of the difference: while it is
    made smaller, two of one kind are taken for the same. ``again`` is the command or address that shows it once more.
    ``start`` is all that a repetition needs besides the steps.
    """

    sides: tuple[str, str]
    steps: tuple[Any, ...]
    fields: tuple[Field, ...]
    origin: str = ""
    kind: str = ""
    again: str = ""
    start: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """A sentence, the steps, and a line for each field and side."""
        width = max(map(len, self.sides))
        names = ", ".join(each.name for each in self.fields)
        origin = f" ({self.origin})" if self.origin else ""
        lines = [f"{self.sides[0]} and {self.sides[1]} differ in {names} after step {len(self.steps)}{origin}"]
        lines += _numbered(self.steps)
        for each in self.fields:
            lines.append(f"  {each.name}")
            shown = zip(self.sides, each[1:], strict=True)
            lines += [f"    {side:<{width}}  {cut(value)}" for side, value in shown]
        return "\n".join([*lines, *([f"  again: {self.again}"] if self.again else [])])

    def is_like(self, other: Difference) -> bool:
        """Whether both are between the same sides, and of the same kind."""
        return (self.sides, self.kind) == (other.sides, other.kind)

    def values(self, name: str) -> tuple[Any, Any]:
        """Both sides of a field.

        Raises: KeyError where they do not differ in a field of this name.
        """
        for each in self.fields:
            if each.name == name:
                return each.first, each.second
        raise KeyError(name)


def _numbered(steps: Sequence[Any]) -> Iterator[str]:
    before = max(0, len(steps) - SHOWN_STEPS)
    if before:
        yield f"  ... {before} more before"
    for number, step in enumerate(steps[before:], before + 1):
        yield f"  {number:>3}  {cut(step)}"


def cut(shown: Any) -> str:
    """The text of a step or value, or the beginning of a long one."""
    text = str(shown).replace("\n", "\\n") or "''"
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields in which two observations differ, sorted by name."""
    both = ((name, first.get(name, ABSENT), second.get(name, ABSENT)) for name in sorted({*first, *second}))
    return tuple(Field(*each) for each in both if each[1] != each[2])


def shrunk(
    found: Difference,
    repeat: Callable[[tuple[Any, ...]], Difference | None],
    most_runs: int = SHRINK_RUNS,
    *,
    keep: int = 0,
) -> Difference:
    """A difference like ``found`` with as few steps as leaving out can reach; the first ``keep`` ones stay.

    ``repeat`` does the steps that it is given on both sides, from the beginning, and returns the first difference.
    """
    beginning = found.steps[:keep]

    def still_differs(steps: tuple[Any, ...]) -> Difference | None:
        smaller = repeat((*beginning, *steps))
        if smaller is None or not smaller.is_like(found):
            return None
        return replace(smaller, origin=found.origin)

    return ddmin(found, lambda one: one.steps[keep:], still_differs, most_runs)
