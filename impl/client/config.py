"""The settings of a group member, with Kafka's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from rebalance_check.impl.protocol.consumer_protocol import HIGHEST_VERSION
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Contract(StrEnum):
    """Whose rules a member follows where clients differ.

    - A member that is answered ILLEGAL_GENERATION joins again under its id (Java, kafka-python 3), or without one.
    - A JoinGroup is sent at once (Java, kafka-python 3), or when no other request to the coordinator is in flight.
    - Heartbeats go on as soon as JoinGroup is answered (Java), or not before SyncGroup is.
    - `on_join_prepare` is not called again in a chain in which it raised (Java), or at the next poll.
    """

    JAVA = "java"
    """``AbstractCoordinator`` of Kafka 4."""
    KAFKA_PYTHON = "kafka-python"
    """``BaseCoordinator`` of kafka-python 2.0 to 2.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """Settings of one member; times in ms.

    ``rebalance_timeout_ms`` is ``max.poll.interval.ms`` for a consumer and ``rebalance.timeout.ms`` for a worker: the
    longest time between two polls, and the coordinator's time limit for joining. The retry backoff of heartbeats and
    look-ups doubles up to its maximum. The versions say which version of each API this client speaks, and which of the
    subscriptions of consumers.
    """

    group_id: str
    client_id: str = ""
    group_instance_id: str | None = None
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    leave_on_close: bool = True
    find_coordinator_version: int = 4
    join_group_version: int = 9
    sync_group_version: int = 5
    heartbeat_version: int = 4
    leave_group_version: int = 5
    offset_commit_version: int = 8
    offset_fetch_version: int = 7
    subscription_version: int = HIGHEST_VERSION
    contract: Contract = Contract.JAVA

    def __post_init__(self) -> None:
        if not 0 < self.heartbeat_interval_ms < self.session_timeout_ms:
            raise RebalanceCheckError(
                f"heartbeat_interval_ms is {self.heartbeat_interval_ms}: choose one above 0 and below "
                f"session_timeout_ms, which is {self.session_timeout_ms}"
            )


SETTINGS: Final = {
    "group.id": "group_id",
    "client.id": "client_id",
    "group.instance.id": "group_instance_id",
    "session.timeout.ms": "session_timeout_ms",
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "max.poll.interval.ms": "rebalance_timeout_ms",
    "rebalance.timeout.ms": "rebalance_timeout_ms",
    "retry.backoff.ms": "retry_backoff_ms",
    "retry.backoff.max.ms": "retry_backoff_max_ms",
}
"""Kafka's settings that a member reads; kafka-python writes them with underscores."""


def read_settings(settings: Mapping[str, Any]) -> tuple[ClientConfig, tuple[str, ...]]:
    """The settings of a member among those of a client, and the names of the others, which say nothing to a member.

    Names are Kafka's or kafka-python's. A client has many settings for its other parts: unknown ones are no error, as
    in ``BaseCoordinator`` of kafka-python.

    Raises: RebalanceCheckError where there is no group id, a time is no whole number, or the times contradict.
    """
    known, unknown = dict[str, Any](), list[str]()
    for name, value in settings.items():
        field = SETTINGS.get(name.replace("_", "."))
        if field is None:
            unknown.append(name)
        else:
            known[field] = _whole(name, value) if field.endswith("_ms") else value
    if not known.get("group_id"):
        raise RebalanceCheckError(f"the settings {', '.join(settings) or '(none)'} name no group: add group.id")
    return ClientConfig(**known), tuple(unknown)


def _whole(name: str, value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise RebalanceCheckError(f"{name} is {value!r}: give a whole number of milliseconds") from None
