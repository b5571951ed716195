"""Recorded findings, judged on Kafka itself: the harness sees each append and its acknowledgement."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.scenarios.random_scenarios import random_scenario
from rebalance_check.impl.scenarios.runner import settings_of
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.integration.comparison.scenarios.run import JUDGED
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator
from rebalance_check.integration.virtual.history import observed_history
from rebalance_check.model.vocabulary.events import Event, GroupMetadataAppended, GroupMetadataWritten, LogTailLost
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Held, Outcome, Untested
from tests.integration.seen import assert_seen

PERSISTENCE = select([
    "persisted_before_propagated", "load_restores_the_log", "only_empty_groups_are_deleted",
    "one_assignment_per_generation",
])  # fmt: skip

OF_REPLIES = {
    "generation_has_only_joined", "one_leader", "one_response_per_request", "rebalance_has_a_cause",
    "refusals_are_documented", "refusals_are_true", "requests_are_fenced", "selected_protocol_is_listed_by_all",
}  # fmt: skip
"""Some of the invariants that need what is parked, and the reply to each request."""

TIMED_OUT_IN_SCALA = {"rebalance_has_a_cause", "refusals_are_documented"}
"""The coordinator in Scala answers a write that timed out with REBALANCE_IN_PROGRESS, or with REQUEST_TIMED_OUT."""


RESTARTED = [
    "setting initial_rebalance_delay_ms=0",
    "join a instance=i",
    "join b instance=j",
    "join a instance=i",
    "sync a last give=a:A,b:B instance=i",
    "sync b last instance=j",
    "failover",
]

DEFECTS = {
    "assignment-not-persisted": ("persisted_before_propagated", random_scenario(0)),
    "late-sync-gets-nothing": ("one_assignment_per_generation", random_scenario(30)),
    "load-forgets-static-followers": ("load_restores_the_log", RESTARTED),
    "deletes-any-group": ("only_empty_groups_are_deleted", random_scenario(2)),
}
"""A planted defect, the claim that it breaks, and a scenario in which it does."""


def history_of_ours(scenario: list[str], mutant: str = "") -> list[Event]:
    config, made = settings_of(scenario[0]), count(1)
    assert config is not None
    ours = InProcess(config, new_member_id=lambda prefix: f"{prefix}-{next(made)}")
    with planted(mutant):
        return observed_history(ours, "ours", scenario)


def history_of_kafka(kafka: VirtualKafka, scenario: list[str], seed: int) -> list[Event]:
    config = settings_of(scenario[0])
    assert config is not None
    coordinator = VirtualCoordinator(kafka, config, seed)
    try:
        return observed_history(coordinator, kafka.release.name, scenario)
    finally:
        coordinator.close()


def records_of(history: list[Event]) -> list[GroupMetadataWritten | GroupMetadataAppended]:
    return [event for event in history if isinstance(event, GroupMetadataWritten | GroupMetadataAppended)]


@pytest.mark.virtual
def test_kafkas_coordinators_keep_what_is_on_record__and_each_claim_hears_of_it(kafka: VirtualKafka) -> None:
    checked_events: Counter[str] = Counter()
    for seed in range(40):
        for claim, verdict in judge(history_of_kafka(kafka, random_scenario(seed), seed), PERSISTENCE).verdicts.items():
            assert isinstance(verdict, Held | Untested), (seed, verdict)
            checked_events[claim.name] += getattr(verdict, "checked_events", 0)
    print(checked_events)

    assert checked_events.keys() == {claim.name for claim in PERSISTENCE}
    assert all(checked_events.values())


@pytest.mark.virtual
def test_kafkas_coordinators_hold_every_invariant_that_judges_their_replies(kafka: VirtualKafka) -> None:
    """Those that campaigns judge step by step are left out: `test_virtual_differential` has what they find in Kafka."""
    left_out = {*JUDGED, *(TIMED_OUT_IN_SCALA if kafka.release.scala else ())}
    judged = [invariant for invariant in CATALOGUE if invariant.name not in left_out]
    held: set[str] = set()
    histories = [history_of_kafka(kafka, random_scenario(seed), seed) for seed in range(60)]
    assert_seen("virtual kafka", *histories)
    for seed, history in enumerate(histories):
        verdicts = judge(history, judged).verdicts
        assert [(seed, verdict) for verdict in verdicts.values() if verdict.outcome is Outcome.VIOLATED] == []
        held.update(invariant.name for invariant, verdict in verdicts.items() if isinstance(verdict, Held))
    assert held >= OF_REPLIES - left_out


@pytest.mark.virtual
def test_a_record_is_written_when_it_is_appended__and_committed_when_the_log_says_so(kafka: VirtualKafka) -> None:
    scenario = ["setting initial_rebalance_delay_ms=0", "join a version=3", "hold", "sync a last give=a:A", "release"]
    ends = [records_of(history_of_kafka(kafka, scenario[:length], 1))[-1] for length in (4, 5)]

    assert [(type(event), event.generation) for event in ends] == [
        (GroupMetadataWritten, 1),
        (GroupMetadataAppended, 1),
    ]


@pytest.mark.virtual
def test_what_a_failover_loses_is_recorded(kafka: VirtualKafka) -> None:
    history = history_of_kafka(kafka, ["setting max_size=100", "join a", "join a", "failover lose=1", "join b"], 1)

    assert [event.records for event in history if isinstance(event, LogTailLost)] == [1]


@pytest.mark.parametrize(
    ("defect", "breaks"),
    [
        ("commit-accepted-while-completing", "requests_are_fenced"),
        ("join-keeps-absent-members", "generation_has_only_joined"),
    ],
)
def test_a_defect_in_kafkas_place_breaks_the_claim_about_the_reply(defect: str, breaks: str) -> None:
    found = {claim for seed in range(40) for claim in broken_by(history_of_ours(random_scenario(seed), defect))}
    assert breaks in found


def broken_by(history: list[Event]) -> set[str]:
    return {found.invariant for found in judge(history, select(["coordinator", "generation"])).counterexamples}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_in_kafkas_place_breaks_the_claim_about_the_log(defect: str) -> None:
    claim, scenario = DEFECTS[defect]
    verdict = judge(history_of_ours(scenario, defect), PERSISTENCE).verdict(claim)

    assert verdict.outcome is Outcome.VIOLATED
    assert judge(history_of_ours(scenario), PERSISTENCE).counterexamples == ()


def test_every_claim_about_the_log_has_a_defect_that_breaks_it() -> None:
    of_the_log = {claim.name for claim in PERSISTENCE}
    assert {claim for claim, _ in DEFECTS.values()} == of_the_log


def test_a_history_is_a_function_of_its_scenario() -> None:
    assert history_of_ours(random_scenario(7)) == history_of_ours(random_scenario(7))
