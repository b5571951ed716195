"""The reports of a worker's coordinator to the herder (``WorkerRebalanceListener``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectorTask


class WorkerListener(Protocol):
    """The herder's side of a rebalance. Both methods are called inside the coordinator's `poll` only."""

    def on_assigned(self, assignment: ConnectAssignment, generation: int) -> None:
        """The worker completed ``generation`` and claims ``assignment`` from here on; nothing of it runs by itself.

        Called for failed assignments, too. An exception of it surfaces from `poll`, and the next poll calls again.
        """
        ...

    def on_revoked(self, leader: str, connectors: Sequence[str], tasks: Sequence[ConnectorTask]) -> bool:
        """Stop these connectors and tasks; ``leader`` is the member id in the assignment that takes them away.

        False: they have not stopped yet. The coordinator does nothing else until a later `poll`, which calls again with
        the same arguments (Java's thread blocks here).
        """
        ...
