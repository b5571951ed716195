"""A diagnosis of the broker's own topic agrees with the recording of the run that has just disturbed the group."""

from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from rebalance_check.commands._cluster_source import cluster_sources
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.live.settings import ClientName
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.events import Event, PartitionsAssigned
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.pipeline.diagnose.diagnosis import of_sources
from rebalance_check.pipeline.diagnose.histories import history_facts
from rebalance_check.pipeline.diagnose.sources import Source
from rebalance_check.properties.history import encode
from tests.integration.brokers.test_live_on_broker import ZOMBIES, live_run

pytestmark = pytest.mark.broker

NEAR_MS: Final = 500
"""Between a reply at the client and the record's timestamp, on a busy machine."""
KAFKA_PYTHON, LIBRDKAFKA, *_ = ClientName


def recorded_owners(history: list[Event]) -> dict[int, dict[str, tuple[str, ...]]]:
    """The partitions that each member id was assigned in each generation; eager members get all of them anew."""
    owners: dict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for event in history:
        if isinstance(event, PartitionsAssigned) and event.generation > 0:
            owners[event.generation][event.member_id] = tuple(sorted(event.partitions))
    return owners


@pytest.mark.parametrize("client", [KAFKA_PYTHON, LIBRDKAFKA])
def test_the_topic_tells_members_owners_and_times_of_each_generation(
    real: Broker, tmp_path: Path, client: ClientName
) -> None:
    schedule = Schedule(Bounds(protocol=RebalanceProtocol.EAGER, members=3, partitions=6), ZOMBIES)
    history = live_run(real, "eager", (client,), schedule, tmp_path)
    name = history[0].group
    recording = Source("recording")
    recording.take(history_facts(enumerate((encode(event).decode() for event in history), 1), "recording"))
    sources = cluster_sources(real.bootstrap, None, (), [name])
    assert not [source.fault for source in sources if source.fault]

    (found,) = of_sources(sources, [name]).groups
    (known,) = of_sources([recording], [name]).groups
    by_generation = {one.generation: one for one in found.group.rebalances}
    owners = recorded_owners(history)
    assert owners
    for generation, assigned in owners.items():
        stored = by_generation[generation].assignments or {}
        assert {member: tuple(sorted(stored[member])) for member in assigned} == assigned
    distances = [
        (by_generation[one.generation].end_ms or 0) - (one.end_ms or 0)
        for one in known.group.rebalances
        if one.generation in by_generation
    ]
    assert max(distances) - min(distances) <= NEAR_MS
    assert not [finding for finding in found.findings if finding.severity.value == "fault"]
