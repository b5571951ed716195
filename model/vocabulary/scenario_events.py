"""Events that a scenario's runner records at a coordinator under test (part of `model.vocabulary.events`).

They hold what any client or administrator can see of a coordinator: requests, replies, and DescribeGroups after each
step. So the same invariants judge our coordinator, Kafka's, and one behind a socket.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorConfigured(Event):
    """The broker's settings that invariants depend on.

    ``max_size`` is ``group.max.size`` (members), ``offsets_retention_ms`` is ``offsets.retention.minutes`` in ms,
    ``initial_rebalance_delay_ms`` is ``group.initial.rebalance.delay.ms`` (0: unknown). New members may wait in their
    first JoinGroup for ``new_member_join_timeout_ms`` (0: Kafka's five minutes).
    """

    max_size: int
    offsets_retention_ms: int
    initial_rebalance_delay_ms: int = 0
    new_member_join_timeout_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Event):
    """The runner performs a step of a scenario; ``step`` is its line, as in ``failover lose=1`` or ``advance 100``."""

    step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestIssued(Event):
    """``client`` sent the coordinator a request; ``request`` numbers the requests of a scenario.

    ``member_id`` and ``instance_id`` are the sender's ("" for none), ``request_generation`` the generation it sends.
    A JoinGroup has timeouts in ms, a LeaveGroup lists in ``leaving`` the (member id, instance id) pairs that it names,
    a commit the (partition, offset) pairs in ``offsets``; one that belongs to a transaction has a ``producer_id``,
    one that says how long its offsets are kept ``retention_ms``. The SyncGroup of a leader has in ``assignments``, for
    each member id, a text that is equal exactly where the bytes are equal ("" for none).
    """

    client: str
    api: str
    request: int
    version: int = -1
    member_id: str = ""
    instance_id: str = ""
    request_generation: int = -1
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = 0
    leaving: tuple[tuple[str, str], ...] = ()
    offsets: tuple[tuple[str, int], ...] = ()
    producer_id: int = -1
    retention_ms: int = -1
    assignments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReceived(Event):
    """The client of ``request`` received the reply: ``error``, and the member id that a JoinGroup was assigned.

    A commit has an error per partition in ``partition_errors``, a successful OffsetFetch the (partition, offset) pairs
    in ``offsets``, a successful SyncGroup its ``assignment``, as in `RequestIssued`.
    """

    request: int
    error: str
    assigned_member_id: str = ""
    offsets: tuple[tuple[str, int], ...] = ()
    partition_errors: tuple[tuple[str, str], ...] = ()
    assignment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescribed(Event):
    """A group as DescribeGroups shows it after a step, which this event ends.

    ``members`` are (member id, instance id) pairs, ``generation`` is -1 where the runner cannot see it, ``digest`` is
    equal exactly where all that DescribeGroups shows is equal ("" where the runner does not say). ``exception`` is one
    that the coordinator threw in this step and that no reply reports.
    """

    status: str
    error: str = "NONE"
    generation: int = -1
    members: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    exception: str = ""
