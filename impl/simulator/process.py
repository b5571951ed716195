"""A member process in virtual time: an application thread, a heartbeat thread and its connections.

The application thread alternates between `poll` and its other work; while it is inside a poll, every reply wakes
it. An application that polls rarely goes on in its poll when something happened to the member, or when the coordinator
asked for it, and not sooner. The heartbeat thread ticks at the deadlines that the coordinator names. A paused process
does neither, and bytes that reach its socket meanwhile wait there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.protocol.messages import FindCoordinatorRequest, MemberReply
from rebalance_check.impl.runtime.clock import Timer
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.application import Application, WokenUp
from rebalance_check.impl.simulator.connections import Connections
from rebalance_check.impl.simulator.network import SimulatedNetwork
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConnectionBroken,
    MemberCrashed,
    MemberPaused,
    MemberResumed,
)

POLL_MS: Final = 2_000
"""How long one call of ``poll`` waits for records."""


RESTART_MS: Final = 1_000
"""How soon a supervisor starts a process again that gave up."""


class MemberProcess:
    """One slot of the run (``m0``): at any time a process of that name runs, is paused, or is down."""

    def __init__(
        self,
        name: str,
        network: SimulatedNetwork,
        random: Random,
        recorder: Recorder,
        start: Callable[[int], Application],
        *,
        choices: Random,
        long_poll_ms: int = 0,
    ) -> None:
        self.name = name
        self.application: Application | None = None
        self._clock = network.clock
        self._random = random
        self._network = network
        self._recorder = recorder
        self._start = start
        self._choices = choices
        self._long_poll_ms = long_poll_ms
        self._connections: Connections | None = None
        self._paused = False
        self._closing = False
        self._in_poll = False
        self._polled_ms = 0
        self._arrived: list[Callable[[], None]] = []
        self._poll_timer: Timer | None = None
        self._retry_timer: Timer | None = None
        self._tick_timer: Timer | None = None
        self.restarted_after = frozenset({Error.FENCED_INSTANCE_ID})
        self.death = ""
        self.step = 0

    @property
    def is_up(self) -> bool:
        """Whether there is a process, running or paused."""
        return self.application is not None

    @property
    def is_untimed(self) -> bool:
        """Whether a process runs that does nothing more by itself: neither of its threads has a deadline."""
        application = self.application
        return application is not None and application.next_deadline() is None and application.next_poll() is None

    # -------------------------------------------------------------------------------------------- its operator

    def start_with(self, step: int) -> None:
        """`start`, with the configuration at this place of an upgrade path."""
        self.step = step
        self.start()

    def start(self) -> None:
        """A new process, with nothing remembered but its configuration.

        One that is still closing is killed: two would share a name.
        """
        if self.application is not None:
            self.crash()
        self.application = self._start(self.step)
        self._connections = Connections(self.name, self._network, self._choices, self._receive, self._disconnected)
        self._enter_poll()

    def stop(self) -> None:
        """Leave the group and end: polls and heartbeats stop, and as soon as the last commit is answered it is over."""
        self._cancel_timers()
        self._in_poll = False
        self._closing = True
        self._close()

    def _close(self) -> None:
        application = self.application
        if application is None:
            self._closing = False
            return
        closed = application.close(self._clock.now_ms)
        self._send()
        if closed:
            self._end()

    def crash(self) -> None:
        """Die on the spot."""
        if self.application is not None:
            self._recorder.emit(MemberCrashed(member=self.name))
        self._end()

    def pause(self) -> None:
        """Stop running: neither thread does anything until `resume`."""
        if self.application is None:
            return
        self._recorder.emit(MemberPaused(member=self.name))
        self._paused = True
        self._cancel_timers()

    def resume(self) -> None:
        """Run again. The seed decides which thread is first, and whether the pause struck before or after a poll."""
        if not self._paused:
            return
        self._recorder.emit(MemberResumed(member=self.name))
        self._paused = False
        threads = [self._tick, self._random.choice((self._enter_poll, self._leave_poll))]
        self._random.shuffle(threads)
        for thread in threads:
            thread()

    def change_subscription(self, choice: int) -> None:
        """The application of a running process wants other topics; only consumers have any."""
        change = getattr(self.application, "change_subscription", None)
        if change is not None and not self._paused and not self._closing:
            change(choice, self._clock.now_ms)
            self._send()

    # -------------------------------------------------------------------------------------------- application thread

    def _enter_poll(self) -> None:
        """The application calls ``poll``; replies that arrived while it was paused are read first."""
        self._in_poll = True
        self._read_arrived()
        if self.application is not None:
            self._poll_timer = self._clock.after(self._long_poll_ms or POLL_MS, self._leave_poll)
            self._poll()

    def _poll(self) -> None:
        """One round of the loop inside ``poll``."""
        application = self.application
        self._polled_ms = self._clock.now_ms
        if application is not None and self._survives(application.poll):
            self._send()
            self._poll_again_when(application.next_poll())

    def _poll_again_when(self, next_ms: int | None) -> None:
        """Arrange the next round: now or after a backoff; None waits for a reply or for the end of ``poll``."""
        if self._retry_timer is not None:
            self._retry_timer.cancel()
            self._retry_timer = None
        if next_ms is not None:
            self._retry_timer = self._clock.at(max(next_ms, self._clock.now_ms + 1), self._poll_again)

    def notice(self) -> None:
        """Something happened in the process: a poll that is long goes on when the coordinator now asks for it."""
        if self._long_poll_ms and self._in_poll and not self._paused and self.application is not None:
            self._poll_again_when(self.application.next_poll())

    def _poll_again(self) -> None:
        if self._in_poll:
            self._poll()

    def _survives(self, step: Callable[[int], None]) -> bool:
        """Run a step of the application; an exception of its coordinator ends the process.

        A static member that was fenced is started again by its supervisor: its own late JoinGroup can do that to it.
        So is any that died of another error in ``restarted_after``. Any other death is remembered: a healthy group has
        none.
        """
        try:
            step(self._clock.now_ms)
        except WokenUp:
            return True
        except RebalanceCheckError as fault:
            self.crash()
            if isinstance(fault, GroupError) and fault.error in self.restarted_after:
                self._poll_timer = self._clock.after(RESTART_MS, self.start)
            else:
                self.death = str(fault)
            return False
        return True

    def _leave_poll(self) -> None:
        """``poll`` returned; the application works, takes its time when it is slow, and polls again."""
        application = self.application
        if application is None:
            return
        self._in_poll = False
        if not self._survives(application.work):
            return
        self._send()
        plan = self._network.plan
        if self._network.strikes(FaultKind.SLOW_APPLICATION, plan.slow_application):
            busy_ms = self._random.randrange(plan.slow_ms)
            self._recorder.emit(ApplicationBusy(member=self.name, polled_ms=self._polled_ms, busy_ms=busy_ms))
            self._poll_timer = self._clock.after(busy_ms, self._enter_poll)
        else:
            self._enter_poll()

    # -------------------------------------------------------------------------------------------- heartbeat thread

    def _tick(self) -> None:
        self._tick_timer = None
        self._read_arrived()
        if self.application is not None:
            self.application.tick(self._clock.now_ms)
            self._send()

    # -------------------------------------------------------------------------------------------- connection

    def _read_arrived(self) -> None:
        """Read the replies that waited in the socket while the process was paused."""
        arrived, self._arrived = self._arrived, []
        for read in arrived:
            read()

    def _receive(self, correlation_id: int, reply: MemberReply | None) -> None:
        if self._paused or self._arrived:
            self._arrived.append(partial(self._receive, correlation_id, reply))
        elif self.application is not None:
            if reply is None:
                self._recorder.emit(ConnectionBroken(member=self.name))
            self.application.receive(correlation_id, reply, self._clock.now_ms)
            self._go_on()

    def _disconnected(self, node: int) -> None:
        """The connection to a node that may be the coordinator broke."""
        if self._paused or self._arrived:
            self._arrived.append(partial(self._disconnected, node))
        elif (application := self.application) is not None and _takes_for_coordinator(application, node):
            self._recorder.emit(ConnectionBroken(member=self.name))
            application.coordinator_disconnected(self._clock.now_ms)
            self._go_on()

    def _go_on(self) -> None:
        """Something arrived: the thread that waits for it goes on."""
        if self.application is None:
            return
        if self._closing:
            self._close()
        elif self._in_poll and (next_ms := self.application.next_poll()) is not None and next_ms <= self._clock.now_ms:
            self._poll()
        else:
            self._send()

    def _send(self) -> None:
        """Send all pending requests, and see to it that the heartbeat thread wakes in time."""
        application, connections = self.application, self._connections
        if application is None or connections is None:
            return
        connections.follow(application.coordinator)
        for correlation_id, request in application.take_requests():
            if isinstance(request, FindCoordinatorRequest):
                connections.to_any().send(correlation_id, request)
            else:
                connections.to_coordinator().send(correlation_id, request)
        deadline_ms = None if self._closing else application.next_deadline()
        if deadline_ms is not None:
            self._wake_at(max(deadline_ms, self._clock.now_ms + 1))
        self.notice()

    def _wake_at(self, deadline_ms: int) -> None:
        """Tick then, or earlier when that is arranged already: a tick too many does nothing."""
        armed = self._tick_timer
        if armed is None or deadline_ms < armed.deadline_ms:
            if armed is not None:
                armed.cancel()
            self._tick_timer = self._clock.at(deadline_ms, self._tick)

    def _end(self) -> None:
        if self._connections is not None:
            self._connections.close()
        self.application = self._connections = None
        self._paused = self._in_poll = self._closing = False
        self._arrived.clear()
        self._cancel_timers()

    def _cancel_timers(self) -> None:
        for timer in (self._poll_timer, self._retry_timer, self._tick_timer):
            if timer is not None:
                timer.cancel()
        self._poll_timer = self._retry_timer = self._tick_timer = None


def _takes_for_coordinator(application: Application, node: int) -> bool:
    return application.coordinator is not None and application.coordinator.node_id == node
