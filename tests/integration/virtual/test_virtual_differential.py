"""Random stories: our coordinator does what Kafka's does, and a coordinator that does not is found out."""

import pytest

from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.integration.virtual.differential import DIFFERENTIAL, campaign, finding_in, shrunk
from rebalance_check.integration.virtual.random_stories import random_story
from rebalance_check.integration.virtual.story_claims import CLAIMS

KNOWN_OF = {
    "no_server_error": [
        "setting initial_rebalance_delay_ms=0",
        "join d version=4",
        "join d instance=i",
    ],
    "group_size": [
        "setting initial_rebalance_delay_ms=0 max_size=2",
        "join s instance=i session=30000 rebalance=2000",
        "join t version=1 session=30000 rebalance=2000",
        "join u version=1 session=30000 rebalance=2000",
        "advance 10000",
    ],
    "fenced_stays_fenced": [
        "setting initial_rebalance_delay_ms=0",
        "join a instance=i session=30000",
        "sync a 1 give=a:A version=3 instance=i",
        "hold",
        "join b instance=i session=30000",
        "join c instance=i session=30000",
        "advance 5000",
        "release",
    ],
    "parked_member_stays": [
        "setting initial_rebalance_delay_ms=0",
        "join a session=30000 rebalance=60000 version=3",
        "join b session=3000 rebalance=60000",
        "join b session=3000 rebalance=60000",
        "heartbeat b 1",
        "advance 3000",
    ],
}
"""Stories in which every release breaks a claim, apart from any campaign."""


@pytest.mark.virtual
def test_ours_and_kafkas_are_equal__in_random_stories_with_and_without_faults(kafka: VirtualKafka) -> None:
    names = ("members_are_known",) if kafka.release.scala else (DIFFERENTIAL,)
    done = campaign(kafka, range(40), names=names)
    print(done)

    assert done.steps > 1_000
    assert [str(each) for each in done.found] == []


@pytest.mark.virtual
@pytest.mark.parametrize("name", KNOWN_OF)
def test_a_claim_is_broken_by_kafka_itself(kafka: VirtualKafka, name: str) -> None:
    found, _ = finding_in(kafka, KNOWN_OF[name], 1, (name,))

    assert found is not None
    assert found.name == name


@pytest.mark.virtual
def test_a_member_that_nobody_knows_stays__where_a_group_waits_for_its_first_write(kafka: VirtualKafka) -> None:
    story = ["setting initial_rebalance_delay_ms=8000", "hold", "join a version=3", "advance 8000", "release"]
    found, _ = finding_in(kafka, story, 1, ("members_are_known",))

    assert (found is None) == kafka.release.scala  # which writes no record at that time


@pytest.mark.virtual
def test_a_leave_of_nobody_rebalances__in_the_java_coordinators(kafka: VirtualKafka) -> None:
    story = ["setting initial_rebalance_delay_ms=0", "join a version=3", "join b", "leave b"]
    found, _ = finding_in(kafka, story, 1, ("leave_without_members_changes_nothing",))

    assert (found is None) == kafka.release.scala


@pytest.mark.virtual
def test_a_finding_is_shrunk_to_what_it_needs(kafka: VirtualKafka) -> None:
    story = ["setting max_size=100", "fetch", "join c", "advance 100", "join d version=4", "commit c 0",
             "join d instance=i"]  # fmt: skip
    found, _ = finding_in(kafka, story, 1, ("no_server_error",))
    assert found is not None

    assert shrunk(kafka, found).story == ("setting max_size=100", "join d version=4", "join d instance=i")


def test_a_seed_is_one_story() -> None:
    assert random_story(7) == random_story(7)
    assert random_story(7) != random_story(8)


def test_every_claim_has_a_name_of_its_own() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
