"""Responses that carry a chosen error code: a fault's answers instead of the broker's."""

from __future__ import annotations

from typing import Any, Final, cast

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.exchange.seen import BATCHED_LOOK_UP_VERSION
from rebalance_check.integration.wire.kafka_python import ApiMessage, metadata, producer
from rebalance_check.integration.wire.messages import KEY_OF, MESSAGES
from rebalance_check.integration.wire.replies import no_groups, replies_to_wire
from rebalance_check.integration.wire.requests import GROUP_API_KEYS, requests_from_wire
from rebalance_check.model.vocabulary.errors import Error

NOBODY: Final = {"node_id": -1, "host": "", "port": -1}
"""The coordinator in a reply that names none."""


def can_refuse(api: str) -> bool:
    """Whether the response of this api has a place for an error of the whole request."""
    key = KEY_OF.get(api, -1)
    if key in GROUP_API_KEYS or api in ("FindCoordinator", "Produce"):
        return True
    return key in MESSAGES and "error_code" in MESSAGES[key].response._struct.fields


def refusal(request: Any, error: Error) -> ApiMessage:
    """The response to a decoded ``request`` that says ``error``, in the place where its api carries errors.

    `can_refuse` must hold of its api.
    """
    if request.API_KEY in GROUP_API_KEYS:
        parts = requests_from_wire(request, client_host="")
        return replies_to_wire([(part, refused(part, error)) for part in parts]) if parts else no_groups(request)
    if isinstance(request, metadata.FindCoordinatorRequest):
        return _not_found(request, error)
    if isinstance(request, producer.ProduceRequest):
        return _not_produced(request, error)
    return MESSAGES[request.API_KEY].response(error_code=int(error))


def refused(request: msg.GroupRequest, error: Error) -> msg.GroupReply:
    """The reply to one group request that says ``error``."""
    if isinstance(request, msg.OffsetCommitRequest):
        # OffsetCommit has no error of its own: every partition carries it.
        return msg.OffsetCommitReply(partitions=tuple((o.topic, o.partition, error) for o in request.offsets))
    if isinstance(request, msg.TxnOffsetCommitRequest):
        return msg.TxnOffsetCommitReply(partitions=tuple((o.topic, o.partition, error) for o in request.offsets))
    if isinstance(request, msg.JoinGroupRequest):
        return msg.JoinGroupReply(error=error, member_id=request.member_id)
    return cast("msg.GroupReply", msg.REPLY_OF[type(request)](error=error))


def _not_found(request: Any, error: Error) -> ApiMessage:
    response, code = metadata.FindCoordinatorResponse, int(error)
    if request.API_VERSION < BATCHED_LOOK_UP_VERSION:
        return response(error_code=code, error_message=None, **NOBODY)
    entry = response.Coordinator
    return response(
        coordinators=[entry(key=key, error_code=code, error_message=None, **NOBODY) for key in request.coordinator_keys]
    )


def _not_produced(request: Any, error: Error) -> ApiMessage:
    topic_of = producer.ProduceResponse.TopicProduceResponse
    partition_of = topic_of.PartitionProduceResponse
    topics = [
        topic_of(
            name=topic.name,
            topic_id=topic.topic_id,
            partition_responses=[
                partition_of(index=data.index, error_code=int(error), base_offset=-1) for data in topic.partition_data
            ],
        )
        for topic in request.topic_data
    ]
    return producer.ProduceResponse(responses=topics)
