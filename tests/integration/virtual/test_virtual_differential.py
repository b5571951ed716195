"""Random scenarios: our coordinator does what Kafka's does, and a coordinator that does not is found out."""

import pytest

from rebalance_check.impl.scenarios.random_scenarios import random_scenario
from rebalance_check.integration.comparison.scenarios.campaign import campaign, finding_in, smaller
from rebalance_check.integration.comparison.scenarios.run import DIFFERENTIAL
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.properties.catalogue import KAFKA_BREAKS

EVERYWHERE = ("4.3.1", "3.9.2", "3.9.2-scala")
JAVA = ("4.3.1", "3.9.2")
SCALA = ("3.9.2-scala",)
OLDER_JAVA = ("3.9.2",)

REPLACED_TWICE = [
    "setting initial_rebalance_delay_ms=0",
    "join a instance=i session=30000",
    "sync a 1 give=a:A version=3 instance=i",
    "hold",
    "join b instance=i session=30000",
    "join c instance=i session=30000",
    "advance 5000",
]

BROKEN = {
    "no_server_error": (EVERYWHERE, [
        "setting initial_rebalance_delay_ms=0",
        "join d version=4",
        "join d instance=i",
    ]),
    "group_fits_max_size": (EVERYWHERE, [
        "setting initial_rebalance_delay_ms=0 max_size=2",
        "join s instance=i session=30000 rebalance=2000",
        "join t version=1 session=30000 rebalance=2000",
        "join u version=1 session=30000 rebalance=2000",
        "advance 10000",
    ]),
    "fenced_stays_fenced": (EVERYWHERE, REPLACED_TWICE),
    "parked_member_stays": (EVERYWHERE, [
        "setting initial_rebalance_delay_ms=0",
        "join a session=30000 rebalance=60000 version=3",
        "join b session=3000 rebalance=60000",
        "join b session=3000 rebalance=60000",
        "heartbeat b 1",
        "advance 3000",
    ]),
    "members_are_known": (JAVA, [  # in Scala no record is written at that time
        "setting initial_rebalance_delay_ms=8000",
        "hold",
        "join a version=3",
        "advance 8000",
        "release",
    ]),
    "leave_without_members_changes_nothing": (JAVA, [
        "setting initial_rebalance_delay_ms=0",
        "join a version=3",
        "join b",
        "leave b",
    ]),
    "join_phase_ends": (JAVA, [
        "setting initial_rebalance_delay_ms=0 max_size=2",
        "join a version=3 rebalance=60000",
        "join c version=3",
        "join d version=3",
        "join a version=3",
    ]),
    "generations_have_members": (JAVA, [
        "setting initial_rebalance_delay_ms=3000",
        "fail NOT_ENOUGH_REPLICAS",
        "join b instance=i",
        "fail",
        "join a",
        "advance 3000",
    ]),
    "refused_join_leaves_no_trace": (SCALA, [
        "setting initial_rebalance_delay_ms=0",
        "join b instance=i",
        "sync b 1 instance=i",
        "fail NOT_LEADER_OR_FOLLOWER",
        "join b instance=i protocols=range:1 as==",
    ]),
    "kept_offsets_keep_their_group": (OLDER_JAVA, [
        "setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000",
        "txn-commit - -1",
        "advance 10000",
    ]),
}  # fmt: skip
"""A claim, the coordinators of Kafka that break it, and a scenario in which they do, apart from any campaign."""

FOUND_BY = {
    "members_are_known": 45,
    "group_fits_max_size": 48,
    "leave_without_members_changes_nothing": 34,
    "parked_member_stays": 228,
    "no_server_error": 86,
    "fenced_stays_fenced": 523,
    "join_phase_ends": 26,
    "refused_join_leaves_no_trace": 3079,
    "generations_have_members": 619,
    "kept_offsets_keep_their_group": 207,
}
"""A claim, and the seed of a random scenario that breaks it: those of TRACK_RECORD.md."""

REPLACED_WHILE_NEW = [
    "setting initial_rebalance_delay_ms=8000",
    "join c session=3000 instance=j",
    "join c session=3000 instance=j as==",
    "advance 3000",
]


@pytest.mark.virtual
def test_ours_and_kafkas_are_equal__in_random_scenarios_with_and_without_faults(kafka: VirtualKafka) -> None:
    names = ("members_are_known",) if kafka.release.scala else (DIFFERENTIAL,)
    done = campaign(kafka, range(40), names=names)
    print(done)

    assert done.counts["steps"] > 1_000
    assert list(map(str, done.differences)) == []


@pytest.mark.virtual
@pytest.mark.parametrize("name", BROKEN)
def test_a_claim_is_broken_by_kafka_itself__on_some_coordinators_and_not_on_others(
    kafka: VirtualKafka, name: str
) -> None:
    coordinators, scenario = BROKEN[name]
    found = finding_in(kafka, scenario, 1, (name,))

    assert (found is not None) == (kafka.release.name.removeprefix("virtual ") in coordinators)
    assert found is None or found.start.name == name


@pytest.mark.virtual
def test_a_member_that_is_replaced_while_it_is_new_stays__but_in_scala(kafka: VirtualKafka) -> None:
    found = finding_in(kafka, REPLACED_WHILE_NEW, 1, ("parked_member_stays",))

    assert (found is not None) == kafka.release.scala


@pytest.mark.virtual
@pytest.mark.parametrize("name", FOUND_BY)
def test_a_campaign_comes_upon_it_by_itself(kafka: VirtualKafka, name: str) -> None:
    found = finding_in(kafka, random_scenario(FOUND_BY[name]), FOUND_BY[name], (name,))

    assert (found is not None) == (kafka.release.name.removeprefix("virtual ") in BROKEN[name][0])


@pytest.mark.virtual
def test_a_finding_is_shrunk_to_what_it_needs(kafka: VirtualKafka) -> None:
    scenario = ["setting max_size=100", "fetch", "join c", "advance 100", "join d version=4", "commit c 0",
             "join d instance=i"]  # fmt: skip
    found = finding_in(kafka, scenario, 1, ("no_server_error",))
    assert found is not None

    assert smaller(kafka, found).steps == ("setting max_size=100", "join d version=4", "join d instance=i")


def test_a_seed_is_one_scenario() -> None:
    assert random_scenario(7) == random_scenario(7)
    assert random_scenario(7) != random_scenario(8)


def test_every_claim_has_a_name_of_its_own__and_a_scenario_that_breaks_it() -> None:
    assert sorted(claim.name for claim in KAFKA_BREAKS) == sorted(BROKEN)
