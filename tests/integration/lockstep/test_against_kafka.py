"""The comparisons of our implementation with Kafka's own classes: nothing differs, and a planted defect does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.against_kafka import COMPARISONS, Kafka
from rebalance_check.integration.virtual import Release

pytestmark = pytest.mark.virtual

DEFECTS = {
    "coordinator": "no-sync-deadline",
    "workers": "worker-keeps-tasks-while-joining",
    "herders": "statuses-with-the-groups-generation",
    "config store": "removal-drops-target-state",
    "status store": "retry-unchecked",
    "assignors": "range-boundary-given-twice",
    "Connect's assignors": "connect-deleted-work-runs-on",
}


@pytest.fixture(scope="module")
def classes(release: Release) -> Iterator[Kafka]:
    with Kafka(release) as kafka:
        yield kafka


@pytest.mark.parametrize("subject", COMPARISONS)
def test_ours_does_what_kafkas_does(classes: Kafka, subject: str) -> None:
    assert {seed: found for seed in range(8) if (found := classes.compared(subject, seed))} == {}


@pytest.mark.parametrize("subject", COMPARISONS)
def test_a_planted_defect_is_a_difference(classes: Kafka, subject: str) -> None:
    with planted(DEFECTS[subject]):
        assert any(classes.compared(subject, seed) for seed in range(40))


def test_after_an_exception_the_processes_begin_anew(classes: Kafka) -> None:
    with pytest.raises(KeyError):
        classes.compared("nothing", 0)
    assert classes.compared("config store", 1) == []
