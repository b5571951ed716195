"""The classic group protocol: model and reference coordinator take the same steps."""

from __future__ import annotations

from rebalance_check.impl.comparison.to_model.in_process import ReferenceTransport
from rebalance_check.impl.comparison.to_model.transport import Transport
from rebalance_check.properties.machines.coordinator import CoordinatorMachine


class ClassicGroup(CoordinatorMachine):
    """One run of a random schedule; with a mutant planted (`rebalance_check.impl.mutants.planted`) it must fail."""

    def open_transport(self) -> Transport:
        """The reference coordinator, whose own events are judged, too."""
        return ReferenceTransport(self.recorded.append)
