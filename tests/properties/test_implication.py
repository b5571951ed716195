"""A defect is reported once, by its first cause; what followed is named under it."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.model.vocabulary.events import AssignmentComputed, Event, MemberJoined, PartitionsAssigned
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.implication import FOLLOWS, first_causes, may_follow
from rebalance_check.properties.judge import judge

History = Callable[..., list[Event]]


def test_the_order_of_implication_is_over_the_catalogue() -> None:
    named = {*FOLLOWS, *(one for names in FOLLOWS.values() for one in names)}
    assert named <= {invariant.name for invariant in CATALOGUE}


def test_of_two_that_may_follow_from_each_other__the_earlier_one_is_the_cause__or_that_of_the_catalogue() -> None:
    double, reassigned = "no_double_ownership", "revoked_before_reassigned"
    assert first_causes({double: 9, reassigned: 4}) == {reassigned: (double,)}
    assert first_causes({double: 4, reassigned: 9}) == {double: (reassigned,)}
    assert first_causes({double: 4, reassigned: 4}) == {double: (reassigned,)}


def test_a_consequence_stands_under_its_cause__over_an_invariant_that_is_not_broken() -> None:
    assert "no_double_ownership" in may_follow("assignment_is_disjoint")
    assert first_causes({"no_double_ownership": 9, "assignment_is_disjoint": 4}) == {
        "assignment_is_disjoint": ("no_double_ownership",)
    }


def test_a_violation_before_its_possible_cause__is_a_finding_of_its_own() -> None:
    assert first_causes({"no_double_ownership": 3, "assignment_is_disjoint": 4}) == {
        "no_double_ownership": (),
        "assignment_is_disjoint": (),
    }


def test_a_consequence_of_two_causes_stands_under_the_earlier_one() -> None:
    found = first_causes({"rebalance_completes": 9, "sync_group_is_answered": 5, "join_group_is_answered": 4})
    assert found == {"join_group_is_answered": ("rebalance_completes",), "sync_group_is_answered": ()}


def test_a_judgement_reports_the_first_cause__and_counts_all(history: History) -> None:
    events = history(
        MemberJoined(member="m0", generation=1, member_id="m0"),
        MemberJoined(member="m1", generation=1, member_id="m1"),
        AssignmentComputed(
            member="m0", generation=1, member_id="m0", protocol="range", owned_partitions=(),
            assignments=(("m0", ("t-0",)), ("m1", ("t-0",))),
        ),
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",)),
        PartitionsAssigned(member="m1", generation=1, partitions=("t-0",)),
    )  # fmt: skip
    judgement = judge(events)
    (finding,) = judgement.findings
    assert finding.invariant == "assignment_is_disjoint"
    then = {one.invariant: one.headline for one in finding.consequences}
    assert "t-0 is owned by m0 and m1" in then["no_double_ownership"]
    assert {one.invariant for one in judgement.counterexamples} == {finding.invariant, *then}
    assert "then     " in str(finding)
