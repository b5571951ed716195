"""The broker settings that group coordination obeys."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.impl.protocol.values import Value
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig(Value):
    """Kafka's ``group.*`` settings with Kafka's defaults; times in ms.

    ``new_member_join_timeout_ms`` is the constant of ``GroupMetadataManager``: how long a brand-new member may stay
    parked in its first JoinGroup. ``write_timeout_ms`` is ``offsets.commit.timeout.ms``: how long an answer waits for
    the log. Offsets of a group that is not used are kept for ``offsets_retention_minutes``; every
    ``offsets_retention_check_interval_ms`` the old ones are deleted, and with the last one an Empty group.
    ``sync_while_loading`` is no setting: it is how a SyncGroup is answered while the log is read. Kafka's Java
    coordinators say COORDINATOR_LOAD_IN_PROGRESS, the one in Scala REBALANCE_IN_PROGRESS
    (``GroupCoordinator.handleSyncGroup``).

    Raises `RebalanceCheckError` for values that Kafka refuses, too.
    """

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 2_147_483_647
    new_member_join_timeout_ms: int = 300_000
    offset_metadata_max_bytes: int = 4_096
    write_timeout_ms: int = 5_000
    offsets_retention_minutes: int = 10_080
    offsets_retention_check_interval_ms: int = 600_000
    sync_while_loading: Error = Error.COORDINATOR_LOAD_IN_PROGRESS

    @property
    def settings(self) -> dict[str, str]:
        """The broker settings that it stands for, by Kafka's names."""
        return {
            "group.min.session.timeout.ms": str(self.min_session_timeout_ms),
            "group.max.session.timeout.ms": str(self.max_session_timeout_ms),
            "group.initial.rebalance.delay.ms": str(self.initial_rebalance_delay_ms),
            "group.max.size": str(self.max_size),
            "offset.metadata.max.bytes": str(self.offset_metadata_max_bytes),
            "offsets.commit.timeout.ms": str(self.write_timeout_ms),
            "offsets.retention.minutes": str(self.offsets_retention_minutes),
            "offsets.retention.check.interval.ms": str(self.offsets_retention_check_interval_ms),
        }

    def __post_init__(self) -> None:
        _at_least("min_session_timeout_ms", self.min_session_timeout_ms, 1)
        _at_least("max_session_timeout_ms", self.max_session_timeout_ms, self.min_session_timeout_ms)
        _at_least("initial_rebalance_delay_ms", self.initial_rebalance_delay_ms, 0)
        _at_least("max_size", self.max_size, 1)
        _at_least("new_member_join_timeout_ms", self.new_member_join_timeout_ms, 1)
        _at_least("offset_metadata_max_bytes", self.offset_metadata_max_bytes, 0)
        _at_least("write_timeout_ms", self.write_timeout_ms, 1)
        _at_least("offsets_retention_minutes", self.offsets_retention_minutes, 1)
        _at_least("offsets_retention_check_interval_ms", self.offsets_retention_check_interval_ms, 1)


def _at_least(name: str, value: int, low: int) -> None:
    if value < low:
        raise RebalanceCheckError(f"{name} is {value}: choose {low} or more")
