"""What happens in a worker of Connect that waits: its herder may have waited for any of it."""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    CallbackEnded,
    CallbackStarted,
    CancelledWorkEnded,
    ConfigRead,
    ConfigReadEnded,
    ConfigStoreStarted,
    ConnectionBroken,
    ConnectorStarted,
    ConnectorStopped,
    CoordinatorAwaited,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    InternalRequestChecked,
    LookUpAnswered,
    LookUpSent,
    MemberClosing,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    ProducerInitialised,
    StatusAnswered,
    StatusAppended,
    StatusFlushed,
    StatusGivenUp,
    StatusRead,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerClaimed,
    WorkRevocationEnded,
    WorkRevocationStarted,
    WorkStateChanged,
    ZombieFencingEnded,
)

GOES_ON: Final[tuple[type[Event], ...]] = (
    AssignmentAccepted, CallbackEnded, CallbackStarted, CancelledWorkEnded, ConfigRead, ConfigReadEnded,
    ConfigStoreStarted, ConnectionBroken, ConnectorStarted, ConnectorStopped, CoordinatorAwaited, CoordinatorFound,
    CoordinatorLost, InternalRequestChecked, LookUpAnswered, LookUpSent, MemberClosing, MemberCrashed, MemberJoined,
    MemberLeft, MemberPaused, MemberResumed, MembershipLost, MemberStarted, ProducerInitialised, TaskStarted,
    TaskStopped, WorkCancelled, WorkerClaimed, WorkRevocationEnded, WorkRevocationStarted, WorkStateChanged,
    ZombieFencingEnded,
)  # fmt: skip
"""What happens in a worker that waits for something; its herder may have waited for that."""

OF_STATUSES: Final[tuple[type[Event], ...]] = (
    StatusAnswered, StatusAppended, StatusFlushed, StatusGivenUp, StatusRead,
)  # fmt: skip
"""The same of its status store."""

OfStatuses: TypeAlias = StatusAnswered | StatusAppended | StatusFlushed | StatusGivenUp | StatusRead
