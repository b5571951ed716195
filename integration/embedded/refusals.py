"""Responses that carry a chosen error code: what a fault plan answers instead of the broker."""

from __future__ import annotations

from typing import Any, Final

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded import answers_cluster, answers_log
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.apis import api_name
from rebalance_check.integration.wire.kafka_python import ApiMessage
from rebalance_check.integration.wire.replies import no_groups, replies_to_wire
from rebalance_check.integration.wire.requests import GROUP_API_KEYS, requests_from_wire
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

_REPLY_OF: Final[dict[type, type[Any]]] = {
    msg.JoinGroupRequest: msg.JoinGroupReply,
    msg.SyncGroupRequest: msg.SyncGroupReply,
    msg.HeartbeatRequest: msg.HeartbeatReply,
    msg.LeaveGroupRequest: msg.LeaveGroupReply,
    msg.OffsetFetchRequest: msg.OffsetFetchReply,
    msg.OffsetDeleteRequest: msg.OffsetDeleteReply,
}


async def refusal(request: Any, error: Error, address: answers_cluster.Address, client_host: str) -> ApiMessage:
    """The response to a decoded ``request`` that says ``error``, in the place where this api carries errors.

    `RebalanceCheckError` for an api whose response has no place for it.
    """
    if request.API_KEY in GROUP_API_KEYS:
        parts = requests_from_wire(request, client_host=client_host)
        return replies_to_wire([(part, _refused(part, error)) for part in parts]) if parts else no_groups(request)
    name = api_name(request)
    if name == "FindCoordinator":
        return await answers_cluster.find_coordinator(request, address, error_code=int(error))
    if name == "Produce":
        return await answers_log.produce(request, Topics(), error_code=int(error))
    raise RebalanceCheckError(f"a fault cannot answer {name} with {error.name}: choose a group api or Produce")


def _refused(request: msg.GroupRequest, error: Error) -> msg.GroupReply:
    if isinstance(request, msg.OffsetCommitRequest):
        # OffsetCommit has no error of its own: every partition carries it.
        return msg.OffsetCommitReply(partitions=tuple((o.topic, o.partition, error) for o in request.offsets))
    if isinstance(request, msg.TxnOffsetCommitRequest):
        return msg.TxnOffsetCommitReply(partitions=tuple((o.topic, o.partition, error) for o in request.offsets))
    if isinstance(request, msg.JoinGroupRequest):
        return msg.JoinGroupReply(error=error, member_id=request.member_id)
    reply: msg.GroupReply = _REPLY_OF[type(request)](error=error)
    return reply
