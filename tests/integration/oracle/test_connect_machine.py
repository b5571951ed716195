"""A Hypothesis machine of one Connect group: any step at any time, and every claim about its rounds is judged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.comparison.connect_assignors.assigned_group import AssignedGroup
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.search import protocol_of
from rebalance_check.properties.assignment.connect_claims import broken_connect_claims
from rebalance_check.properties.assignment.connect_rounds import (
    CONNECT_ASSIGNORS,
    CONNECT_EAGER,
    CONNECT_INCREMENTAL,
    Course,
)
from rebalance_check.properties.assignment.connect_steps import (
    Configure,
    CutOff,
    Delete,
    Join,
    Lead,
    Leave,
    Rebalance,
    Return,
    Step,
    Wait,
)

WORKERS = st.sampled_from(["w1", "w2", "w3", "w4"])
CONNECTORS = st.sampled_from(["c1", "c2"])
ITEMS = st.tuples(CONNECTORS, st.integers(-1, 3))


class WorkerGroup(RuleBasedStateMachine):
    """One group; in the end it is left alone, and what holds at rest is judged, too."""

    assignor = CONNECT_INCREMENTAL

    def __init__(self) -> None:
        super().__init__()
        self.group: AssignedGroup | None = None

    @initialize(max_delay_ms=st.sampled_from([300_000, 1_000, 1, 0]), tasks=st.integers(0, 4))
    def begin(self, max_delay_ms: int, tasks: int) -> None:
        self.group = AssignedGroup(OurConnectAssignors(), max_delay_ms, protocol_of(self.assignor))
        self.take(Configure("c1", tasks))
        self.take(Join("w1"))

    def take(self, step: Step) -> None:
        assert self.group is not None
        self.group.step(step)

    @rule(worker=WORKERS, claims=st.lists(ITEMS, max_size=3))
    def join(self, worker: str, claims: list[tuple[str, int]]) -> None:
        self.take(Join(worker, tuple(claims)))

    @rule(kind=st.sampled_from([Leave, CutOff, Return, Lead]), worker=WORKERS)
    def change(self, kind: Any, worker: str) -> None:
        self.take(kind(worker))

    @rule(connector=CONNECTORS, tasks=st.integers(0, 4))
    def configure(self, connector: str, tasks: int) -> None:
        self.take(Configure(connector, tasks))

    @rule(connector=CONNECTORS)
    def delete(self, connector: str) -> None:
        self.take(Delete(connector))

    @rule(milliseconds=st.sampled_from([1, 40, 1_000, 300_000]))
    def wait(self, milliseconds: int) -> None:
        self.take(Wait(milliseconds))

    @rule(step=st.builds(Rebalance, st.lists(WORKERS, max_size=1).map(tuple), behind=st.booleans()))
    def rebalance(self, step: Rebalance) -> None:
        self.take(step)
        self.take(Rebalance())

    def teardown(self) -> None:
        if self.group is not None:
            settling = len(self.group.rounds) - (0 if self.group.unsettled else 1)
            quiet = self.group.settle()
            course = Course(rounds=tuple(self.group.rounds), settling=settling, quiet=quiet)
            assert list(broken_connect_claims(self.assignor, course)) == []


class EagerGroup(WorkerGroup):
    """The same under the eager protocol."""

    assignor = CONNECT_EAGER


GROUPS: dict[str, type[WorkerGroup]] = {CONNECT_INCREMENTAL: WorkerGroup, CONNECT_EAGER: EagerGroup}


@pytest.mark.parametrize("assignor", CONNECT_ASSIGNORS)
def test_no_sequence_of_steps_breaks_a_claim(assignor: str) -> None:
    run_state_machine_as_test(GROUPS[assignor], settings=settings(stateful_step_count=20))


@pytest.mark.parametrize(
    ("assignor", "mutant"),
    [
        (CONNECT_INCREMENTAL, "connect-duplicates-not-revoked"),
        (CONNECT_INCREMENTAL, "connect-created-ignores-claims"),
        (CONNECT_EAGER, "connect-eager-drops-connectors-without-tasks"),
    ],
)
def test_the_machine_finds_a_planted_defect(assignor: str, mutant: str) -> None:
    unshrunk = settings(
        max_examples=200,
        stateful_step_count=20,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # making it smaller takes minutes, and is not what is tested here
    )
    with planted(mutant), pytest.raises(AssertionError):
        run_state_machine_as_test(GROUPS[assignor], settings=unshrunk)
