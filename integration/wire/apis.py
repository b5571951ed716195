"""The apis that the embedded broker serves: which message class, which versions."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, consumer, metadata, producer


class Api(NamedTuple):
    """One api: the class of its request, and the lowest and highest version served."""

    request: type[ApiMessage]
    low: int
    high: int

    @property
    def key(self) -> int:
        """Kafka's api key."""
        return int(self.request.API_KEY)

    @property
    def name(self) -> str:
        """Kafka's name: ``JoinGroup``."""
        return self.request.__name__.removesuffix("Request")


# Fetch ends at 12, Metadata at 9 and DeleteTopics at 5, before topics are named by id; OffsetCommit and OffsetFetch
# likewise at 9. Transactions are those before version 2 (KIP-890), of which clients learn by the versions served here.
_SERVED: Final = (
    Api(producer.ProduceRequest, 3, 9),
    Api(consumer.FetchRequest, 4, 12),
    Api(consumer.ListOffsetsRequest, 1, 11),
    Api(metadata.MetadataRequest, 0, 9),
    Api(consumer.OffsetCommitRequest, 2, 9),
    Api(consumer.OffsetFetchRequest, 1, 9),
    Api(metadata.FindCoordinatorRequest, 0, 5),
    Api(consumer.JoinGroupRequest, 0, 9),
    Api(consumer.HeartbeatRequest, 0, 4),
    Api(consumer.LeaveGroupRequest, 0, 5),
    Api(consumer.SyncGroupRequest, 0, 5),
    Api(admin.DescribeGroupsRequest, 0, 5),
    Api(admin.ListGroupsRequest, 0, 5),
    Api(metadata.ApiVersionsRequest, 0, 3),
    Api(admin.CreateTopicsRequest, 2, 5),
    Api(producer.InitProducerIdRequest, 0, 4),
    Api(admin.DeleteGroupsRequest, 0, 2),
    Api(producer.TxnOffsetCommitRequest, 0, 4),
    Api(consumer.OffsetDeleteRequest, 0, 0),
    Api(admin.DeleteTopicsRequest, 1, 5),
    Api(admin.DeleteRecordsRequest, 0, 2),
    Api(producer.AddPartitionsToTxnRequest, 0, 3),
    Api(producer.AddOffsetsToTxnRequest, 0, 4),
    Api(producer.EndTxnRequest, 0, 4),
    Api(admin.DescribeConfigsRequest, 1, 4),
    Api(admin.CreatePartitionsRequest, 0, 3),
    Api(admin.IncrementalAlterConfigsRequest, 0, 1),
    Api(admin.DescribeClusterRequest, 0, 2),
)

APIS: Final[dict[int, Api]] = {api.key: api for api in _SERVED}
"""The served apis by key."""

VERSIONS: Final[dict[int, tuple[int, int]]] = {api.key: (api.low, api.high) for api in _SERVED}
"""Lowest and highest version by key, as ApiVersions answers them."""


def api_name(request: Any) -> str:
    """Kafka's name of a decoded request."""
    return APIS[request.API_KEY].name
