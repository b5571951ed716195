"""The state machine for an assignor of one's own: ours hold, planted defects are found, no assignor is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check import AssignmentClaimBrokenError, AssignorMachine
from rebalance_check.impl.assignors.assignor import Assignments, Assignor, Racks
from rebalance_check.impl.assignors.custom import NewCustomAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.assignors.sticky_owned import Claim
from rebalance_check.impl.mutants import IMPL_MUTANTS, AssignmentSearch, planted
from rebalance_check.impl.protocol.consumer_protocol import Subscription
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.integration.comparison.assignors.assignors import OUR_ASSIGNORS
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.properties.histories import each_third

QUICK = settings(
    max_examples=50, stateful_step_count=20, deadline=None, database=None, derandomize=True, phases=[Phase.generate]
)

OF_RARE_ROUNDS: Final = {
    "cooperative-claims-carry-no-generation": "two members of version 1 claim the same, of different generations",
    "range-rack-aware-breaks-copartitioning": "two topics of one size whose replicas are in other racks",
    "sticky-drops-all-older-generation-claims": "a member that was cut off claims what nobody else does",
}
"""Defects that take a longer search than the one of these tests, and why; `mutants NAME --run` finds them."""


def machine(make: Callable[[], Assignor], strategy: str = "") -> type[AssignorMachine]:
    class Machine(AssignorMachine):
        def new_assignor(self) -> Assignor:
            return make()

    Machine.strategy = strategy
    return Machine


@pytest.mark.parametrize("assignor", OUR_ASSIGNORS)
def test_ours_hold(assignor: str) -> None:
    run_state_machine_as_test(machine(OUR_ASSIGNORS[assignor]), settings=settings(stateful_step_count=30))


def test_one_of_another_name__is_held_to_the_claims_about_all__or_to_those_of_a_strategy() -> None:
    run_state_machine_as_test(machine(NewCustomAssignor), settings=QUICK)
    run_state_machine_as_test(machine(NewCustomAssignor, "cooperative-sticky"), settings=QUICK)
    with pytest.raises(AssignmentClaimBrokenError, match="range breaks"):
        run_state_machine_as_test(machine(NewCustomAssignor, "range"), settings=QUICK)


def assignment_mutants() -> list[str]:
    found = [name for name, one in IMPL_MUTANTS.items() if isinstance(one.find, AssignmentSearch)]
    return [name for name in found if assignor_of(name) in OUR_ASSIGNORS and name not in OF_RARE_ROUNDS]


def assignor_of(mutant: str) -> str:
    find = IMPL_MUTANTS[mutant].find
    assert isinstance(find, AssignmentSearch)
    return find.assignor


@pytest.mark.parametrize("mutant", each_third(assignment_mutants()))
def test_planted_defects_of_assignors_are_found(mutant: str) -> None:
    long = settings(QUICK, max_examples=400)
    with planted(mutant), pytest.raises(AssignmentClaimBrokenError):
        run_state_machine_as_test(machine(OUR_ASSIGNORS[assignor_of(mutant)]), settings=long)


class GivesAllTwice(RangeAssignor):
    """It gives each partition to every member."""

    name = "generous"

    def assign(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: Mapping[str, Subscription],
        racks: Racks | None = None,  # noqa: ARG002 - the interface
    ) -> Assignments:
        everything = [TopicPartition(topic, n) for topic, count in partitions_per_topic.items() for n in range(count)]
        return {name: tuple(tp for tp in everything if tp.topic in one.topics) for name, one in subscriptions.items()}


class ReadsStrictly(StickyAssignor):
    """It fails on user data that it cannot read."""

    def claim(self, subscription: Subscription) -> Claim:
        if subscription.user_data == b"\x00":
            raise ValueError("one byte is no user data")
        return super().claim(subscription)


def test_user_data_that_cannot_be_read_is_among_the_inputs() -> None:
    with pytest.raises(AssignmentClaimBrokenError, match=r"sticky breaks 'answers': .*one byte is no user data"):
        run_state_machine_as_test(machine(ReadsStrictly), settings=QUICK)


def test_an_error_says_what_is_broken__and_all_that_the_leader_saw() -> None:
    with pytest.raises(AssignmentClaimBrokenError) as raised:
        run_state_machine_as_test(machine(GivesAllTwice), settings=QUICK)
    assert "generous breaks 'exclusive': " in str(raised.value)
    assert "A partition is given to one member at most." in str(raised.value)
    assert "m0: Member(topics=(" in str(raised.value)


def test_a_machine_without_an_assignor_says_so() -> None:
    with pytest.raises(RebalanceCheckError, match="Nothing has no assignor: define new_assignor"):
        type("Nothing", (AssignorMachine,), {})()
