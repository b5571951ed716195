"""The records of a cluster's config topic and status topic, as events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Final

from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey, read_key
from rebalance_check.impl.connect.status.log import StatusLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.connect.config.tail import TopicTail, read_topic
from rebalance_check.integration.connect.status.store_log import StatusTopic, TopicRecord
from rebalance_check.integration.connect.workers.journal import Stamped
from rebalance_check.integration.connect.workers.settings import ClusterNames
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.model.vocabulary.config_events import ConfigAppended, ConfigCompacted
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.views.config_readers import kind_and_name, state_in, value_of
from rebalance_check.properties.views.config_topic import SHOWN
from rebalance_check.properties.views.worker import FAILED, connector_of

CONFIGS: Final = "config topic"
OBSERVER: Final = "observer"
"""The name of the status store that reads along."""


class _ReadOnly(StatusLog):
    """The log of a store that only reads."""

    def send(self, key: str, value: bytes | None, attempt: int, send: int) -> None:  # noqa: ARG002 - the port's
        """Refuse.

        Raises:
            RebalanceCheckError: always.
        """
        raise RebalanceCheckError(f"the observing store was asked to write {key!r}: it only reads")


class ClusterTopics:
    """The topics of a cluster, created here and read until `close`; ``events`` are records, each with its time, and
    ``statuses`` the records of the status topic.

    Without ``shows_configs`` the config topic's records are no events: which transactional producer appended one, a
    consumer does not see. ``config_topic`` are further settings of the config topic.
    """

    def __init__(
        self, bootstrap: str, names: ClusterNames, wall_to_monotonic_ns: int, config_topic: Mapping[str, str], *,
        shows_configs: bool,
    ) -> None:  # fmt: skip
        self.events: list[Stamped] = []
        self.statuses = StatusTopic(names.statuses)
        self._bootstrap = bootstrap
        self._shows_configs = shows_configs
        self._names = names
        self._seen: set[int] = set()
        self._targets: dict[str, str] = {}
        self._shift_ns = wall_to_monotonic_ns
        self._now_ns = 0
        self._statuses = StatusStore(OBSERVER, _ReadOnly(), Recorder(names.group, OBSERVER, lambda: 0, self._note))
        create_topic(bootstrap, names.configs, 1, compacted=True, configs=config_topic)
        create_topic(bootstrap, names.statuses, 1, compacted=True)
        self._tails = [
            TopicTail(bootstrap, names.configs, self._config),
            TopicTail(bootstrap, names.statuses, self._status),
        ]

    def close(self) -> None:
        """Read the records up to now, and end.

        Raises:
            RebalanceCheckError: a topic could not be read.
        """
        with ExitStack() as stack:
            while self._tails:
                stack.callback(self._tails.pop().close)

    def compacted_configs(self) -> list[tuple[int, str]]:
        """The records of the config topic that are there now, as (offset, key); a deleted one is an event."""
        left = read_topic(self._bootstrap, self._names.configs)
        offsets = {offset for offset, _key in left}
        end = max(offsets, default=-1)
        removed = tuple(sorted(offset for offset in self._seen if offset < end and offset not in offsets))
        if removed:
            self._seen.difference_update(removed)
            event = ConfigCompacted(removed=removed)
            self.events.append((time.monotonic_ns(), replace(event, group=self._names.group, source=CONFIGS)))
        return left

    def config_end(self) -> int:
        """The offset behind the last record of the config topic."""
        return max((offset for offset, _key in read_topic(self._bootstrap, self._names.configs)), default=-1) + 1

    def says_what_runs(self, item: str, worker: str) -> bool:
        """Whether the last status of a connector or task that runs is the worker's, and that of its target state.

        ``worker`` is the worker's id in statuses, host and port.
        """
        connector = connector_of(item)
        key = read_key(f"status-{'connector' if connector == item else 'task'}-{item}")
        said = self._statuses.cache.get(key) if isinstance(key, ConnectorKey | TaskKey) else None
        target = self._targets.get(connector, "STARTED")
        return said is not None and said.worker_id == worker and said.status in {SHOWN[target], FAILED}

    def _config(self, offset: int, key: str | None, value: bytes | None, wall_ns: int) -> None:
        text = None if value is None else value.decode(errors="replace")
        self._seen.add(offset)
        kind, name = kind_and_name(key or "")
        if kind == "target-state-":
            self._targets[name] = state_in(value_of(text)) or "STARTED"
        if not self._shows_configs:
            return
        event = ConfigAppended(writer="", offset=offset, key=key or "", value=text)
        self.events.append((wall_ns + self._shift_ns, replace(event, group=self._names.group, source=CONFIGS)))

    def _status(self, offset: int, key: str | None, value: bytes | None, wall_ns: int) -> None:
        self._now_ns = wall_ns + self._shift_ns
        if key is not None:
            text = None if value is None else value.decode(errors="replace")
            self.statuses.records[offset] = TopicRecord(key, text)
        self._statuses.read(0, offset, key, value)

    def _note(self, event: Event) -> None:
        self.events.append((self._now_ns, event))
