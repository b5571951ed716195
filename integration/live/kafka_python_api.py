"""kafka-python's clients: the one place that knows where they live, and their parts that this project uses.

The package ships no types, and type checkers hold stubs of an older release against it; subclassed names are declared
here, the rest passes as Any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    KAFKA_PYTHON_RELEASE: str
    KafkaAdminClient: Any
    KafkaConsumer: Any
    KafkaProducer: Any
    MemberState: Any
    OffsetAndMetadata: Any
    TopicPartition: Any
    errors: Any

    class ConsumerRebalanceListener:
        """Three callbacks, each with the partitions concerned."""

    class _Assignor:
        name: str
        member_assignment: Any

        def assign(self, cluster: Any, members: Any) -> Any: ...
        def metadata(self, topics: Any) -> Any: ...
        def supported_protocols(self) -> list[Any]: ...

    class RangePartitionAssignor(_Assignor):
        """EAGER."""

    class RoundRobinPartitionAssignor(_Assignor):
        """EAGER."""

    class CooperativeStickyAssignor(_Assignor):
        """COOPERATIVE."""

else:
    from kafka import (
        ConsumerRebalanceListener,
        KafkaAdminClient,
        KafkaConsumer,
        KafkaProducer,
        OffsetAndMetadata,
        TopicPartition,
        __version__,
        errors,
    )
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.structs import MemberState

    KAFKA_PYTHON_RELEASE = __version__

__all__ = [
    "KAFKA_PYTHON_RELEASE",
    "ConsumerRebalanceListener",
    "CooperativeStickyAssignor",
    "KafkaAdminClient",
    "KafkaConsumer",
    "KafkaProducer",
    "MemberState",
    "OffsetAndMetadata",
    "RangePartitionAssignor",
    "RoundRobinPartitionAssignor",
    "TopicPartition",
    "errors",
]
