"""The thread of a member: its sockets, its timer, and the member's turns that they bring about."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from typing import Final

from rebalance_check.impl.client.monitor import Monitor
from rebalance_check.integration.driver.keeper import Close, Open, Write
from rebalance_check.integration.driver.member import DrivenMember
from rebalance_check.integration.machine_clock import now_ms

LATEST_S: Final = 0.5
"""How often the thread looks at the time when nothing is due."""


class MemberThread:
    """Runs ``driven`` on sockets, from `start` to `stop`; ``monitor`` is held while it, or the application, uses it.

    ``changed`` is set when there is something new for the application; ``fault`` is the error for its next poll.
    It knows nothing of the `Member` that the application holds, so that one which is dropped can end it.
    """

    def __init__(self, driven: DrivenMember, monitor: Monitor, name: str) -> None:
        self.driven = driven
        self.monitor = monitor
        self.changed = threading.Event()
        self.fault: Exception | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._sockets: dict[int, _Socket] = {}
        self._opening: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def was_started(self) -> bool:
        """Whether it runs, or ran."""
        return self._thread.ident is not None

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to connect."""
        self._thread.start()
        self.advance_soon()

    def stop(self) -> None:
        """Disconnect, and end; from any thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            if threading.current_thread() is not self._thread:
                self._thread.join()

    def advance_soon(self) -> None:
        """The application used the member, which may have requests to send now; from any thread."""
        self._loop.call_soon_threadsafe(self._advance)

    def _run(self) -> None:
        try:
            self._loop.run_forever()
            opening = list(self._opening)
            for task in opening:
                task.cancel()
            sockets, self._sockets = self._sockets, {}  # nothing is opened anew for those that close now
            for socket in sockets.values():
                socket.close()
            self._loop.run_until_complete(_over(opening))
        finally:
            self._loop.close()

    def _advance(self) -> None:
        """Each poll asks for this, so it wakes the application for news only: else both would go in circles."""
        if self._do(self.driven.advance):
            self.changed.set()

    def _arrive(self, step: Callable[[int], None]) -> None:
        """A connection has something for the member."""
        self._do(step)
        self.changed.set()

    def _do(self, step: Callable[[int], None]) -> bool:
        """Let the member do something, and carry out its orders for the sockets; whether there is something new
        for the application: an order, a fault, or that another poll gets further."""
        with self.monitor:
            try:
                step(now_ms())
            except Exception as fault:  # the application gets any from its next poll
                self.fault = fault
            orders = self.driven.take_orders()
            next_ms, next_poll_ms = self.driven.next_ms(), self.driven.next_poll()
            is_faulty = self.fault is not None
        for order in orders:
            self._carry_out(order)
        self._set_timer(next_ms)
        return bool(orders) or is_faulty or (next_poll_ms is not None and next_poll_ms <= now_ms())

    def _set_timer(self, next_ms: int | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        wait_s = LATEST_S if next_ms is None else min(LATEST_S, max(0, next_ms - now_ms()) / 1000)
        self._timer = self._loop.call_later(wait_s, self._advance)

    def _carry_out(self, order: Open | Write | Close) -> None:
        match order:
            case Open():
                task = self._loop.create_task(self._open(order))
                self._opening.add(task)
                task.add_done_callback(self._opening.discard)
            case Write(number, data):
                if number in self._sockets:
                    self._sockets[number].write(data)
            case Close(number):
                if number in self._sockets:
                    self._sockets.pop(number).close()

    async def _open(self, order: Open) -> None:
        number = order.number
        try:
            await self._loop.create_connection(lambda: _Socket(self, number), order.host, order.port)
        except OSError as error:
            problem = os.strerror(error.errno) if error.errno else str(error)
            self._arrive(lambda now: self.driven.lost(number, now, problem))

    def connected(self, number: int, socket: _Socket) -> None:
        """A connection stands."""
        self._sockets[number] = socket
        self._arrive(lambda now: self.driven.opened(number, now))

    def received(self, number: int, data: bytes) -> None:
        """Bytes came."""
        self._arrive(lambda now: self.driven.received(number, data, now))

    def disconnected(self, number: int) -> None:
        """The other side closed a connection, or it broke."""
        if self._sockets.pop(number, None) is not None:
            self._arrive(lambda now: self.driven.lost(number, now, "the broker closed the connection"))


async def _over(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Return when these have ended, and sockets that were closed are gone."""
    await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)


class _Socket(asyncio.Protocol):
    """A socket of a member."""

    def __init__(self, thread: MemberThread, number: int) -> None:
        self._thread = thread
        self._number = number
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._thread.connected(self._number, self)

    def data_received(self, data: bytes) -> None:
        self._thread.received(self._number, data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - part of the contract
        self._thread.disconnected(self._number)

    def write(self, data: bytes) -> None:
        """Write bytes."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection; written bytes are sent before."""
        if self._transport is not None:
            self._transport.close()
