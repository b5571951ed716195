"""kafka-python's assignors, watched: the leader's inputs and outputs become events, and nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rebalance_check.integration.live.clients.consumer import assignors_of
from rebalance_check.integration.live.kafka_python_api import (
    CooperativeStickyAssignor,
    RangePartitionAssignor,
    RoundRobinPartitionAssignor,
)
from rebalance_check.integration.live.settings import LiveProtocol, MemberOrder
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.model.vocabulary.ids import NO_GENERATION

# The class behind `_Watched` in the order of methods; at run time it may not be a base of its own.
if TYPE_CHECKING:

    class _Assignor(RangePartitionAssignor):
        pass

else:
    _Assignor = object


class _Watched(_Assignor):
    """Put in front of an assignor class: passes everything on."""

    watcher: Observer
    forgets: bool

    def assign(self, cluster: Any, members: Any) -> Any:
        result = super().assign(cluster, members)
        by_id = {str(member.member_id): member.metadata for member in members}
        self.watcher.computed(
            self.name,
            {member_id: _claimed(metadata) for member_id, metadata in by_id.items()},
            {member_id: [(tp.topic, tp.partition) for tp in result[member_id].partitions()] for member_id in by_id},
            {member_id: metadata.generation_id for member_id, metadata in by_id.items()},
        )
        return result

    def metadata(self, topics: Any) -> Any:
        if self.forgets and self.watcher.membership().generation == NO_GENERATION:
            self.member_assignment = None
        return super().metadata(topics)


class _Range(_Watched, RangePartitionAssignor):
    pass


class _RoundRobin(_Watched, RoundRobinPartitionAssignor):
    pass


class _CooperativeSticky(_Watched, CooperativeStickyAssignor):
    pass


class _Upgradable(_CooperativeSticky):
    """Supports EAGER, too, as Kafka's does: it may be listed next to an eager assignor (KIP-429).

    An EAGER member has revoked everything when it joins, so it claims nothing.
    """

    eager: bool

    def supported_protocols(self) -> list[Any]:
        return [*RangePartitionAssignor().supported_protocols(), *super().supported_protocols()]

    def metadata(self, topics: Any) -> Any:
        if self.eager:
            self.member_assignment = None
        return super().metadata(topics)


class _OldCustom(_Range):
    name = "custom"


class _NewCustom(_CooperativeSticky):
    """New code under the old name."""

    name = "custom"


UPGRADED: Final[dict[str, Any]] = {
    "range": _Range,
    "cooperative-sticky": _Upgradable,
    "custom": _OldCustom,
    "custom (cooperative)": _NewCustom,
}
"""The assignors of members of an upgrade path."""

ASSIGNORS: Final[dict[str, Any]] = {each.name: each for each in (_Range, _RoundRobin, _CooperativeSticky)}


def recording_assignors(order: MemberOrder, watcher: Observer) -> list[Any]:
    """The assignors of the order, which notify ``watcher`` of their results."""
    made = [each() for each in assignors_of(order, UPGRADED if order.settings.upgrade else ASSIGNORS)]
    for assignor in made:
        assignor.eager = order.choice.protocol is LiveProtocol.EAGER
        assignor.watcher = watcher
        assignor.forgets = order.settings.forget_claims_on_loss and isinstance(assignor, _CooperativeSticky)
    return made


def _claimed(metadata: Any) -> list[tuple[str, int]]:
    owned = getattr(metadata, "owned_partitions", None) or ()
    return [(each.topic, index) for each in owned for index in each.partitions]
