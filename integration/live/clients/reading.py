"""How consumers of ours read: they fetch no records, a partition counts as read one record further with each step."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.fetching import FetchOutcome, OffsetFetch

RECORDS: Final = 200
"""As many as a live topic holds in each partition."""


class Reading:
    """Reads the partitions of ``consumer``, from the committed offsets on, or from the start where there are none."""

    def __init__(self, consumer: ConsumerCoordinator) -> None:
        self._consumer = consumer
        self._fetch: OffsetFetch | None = None

    def step(self, now_ms: int) -> None:
        """Read one record of each partition whose position is known, and look the others' positions up."""
        consumer = self._consumer
        positions = consumer.positions()
        for partition in consumer.fetchable():
            if partition in positions:
                consumer.consumed(partition, min(positions[partition] + 1, RECORDS))
        fetch, self._fetch = self._fetch, None
        unknown = [partition for partition in consumer.owned if partition not in positions]
        if fetch is not None and fetch.outcome is FetchOutcome.PENDING:
            self._fetch = fetch
        elif fetch is not None and fetch.outcome is FetchOutcome.FETCHED:
            self._start_from(fetch)
        elif unknown:
            self._fetch = consumer.committed(unknown, now_ms)

    def _start_from(self, fetch: OffsetFetch) -> None:
        consumer = self._consumer
        consumer.start_from(fetch)
        for partition in fetch.partitions:
            if partition in consumer.owned and partition not in consumer.positions():
                consumer.consumed(partition, 0)
