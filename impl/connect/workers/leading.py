"""A worker's knowledge of its group while it leads it, and the part of the config topic that this needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rebalance_check.impl.connect.assignors.round import Assigned
from rebalance_check.impl.protocol.connect_protocol import ConnectorTask, WorkerState


class ConfigState(Protocol):
    """The knowledge of a reader of the config topic at one time: the part that coordination needs."""

    @property
    def offset(self) -> int:
        """The next offset to read; -1 where nothing was read."""
        ...

    @property
    def task_counts(self) -> Mapping[str, int]:
        """The connectors, and how many tasks each has (none while its task configs are inconsistent)."""
        ...


class ConfigView(Protocol):
    """One worker's reader of the config topic (``ConfigBackingStore.snapshot``)."""

    def snapshot(self) -> ConfigState:
        """All that was read so far; a background reader may have read more since the last call."""
        ...


@dataclass(frozen=True, slots=True)
class LeaderState:
    """The owner of each item after the round that this worker assigned (``WorkerCoordinator.LeaderState``).

    Computed with the assignment and not updated afterwards; gone as soon as the worker joins again.
    """

    members: Mapping[str, WorkerState]
    assigned: Assigned

    def owner_url(self, work: str | ConnectorTask) -> str | None:
        """The URL of the owner of a connector (its name) or a task; None where no worker owns it."""
        if isinstance(work, ConnectorTask):
            owner = self.assigned.task_owners.get(work)
        else:
            owner = self.assigned.connector_owners.get(work)
        return None if owner is None else self.members[owner].url
