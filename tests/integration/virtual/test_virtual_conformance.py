"""Every transition of small bounds is executed on Kafka's own coordinators; what differs is known, and listed."""

import pytest

from rebalance_check.impl.conformance import ConformanceRun
from rebalance_check.integration.conformance.exhaustive import Conformed, conform
from rebalance_check.integration.conformance.known_differences import KNOWN, known
from rebalance_check.integration.conformance.tour import Tour
from rebalance_check.integration.virtual import VirtualKafka, VirtualSubject, VirtualTransport
from rebalance_check.model.checker.walks import tour
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import run
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge

SMALL = (
    "eager/2m1p3g0c0l0x0d0z0i0r2u2b",
    "eager/2m1p4g0c0l0x0d0z0i0r1u2b",
    "eager/2m2p2g0c0l0x0d0z0i0r",
    "cooperative/2m2p2g0c1l0x0d0z0i0r",
    "eager/1m1p2g1c1l1x1d1z1i1r",
    "eager/2m1p2g1c0l0x0d0z0i0r1t",
    "eager/2m1p2g0c0l0x0d0z0i0r1n",
    "eager/1m1p2g0c0l0x0d0z0i0r1o",
    "eager/2m1p1g0c0l0x0d0z0i0r1o",
    "eager/2m1p2g0c0l0x0d0z0i0r1k",
    "eager/2m1p2g0c0l0x0d0z0i0r2s1y",
    "eager/2m1p2g1c0l0x0d0z0i0r1t1s",
    "eager/1m1p2g0c0l0x0d0z0i0r1o1q",
    "eager/2m1p2g0c0l0x0d0z0i0r2s1y1k",
    "eager/1m1p2g1c0l0x0d0z0i0r1s1o",
    "eager/1m1p3g1c0l0x0d0z0i0r1u2b1s",
    "eager/1m1p2g1c1l1x0d0z1i0r1e",
    "eager/2m1p1g0c1l0x0d0z0i1r1e",
    "eager/1m1p2g1c1l1x0d0z0i0r2h",
)
LARGE = (
    "eager/2m2p4g0c0l0x0d0z0i0r3u2b",
    "eager/2m1p5g0c0l0x0d0z0i0r4u3b",
    "eager/2m1p4g0c0l0x0d0z0i1r4u2b",
    "cooperative/2m2p5g0c0l0x0d0z0i0r6u2b",
    "eager/2m1p3g1c0l0x0d0z0i0r2u1b",
    "eager/2m1p3g0c0l0x1d0z0i0r2u1b",
    "eager/2m2p2g1c1l0x0d0z0i0r",
    "eager/2m2p2g1c0l0x0d0z0i1r",
    "eager/2m1p2g0c1l1x0d0z0i1r",
    "eager/2m2p2g0c0l1x1d0z0i0r",
    "eager/2m2p3g1c1l0x0d0z1i0r",
    "cooperative/2m2p3g1c1l0x0d0z0i0r",
    "cooperative/2m2p2g0c1l1x0d0z0i1r",
    "cooperative/2m2p2g0c1l0x1d0z0i0r",
    "eager/3m1p2g1c0l0x0d0z0i0r",
    "eager/2m1p2g0c0l1x0d0z0i1r1t",
    "cooperative/2m1p2g0c0l1x1d0z0i0r1t",
    "cooperative/2m2p2g0c0l0x0d0z0i1r1n",
    "eager/2m1p2g0c0l0x0d0z0i0r1o",
    "cooperative/2m1p1g0c0l1x0d0z0i1r1o",
    "cooperative/2m2p2g0c0l1x0d0z0i0r1k",
    "eager/2m1p2g0c0l0x1d0z0i0r1k",
    "eager/1m1p2g0c0l0x0d0z0i0r1n1o1k",
    "eager/1m1p2g0c0l0x0d1z0i0r1o2k",
    "eager/2m1p2g1c0l1x0d0z0i0r1t2s",
    "cooperative/2m1p2g1c0l1x0d0z0i1r1t1s",
    "cooperative/2m2p2g1c1l1x1d0z1i0r1t2s1y",
    "cooperative/3m1p2g0c0l0x0d0z0i0r3s1y",
    "eager/2m1p1g0c0l0x0d0z0i0r1o1q",
    "eager/2m1p2g0c0l0x0d0z0i0r2s1y1o",
    "eager/2m1p3g0c0l0x0d0z0i0r1u2b2s",
    "eager/1m1p3g0c0l0x0d0z0i0r1u2b1o",
    "cooperative/2m2p3g0c0l0x0d0z0i0r6u2b2s",
    "eager/1m1p2g1c1l1x0d0z1i1r1e",
    "eager/2m1p2g0c1l1x0d0z0i1r1e",
    "cooperative/2m1p2g1c0l1x0d0z0i0r1t1e",
    "eager/2m1p2g0c0l1x0d0z0i0r1h",
)


def all_transitions(kafka: VirtualKafka, address: str) -> Conformed:
    seen = conform(kafka, Bounds.from_address(address), stop_after=10_000)
    print(seen)
    return seen


def assert_conforms(seen: Conformed, kafka: VirtualKafka) -> None:
    """All transitions were executed, but for those behind others that differ, which are listed for this coordinator."""
    assert seen.never_taken == 0 or seen.differences
    assert seen.executed + seen.never_taken == seen.transitions
    unknown = [
        (schedule.seed, list(map(str, schedule.actions)), str(difference))
        for schedule, difference in seen.differences
        if known(kafka.release, difference) is None
    ]
    assert unknown == []


@pytest.mark.virtual
@pytest.mark.parametrize("address", SMALL)
def test_kafka_does_what_the_model_says__on_every_transition(kafka: VirtualKafka, address: str) -> None:
    assert_conforms(all_transitions(kafka, address), kafka)


@pytest.mark.virtual
@pytest.mark.nightly
@pytest.mark.parametrize("address", LARGE)
def test_kafka_does_what_the_model_says__on_every_transition_of_larger_bounds(
    kafka: VirtualKafka, address: str
) -> None:
    assert_conforms(all_transitions(kafka, address), kafka)


@pytest.mark.virtual
def test_every_known_difference_is_one__on_the_coordinators_it_is_listed_for(kafka: VirtualKafka) -> None:
    for each in KNOWN:
        conformance = ConformanceRun(VirtualTransport(kafka, each.schedule.seed), each.schedule.bounds)
        for action in each.schedule.actions:
            conformance.perform(action)
        conformance.close()
        differs = conformance.difference is not None
        assert differs == each.concerns(kafka.release), each.name
        if conformance.difference is not None:
            assert known(kafka.release, conformance.difference) is each


@pytest.mark.virtual
def test_histories_of_kafka_break_no_claim(kafka: VirtualKafka) -> None:
    subject = VirtualSubject(kafka)
    bounds = Bounds.from_address("cooperative/3m2p3g1c1l0x0d0z0i0r")
    for schedule in tour(machine_for(bounds), 10, 40, seed=1):
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
    walked = Tour(Bounds.from_address("eager/2m1p2g1c0l0x0d0z0i0r"))
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
