"""Kafka's own config store and ours do the same: what they write, report, throw and know, after every step."""

from collections.abc import Iterator
from random import Random

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.lockstep.compare import compare
from rebalance_check.integration.lockstep.config_ours import OurConfigStores
from rebalance_check.integration.lockstep.config_sequences import call_sequences, record_sequences
from rebalance_check.integration.lockstep.java_stores import JavaStores, StoreKind
from rebalance_check.integration.lockstep.sequence import StepSequence
from rebalance_check.integration.virtual import Release

pytestmark = pytest.mark.virtual

SEQUENCES = 400


@pytest.fixture(scope="session")
def java(release: Release) -> Iterator[JavaStores]:
    with JavaStores(release, StoreKind.CONFIG) as started:
        yield started


def agree(java: JavaStores, sequences: list[StepSequence], least: int) -> None:
    found = compare(OurConfigStores(), java, sequences)
    assert [str(difference) for difference in found.differences[:3]] == []
    assert found.steps > least


def test_records_of_every_kind_well_formed_or_not_have_the_same_effects(java: JavaStores) -> None:
    agree(java, record_sequences(Random(10), SEQUENCES), least=4000)


def test_calls_write_read_back_and_fail_alike(java: JavaStores) -> None:
    agree(java, call_sequences(Random(11), SEQUENCES), least=3000)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_thousands_of_sequences_have_the_same_effects(java: JavaStores, seed: int) -> None:
    agree(java, record_sequences(Random(seed), 2000) + call_sequences(Random(seed), 2000), least=30_000)


@pytest.mark.parametrize(
    "mutant",
    [
        "removal-drops-target-state", "leftovers-outlive-their-connector", "deferred-outlive-a-commit",
        "offset-advances-on-bad-json",
    ],
)  # fmt: skip
def test_a_planted_defect_is_a_difference(java: JavaStores, mutant: str) -> None:
    sequences = record_sequences(Random(11), 150) + call_sequences(Random(11), 50)
    with planted(mutant):
        assert compare(OurConfigStores(), java, sequences).differences
