"""The invariants of safe status writes judge Kafka's own status stores, three over one topic."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from rebalance_check.impl.connect.status.codec import ValueFormat
from rebalance_check.integration.comparison.stores.java_stores import JavaStores, StoreKind
from rebalance_check.integration.comparison.stores.sequence import Observation, OneStore, Step, StepSequence, Stores
from rebalance_check.integration.comparison.stores.status_cluster import recorded_cluster
from rebalance_check.integration.comparison.stores.status_ours import OurStatusStores
from rebalance_check.integration.virtual import Release
from rebalance_check.model.vocabulary.events import Event, RunStarted
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws import status
from rebalance_check.properties.verdict import Held
from tests.integration.seen import assert_seen

pytestmark = pytest.mark.virtual

SEEDS = range(20)
OF_STORES = [one for one in status.LAWS if one.name.startswith("safe_status_writes.")]


@pytest.fixture(scope="module")
def java(release: Release) -> Iterator[JavaStores]:
    with JavaStores(release, StoreKind.STATUS) as started:
        yield started


@pytest.fixture(scope="module")
def histories(java: JavaStores) -> list[list[Event]]:
    return [recorded_cluster(java, seed) for seed in SEEDS]


def broken(history: list[Event]) -> set[str]:
    return {found.invariant.removeprefix("safe_status_writes.") for found in judge(history, OF_STORES).counterexamples}


def test_kafkas_own_stores_hold_every_invariant(histories: list[list[Event]]) -> None:
    assert_seen("lockstep: status", *histories)
    held: set[str] = set()
    for history in histories:
        judgement = judge(history, OF_STORES)
        assert judgement.counterexamples == ()
        held.update(one.name for one, verdict in judgement.verdicts.items() if isinstance(verdict, Held))
    assert held == {one.name for one in OF_STORES}


def test_ours_have_the_histories_of_kafkas(release: Release, histories: list[list[Event]]) -> None:
    layout = ValueFormat.KAFKA_3_9 if release.version.startswith("3.9") else ValueFormat.KAFKA_4_3
    ours = OurStatusStores(layout)
    for seed, theirs in zip(SEEDS, histories, strict=True):
        begin = theirs[0]
        assert isinstance(begin, RunStarted)
        assert [replace(begin, subject=ours.name), *theirs[1:]] == recorded_cluster(ours, seed)


@dataclass(frozen=True)
class Changed:
    """Stores of a side whose steps are other ones, or whose observations are."""

    side: Stores
    name: str

    def open(self, name: str) -> OneStore:
        return _Changed(self.side.open(f"{self.name} {name}"), self.name)

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        return self.side.perform_all(sequences)


@dataclass
class _Changed:
    store: OneStore
    name: str

    def perform(self, step: Step) -> Observation:
        match self.name, step["op"]:
            case "unchecked", "put":
                return self.store.perform({**step, "safe": False})
            case "forgetful", "read" if step["value"] is None:
                return Observation(self.store.perform({**step, "value": "7"}).trace, {})
            case "wrong", "put":
                return self.store.perform({**step, "generation": step["generation"] + 1})
            case _:
                return self.store.perform(step)


@pytest.mark.parametrize(
    ("change", "breaks"),
    [
        ("unchecked", {"suppressed_iff_newer_cached"}),
        ("forgetful", {"cache_follows_reads"}),
        ("wrong", {"suppressed_iff_newer_cached"}),
    ],
)
def test_a_store_that_does_otherwise_is_found(java: JavaStores, change: str, breaks: set[str]) -> None:
    found: set[str] = set()
    for seed in SEEDS:
        found |= broken(recorded_cluster(Changed(java, change), seed))
    assert found >= breaks
