"""One table of exit codes, and one order of precedence: safety, liveness, bad input, doubt."""

from __future__ import annotations

from itertools import permutations

import pytest

from rebalance_check.properties.exit_codes import ExitCode, exit_code_of, worst_exit_code
from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome

PRECEDENCE = (ExitCode.SAFETY, ExitCode.LIVENESS, ExitCode.OUR_FAULT, ExitCode.USAGE, ExitCode.UNDECIDED, ExitCode.HELD)


def test_the_codes_are_those_that_are_documented() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "HELD": 0, "USAGE": 2, "SAFETY": 10, "LIVENESS": 11, "UNDECIDED": 12, "OUR_FAULT": 70, "INTERRUPTED": 130,
    }  # fmt: skip


@pytest.mark.parametrize("place", range(len(PRECEDENCE)))
def test_the_worst_verdict_counts__in_any_order(place: int) -> None:
    for codes in permutations(PRECEDENCE[place:]):
        assert worst_exit_code(codes) is PRECEDENCE[place]


def test_no_verdict_at_all_is_held() -> None:
    assert worst_exit_code(()) is ExitCode.HELD


@pytest.mark.parametrize("code", [ExitCode.INTERRUPTED])
def test_a_code_that_is_no_verdict_has_no_place_among_them(code: ExitCode) -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        worst_exit_code((ExitCode.HELD, code))
    with pytest.raises(KeyError):
        _ = code.outcome


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("kind", list(Kind))
def test_a_code_stands_for_the_outcome_that_it_was_made_of(outcome: Outcome, kind: Kind) -> None:
    stands_for = Outcome.HELD if outcome is Outcome.UNTESTED else outcome  # by itself it does no harm
    assert exit_code_of(outcome, kind).outcome is stands_for


def test_only_a_violation_depends_on_the_kind() -> None:
    assert exit_code_of(Outcome.VIOLATED, Kind.SAFETY) is ExitCode.SAFETY
    assert exit_code_of(Outcome.VIOLATED, Kind.LIVENESS) is ExitCode.LIVENESS
    assert exit_code_of(Outcome.UNDECIDED, Kind.LIVENESS) is ExitCode.UNDECIDED
