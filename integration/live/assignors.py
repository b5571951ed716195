"""kafka-python's assignors, watched: the leader's inputs and outputs become events, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from rebalance_check.integration.kafka_clients import CooperativeStickyAssignor, RangePartitionAssignor
from rebalance_check.integration.live.settings import LiveProtocol, LiveSettings
from rebalance_check.model.events import AssignmentComputed, Event
from rebalance_check.model.ids import NO_GENERATION

# What stands behind `_Watched` in the order of methods; at run time it may not be a base of its own.
if TYPE_CHECKING:

    class _Assignor(RangePartitionAssignor):
        pass

else:
    _Assignor = object


class Watcher(Protocol):
    """Who is told: `member.Observer`."""

    member: str

    def emit(self, event: Event) -> None:
        """Record an event."""

    def membership(self) -> tuple[int, str, Any]:
        """Generation, member id and state of the consumer."""
        ...


class _Watched(_Assignor):
    """Put in front of an assignor class: passes everything on."""

    watcher: Watcher
    forgets: bool

    def assign(self, cluster: Any, members: Any) -> Any:
        result = super().assign(cluster, members)
        generation, member_id, _state = self.watcher.membership()
        by_id = sorted(members, key=lambda member: str(member.member_id))
        self.watcher.emit(
            AssignmentComputed(
                member=self.watcher.member,
                generation=generation,
                member_id=member_id,
                protocol=self.name,
                claims=tuple((m.member_id, _flat(_claimed(m.metadata))) for m in by_id),
                claim_generations=tuple((m.member_id, m.metadata.generation_id) for m in by_id),
                assignments=tuple(
                    (m.member_id, _flat((tp.topic, [tp.partition]) for tp in result[m.member_id].partitions()))
                    for m in by_id
                ),
            )
        )
        return result

    def metadata(self, topics: Any) -> Any:
        if self.forgets and self.watcher.membership()[0] == NO_GENERATION:
            self.member_assignment = None
        return super().metadata(topics)


class _Range(_Watched, RangePartitionAssignor):
    pass


class _CooperativeSticky(_Watched, CooperativeStickyAssignor):
    pass


def recording_assignor(settings: LiveSettings, watcher: Watcher) -> Any:
    """The assignor of the group's protocol, telling ``watcher`` what it computes."""
    assignor = _Range() if settings.protocol is LiveProtocol.EAGER else _CooperativeSticky()
    assignor.watcher = watcher
    assignor.forgets = settings.forget_claims_on_loss and settings.protocol is LiveProtocol.COOPERATIVE
    return assignor


def _claimed(metadata: Any) -> Iterable[tuple[str, Iterable[int]]]:
    return [(tp.topic, tp.partitions) for tp in getattr(metadata, "owned_partitions", None) or ()]


def _flat(by_topic: Iterable[tuple[str, Iterable[int]]]) -> tuple[str, ...]:
    return tuple(sorted(f"{topic}-{index}" for topic, indexes in by_topic for index in indexes))
