"""Members on asyncio sockets, in real time: the application's calls, and a thread that does the rest."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from random import Random
from types import TracebackType
from typing import Generic, Self, TypeVar

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.monitor import Monitor
from rebalance_check.integration.driver.codec import Address
from rebalance_check.integration.driver.config import ConnectionConfig
from rebalance_check.integration.driver.member import DrivenMember
from rebalance_check.integration.driver.thread import MemberThread
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.wire.call import split_address
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

C = TypeVar("C", bound=Coordinator)
T = TypeVar("T")


class NoBrokersAvailable(RebalanceCheckError):  # noqa: N818 - kafka-python's name
    """No address of a member's ``bootstrap`` is one of a broker that answers."""


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
    leaves the group, and so does a member that is dropped without `close`, when its session ends. ``seed`` decides the
    jitter of backoffs.
    """

    def __init__(
        self, coordinator: C, bootstrap: str, *, connections: ConnectionConfig | None = None, seed: int | None = None
    ) -> None:
        self.coordinator = coordinator
        self.bootstrap = bootstrap
        driven = DrivenMember(coordinator, addresses_of(bootstrap), connections or ConnectionConfig(), Random(seed))
        coordinator.monitor = monitor = Monitor()
        self._thread = MemberThread(driven, monitor, f"member {coordinator.member}")
        self._is_woken = False
        # A member that the application drops without closing it ends its heartbeats, as one of kafka-python does.
        weakref.finalize(self, self._thread.stop)

    def __enter__(self) -> Self:
        if self._thread.was_started:
            raise RebalanceCheckError(f"{self.coordinator.member} was connected before: make a new member")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    # ------------------------------------------------------------------------------------------------ the application

    def poll(self, timeout_s: float) -> None:
        """Take part in the group for ``timeout_s``: join, run callbacks, as often as there is something to do.

        `wake_up` ends it early. Raises errors of the coordinator and its callbacks, and `RebalanceCheckError` when the
        broker does not serve a needed version, and when the member is not connected.
        """
        end_ms = now_ms() + int(timeout_s * 1000)
        while not self._is_woken:
            self._thread.changed.clear()
            self._poll_once()
            if now_ms() >= end_ms:
                break
            self._wait(end_ms)
        self._is_woken = False

    def await_stable(self, timeout_s: float) -> None:
        """Poll until the member is a stable part of a generation.

        Raises: RebalanceCheckError when that takes longer than ``timeout_s``; it says why.
        Where no broker answers it is a `NoBrokersAvailable`.
        """
        end_ms = now_ms() + int(timeout_s * 1000)
        while self.call(lambda coordinator: not _is_stable(coordinator)):
            if now_ms() >= end_ms:
                raise self._unstable(timeout_s)
            self._thread.changed.clear()
            self._poll_once()
            self._wait(end_ms)

    def call(self, use: Callable[[C], T]) -> T:
        """Use the coordinator between two polls, such as for a commit: no other thread does meanwhile.

        Raises the errors of ``use``, and `RebalanceCheckError` when the member is not connected.
        """
        self._require_connection()
        with self._thread.monitor:
            try:
                return use(self.coordinator)
            finally:
                self._thread.advance_soon()

    def wake_up(self) -> None:
        """End the present poll, or the next; for use from other threads."""
        self._is_woken = True
        self._thread.changed.set()

    def close(self, timeout_s: float = 10.0) -> bool:
        """Leave the group in good order: last work, callbacks, LeaveGroup and its answer; then disconnect.

        False when ``timeout_s`` was too short for that: the coordinator then keeps the member until its session ends.
        """
        end_ms = now_ms() + int(timeout_s * 1000)
        is_done = False
        while self._thread.is_alive:
            self._thread.changed.clear()
            with self._thread.monitor:
                is_done = self._thread.driven.close(now_ms()) and self._thread.driven.keeper.is_idle
            self._thread.advance_soon()
            if is_done or now_ms() >= end_ms:
                break
            self._thread.changed.wait(max(0, end_ms - now_ms()) / 1000)
        self.kill()
        return is_done

    def kill(self) -> None:
        """Disconnect without leaving the group, as a process that dies."""
        self._thread.stop()

    def _require_connection(self) -> None:
        if not self._thread.is_alive:
            raise RebalanceCheckError(
                f"{self.coordinator.member} is not connected: use it inside `with`, and not after close or kill"
            )

    def _poll_once(self) -> None:
        self._require_connection()
        with self._thread.monitor:
            if self._thread.fault is not None:
                fault, self._thread.fault = self._thread.fault, None
                raise fault
            try:
                self._thread.driven.poll(now_ms())
            finally:
                self._thread.advance_soon()

    def _wait(self, end_ms: int) -> None:
        """Until something arrives, the coordinator has something to do by itself, or the time is over."""
        with self._thread.monitor:
            next_ms = self._thread.driven.next_poll()
        until_ms = end_ms if next_ms is None else min(end_ms, next_ms)
        self._thread.changed.wait(max(0, until_ms - now_ms()) / 1000)

    def _unstable(self, timeout_s: float) -> RebalanceCheckError:
        state, problem = self.coordinator.state, self._thread.driven.keeper.problem
        if problem:
            return NoBrokersAvailable(
                f"{self.coordinator.member} could not join within {timeout_s:g} s: no broker answers at "
                f"{self.bootstrap} ({problem}); start one, or name another address"
            )
        unknown = ", its coordinator is unknown" if self.coordinator.coordinator_unknown() else ""
        return RebalanceCheckError(
            f"{self.coordinator.member} is {state.value} after {timeout_s:g} s{unknown}: see the broker's log"
        )


def _is_stable(coordinator: Coordinator) -> bool:
    return coordinator.generation_if_stable() is not None and not coordinator.rejoin_needed_or_pending()
