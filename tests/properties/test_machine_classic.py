"""Model and reference coordinator take the same random steps; planted bugs of the coordinator are distinguished."""

from dataclasses import replace

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check.impl.comparison.to_model.in_process import ReferenceSubject
from rebalance_check.impl.mutants import planted
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule, run
from rebalance_check.properties.machines.classic import ClassicGroup
from rebalance_check.properties.machines.coordinator import CoordinatorDiffersError

STEPS = 60

ClassicGroup.TestCase.settings = settings(stateful_step_count=STEPS)
TestClassicGroup = ClassicGroup.TestCase


MUTANT = "leave-without-rebalance"


@pytest.fixture(scope="module")
def failure() -> str:
    unshrunk = settings(
        max_examples=200,
        stateful_step_count=STEPS,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # making it smaller takes minutes, and is not what is tested here
    )
    with planted(MUTANT), pytest.raises(CoordinatorDiffersError) as raised:
        run_state_machine_as_test(ClassicGroup, settings=unshrunk)
    return str(raised.value)


def difference(failure: str) -> list[str]:
    """The lines of a failure before the statements that repeat it."""
    return failure[: failure.index("bounds = ")].splitlines()


def test_a_planted_bug_is_reported_as_a_difference(failure: str) -> None:
    first, *_, last, _group, predicted, observed = difference(failure)
    assert first.startswith("model and ClassicGroup differ in group after step ")
    assert "LeaveGroup m" in last
    assert "PreparingRebalance" in predicted or "Empty" in predicted
    assert "Stable" in observed


def test_a_failure_prints_a_schedule_that_can_be_pasted(failure: str) -> None:
    rest = failure.splitlines()[len(difference(failure)) :]
    program = "\n".join(line for line in rest if not line.startswith("replay"))
    space = {"Bounds": Bounds, "Action": Action, "ActionKind": ActionKind}
    exec(program, space)
    subject = ReferenceSubject()
    with planted(MUTANT):
        list(run(subject, Schedule(space["bounds"], space["actions"])))  # type: ignore[arg-type]  # made by exec
    assert subject.difference is not None
    named = replace(subject.difference, sides=("model", "ClassicGroup"))
    assert str(named).splitlines() == difference(failure)


def test_a_failure_prints_an_address_that_leads_there(failure: str) -> None:
    address = failure.splitlines()[-1].removeprefix("replay").strip()
    path = path_at(address)
    subject = ReferenceSubject()
    with planted(MUTANT):
        list(run(subject, Schedule(path.bounds, path.actions)))
    assert subject.difference is not None
    assert subject.difference.steps == path.actions
