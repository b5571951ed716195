"""The differences of Kafka's coordinators in scenarios, and the reason of each.

The scenarios of `tests/data/coordinator` show 4.3.1's behaviour, but for its defects; ``examples`` are those
that run otherwise. A test holds these lists to be complete and exact, and ``docs/differences.md`` to name every entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.known import KnownDifference
from rebalance_check.impl.protocol.messages import OffsetFetchReply
from rebalance_check.integration.jvm.release import Release
from rebalance_check.model.vocabulary.errors import Error


def _is_java_3_9(release: Release) -> bool:
    return release.version.startswith("3.9.") and not release.scala


def _reads_in_vain(difference: Difference) -> bool:
    """Every reply that differs is that of a read which waited for writes."""
    return all(
        isinstance(each.first, OffsetFetchReply)
        and (each.first.error, each.second.error) == (Error.REQUEST_TIMED_OUT, Error.NOT_COORDINATOR)
        for each in difference.fields
    )


_SCALA: Final[Mapping[str, tuple[str, ...]]] = {
    "a group is on record from its first generation on, and writes are not awaited by those who only change memory": (
        "gates: a refused first JoinGroup leaves an Empty group behind",
        "groups: a group without a record gets a tombstone, too",
        "groups: a group that never had a generation is deleted",
        "join: the first JoinGroup creates the group and puts it on record",
        "failover: a pending member id of an Empty group is forgotten",
        "writes: the first JoinGroup does not wait for the record of the group",
        "writes: the record of the group fails: there is no group",
        "writes: the record of the group fails: the waiting JoinGroup is refused",
        "writes: the record of the group is late: the group works, although DescribeGroups does not find it",
        "writes: the record of the group times out: the waiting JoinGroup is refused, and its member stays",
        "writes: the record of the group fails: a static member may try again",
        "writes: a heartbeat waits for another group's write",
        "writes: a heartbeat that is answered with REBALANCE_IN_PROGRESS waits for earlier writes",
        "writes: a heartbeat that waits has prolonged the session when it arrived",
        "writes: a heartbeat that waits is answered when the coordinator stops serving",
        "writes: a JoinGroup behind a record that is not written is refused when the coordinator stops serving",
        "writes: a leave waits for earlier writes",
        "writes: a leave that removes no member waits for earlier writes",
        "writes: a leave whose record failed is not undone in memory",
        "writes: the leave of the last member waits for its record",
        "writes: the record of an emptied group fails: the leave has one error and no entries",
        "writes: the record of an emptied group fails: so does the leave of v2",
        "writes: a stable read waits for earlier writes",
        "writes: a stable read whose wait times out is answered with NOT_COORDINATOR",
        "transactions: an offset of a transaction that is aborted never counts",
        "transactions: the end of a transaction survives its coordinator",
        "expiry: the retention of an Empty group begins when it empties",
        "offset-delete: a partition without an offset",
        "offset-delete: offsets of topics that nobody subscribes to are deleted",
    ),
    "a group without a generation needs no tombstone, and goes with its last offset": (
        "offset-delete: a simple group subscribes to nothing",
        "expiry: old offsets of a simple group go, and the group with them",
    ),
    "a deletion counts at once, whatever becomes of its records": (
        "lists: a deletion that is under way is not seen yet",
        "lists: a member that joins while a deletion is under way creates another group",
        "lists: a deletion that fails leaves the group",
        "lists: a group whose deletion failed is listed once",
        "offset-delete: a deletion that fails",
        "expiry: a check whose write fails is repeated at the next check",
    ),
    "a transaction is no reason to keep what is committed, and leaves no tombstones": (
        "expiry: an open transaction keeps an offset, and the group",
        "transactions: a group that is deleted loses its open transactions, too",
    ),
    "a commit that fails takes the one before it out of its transaction": (
        "transactions: a write that fails leaves the transaction as it was",
    ),
    "a write that times out has another error": (
        "transactions: the error of a commit in a transaction whose write failed",
        "writes: a commit that timed out still counts when it is committed",
        "static-writes: the record times out: the old member id holds",
        "static-writes: a failed replacement gives the instance back to the old member",
        "static-writes: a record that timed out is read after a failover",
    ),
    "a failed static replacement leaves the metadata of the new member on the old one": (
        "static-writes: the record fails: the old member id holds",
        "static-writes: the record fails: the old metadata hold",
        "static-writes: the record fails: the old protocols vote",
    ),
    "a replaced member stays as new as its predecessor was": (
        "initial-delay: a static member replaced while it waits is not new any more",
    ),
    "an expiry does not end the initial rebalance, and what prolongs the delay differs": (
        "initial-delay: new members prolong the delay of a group that was emptied",
        "initial-delay: a pending member id that expires ends the delay early",
    ),
    "a member that is removed or refused lets the join phase complete at once": (
        "groups: only an Empty group is deleted, and with it its offsets",
        "size: in PreparingRebalance a member may lose its place to a new member",
        "size: a member that lost its place still holds the join phase open until its session ends",
        "size: the join phase in which a member lost its place ends by its deadline",
        "size: a pending member id that meets a full group is dropped",
    ),
    "the leave of a pending id starts no rebalance": (
        "leave: the leave of a pending member id makes a Stable group rebalance",
        "leave: the leave of a pending member id makes a CompletingRebalance group start over",
    ),
    "DescribeGroups shows assignments only of a Stable group": (
        "groups: what DescribeGroups shows in each status",
        "join-phase: from Stable the assignments are kept in memory",
    ),
    "whether the coordinator serves is asked first, and a refusal carries the member id": (
        "failover: a coordinator that stopped refuses every request",
        "gates: a bad session timeout is refused even by a coordinator that does not serve",
        "gates: a refused JoinGroup gets its member id back, unless the coordinator does not serve",
    ),
    "a check is made in another order": (
        "offsets: a commit with a generation needs a group (v9)",
        "transactions: a commit with a generation needs a group, and gets ILLEGAL_GENERATION as old commits do",
        "sync: before the first generation there is no protocol to differ from",
    ),
    "a rebalance timeout of -1 stays one when another coordinator takes over": (
        "rebalance-timeout: a timeout of -1 is the session timeout after a failover",
    ),
    "a tied vote goes to what the first member in another hash order votes for": (
        "join: a tied vote goes to the name that comes first in hash order: sticky before range",
        "join: a tied vote goes to the name that comes first in hash order: range before roundrobin",
    ),
    "a commit of nothing but long metadata creates a group that is there at once, and stays": (
        "offsets: a commit of nothing but long metadata creates a group that is seen after the next write",
        "offsets: a write that fails takes such a group back, and with it a member that waits",
    ),
    "the requests that restart a session's timer differ": (
        "join: a heartbeat of a waiting new member shortens its five minutes to the session timeout",
        "sync: a SyncGroup in Stable does not prolong the session",
    ),
}


IN_SCALA: Final = tuple(
    KnownDifference(
        name,
        reason="the scenarios follow the coordinator in Java; the one in Scala is older, and has rules of its own",
        subjects="3.9.2 (Scala)",
        source="kafka.coordinator.group.GroupCoordinator",
        concerns=lambda release: release.scala,
        examples=scenarios,
    )
    for name, scenarios in _SCALA.items()
)
"""The coordinator in Scala. Its differences in random scenarios are not compared; the invariants are judged."""

IN_JAVA: Final = (
    KnownDifference(
        name="ListGroups names a group twice whose tombstone could not be written",
        reason="a defect of Kafka",
        subjects="4.3.1 and 3.9.2 (Java)",
        source="TRACK_RECORD.md",
        concerns=lambda release: not release.scala,
        examples=("lists: a group whose deletion failed is listed once",),
    ),
)
"""Defects of the coordinators in Java."""

IN_JAVA_3_9: Final = (
    KnownDifference(
        name="an Empty group with nothing but an open transaction is deleted, and loses what the transaction commits",
        reason="a defect of 3.9.2, mended in 4.3.1; so scenarios with ageing offsets are not compared",
        subjects="3.9.2 (Java)",
        source="TRACK_RECORD.md",
        concerns=_is_java_3_9,
        examples=(
            "expiry: an Empty group with nothing but an open transaction stays",
            "expiry: an aborted transaction leaves nothing to keep",
        ),
    ),
    KnownDifference(
        name="a read that waits in vain for writes is answered REQUEST_TIMED_OUT, which no client expects of a read",
        reason="a defect of 3.9.2: NOT_COORDINATOR is what its clients can do with, and what 4.3.1 answers",
        subjects="3.9.2 (Java)",
        source="TRACK_RECORD.md",
        concerns=_is_java_3_9,
        recognises=_reads_in_vain,
        examples=("writes: a stable read whose wait times out is answered with NOT_COORDINATOR",),
    ),
)

KNOWN: Final = (*IN_SCALA, *IN_JAVA, *IN_JAVA_3_9)
