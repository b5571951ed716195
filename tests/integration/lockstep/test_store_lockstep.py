"""Kafka's own stores and ours do the same: what they write, send, retry, report, throw and know, after every step."""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

import pytest

from rebalance_check.impl.connect.status.codec import ValueFormat
from rebalance_check.impl.mutants import planted
from rebalance_check.integration.comparison.stores.compare import compare
from rebalance_check.integration.comparison.stores.config_ours import OurConfigStores
from rebalance_check.integration.comparison.stores.config_sequences import call_sequences, record_sequences
from rebalance_check.integration.comparison.stores.java_stores import JavaStores, StoreKind
from rebalance_check.integration.comparison.stores.sequence import OurStores, StepSequence
from rebalance_check.integration.comparison.stores.status_ours import OurStatusStores
from rebalance_check.integration.comparison.stores.status_sequences import status_sequences
from rebalance_check.integration.virtual import Release

pytestmark = pytest.mark.virtual


class Row(NamedTuple):
    """A kind of store and of sequences: ``some`` with the ``least`` number of steps, and ``many`` in a nightly run."""

    kind: StoreKind
    sequences: Callable[[Random, int], list[StepSequence]]
    some: int
    least: int
    many: int
    least_of_many: int


ROWS = {
    "records": Row(StoreKind.CONFIG, record_sequences, 400, 4_000, 2_000, 20_000),
    "calls": Row(StoreKind.CONFIG, call_sequences, 400, 3_000, 2_000, 15_000),
    "status": Row(StoreKind.STATUS, status_sequences, 500, 10_000, 3_000, 60_000),
}
PLANTED = {
    "removal-drops-target-state": "records",
    "offset-advances-on-bad-json": "records",
    "connect-deferred-task-updates-never-dropped": "records",
    "retry-unchecked": "status",
}
"""A defect of one of our stores, and the sequences that show it."""

both = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


@pytest.fixture(scope="session")
def java(release: Release) -> Iterator[dict[StoreKind, JavaStores]]:
    with JavaStores(release, StoreKind.CONFIG) as configs, JavaStores(release, StoreKind.STATUS) as statuses:
        yield {StoreKind.CONFIG: configs, StoreKind.STATUS: statuses}


def ours(kind: StoreKind, release: Release) -> OurStores:
    if kind is StoreKind.CONFIG:
        return OurConfigStores()
    return OurStatusStores(ValueFormat.KAFKA_3_9 if release.version.startswith("3.9") else ValueFormat.KAFKA_4_3)


Java = dict[StoreKind, JavaStores]


@both
def test_random_sequences_have_the_same_effects(release: Release, java: Java, row: Row) -> None:
    found = compare(ours(row.kind, release), java[row.kind], row.sequences(Random(10), row.some))
    assert list(map(str, found.differences[:3])) == []
    assert found.counts["steps"] > row.least


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
@both
def test_thousands_of_sequences_have_the_same_effects(release: Release, java: Java, row: Row, seed: int) -> None:
    found = compare(ours(row.kind, release), java[row.kind], row.sequences(Random(seed), row.many))
    assert list(map(str, found.differences[:3])) == []
    assert found.counts["steps"] > row.least_of_many


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_a_difference__which_is_made_small(release: Release, java: Java, defect: str) -> None:
    row = ROWS[PLANTED[defect]]
    with planted(defect):
        found = compare(ours(row.kind, release), java[row.kind], row.sequences(Random(11), 150))
    assert len(found.differences[0].steps) <= 6


def test_what_is_compared_shows_every_kind_of_effect(release: Release) -> None:
    runs = ours(StoreKind.STATUS, release).perform_all(status_sequences(Random(10), 500))
    seen = {line.split()[0] for run in runs for shown in run for line in shown.trace}
    assert {"send", "SWALLOWED", "THROWS", "ESCAPES", "log.stop", "retries.await", "log.flush"} <= seen


def test_a_store_that_writes_as_another_release_does_differs(release: Release, java: Java) -> None:
    other = ValueFormat.KAFKA_4_3 if release.version.startswith("3.9") else ValueFormat.KAFKA_3_9
    assert compare(OurStatusStores(other), java[StoreKind.STATUS], status_sequences(Random(10), 20)).differences
