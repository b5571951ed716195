"""Histories of the wire, written in a few words: who sends what, and what is replied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalance_check.model.vocabulary import events as e
from rebalance_check.model.vocabulary.events import Event

SESSION_MS, REBALANCE_MS = 1_000, 5_000


class Wire:
    """Collects events; each method appends some, at ``now`` ms. A client is a process, with one connection at first."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.now = 10_000
        self._requests = 0
        self._connection_of: dict[str, int] = {}
        self._connections = 0

    # ------------------------------------------------------------------------------------------------ processes

    def wait(self, ms: int) -> None:
        """Time passes."""
        self.now += ms

    def starts(self, process: str, run: int = 1) -> None:
        """The harness starts a process."""
        self.events.append(e.ProcessStarted(process=process, run=run, time_ms=self.now))
        self.connects(process)

    def signals(self, process: str, signal: str) -> None:
        """The harness sends a signal."""
        self.events.append(e.ProcessSignalled(process=process, signal=signal, time_ms=self.now))

    def ends(self, process: str, exit_status: int = 0) -> None:
        """A process ends."""
        self.events.append(e.ProcessEnded(process=process, exit_status=exit_status, time_ms=self.now))

    def closes(self, process: str) -> None:
        """A process is asked to end, leaves and ends."""
        self.signals(process, "terminate")
        self.ends(process)

    def connects(self, process: str) -> None:
        """A new connection, which all further requests go over."""
        self._connections += 1
        self._connection_of[process] = self._connections
        at: dict[str, Any] = {"connection": self._connections, "process": process, "time_ms": self.now}
        self.events.append(e.ConnectionOpened(node=1, **at))

    def disconnects(self, process: str, by: str = "broker") -> None:
        """The connection ends, and a new one is opened."""
        at: dict[str, Any] = {"connection": self._connection_of[process], "process": process, "time_ms": self.now}
        self.events.append(e.ConnectionClosed(closed_by=by, **at))
        self.connects(process)

    def moves(self) -> None:
        """The coordinator moves."""
        self.events.append(e.CoordinatorMoved(node=2, time_ms=self.now))

    # ------------------------------------------------------------------------------------------------ frames

    def sends(self, process: str, api: str, **fields: Any) -> int:
        """A request passes; returns its number."""
        self._requests += 1
        fields.setdefault("version", VERSIONS.get(api, 1))
        self.events.append(
            e.RequestObserved(
                connection=self._connection_of[process], process=process, request=self._requests, api=api,
                time_ms=self.now, **fields,
            )
        )  # fmt: skip
        self.now += 1
        return self._requests

    def replies(self, process: str, request: int, api: str, **fields: Any) -> None:
        """The reply to a request passes."""
        self.events.append(
            e.ReplyObserved(
                connection=self._connection_of[process], process=process, request=request, api=api,
                time_ms=self.now, **fields,
            )
        )  # fmt: skip
        self.now += 1

    def says(self, **fields: Any) -> None:
        """The last reply says this, too."""
        self.events[-1] = replace(self.events[-1], **fields)

    def asks(self, process: str, api: str, error: str = "NONE", fault: str = "", **fields: Any) -> None:
        """A request, and the reply to it, which has this error."""
        self.replies(process, self.sends(process, api, **fields), api, error=error, fault=fault)

    # ------------------------------------------------------------------------------------------------ members

    def joins(self, process: str, member: str = "", **fields: Any) -> int:
        """A consumer's JoinGroup, which is open; returns its number."""
        subscription = {"topics": ("t",), "subscription_version": 3, "protocols": ("range",)}
        timeouts = {"session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": REBALANCE_MS}
        fields = {**subscription, **timeouts, "protocol_type": "consumer", **fields}
        return self.sends(process, "JoinGroup", member_id=member, **fields)

    def is_accepted(self, process: str, request: int, member: str, generation: int, **fields: Any) -> None:
        """The reply that accepts a JoinGroup; the member leads by itself unless ``leader`` or ``members`` say more."""
        reply = {"leader": member, "members": ((member, ""),), "protocol": "range", **fields}
        self.replies(
            process, request, "JoinGroup", assigned_member_id=member, reply_generation=generation, **reply
        )  # fmt: skip

    def syncs(
        self, process: str, member: str, generation: int, assignment: tuple[str, ...] = (), **fields: Any
    ) -> None:
        """SyncGroup, and the assignment in reply."""
        request = self.sends(process, "SyncGroup", member_id=member, request_generation=generation, **fields)
        self.replies(process, request, "SyncGroup", assignment=assignment)

    def enters(
        self, process: str, member: str, generation: int, assignment: tuple[str, ...] = (), **fields: Any
    ) -> None:
        """A member joins under its id and receives its assignment, which it computes if it is alone."""
        of_reply = {name: fields.pop(name) for name in ("leader", "members", "protocol") if name in fields}
        protocols = fields.get("protocols", ("range",))
        of_reply = {"protocol": protocols[0], **of_reply}
        self.is_accepted(process, self.joins(process, member, **fields), member, generation, **of_reply)
        leads = of_reply.get("leader", member) == member and "members" not in of_reply
        given = ((member, assignment),) if leads else ()
        self.syncs(
            process, member, generation, assignment, assignments=given, instance_id=fields.get("instance_id", "")
        )

    def beats(self, process: str, member: str, generation: int, error: str = "NONE", **fields: Any) -> None:
        """Heartbeat, and its reply."""
        self.asks(process, "Heartbeat", error, member_id=member, request_generation=generation, **fields)


VERSIONS = {"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "OffsetCommit": 8, "LeaveGroup": 5}
