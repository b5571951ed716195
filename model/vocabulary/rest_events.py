"""Events of a group at rest: what members and coordinator hold when it has settled (part of `model.vocabulary.events`).

The observer looks when the group settled, and once more before the run goes on or ends, so that what must advance
meanwhile can be compared. One look is: `MemberRested` of each process that runs, then `GroupRested`, then
`CoordinatorRested` where the run can look inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.model.vocabulary.event_base import CoordinatorEvent, Event, GenerationEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRested(GenerationEvent):
    """What a process holds while its group is settled, seen from inside.

    ``state`` is Kafka's name of its state, ``offers`` the protocols that it would list in a JoinGroup, in order,
    ``protocol`` the one of its generation; the timeouts in ms and ``group_instance_id`` are those of its next
    JoinGroup. ``topics`` is what its application wants now, ``joined_topics`` what it last joined with, and ``known``
    the partitions of its topics that it knows of. ``owned`` is what it owns, ``positions`` the next offset to read of
    each partition, ``reads`` says that its application reads on and on, and ``commit_interval_ms`` how often it commits
    (0: unknown). ``marks`` names what is still under way
    or waited for, ``in_flight`` the requests without a reply, each with the ms since it was sent. ``is_busy``: the
    application is still busy with what an earlier poll gave it. ``url`` is where a candidate of an election is reached,
    and ``primary`` where it takes the primary to be ("": nowhere); both are empty for others.
    """

    state: str = ""
    protocol: str = ""
    offers: tuple[str, ...] = ()
    group_instance_id: str = ""
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = 0
    topics: tuple[str, ...] = ()
    joined_topics: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    owned: tuple[str, ...] = ()
    positions: tuple[tuple[str, int], ...] = ()
    reads: bool = False
    commit_interval_ms: int = 0
    marks: tuple[str, ...] = ()
    in_flight: tuple[tuple[str, int], ...] = ()
    is_busy: bool = False
    url: str = ""
    primary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRested(Event):
    """The settled group as its coordinator shows it to everybody (DescribeGroups).

    ``instances`` gives each member id its group instance id ("" for a dynamic one), ``topics`` the subscription in its
    metadata, ``assignments`` its partitions; the latter two stand there only for groups of consumers.
    """

    status: str
    protocol_type: str = ""
    protocol: str = ""
    instances: tuple[tuple[str, str], ...] = ()
    topics: tuple[tuple[str, tuple[str, ...]], ...] = ()
    assignments: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorRested(CoordinatorEvent):
    """What the coordinator of a settled group keeps in memory.

    For each member id: ``offers`` are its protocols, ``timeouts`` its session and its rebalance timeout in ms,
    ``parked`` the request of it that waits. ``pending_joins`` are ids that were handed out and not used,
    ``pending_syncs`` the members that owe a SyncGroup. ``static_members`` gives each group instance id its member id,
    ``supported`` each protocol the number of members that count for it, ``subscribed`` the topics of the group.
    ``timers`` are those that are armed: kind, member id ("" for one of the group), and ms until it is due.
    ``committed`` are the offsets of the group.
    """

    leader: str = ""
    offers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    timeouts: tuple[tuple[str, int, int], ...] = ()
    parked: tuple[tuple[str, str], ...] = ()
    pending_joins: tuple[str, ...] = ()
    pending_syncs: tuple[str, ...] = ()
    static_members: tuple[tuple[str, str], ...] = ()
    supported: tuple[tuple[str, int], ...] = ()
    subscribed: tuple[str, ...] = ()
    timers: tuple[tuple[str, str, int], ...] = ()
    committed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestingStateRead(Event):
    """All that ``subject`` of a settled group remembers: a process, or the coordinator.

    ``role`` is leader, follower, coordinator, or ``member at the coordinator``; ``state`` has the value of each field,
    without the numbers by which two runs differ. ``is_new``: it is of a group that was founded for the comparison,
    with the same wishes and without faults.
    """

    subject: str
    role: str
    state: tuple[tuple[str, str], ...]
    is_new: bool = False


RestEvent: TypeAlias = MemberRested | GroupRested | CoordinatorRested | RestingStateRead
"""Every event about a group at rest."""
