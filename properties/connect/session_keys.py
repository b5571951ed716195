"""Session keys (KIP-507): the leader of a sessioned group writes one where none is known, and when the last expires."""

from __future__ import annotations

import json
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConfigRead,
    ConfigStoreStarted,
    MemberEvent,
    SessionKeyWritten,
    WorkerConfigured,
)
from rebalance_check.properties.connect.herder_waits import WAITS_FOR_NOTHING
from rebalance_check.properties.connect.idle_herders import BOOKKEEPING, Due, IdleHerderFold
from rebalance_check.properties.connect.signing import SESSIONED
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import RECORDED

KEY: Final = "session-key"
CALLBACK: Final = "onSessionKeyUpdate"


class SessionKeysAreRenewedInTimeViolated(Violation):
    """A worker wrote a session key where a good one was known, under another protocol, or did not where it had to."""


def created_ms(record: ConfigRead) -> int | None:
    """When the key of a record was made; None where it holds no key."""
    try:
        value = json.loads(record.value or "null")
        return int(value["creation-timestamp"]) if value["key"] else None
    except (ValueError, TypeError, KeyError):
        return None


class _Keys(IdleHerderFold):
    """Per worker: the session key that its store has read last, and the one that its herder surely knows."""

    bookkeeping = BOOKKEEPING | {ConfigRead, ConfigStoreStarted, WorkerConfigured}
    needs = ((WorkerConfigured,), (SessionKeyWritten,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type, Handler] = {
            ConfigRead: self.on_read,
            ConfigStoreStarted: self.on_store,
            ConfigCallbackCalled: self.on_callback,
        }
        super().__init__(invariant, handlers)
        self._read: dict[str, ConfigRead] = {}
        self._known: dict[str, ConfigRead] = {}
        self._written: set[str] = set()

    def on_process(self, event: MemberEvent) -> None:
        """A new process knows no key."""
        super().on_process(event)
        self._read.pop(event.member, None)
        self._known.pop(event.member, None)
        self._written.discard(event.member)

    def on_read(self, event: ConfigRead) -> None:
        """A callback follows where its store was started before."""
        self.on_other(event)
        if event.key == KEY and created_ms(event) is not None:
            self._read[event.member] = event

    def on_store(self, event: ConfigStoreStarted) -> None:
        """Its herder begins with what was read until now."""
        self.on_other(event)
        self._learn(event.member)

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """Its herder takes the key."""
        self.on_other(event)
        if event.callback == CALLBACK:
            self._learn(event.member)
            self._written.discard(event.member)
            self._writes.discard(event.member)

    def _learn(self, member: str) -> None:
        if member in self._read:
            self._known[member] = self._read[member]

    def on_writing(self, event: SessionKeyWritten) -> None:
        """The key that it knows has expired, or it knows none. It writes no other until it has read this one."""
        worker, known = self.memory.of(event.member), self._known.get(event.member)
        if worker.received is not None and self.paces.run.is_recorded:
            self.compared = (self.compared or 0) + 1
            if worker.received.protocol != SESSIONED:
                self._wrongly(event, worker.received, f"its group works by {worker.received.protocol}")
            elif known is not None and self._is_good(known, event.time_ms):
                self._wrongly(event, known, f"that key is good at {event.time_ms} ms")
            elif event.created_ms != event.time_ms:
                self._wrongly(event, None, f"says that it was made at {event.created_ms} ms")
        self._written.add(event.member)
        super().on_writing(event)

    def _is_good(self, known: ConfigRead, now_ms: int) -> bool:
        expires_ms = self._expires_ms(known)
        return expires_ms is None or now_ms < expires_ms

    def _expires_ms(self, known: ConfigRead) -> int | None:
        """When a key expires; None for never."""
        configured, made_ms = self.memory.of(known.member).configured, created_ms(known)
        if configured is None or made_ms is None or not configured.session_key_ttl_ms:
            return None
        return made_ms + configured.session_key_ttl_ms

    def due(self, member: str) -> Due | None:
        """The leader of a sessioned group writes a key: at once where it knows none."""
        worker, known = self.memory.of(member), self._known.get(member)
        is_its_duty = worker.leads and worker.received is not None and worker.received.protocol == SESSIONED
        if not is_its_duty or member in self._written or worker.accepted is None:
            return None
        if known is None:
            return (
                None if member in self._read else Due(worker.accepted.time_ms, worker.accepted, "write a session key")
            )
        expires_ms = self._expires_ms(known)
        return None if expires_ms is None else Due(expires_ms, known, "write another session key")

    def done(self, due: Due) -> None:
        """Reported once for each key."""
        self._written.add(due.event.member)

    def _wrongly(self, event: SessionKeyWritten, before: AssignmentAccepted | MemberEvent | None, why: str) -> None:
        self.contradiction(
            f"{event.member} writes a session key, and {why}",
            *([(f"{event.member} knows that since {STEP};", before)] if before is not None else []),
            (f"it writes a session key at {STEP}, and {why}: contradiction.", event),
        )


SessionKeysAreRenewedInTime: Final = Invariant(
    name="session_keys_are_renewed_in_time",
    family="connect_duties",
    claim="a worker writes a session key only in a sessioned group, where it knows none or the one that it knows has "
    "expired; the leader that knows none, or whose key expires, writes one at once unless its herder waits",
    source="KIP-507; DistributedHerder.checkForKeyRotation, tick (keyExpiration)",
    premises=(RECORDED, WAITS_FOR_NOTHING),
    exempted_by=(*sorted(BOOKKEEPING, key=lambda kind: kind.__name__), ConfigRead, ConfigStoreStarted),
    violation=SessionKeysAreRenewedInTimeViolated,
    fold=_Keys,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="sessioned")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="default", leader="a", leader_url="", config_offset=3)
    SessionKeyWritten(member="w0", generation=1)
"""

CLAIMS: Final = (SessionKeysAreRenewedInTime,)
"""In the order in which reports name them."""
