"""Kafka's own status store and ours do the same: what they send, retry, suppress, throw and cache, after every step."""

from collections.abc import Iterator
from random import Random

import pytest

from rebalance_check.impl.connect.status.codec import ValueFormat
from rebalance_check.integration.lockstep.compare import compare
from rebalance_check.integration.lockstep.java_stores import JavaStores, StoreKind
from rebalance_check.integration.lockstep.sequence import StepSequence
from rebalance_check.integration.lockstep.status_ours import OurStatusStores
from rebalance_check.integration.lockstep.status_sequences import status_sequences
from rebalance_check.integration.virtual import Release

pytestmark = pytest.mark.virtual

SEQUENCES = 500


@pytest.fixture(scope="session")
def java(release: Release) -> Iterator[JavaStores]:
    with JavaStores(release, StoreKind.STATUS) as started:
        yield started


@pytest.fixture
def ours(release: Release) -> OurStatusStores:
    return OurStatusStores(ValueFormat.KAFKA_3_9 if release.version.startswith("3.9") else ValueFormat.KAFKA_4_3)


def agree(ours: OurStatusStores, java: JavaStores, sequences: list[StepSequence], least: int) -> None:
    found = compare(ours, java, sequences)
    assert [str(difference) for difference in found.differences[:3]] == []
    assert found.steps > least


def test_writes_answers_retries_and_reads_have_the_same_effects(ours: OurStatusStores, java: JavaStores) -> None:
    agree(ours, java, status_sequences(Random(10), SEQUENCES), least=10_000)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_thousands_of_sequences_have_the_same_effects(ours: OurStatusStores, java: JavaStores, seed: int) -> None:
    agree(ours, java, status_sequences(Random(seed), 3000), least=60_000)


def test_what_is_compared_shows_every_kind_of_effect(ours: OurStatusStores) -> None:
    seen = {
        line.split()[0]
        for run in ours.perform_all(status_sequences(Random(10), SEQUENCES))
        for o in run
        for line in o.trace
    }
    assert {"send", "SWALLOWED", "THROWS", "ESCAPES", "log.stop", "retries.await", "log.flush"} <= seen


def test_a_store_that_writes_as_another_release_does_differs(release: Release, java: JavaStores) -> None:
    other = ValueFormat.KAFKA_4_3 if release.version.startswith("3.9") else ValueFormat.KAFKA_3_9
    assert compare(OurStatusStores(other), java, status_sequences(Random(10), 20)).differences
