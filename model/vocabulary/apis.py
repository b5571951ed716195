"""Kafka's names of the requests that concern groups (``ApiKeys``)."""

from __future__ import annotations

from enum import StrEnum


class Api(StrEnum):
    """As Kafka spells them; `ActionKind` has an action of the same name where a request arrives at the coordinator."""

    FIND_COORDINATOR = "FindCoordinator"
    JOIN_GROUP = "JoinGroup"
    SYNC_GROUP = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    LEAVE_GROUP = "LeaveGroup"
    OFFSET_COMMIT = "OffsetCommit"
    OFFSET_FETCH = "OffsetFetch"
    TXN_OFFSET_COMMIT = "TxnOffsetCommit"
    DELETE_GROUPS = "DeleteGroups"
