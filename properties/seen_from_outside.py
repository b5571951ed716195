"""The events that are seen from outside: recordings of software that is not ours contain them.

`SEEN_IN` has each kind of recording that the tests make, with the types of the events in it. The test that makes one
asserts that its history contains every type listed here, and none that is not in `OUTSIDE`. `MINIMAL` are the events
that the documents ask of a coordinator of another kind, which its own code records.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.model.vocabulary import events as vocabulary

EventTypes = frozenset[type[vocabulary.Event]]

_OF_AN_APPLICATION: Final[EventTypes] = frozenset(
    {
        vocabulary.AssignmentCompleted, vocabulary.MemberJoined, vocabulary.MemberLeft, vocabulary.MemberStarted,
        vocabulary.OffsetCommitted, vocabulary.PartitionsAssigned, vocabulary.PartitionsRevoked,
    }
)  # fmt: skip
"""A recorded consumer of any library: its settings, callbacks, generations and commits."""

_OF_REQUESTS: Final[EventTypes] = frozenset(
    {vocabulary.LookUpAnswered, vocabulary.LookUpSent, vocabulary.RequestAnswered, vocabulary.RequestSent}
)

_OF_THE_WIRE: Final[EventTypes] = frozenset(
    {
        vocabulary.ConnectionClosed, vocabulary.ConnectionOpened, vocabulary.CoordinatorMoved,
        vocabulary.ReplyObserved, vocabulary.RequestObserved,
    }
)  # fmt: skip

_OF_STATUS_STORES: Final[EventTypes] = frozenset(
    {
        vocabulary.StatusAnswered, vocabulary.StatusAppended, vocabulary.StatusAttempted, vocabulary.StatusIgnored,
        vocabulary.StatusRead, vocabulary.StatusSent, vocabulary.StatusStoreStarted, vocabulary.StatusStoreStopped,
    }
)  # fmt: skip

_OF_A_CLUSTER: Final[EventTypes] = frozenset(
    {
        vocabulary.AssignmentAccepted, vocabulary.ConnectAssignmentReceived, vocabulary.ConnectorStarted,
        vocabulary.ConnectorStopped, vocabulary.MemberJoined, vocabulary.MemberLeft, vocabulary.MemberStarted,
        vocabulary.MembershipLost, vocabulary.RunEnded, vocabulary.RunSettled, vocabulary.RunStarted,
        vocabulary.TaskStarted, vocabulary.TaskStopped, vocabulary.WorkerConfigured,
    }
)  # fmt: skip
"""Java Connect workers: their journals, and their log lines about their group."""

SEEN_IN: Final[Mapping[str, EventTypes]] = MappingProxyType({
    "recorder: kafka-python": _OF_AN_APPLICATION | _OF_REQUESTS | {
        vocabulary.CoordinatorFound, vocabulary.SubscriptionChanged,
    },
    "recorder: kafka-python, paused": frozenset({vocabulary.MembershipLost, vocabulary.PartitionsLost}),
    "recorder: confluent-kafka": _OF_AN_APPLICATION,
    "recorder: aiokafka": _OF_AN_APPLICATION | {vocabulary.CoordinatorFound},
    "recorder: java": _OF_AN_APPLICATION - {vocabulary.AssignmentCompleted},
    "live": _OF_AN_APPLICATION | _OF_REQUESTS | {
        vocabulary.AssignmentComputed, vocabulary.CoordinatorFound, vocabulary.HealEnded, vocabulary.RunEnded,
        vocabulary.RunStarted, vocabulary.TopicsDescribed,
    },
    "wire": _OF_THE_WIRE,
    "client kit": _OF_THE_WIRE | {
        vocabulary.ProcessEnded, vocabulary.ProcessSignalled, vocabulary.ProcessStarted, vocabulary.RunEnded,
        vocabulary.RunStarted,
    },
    "java connect": _OF_A_CLUSTER | _OF_STATUS_STORES | {
        vocabulary.CancelledWorkEnded, vocabulary.ConfigAppended, vocabulary.WorkCancelled,
    },
    "java connect: a worker killed": _OF_A_CLUSTER | {vocabulary.MemberCrashed},
    "java connect: a worker paused": frozenset({
        vocabulary.MemberPaused, vocabulary.MemberResumed, vocabulary.RequestAnswered,
    }),
    "java connect: exactly once": _OF_A_CLUSTER | {vocabulary.ProducerInitialised},
    "java connect: compaction": frozenset({vocabulary.ConfigCompacted, vocabulary.ConfigSnapshotTaken}),
    "lockstep: config": frozenset({
        vocabulary.ConfigRead, vocabulary.ConfigSnapshotTaken, vocabulary.ConfigStoreStarted, vocabulary.MemberStarted,
        vocabulary.RunEnded, vocabulary.RunStarted,
    }),
    "lockstep: status": _OF_STATUS_STORES | {
        vocabulary.RunEnded, vocabulary.RunStarted, vocabulary.StatusFlushed, vocabulary.StatusFlushStarted,
        vocabulary.StatusGivenUp, vocabulary.StatusQueried, vocabulary.StatusStoreStarting,
        vocabulary.StatusSuppressed, vocabulary.StatusesListed,
    },
    "virtual kafka": frozenset({
        vocabulary.CoordinatorConfigured, vocabulary.GenerationStarted, vocabulary.GroupDeleted,
        vocabulary.GroupDescribed, vocabulary.GroupMetadataAppended, vocabulary.GroupMetadataWritten,
        vocabulary.GroupStatusChanged, vocabulary.HeartbeatReplied, vocabulary.IncarnationEnded,
        vocabulary.IncarnationStarted, vocabulary.JoinGroupReplied, vocabulary.LeaveGroupReplied,
        vocabulary.LogTailLost, vocabulary.MemberAdded, vocabulary.MemberRemoved, vocabulary.OffsetCommitReplied,
        vocabulary.ReplyReceived, vocabulary.RequestIssued, vocabulary.RequestParked, vocabulary.RunEnded,
        vocabulary.RunStarted, vocabulary.StepStarted, vocabulary.SyncGroupReplied,
    }),
})  # fmt: skip
"""By kind of recording, the events that each recording of that kind contains."""

MINIMAL: Final[EventTypes] = frozenset(
    {
        vocabulary.MemberCrashed, vocabulary.MemberLeft, vocabulary.MemberRemoved, vocabulary.MemberStarted,
        vocabulary.OffsetCommitted, vocabulary.PartitionsAssigned, vocabulary.PartitionsLost,
        vocabulary.PartitionsRevoked, vocabulary.RunEnded,
    }
)  # fmt: skip
"""The events that ``docs/judging-your-own-coordinator.md`` and ``docs/mapping.md`` ask of a coordinator that is not
Kafka's."""

OUTSIDE: Final[EventTypes] = MINIMAL.union(*SEEN_IN.values())
"""Every event that somebody who is not ours has caused, or can."""
