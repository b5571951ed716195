"""The same schedule gives the same bytes in any process; another seed gives other member ids."""

from itertools import islice
from random import Random

import pytest

from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.integration.virtual import Release, VirtualKafka, VirtualTransport, find_release
from rebalance_check.model.checker.walks import Graph, tour
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule

pytestmark = pytest.mark.virtual

BOUNDS = Bounds.from_address(
    "cooperative?partitions=2&generations=3&leaves=1&expiries=1&duplicates=1&member_id_required"
)


def schedules() -> list[Schedule]:
    return list(islice(tour(Graph(machine_for(BOUNDS), shuffle=Random(7)), steps=40), 12))


def bytes_of(release: Release, seed: int, times: int = 1) -> list[bytes]:
    """All that a new process sends, for each time that the schedules are run."""
    found = []
    with VirtualKafka(release) as kafka:
        for _ in range(times):
            kafka.trace = []
            for number, schedule in enumerate(schedules()):
                conformance = ConformanceRun(VirtualTransport(kafka, seed + number), schedule.bounds)
                for action in schedule.actions:
                    conformance.perform(action)
                conformance.close()
            found.append(b"".join(kafka.trace))
    return found


@pytest.mark.parametrize("spec", ["virtual:4.3.1", "virtual:3.9.2", "virtual:3.9.2-scala"])
def test_two_new_processes_send_equal_bytes(spec: str) -> None:
    release = find_release(spec)
    first, second = bytes_of(release, seed=1), bytes_of(release, seed=1)
    assert len(first[0]) > 10_000
    assert first == second


def test_another_seed_gives_other_member_ids() -> None:
    release = find_release("virtual:4.3.1")
    assert bytes_of(release, seed=1) != bytes_of(release, seed=1000)
