"""The herder of a Connect worker (``DistributedHerder``): one thread that joins, starts, stops, writes and answers.

The thread is a generator: where Java's blocks, it yields a `Wait`. The owner of the herder calls `poll`
whenever something happened, and again at `next_poll`; heartbeats are the coordinator's `tick`, which goes on while the
herder is blocked, as in Java.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rebalance_check.impl.connect.herder.core import HerderParts
from rebalance_check.impl.connect.herder.serving import Serving
from rebalance_check.impl.connect.herder.waits import Steps, Wait
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MOST_STEPS: Final = 10_000
"""More often than this no herder goes on at one time."""

DRAIN_MS: Final = 10_000
"""How long a stopping worker waits for the status records that it sent."""


class Herder(Serving):
    """One worker's herder; see `HerderParts` for its parts.

    ``make_coordinator`` makes its member of the group, which reports to the herder.
    """

    def __init__(self, parts: HerderParts, make_coordinator: Callable[[Herder], WorkerCoordinator]) -> None:
        super().__init__()
        self.use(parts)
        self.configs.listener = self.on_config_change
        self.coordinator = make_coordinator(self)
        self.mode = self.coordinator.mode
        self._halted = False
        self._turns = self._run()
        self._wait: Wait = Wait(lambda: True)

    @property
    def halted(self) -> bool:
        """Whether the thread is over, after `request_stop`."""
        return self._halted

    def request_stop(self) -> None:
        """End in an orderly way, after the present tick."""
        self._stop_requested = True
        self.wake()

    # ------------------------------------------------------------------------------------------------ the owner

    def poll(self) -> None:
        """Go on as far as that is possible now.

        Raises: the coordinator's exceptions, and `RebalanceCheckError` for a thread that never waits, our mistake.
        """
        steps = 0
        while not self._halted and (self._wait.polls or self._wait.is_over(self.now_ms)):
            polled = self._wait.polls and not self._wait.is_over(self.now_ms)
            try:
                self._wait = next(self._turns)
            except StopIteration:
                self._halted = True
            steps += 1
            if steps > MOST_STEPS:
                raise RebalanceCheckError(f"the herder of {self.member} goes on without end: this is our mistake")
            if polled and self._wait.polls and not self._wait.is_over(self.now_ms):
                return

    def next_poll(self) -> int | None:
        """When the thread goes on by itself (ms; 0: at once); None while it waits for something to happen."""
        if self._halted:
            return None
        wait = self._wait
        due = [wait.deadline_ms]
        if wait.polls:
            due.append(self.coordinator.next_poll() if self._stop_job is None else self._next_revocation_ms())
        return min((ms for ms in due if ms is not None), default=None)

    # ------------------------------------------------------------------------------------------------ the thread

    def _run(self) -> Steps[None]:
        """``DistributedHerder.run``: the stores read to the end before the worker joins.

        A revocation that goes on is over before the worker stops, as the thread of Java's is in it.
        """
        store = self.statuses.store
        yield Wait(lambda: store.started)
        error = yield from self._await(self.configs.start())
        if error is not None:
            raise error
        self.config_state = self.configs.snapshot()
        while not self._stop_requested or self._stop_job is not None:
            yield from self._tick()
        yield from self._halt()

    def _tick(self) -> Steps[None]:
        """One round of the thread; a cause that ends it early is looked at again in the next."""
        if not self._can_read_configs:
            if not (yield from self._read_configs_to_end()):
                return
            self._can_read_configs = True
        if not (yield from self._become_active()):
            return
        yield from self._finish_claim()
        if not (yield from self._complete_rebalance()):
            return
        if not (yield from self._reclaim_privileges()) or not (yield from self._rotate_session_key()):
            return
        yield from self._serve_requests()
        yield from self._process_restarts()
        if self.scheduled_ms is not None:
            self.resolved = False
        if (yield from self._apply_updates()):
            return
        yield from self._poll_member()
        if not self.coordinator.rejoin_needed_or_pending():
            yield from self._complete_rebalance()

    def _become_active(self) -> Steps[bool]:
        """Poll the member until it needs no rebalance (``ensureActive``); False when the herder is to stop first."""
        self.coordinator.poll(self.now_ms)
        while self.coordinator.rejoin_needed_or_pending() or self._stop_job is not None:
            if self._stop_requested and self._stop_job is None:
                return False
            yield Wait(lambda: False, polls=True)
            self.coordinator.poll(self.now_ms)
        return True

    def _poll_member(self) -> Steps[None]:
        """Poll the member until something is to be done: a request or a key is due, or something woke the herder.

        A revocation goes on within the poll, and nothing ends it early.
        """
        while self._stop_job is not None or not self._is_due():
            is_revoking = self._stop_job is not None
            yield Wait(lambda: False, polls=True) if is_revoking else Wait(self._is_due, self._due_ms(), polls=True)
            if self._stop_job is not None or not self._is_due():
                self.coordinator.poll(self.now_ms)
                if self.coordinator.rejoin_needed_or_pending():
                    return
        self._woken = False

    def _is_due(self) -> bool:
        due_ms = self._due_ms()
        return self._woken or self._stop_requested or (due_ms is not None and due_ms <= self.now_ms)

    def _due_ms(self) -> int | None:
        rotates = self.mode is ConnectMode.SESSIONED and self.is_leader
        due = [self._next_request_ms(), self.scheduled_ms, self._key_expires_ms if rotates else None]
        return min((ms for ms in due if ms is not None), default=None)

    def _halt(self) -> Steps[None]:
        """Stop connectors, tasks, both stores, each after the other, then leave: the statuses precede LeaveGroup."""
        work = tuple(self.worker.instances)
        connectors = tuple(key for key in work if isinstance(key, ConnectorKey))
        tasks = tuple(key for key in work if not isinstance(key, ConnectorKey))
        yield from self._stop_and_await(connectors, at_once=len(work))
        yield from self._stop_and_await(tasks, at_once=len(work))
        self._refuse_requests()
        store = self.statuses.store
        yield Wait(lambda: not store.in_flight, self.now_ms + DRAIN_MS)
        store.stop()
        self.configs.stop()
        while not self.coordinator.close(self.now_ms):
            yield Wait(lambda: False, polls=True)
