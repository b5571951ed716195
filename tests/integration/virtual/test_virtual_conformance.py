"""Every transition of small bounds is executed on Kafka's own coordinators; what differs is known, and listed."""

from itertools import islice
from random import Random

import pytest

from rebalance_check.impl.comparison.compare import compared
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.known import known
from rebalance_check.impl.comparison.to_model.tour import Tour
from rebalance_check.impl.comparison.to_model.touring import is_complete, tour_of_transitions
from rebalance_check.impl.comparison.to_model.walk import Itinerary, Walk
from rebalance_check.integration.comparison.to_model.kafka import virtual_coordinator
from rebalance_check.integration.comparison.to_model.known import KNOWN
from rebalance_check.integration.virtual import VirtualKafka, VirtualSubject
from rebalance_check.model.checker.walks import Graph, tour
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import run
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge

SMALL = (
    "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=single-upgrade&rolling_restarts=2",
    "eager?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2",
    "eager?members=2&partitions=2&generations=2&crashes=0&initial_delay=off",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&leaves=1&initial_delay=off",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&duplicates=1&deletions=1&member_id_required",
    "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1",
    "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&commits=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1",
    "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts&static_members=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1&commits=1",
    "eager?members=1&partitions=1&generations=2&initial_delay=off&static_members=1&failovers=1",
    "eager?members=1&partitions=1&generations=3&initial_delay=off&upgrade=legal&rolling_restarts=2&static_members=1",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&new_members",
    "eager?members=2&partitions=1&generations=1&crashes=0&leaves=1&initial_delay=off&member_id_required&new_members",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&initial_delay=off&heartbeats_during_sync=2",
)
LARGE = (
    "eager?members=2&partitions=2&crashes=0&initial_delay=off&upgrade=reused-name&rolling_restarts=2",
    "eager?members=2&partitions=1&generations=5&crashes=0&initial_delay=off&upgrade=wrong-order&rolling_restarts=3",
    "eager?members=2&partitions=1&crashes=0&initial_delay=off&member_id_required&upgrade=wrong-order&rolling_restarts=2",
    "cooperative?members=2&partitions=2&generations=5&crashes=0&initial_delay=off&upgrade=downgrade&rolling_restarts=2",
    "eager?members=2&partitions=1&generations=3&initial_delay=off&upgrade=single-upgrade&rolling_restarts=1",
    "eager?members=2&partitions=1&generations=3&crashes=0&duplicates=1&initial_delay=off&upgrade=single-upgrade&rolling_restarts=1",
    "eager?members=2&partitions=2&generations=2&leaves=1&initial_delay=off",
    "eager?members=2&partitions=2&generations=2&initial_delay=off&member_id_required",
    "eager?members=2&partitions=1&generations=2&crashes=0&leaves=1&expiries=1&initial_delay=off&member_id_required",
    "eager?members=2&partitions=2&generations=2&crashes=0&expiries=1&duplicates=1&initial_delay=off",
    "eager?members=2&partitions=2&generations=3&leaves=1",
    "cooperative?members=2&partitions=2&generations=3&leaves=1&initial_delay=off",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&leaves=1&expiries=1&initial_delay=off&member_id_required",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&leaves=1&duplicates=1&initial_delay=off",
    "eager?partitions=1&generations=2&initial_delay=off",
    "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&member_id_required&timeouts",
    "cooperative?members=2&partitions=1&generations=2&crashes=0&expiries=1&duplicates=1&initial_delay=off&timeouts",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&initial_delay=off&member_id_required&losses=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1",
    "cooperative?members=2&partitions=1&generations=1&crashes=0&expiries=1&initial_delay=off&member_id_required&failovers=1",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&expiries=1&initial_delay=off&commits=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&duplicates=1&initial_delay=off&commits=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1&failovers=1&commits=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&deletions=1&initial_delay=off&failovers=1&commits=2",
    "eager?members=2&partitions=1&generations=2&expiries=1&initial_delay=off&timeouts&static_members=2",
    "cooperative?members=2&partitions=1&generations=2&expiries=1&initial_delay=off&member_id_required&timeouts&static_members=1",
    "cooperative?members=2&partitions=2&generations=2&leaves=1&expiries=1&duplicates=1&timeouts&static_members=2&shared_instances=1",
    "cooperative?partitions=1&generations=2&crashes=0&initial_delay=off&static_members=3&shared_instances=1",
    "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1&failovers=1",
    "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&static_members=2",
    "eager?members=1&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&failovers=1",
    "cooperative?members=2&partitions=2&generations=3&crashes=0&initial_delay=off&upgrade=downgrade&rolling_restarts=2&static_members=2",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&member_id_required&new_members",
    "eager?members=2&partitions=1&generations=2&crashes=0&leaves=1&expiries=1&initial_delay=off&member_id_required&new_members",
    "cooperative?members=2&partitions=1&generations=2&expiries=1&initial_delay=off&timeouts&new_members",
    "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&heartbeats_during_sync=1",
)


def all_transitions(kafka: VirtualKafka, address: str) -> Compared:
    seen = tour_of_transitions(virtual_coordinator(kafka), Bounds.from_address(address), stop_after=1_000)
    print(seen)
    return seen


def assert_conforms(seen: Compared) -> None:
    """All transitions were executed, but for those behind others that differ, which are listed for this coordinator."""
    assert seen.counts["never taken"] == 0 or seen.known
    assert is_complete(seen)
    assert list(map(str, seen.differences)) == []


@pytest.mark.virtual
@pytest.mark.parametrize("address", SMALL)
def test_kafka_does_what_the_model_says__on_every_transition(kafka: VirtualKafka, address: str) -> None:
    assert_conforms(all_transitions(kafka, address))


@pytest.mark.virtual
@pytest.mark.nightly
@pytest.mark.parametrize("address", LARGE)
def test_kafka_does_what_the_model_says__on_every_transition_of_larger_bounds(
    kafka: VirtualKafka, address: str
) -> None:
    assert_conforms(all_transitions(kafka, address))


@pytest.mark.virtual
def test_every_known_difference_is_one__on_the_coordinators_it_is_listed_for(kafka: VirtualKafka) -> None:
    coordinator = virtual_coordinator(kafka)
    for each in KNOWN:
        for schedule in each.examples:
            found = compared(Walk(coordinator.run(schedule.bounds, schedule.seed), Itinerary(schedule.actions)))
            assert (found is not None) == each.concerns(kafka.release), each.name
            assert found is None or known(KNOWN, kafka.release, found) is each


@pytest.mark.virtual
def test_histories_of_kafka_break_no_claim(kafka: VirtualKafka) -> None:
    subject = VirtualSubject(kafka)
    bounds = Bounds.from_address("cooperative?partitions=2&generations=3&leaves=1&initial_delay=off")
    for schedule in islice(tour(Graph(machine_for(bounds), shuffle=Random(1)), steps=40), 10):
        judged = judge(run(subject, schedule), CATALOGUE)
        assert judged.counterexamples == ()
        assert subject.difference is None


# ------------------------------------------------------------------------------------------------ the tour itself


@pytest.mark.parametrize("address", SMALL)
def test_a_tour_leaves_no_transition_out__whatever_is_chosen_comes_true(address: str) -> None:
    walked = Tour(Bounds.from_address(address))
    while (way := walked.way()) is not None:
        at = walked.initial
        while way:
            for action in way:
                after = walked.after(at, action)
                walked.take(at, action, after)
                at = after
            way = walked.onward(at)
    assert walked.taken == walked.transitions
    assert walked.never_taken == []


def test_a_tour_gives_up_on_a_choice_that_is_never_made() -> None:
    """Where the last choice always comes true, all is taken but the other choices, and what lies beyond them."""
    walked = Tour(Bounds.from_address("eager?members=2&partitions=1&generations=2&initial_delay=off"))
    while (way := walked.way()) is not None:
        at = walked.initial
        while way:
            for action in way:
                last = walked.choices(at, action)[-1]
                after = walked.after(at, last)
                walked.take(at, action, after)
                at = after
                if last != action:
                    break
            way = walked.onward(at)
    assert walked.never_taken != []
    assert walked.taken + len(walked.never_taken) == walked.transitions
