"""A simulated run needs this of the cluster whose nodes coordinate its group, ours or Kafka's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rebalance_check.impl.coordinator.timers import TimerKind
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupRequest
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.network import SimulatedNetwork, Token


class Cluster(Protocol):
    """The nodes: they answer through the network; faults of nodes are drawn from the seed."""

    def arrive(self, number: int, token: Token | None, request: GroupRequest) -> None:
        """A request reaches the node of this number."""
        ...

    def look_up(self, number: int, token: Token | None) -> None:
        """The node of this number is asked who coordinates the group."""
        ...

    def describe(self) -> DescribedGroup:
        """The group, as the node shows it that coordinates it."""
        ...

    def armed(self) -> frozenset[TimerKind] | None:
        """The kinds of the timers that are armed for the group; None where the run cannot look inside."""
        ...

    def kill(self, lost: int) -> None:
        """The coordinator dies; its successor has the log but for the last ``lost`` records."""
        ...

    def pause(self) -> None:
        """The coordinator stops where it stands."""
        ...

    def resume(self) -> None:
        """Every paused node runs on."""
        ...

    def move(self, loading_ms: int) -> None:
        """The coordinator hands the group over in good order."""
        ...

    def fail_over(self, choice: int) -> None:
        """The coordinator is taken away in one of the ways of `UNUSUAL_CHURN`."""
        ...


@dataclass(frozen=True, slots=True)
class ClusterParts:
    """A cluster is built from these: the clock, the network, the recorder of events of nodes, and the seed."""

    clock: VirtualClock
    network: SimulatedNetwork
    recorder: Recorder
    seed: int


@dataclass(frozen=True, slots=True)
class OtherCluster:
    """Runs a simulated group on another cluster than ours: its name, and how it is made."""

    name: str
    make: Callable[[ClusterParts], Cluster]
