"""The events that are seen from outside: recordings of software that is not ours contain them.

`SEEN_IN` has each kind of recording that the tests make, with the types of the events in it. The test that makes one
asserts that its history contains every type listed here, and none that is not in `OUTSIDE`. `MINIMAL` are the events
that the documents ask of a coordinator of another kind, which its own code records.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event

EventTypes = frozenset[type[Event]]


def events_named(*names: str) -> EventTypes:
    """The types of events of these names, many of which stand in one text."""
    return frozenset(EVENT_TYPES[name] for text in names for name in text.split())


_OF_AN_APPLICATION: Final = """
    MemberJoined MemberLeft MemberStarted OffsetCommitted PartitionsAssigned PartitionsRevoked"""
"""A recorded consumer of any library: its settings, callbacks, generations and commits."""

_OF_REQUESTS: Final = "LookUpAnswered LookUpSent RequestAnswered RequestSent"

_OF_THE_WIRE: Final = "ConnectionClosed ConnectionOpened CoordinatorMoved ReplyObserved RequestObserved"

_OF_STATUS_STORES: Final = """
    StatusAnswered StatusAppended StatusAttempted StatusIgnored StatusRead StatusSent StatusStoreStarted
    StatusStoreStopped"""

_OF_A_CLUSTER: Final = """
    AssignmentAccepted ConnectAssignmentReceived ConnectorStarted ConnectorStopped MemberJoined MemberLeft
    MemberStarted MembershipLost RunEnded RunSettled RunStarted TaskStarted TaskStopped WorkerConfigured"""
"""Java Connect workers: their journals, and their log lines about their group."""

SEEN_IN: Final[Mapping[str, EventTypes]] = MappingProxyType({
    "recorder: kafka-python": events_named(
        _OF_AN_APPLICATION, _OF_REQUESTS, "AssignmentCompleted CoordinatorFound SubscriptionChanged"
    ),
    "recorder: kafka-python, paused": events_named("MembershipLost PartitionsLost"),
    "recorder: confluent-kafka": events_named(_OF_AN_APPLICATION, "AssignmentCompleted"),
    "recorder: aiokafka": events_named(_OF_AN_APPLICATION, "AssignmentCompleted CoordinatorFound"),
    "recorder: java": events_named(_OF_AN_APPLICATION),
    "live": events_named(_OF_AN_APPLICATION, _OF_REQUESTS, """
        AssignmentCompleted AssignmentComputed CoordinatorFound HealEnded RunEnded RunStarted TopicsDescribed"""),
    "wire": events_named(_OF_THE_WIRE),
    "client kit": events_named(_OF_THE_WIRE, "ProcessEnded ProcessSignalled ProcessStarted RunEnded RunStarted"),
    "java connect": events_named(_OF_A_CLUSTER, _OF_STATUS_STORES, "CancelledWorkEnded ConfigAppended WorkCancelled"),
    "java connect: a worker killed": events_named(_OF_A_CLUSTER, "MemberCrashed"),
    "java connect: a worker paused": events_named("MemberPaused MemberResumed RequestAnswered"),
    "java connect: exactly once": events_named(_OF_A_CLUSTER, "ProducerInitialised"),
    "java connect: compaction": events_named("ConfigCompacted ConfigSnapshotTaken"),
    "lockstep: config": events_named(
        "ConfigRead ConfigSnapshotTaken ConfigStoreStarted MemberStarted RunEnded RunStarted"
    ),
    "lockstep: status": events_named(_OF_STATUS_STORES, """
        RunEnded RunStarted StatusFlushStarted StatusFlushed StatusGivenUp StatusQueried StatusStoreStarting
        StatusSuppressed StatusesListed"""),
    "virtual kafka": events_named("""
        CoordinatorConfigured GenerationStarted GroupDeleted GroupDescribed GroupMetadataAppended GroupMetadataWritten
        GroupStatusChanged HeartbeatReplied IncarnationEnded IncarnationStarted JoinGroupReplied LeaveGroupReplied
        LogTailLost MemberAdded MemberRemoved OffsetCommitReplied ReplyReceived RequestIssued RequestParked RunEnded
        RunStarted StepStarted SyncGroupReplied"""),
})  # fmt: skip
"""By kind of recording, the events that each recording of that kind contains."""

MINIMAL: Final[EventTypes] = events_named("""
    MemberCrashed MemberLeft MemberRemoved MemberStarted OffsetCommitted PartitionsAssigned PartitionsLost
    PartitionsRevoked RunEnded""")
"""The events that ``docs/judging-your-own-coordinator.md`` and ``docs/mapping.md`` ask of a coordinator that is not
Kafka's."""

OUTSIDE: Final[EventTypes] = MINIMAL.union(*SEEN_IN.values())
"""Every event that somebody who is not ours has caused, or can."""
