"""Events around a member, from outside of its client, as its process sees them (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.event_base import MemberEvent

ON_PARTITIONS_ASSIGNED: Final = "onPartitionsAssigned"
ON_PARTITIONS_REVOKED: Final = "onPartitionsRevoked"
ON_PARTITIONS_LOST: Final = "onPartitionsLost"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataReceived(MemberEvent):
    """The member's client is answered Metadata: these partitions exist, sorted."""

    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionBroken(MemberEvent):
    """A connection of the member broke, or a request on it was not answered in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationBusy(MemberEvent):
    """The application is busy and does not poll for ``busy_ms``; it polled last at ``polled_ms``."""

    polled_ms: int
    busy_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsDelivered(MemberEvent):
    """A poll gave the application records of ``partitions``; each such poll is an event of its own."""

    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerCalled(MemberEvent):
    """The consumer calls its application's ``ConsumerRebalanceListener`` about ``partitions``.

    ``callback`` is onPartitionsAssigned, onPartitionsRevoked or onPartitionsLost.
    """

    callback: str
    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceEnforced(MemberEvent):
    """The application asks for a rebalance (``Consumer.enforceRebalance``, KIP-568)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionChanged(MemberEvent):
    """The application replaced its subscription by these topics; by none if it unsubscribed."""

    topics: tuple[str, ...]
