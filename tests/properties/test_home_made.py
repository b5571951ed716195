"""A correct coordinator of another kind is not accused: profiles for partial vocabularies, derived from the claims."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    Event,
    PartitionsAssigned,
    RunStarted,
    TaskStarted,
)
from rebalance_check.properties.catalogue import CATALOGUE, choose
from rebalance_check.properties.features import Feature, Lacking, lacking
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Outcome, Untested
from tests.properties.home_made import HomeMade

KINDS: Final = {
    "as Kafka's": HomeMade(),
    "leaderless": HomeMade(frozenset({Feature.LEADER})),
    "without generations": HomeMade(frozenset({Feature.GENERATIONS})),
    "without SyncGroup": HomeMade(frozenset({Feature.SYNC_GROUP})),
    "server-side assignment": HomeMade(frozenset({Feature.LEADER, Feature.SYNC_GROUP})),
    "leases": HomeMade(frozenset(Feature), coordinator_records=False),
    "leases, with the service": HomeMade(frozenset(Feature)),
    "like Connect": HomeMade(runs_tasks=True),
    "like Connect, workers alone": HomeMade(runs_tasks=True, coordinator_records=False),
    "tasks without a leader": HomeMade(frozenset({Feature.LEADER}), runs_tasks=True),
    "members alone": HomeMade(coordinator_records=False),
    "the coordinator alone": HomeMade(members_record=False),
}
MEMBERS: Final = ("a", "b", "c")
ACTIONS: Final = ("start", "leave", "crash", "heartbeat", "commit", "wait")

churn = st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from(MEMBERS)), max_size=14).map(
    lambda actions: [("start", "a"), ("start", "b"), *actions]
)


def drawn(seed: int) -> list[tuple[str, str]]:
    random = Random(seed)
    return [("start", "a"), *((random.choice(ACTIONS), random.choice(MEMBERS)) for _ in range(14))]


@pytest.mark.parametrize("name", KINDS)
@given(actions=churn)
def test_a_correct_coordinator__is_not_accused_under_its_profile(name: str, actions: list[tuple[str, str]]) -> None:
    kind = KINDS[name]
    judgement = judge(kind.run(actions), without=kind.lacks)
    assert judgement.counterexamples == ()
    assert judgement.undecided == {}
    assert judgement.outcome is Outcome.HELD
    judgement.check()


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.lacks])
def test_what_a_subject_lacks_by_its_own_record__leaves_the_same_invariants_out(name: str) -> None:
    kind = KINDS[name]
    history = kind.run(drawn(1))
    said = [
        replace(each, without=tuple(sorted(kind.lacks))) if isinstance(each, RunStarted) else each for each in history
    ]
    named, by_record = judge(history, without=kind.lacks), judge(said)
    assert by_record.held == named.held
    assert by_record.counterexamples == ()
    left_out = {invariant.name for invariant in CATALOGUE} - set(named.names)
    assert left_out <= set(by_record.untested)


def test_a_record_that_lacks_something_unknown__is_undecided() -> None:
    history = HomeMade().run(drawn(1))
    said = [replace(each, without=("leder",)) if isinstance(each, RunStarted) else each for each in history]
    assert "did you mean leader?" in next(iter(judge(said).undecided.values()))


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.members_record])
@given(actions=churn)
def test_a_double_owner__is_seen_in_every_profile(name: str, actions: list[tuple[str, str]]) -> None:
    kind = KINDS[name]
    judgement = judge(kind.run(actions, grants_twice=True), without=kind.lacks)
    owned_twice = "work_runs_once" if kind.runs_tasks else "no_double_ownership"
    assert owned_twice in {found.invariant for found in judgement.counterexamples}


def accused(kind: HomeMade) -> set[Invariant]:
    """The invariants of the whole catalogue that a correct coordinator breaks in some of the runs."""
    judgements = [judge(kind.run(drawn(seed))) for seed in range(12)]
    return {i for judgement in judgements for i, v in judgement.verdicts.items() if v.outcome is Outcome.VIOLATED}


@pytest.mark.parametrize("lacks", [some for size in (1, 2, 3) for some in combinations(Feature, size)], ids=",".join)
def test_what_a_coordinator_is_accused_of__relies_on_what_it_lacks(lacks: tuple[Feature, ...]) -> None:
    for tasks in (False, True):
        for invariant in accused(HomeMade(frozenset(lacks), runs_tasks=tasks)):
            assert invariant.relies_on & set(lacks), invariant


@pytest.mark.parametrize("feature", Feature)
def test_what_a_claim_relies_on__accuses_a_coordinator_without_it__or_cannot_be_seen_there(feature: Feature) -> None:
    without_it, relying = accused(HomeMade(frozenset({feature}))), [i for i in CATALOGUE if feature in i.relies_on]
    assert relying
    for invariant in relying:
        judgement = judge(HomeMade(frozenset({feature})).run(drawn(1)), invariant)
        shown = invariant in without_it or isinstance(judgement.verdict(invariant.name), Untested)
        assert shown or LEADS_NOBODY.get(invariant.name) is feature, invariant


LEADS_NOBODY: Final = {"one_leader": Feature.LEADER}
"""Claims about a field that has no value where the feature is lacking: they would hold, and say nothing."""


def test_a_profile_leaves_out_what_it_cannot_test__so_that_the_rest_can_be_required() -> None:
    names = {invariant.name for invariant in choose(without=["leader"])}
    assert "assigned_topics_are_wanted" not in names
    assert "no_double_ownership" in names


def test_an_event_that_is_not_recorded__leaves_out_what_it_exempts_and_what_needs_it() -> None:
    kept = set(choose(without=["PartitionsRevoked"]))
    assert {invariant.name for invariant in kept} >= {"generation_monotonicity", "one_leader"}
    for invariant in CATALOGUE:
        if invariant.name in {"no_double_ownership", "callbacks_alternate", "revoked_is_not_committed"}:
            assert invariant not in kept


def test_names_of_features_and_events_may_be_mixed() -> None:
    expected = Lacking(frozenset({Feature.LEADER}), frozenset({TaskStarted}))
    assert lacking(["leader", "TaskStarted"]) == expected
    assert expected.absent == {AssignmentComputed, TaskStarted}
    assert lacking("sync-group") == Lacking(frozenset({Feature.SYNC_GROUP}))
    assert lacking([]).absent == frozenset[type[Event]]()


@pytest.mark.parametrize("name", ["", "leaders", "PartitionAssigned", "kafka"])
def test_a_name_that_is_neither__is_refused(name: str) -> None:
    with pytest.raises(RebalanceCheckError, match="is no feature of a coordinator and no event") as refused:
        lacking([name])
    similar = {"leaders": "leader", "PartitionAssigned": PartitionsAssigned.__name__}.get(name, "")
    assert f"did you mean {similar}?" in str(refused.value) or not similar
