"""`RecordingProxy`: stands between clients and any broker, records the traffic, and injects faults.

    with RecordingProxy("127.0.0.1:9092", listener=events.append) as proxy:
        ...  # start a client with the bootstrap server proxy.bootstrap_for("p0"), another with that for "p1"
        proxy.move_coordinator("g", 2)  # with virtual_nodes=2, or a control that can

Each client process has ports of its own, one for each node of the broker, so it is known whose connection is whose
without any change in the client. Replies that name nodes (Metadata, FindCoordinator, DescribeCluster, Produce) name the
ports of the same process instead, and ApiVersions replies offer those versions alone that the proxy can read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from rebalance_check.integration.exchange.control import Control, check_faults
from rebalance_check.integration.exchange.exchange import Exchange
from rebalance_check.integration.exchange.faults import Effect, FaultPlan
from rebalance_check.integration.exchange.loop_thread import LoopThread
from rebalance_check.integration.exchange.nodes import Nodes, nodes_of
from rebalance_check.integration.exchange.ports import Ports
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event


class RecordingProxy:
    """A context manager: listening inside, gone outside.

    ``bootstrap`` is the broker's ``HOST:PORT``. ``listener`` receives the events of the wire (`exchange.Exchange`), in
    the proxy's thread; ``faults`` strike requests. With ``virtual_nodes`` clients see so many nodes in front of a
    broker that has one: the first coordinates each group until `move_coordinator`; group requests at another are
    answered NOT_COORDINATOR. ``control`` is a broker that can be driven from inside (the embedded one), for faults of
    the coordinator.

    Raises: RebalanceCheckError on entering: no broker answers, it has several nodes where virtual ones are asked for,
    or a fault cannot be carried out.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        listener: Callable[[Event], None] | None = None,
        faults: FaultPlan | None = None,
        control: Control | None = None,
        virtual_nodes: int = 0,
    ) -> None:
        self.bootstrap = bootstrap
        self.faults = faults or FaultPlan()
        self._exchange = Exchange(listener, self.faults, control=self)
        self._control = control
        self._virtual_nodes = virtual_nodes
        self._loop: LoopThread | None = None
        self._ports: Ports | None = None

    def __enter__(self) -> Self:
        nodes = Nodes(self.bootstrap, nodes_of(self.bootstrap), self._virtual_nodes)
        self._ports = Ports(self._exchange, nodes)
        check_faults(self.faults.pending, self, f"the broker at {self.bootstrap}", "use the embedded broker")
        self._loop = LoopThread("recording-proxy")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop, ports = self._running
        loop.run(ports.close())
        loop.close()
        self._loop = self._ports = None

    @property
    def _running(self) -> tuple[LoopThread, Ports]:
        if self._loop is None or self._ports is None:
            raise RebalanceCheckError("the proxy is not running: use it inside its with statement")
        return self._loop, self._ports

    def bootstrap_for(self, process: str) -> str:
        """``HOST:PORT`` where the client process of this name finds its first broker; a new name gets new ports."""
        loop, ports = self._running
        return str(loop.run(ports.open(process, ports.nodes.first)))

    @property
    def node_ids(self) -> Sequence[int]:
        """The nodes that clients see, as far as they are known, the first one first."""
        assert self._ports is not None
        return self._ports.nodes.ids

    # ----------------------------------------------------------------------------------- as a Control

    @property
    def effects(self) -> frozenset[Effect]:
        """The effects on the coordinator that can be had."""
        own = frozenset({Effect.MOVE_COORDINATOR}) if self._virtual_nodes else frozenset[Effect]()
        return own | (frozenset() if self._control is None else self._control.effects)

    def move_coordinator(self, group: str, node: int) -> None:
        """Let ``node`` coordinate the group from here on, and record CoordinatorMoved.

        Raises: RebalanceCheckError where there is no such node, or the coordinator cannot be moved.
        """
        loop, ports = self._running
        loop.call(partial(self._move, ports, group, node))

    def _move(self, ports: Ports, group: str, node: int) -> None:
        if ports.nodes.is_virtual:
            ports.nodes.move(group, node)
        elif self._control is not None and Effect.MOVE_COORDINATOR in self._control.effects:
            self._control.move_coordinator(group, node)
        else:
            raise RebalanceCheckError(
                f"the coordinator at {self.bootstrap} cannot be moved: put virtual nodes in front of it"
            )
        self._exchange.moved(group, node)
        ports.interrupt(group, node)

    def end_session(self, group: str, member_id: str) -> None:
        """As `Control.end_session`."""
        if self._control is not None:
            self._control.end_session(group, member_id)

    def jump_clock(self, jump_ms: int) -> None:
        """As `Control.jump_clock`."""
        if self._control is not None:
            self._control.jump_clock(jump_ms)
