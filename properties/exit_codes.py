"""What a command ends with: one table of exit codes, and one order of precedence between verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome


class ExitCode(IntEnum):
    """The exit codes of ``rebalance-check``: 0 and 10 to 12 are verdicts, the others mean that there is none."""

    HELD = 0
    USAGE = 2
    SAFETY = 10
    LIVENESS = 11
    UNDECIDED = 12
    OUR_FAULT = 70
    INTERRUPTED = 130

    @property
    def outcome(self) -> Outcome:
        """The verdict that the code stands for; `KeyError` for a code that is no verdict."""
        return _OUTCOMES[self]


_OUTCOMES: Final = {
    ExitCode.HELD: Outcome.HELD,
    ExitCode.UNDECIDED: Outcome.UNDECIDED,
    ExitCode.LIVENESS: Outcome.VIOLATED,
    ExitCode.SAFETY: Outcome.VIOLATED,
}
"""The verdicts in order of precedence, the least first: safety outweighs liveness, and liveness outweighs doubt."""

_PRECEDENCE: Final = (ExitCode.HELD, ExitCode.UNDECIDED, ExitCode.USAGE, ExitCode.LIVENESS, ExitCode.SAFETY)
"""Bad input outweighs doubt, as what stands in it is not judged at all; a violation outweighs both."""


def exit_code_of(outcome: Outcome, kind: Kind = Kind.SAFETY) -> ExitCode:
    """The exit code of the verdict on one claim of ``kind``."""
    if outcome is Outcome.VIOLATED:
        return ExitCode.SAFETY if kind is Kind.SAFETY else ExitCode.LIVENESS
    return ExitCode.HELD if outcome is Outcome.HELD else ExitCode.UNDECIDED


def worst_exit_code(codes: Iterable[ExitCode]) -> ExitCode:
    """Of several verdicts and bad inputs the one that a command ends with; ``HELD`` when there is none.

    Raises `ValueError` for any other code.
    """
    return max(codes, key=_PRECEDENCE.index, default=ExitCode.HELD)
