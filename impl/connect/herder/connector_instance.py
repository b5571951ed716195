"""One start of a connector (``WorkerConnector``): a thread that moves between target states until it ends."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.instance import Instance, InstanceState, Surroundings
from rebalance_check.impl.connect.status.codec import ConnectorKey


class ConnectorInstance(Instance):
    """The thread of a connector. ``reached`` learns that the connector reached STARTED: it may want other task configs.

    A cancelled connector writes nothing more, even if its thread goes on: UNASSIGNED was written when it was cancelled.
    """

    key: ConnectorKey

    def __init__(
        self,
        key: ConnectorKey,
        behaviour: Behaviour,
        target: TargetState,
        around: Surroundings,
        reached: Callable[[str], None],
    ) -> None:
        super().__init__(key, behaviour, target, around)
        self._reached = reached
        self._busy = True
        self._has_started = False
        self._asked = False

    def _run(self) -> None:
        self._busy = False
        self._go_on()

    def transition_to(self, target: TargetState) -> None:
        """Have the thread reach a target state; while it is busy only the last one asked for counts.

        A connector that runs already when it is asked to has reached STARTED anew (``WorkerConnector.doTransitionTo``
        calls back in any case): its configuration may have changed while it was to pause.
        """
        self.target, self._asked = target, True
        self._go_on()

    def stop(self) -> None:
        """As the base class."""
        if not self.stopping and not self.ended:
            self.stopping = True
            self._go_on()

    def cancel(self) -> None:
        """As the base class; UNASSIGNED is written now, for the thread will write nothing any more."""
        super().cancel()
        self._statuses.unassigned(self.key)

    def _go_on(self) -> None:
        """The next step of the thread, unless it is inside the plug-in."""
        if self._busy or self.ended:
            return
        if self.stopping:
            self._inside(self._behaviour.stop_ms if self.state is InstanceState.RUNNING else 0, self._shut_down)
        elif self.state is InstanceState.FAILED and self.target is not TargetState.STOPPED:
            return
        elif self.target is TargetState.STARTED and self.state is not InstanceState.RUNNING:
            self._inside(self._behaviour.start_ms, self._started)
        elif self.target is not TargetState.STARTED and self.state.value != self.target.value:
            stops = self.state is InstanceState.RUNNING
            self._inside(self._behaviour.stop_ms if stops else 0, self._suspended)
        elif self._asked and self.state is InstanceState.RUNNING:
            self._asked = False
            self._reached(self.key.connector)

    def _inside(self, delay_ms: int, then: Callable[[], None]) -> None:
        self._busy = True
        self._threads.after(delay_ms, then)

    def _started(self) -> None:
        """``start`` of the plug-in returned, or raised; the first start and a resume write the same status."""
        self._busy = False
        if self._behaviour.fails_at_start:
            self._fail()
        else:
            self._has_started = True
            self._asked = False
            self._change(InstanceState.RUNNING)
            self._write_state()
            self._reached(self.key.connector)
            if self._behaviour.fails_after_ms is not None:
                self._threads.after(self._behaviour.fails_after_ms, self.fail)
        self._go_on()

    def _suspended(self) -> None:
        """The plug-in stopped because of the target state at the time of the request: PAUSED or STOPPED."""
        self._busy = False
        if self.target is not TargetState.STARTED:
            self._change(InstanceState(self.target.value))
            self._write_state()
        self._go_on()

    def _write_state(self) -> None:
        if self.cancelled:
            return
        if self.state is InstanceState.RUNNING:
            self._statuses.running(self.key)
        elif self.state is InstanceState.PAUSED:
            self._statuses.paused(self.key)
        else:
            self._statuses.stopped(self.key)

    def fail(self) -> None:
        """The connector reports a failure by its context; its thread goes on until it is stopped."""
        if self.state is InstanceState.RUNNING and not self.stopping:
            self._fail()

    def _fail(self) -> None:
        self._change(InstanceState.FAILED)
        if not self.cancelled:
            self._statuses.failed(self.key)

    def _shut_down(self) -> None:
        """The thread ends: UNASSIGNED, or FAILED when ``stop`` of the plug-in raised."""
        self._busy = False
        if self._behaviour.fails_at_stop and self.state is InstanceState.RUNNING:
            self._fail()
            self._end()
            return
        self._end()
        if not self.cancelled:
            self._statuses.unassigned(self.key)
