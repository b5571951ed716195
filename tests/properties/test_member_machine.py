"""The state machine of a whole group: ours holds, planted defects of clients are found, and the run can be repeated."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check import MemberMachine, Violation
from rebalance_check.cli import run
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.simulator import SimulatedProtocol
from rebalance_check.properties.machines.members import ALL_STEPS

UNSHRUNK = settings(
    max_examples=200, stateful_step_count=20, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
)


class WholeGroup(MemberMachine):
    """Members of ours and our coordinator."""


def test_a_group_of_ours_holds(record_property: Callable[[str, object], None]) -> None:
    run_state_machine_as_test(WholeGroup, settings=settings(stateful_step_count=20, phases=[Phase.generate]))
    record_property("steps", f"{WholeGroup.__name__} took {WholeGroup.taken}")
    assert len(WholeGroup.taken.counts) >= len(ALL_STEPS) / 3


class Consumers(MemberMachine):
    """Consumers alone."""

    protocols = (SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE)


@pytest.mark.parametrize("mutant", ["closing-member-loses", "additions-ignored-by-owners"])
def test_a_planted_defect_is_found__and_the_run_repeated(mutant: str, capsys: pytest.CaptureFixture[str]) -> None:
    with planted(mutant), pytest.raises(Violation) as raised:
        run_state_machine_as_test(Consumers, settings=UNSHRUNK)

    (replay,) = (note for note in raised.value.__notes__ if note.startswith("replay   rebalance-check "))
    assert run([*shlex.split(replay.removeprefix("replay   rebalance-check ")), "--mutant", mutant]) == 10
    assert raised.value.counterexample.headline in capsys.readouterr().out
