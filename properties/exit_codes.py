"""How a command ends: one table of exit codes, and one order of precedence between verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome, overall_outcome


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
    def is_verdict(self) -> bool:
        """Whether the code stands for a verdict."""
        return self in _OUTCOMES

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

_PRECEDENCE: Final = (
    ExitCode.HELD, ExitCode.UNDECIDED, ExitCode.USAGE, ExitCode.OUR_FAULT, ExitCode.LIVENESS, ExitCode.SAFETY,
)  # fmt: skip
"""Bad input and a fault of our own outweigh doubt, as neither is judged at all; a violation outweighs all of them."""


def exit_code_of(outcome: Outcome, kind: Kind = Kind.SAFETY) -> ExitCode:
    """The exit code of the verdict on one claim of ``kind``; of an untested one by itself, that of success."""
    match outcome:
        case Outcome.HELD | Outcome.UNTESTED:
            return ExitCode.HELD
        case Outcome.UNDECIDED:
            return ExitCode.UNDECIDED
        case Outcome.VIOLATED:
            return ExitCode.SAFETY if kind is Kind.SAFETY else ExitCode.LIVENESS


def exit_code_of_claims(claims: Iterable[tuple[Outcome, Kind]], *, require_tested: bool = False) -> ExitCode:
    """The exit code of several claims about the same history, each with its kind.

    ``require_tested``: a claim that is untested counts as undecided. The result is undecided, too, if no claim
    was tested.
    """
    claims = list(claims)
    overall = overall_outcome((outcome for outcome, _ in claims), require_tested=require_tested)
    if overall is not Outcome.VIOLATED:
        return exit_code_of(overall)
    return worst_exit_code(exit_code_of(outcome, kind) for outcome, kind in claims)


def worst_exit_code(codes: Iterable[ExitCode]) -> ExitCode:
    """Of several verdicts and bad inputs the one that a command ends with; ``HELD`` when there is none.

    Raises `ValueError` for any other code.
    """
    return max(codes, key=_PRECEDENCE.index, default=ExitCode.HELD)
