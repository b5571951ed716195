"""Members on asyncio sockets, in real time: what the application calls, and a thread that does the rest."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from random import Random
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.monitor import Monitor
from rebalance_check.integration.driver.codec import Address
from rebalance_check.integration.driver.config import ConnectionConfig
from rebalance_check.integration.driver.keeper import Close, Open, Write
from rebalance_check.integration.driver.member import DrivenMember
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.wire.call import split_address
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

C = TypeVar("C", bound=Coordinator)
T = TypeVar("T")

LATEST_S: Final = 0.5
"""How often the thread looks at the time when nothing is due."""


def addresses_of(bootstrap: str) -> list[Address]:
    """The addresses in ``HOST:PORT,HOST:PORT``.

    Raises: RebalanceCheckError when one of them is none.
    """
    return [split_address(each.strip()) for each in bootstrap.split(",")]


class Member(Generic[C]):
    """Any `Coordinator` of ours as a member of its group on a real cluster. A context manager: connected inside.

    ``coordinator`` is the member, and ``bootstrap`` one or more brokers as ``HOST:PORT,...``. Heartbeats, look-ups,
    time-outs and reconnects are done by a thread; callbacks run inside `poll` and `close` only, and heartbeats go on
    while they take their time. The application must poll more often than ``rebalance_timeout_ms``, or the thread
    leaves the group. ``seed`` decides the jitter of backoffs.
    """

    def __init__(
        self, coordinator: C, bootstrap: str, *, connections: ConnectionConfig | None = None, seed: int | None = None
    ) -> None:
        self.coordinator = coordinator
        self.bootstrap = bootstrap
        self._driven = DrivenMember(
            coordinator, addresses_of(bootstrap), connections or ConnectionConfig(), Random(seed)
        )
        coordinator.monitor = self._monitor = Monitor()
        self._changed = threading.Event()
        self._is_woken = False
        self._fault: Exception | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=f"member {coordinator.member}", daemon=True)
        self._sockets: dict[int, _Socket] = {}
        self._opening: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        if self._thread.ident is not None:
            raise RebalanceCheckError(f"{self.coordinator.member} was connected before: make a new member")
        self._thread.start()
        self._loop.call_soon_threadsafe(self._advance)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    # ------------------------------------------------------------------------------------------------ the application

    def poll(self, timeout_s: float) -> None:
        """Take part in the group for ``timeout_s``: join, run callbacks, as often as there is something to do.

        `wake_up` ends it early. Raises what the coordinator and its callbacks raise, and `RebalanceCheckError` when the
        broker does not serve what the member needs, and when the member is not connected.
        """
        end_ms = now_ms() + int(timeout_s * 1000)
        while not self._is_woken:
            self._changed.clear()
            self._poll_once()
            if now_ms() >= end_ms:
                break
            self._wait(end_ms)
        self._is_woken = False

    def await_stable(self, timeout_s: float) -> None:
        """Poll until the member is a stable part of a generation.

        Raises: RebalanceCheckError when that takes longer than ``timeout_s``; it says what keeps the member from it.
        """
        end_ms = now_ms() + int(timeout_s * 1000)
        while self.call(lambda coordinator: not _is_stable(coordinator)):
            if now_ms() >= end_ms:
                raise RebalanceCheckError(self._unstable(timeout_s))
            self._changed.clear()
            self._poll_once()
            self._wait(end_ms)

    def call(self, use: Callable[[C], T]) -> T:
        """Use the coordinator between two polls, such as for a commit: no other thread does meanwhile.

        Raises what ``use`` raises, and `RebalanceCheckError` when the member is not connected.
        """
        self._require_connection()
        with self._monitor:
            try:
                return use(self.coordinator)
            finally:
                self._loop.call_soon_threadsafe(self._advance)

    def wake_up(self) -> None:
        """End the present poll, or the next; for use from other threads."""
        self._is_woken = True
        self._changed.set()

    def close(self, timeout_s: float = 10.0) -> bool:
        """Leave the group in good order: last work, callbacks, LeaveGroup and its answer; then disconnect.

        False when ``timeout_s`` was too short for that: the coordinator then keeps the member until its session ends.
        """
        end_ms = now_ms() + int(timeout_s * 1000)
        is_done = False
        while self._thread.is_alive():
            self._changed.clear()
            with self._monitor:
                is_done = self._driven.close(now_ms()) and self._driven.keeper.is_idle
            self._loop.call_soon_threadsafe(self._advance)
            if is_done or now_ms() >= end_ms:
                break
            self._changed.wait(max(0, end_ms - now_ms()) / 1000)
        self.kill()
        return is_done

    def kill(self) -> None:
        """Disconnect without leaving the group, as a process that dies."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _require_connection(self) -> None:
        if not self._thread.is_alive():
            raise RebalanceCheckError(
                f"{self.coordinator.member} is not connected: use it inside `with`, and not after close or kill"
            )

    def _poll_once(self) -> None:
        self._require_connection()
        with self._monitor:
            if self._fault is not None:
                fault, self._fault = self._fault, None
                raise fault
            try:
                self._driven.poll(now_ms())
            finally:
                self._loop.call_soon_threadsafe(self._advance)

    def _wait(self, end_ms: int) -> None:
        """Until something arrives, the coordinator has something to do by itself, or the time is over."""
        with self._monitor:
            next_ms = self._driven.next_poll()
        until_ms = end_ms if next_ms is None else min(end_ms, next_ms)
        self._changed.wait(max(0, until_ms - now_ms()) / 1000)

    def _unstable(self, timeout_s: float) -> str:
        state, problem = self.coordinator.state, self._driven.keeper.problem
        if problem:
            return (
                f"{self.coordinator.member} could not join within {timeout_s:g} s: no broker answers at "
                f"{self.bootstrap} ({problem}); start one, or name another address"
            )
        unknown = ", its coordinator is unknown" if self.coordinator.coordinator_unknown() else ""
        return f"{self.coordinator.member} is {state.value} after {timeout_s:g} s{unknown}: see the broker's log"

    # ------------------------------------------------------------------------------------------------ the thread

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
        """Each poll asks for this, so it wakes the application for what is new only: else both would go in circles."""
        if self._do(self._driven.advance):
            self._changed.set()

    def _arrive(self, step: Callable[[int], None]) -> None:
        """A connection has something for the member."""
        self._do(step)
        self._changed.set()

    def _do(self, step: Callable[[int], None]) -> bool:
        """Let the member do something, and carry out what it then wants of the sockets; whether there is something new
        for the application: an order, a fault, or that another poll gets further."""
        with self._monitor:
            try:
                step(now_ms())
            except Exception as fault:  # the application gets it from its next poll, whatever it is
                self._fault = fault
            orders = self._driven.take_orders()
            next_ms, next_poll_ms = self._driven.next_ms(), self._driven.next_poll()
            is_faulty = self._fault is not None
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
            self._arrive(lambda now: self._driven.lost(number, now, problem))

    def connected(self, number: int, socket: _Socket) -> None:
        """A connection stands."""
        self._sockets[number] = socket
        self._arrive(lambda now: self._driven.opened(number, now))

    def received(self, number: int, data: bytes) -> None:
        """Bytes came."""
        self._arrive(lambda now: self._driven.received(number, data, now))

    def disconnected(self, number: int) -> None:
        """The other side closed a connection, or it broke."""
        if self._sockets.pop(number, None) is not None:
            self._arrive(lambda now: self._driven.lost(number, now, "the broker closed the connection"))


async def _over(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Return when these have ended, and sockets that were closed are gone."""
    await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)


class _Socket(asyncio.Protocol):
    """A socket, and the member that it belongs to."""

    def __init__(self, member: Member[C], number: int) -> None:
        self._member = member
        self._number = number
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._member.connected(self._number, self)

    def data_received(self, data: bytes) -> None:
        self._member.received(self._number, data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - part of the contract
        self._member.disconnected(self._number)

    def write(self, data: bytes) -> None:
        """Write bytes."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection; what was written is sent before."""
        if self._transport is not None:
            self._transport.close()


def _is_stable(coordinator: Coordinator) -> bool:
    return coordinator.generation_if_stable() is not None and not coordinator.rejoin_needed_or_pending()
