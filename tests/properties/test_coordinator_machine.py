"""The state machine for a coordinator of one's own: what holds passes, a defect is found, schedules are possible."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check import CoordinatorDiffersError, CoordinatorMachine, Transport, group_bounds, schedules
from rebalance_check.impl.comparison.to_model.in_process import ReferenceSubject, ReferenceTransport
from rebalance_check.impl.protocol.messages import GroupReply, JoinGroupReply
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import Schedule, run

QUICK = settings(
    max_examples=30, stateful_step_count=30, deadline=None, database=None, derandomize=True, phases=[Phase.generate]
)


class Silent(CoordinatorMachine):
    """Its coordinator records nothing: the answers alone are held to the model."""

    runs = group_bounds(members=2, partitions=1)

    def open_transport(self) -> Transport:
        return ReferenceTransport()


TestSilent = Silent.TestCase
TestSilent.settings = QUICK


class SessionsNeverEnd(ReferenceTransport):
    """A coordinator that removes nobody."""

    def expire(self, member_id: str) -> None:
        pass


class ForgetsWhoLeads(ReferenceTransport):
    """A coordinator whose replies name no leader."""

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:
        return [(m, self._without_leader(reply)) for m, reply in super().answers(at_least)]

    def _without_leader(self, reply: GroupReply) -> GroupReply:
        return reply if not isinstance(reply, JoinGroupReply) else replace(reply, leader="")


@pytest.mark.parametrize("transport", [SessionsNeverEnd, ForgetsWhoLeads])
def test_a_defect_of_a_coordinator_is_found(transport: type[ReferenceTransport]) -> None:
    class Broken(CoordinatorMachine):
        def open_transport(self) -> Transport:
            return transport(self.recorded.append)

    with pytest.raises(CoordinatorDiffersError, match="replay   v1/"):
        run_state_machine_as_test(Broken, settings=QUICK)


def test_a_machine_that_reaches_no_coordinator_says_so() -> None:
    with pytest.raises(RebalanceCheckError, match="Nothing reaches no coordinator: define open_transport"):
        type("Nothing", (CoordinatorMachine,), {})()


@given(group_bounds(members=2, protocol=RebalanceProtocol.EAGER))
def test_bounds_keep_what_is_fixed(bounds: Bounds) -> None:
    assert (bounds.members, bounds.protocol) == (2, RebalanceProtocol.EAGER)


@given(schedules(group_bounds(members=2), most_actions=20))
@settings(max_examples=20, deadline=None)
def test_every_action_of_a_drawn_schedule_happens(schedule: Schedule) -> None:
    subject = ReferenceSubject()
    for _event in run(subject, schedule):
        pass
    assert len(schedule.actions) <= 20
    assert subject.difference is None
