"""The group requests of a kafka-python consumer, recorded where its coordinator hands them to the connections.

The part of a consumer that takes part in the group sends all its requests by one method, and its replies come back as
futures. Both go on as they are. A request is recorded when it has been handed over, its reply before the consumer sees
it. Its event leaves out the parts of a request or a reply that cannot be read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count
from typing import Any, Final

from kafka.errors import for_code

from rebalance_check.impl.protocol.consumer_protocol import read_assignment, read_claimed_generation, read_subscription
from rebalance_check.impl.protocol.digest import metadata_digest
from rebalance_check.impl.protocol.messages import JoinProtocol
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.integration.recorders.observer import Observer, names
from rebalance_check.integration.recorders.wrapped import ACCEPTED
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event, LookUpAnswered, LookUpSent, RequestAnswered, RequestSent
from rebalance_check.model.vocabulary.ids import NO_GENERATION

UNKNOWN_VERSION: Final = -1
RECORDED: Final = frozenset(
    {Api.FIND_COORDINATOR, Api.JOIN_GROUP, Api.SYNC_GROUP, Api.HEARTBEAT, Api.LEAVE_GROUP, Api.OFFSET_COMMIT}
)
"""The APIs whose requests are recorded."""

log = logging.getLogger(__name__)


class RecordedRequests:
    """Stands in for the connections that ``inner`` holds: requests sent through it are recorded, all else goes on."""

    def __init__(self, inner: Any, observer: Observer) -> None:
        self._inner = inner
        self._observer = observer
        self._numbers = count(1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def send(self, request: Any, *arguments: Any, **named: Any) -> Any:
        """Send the request; the future of its reply."""
        api = type(request).__name__.removesuffix("Request")
        if api == Api.SYNC_GROUP:
            self._guarded(self._observer.joined)
        future = self._inner.send(request, *arguments, **named)
        if api in RECORDED:
            number = next(self._numbers)
            self._guarded(lambda: self._observer.emit(_sent(self._observer.member, api, number, request)))
            future.add_both(lambda reply: self._guarded(lambda: self._answered(api, number, reply)))
        return future

    def _answered(self, api: str, number: int, reply: Any) -> None:
        event = _answered(self._observer.member, api, number, reply)
        self._observer.emit(event)
        self._observer.refused(event.error or "")

    def _guarded(self, record: Callable[[], None]) -> None:
        """Record something; the application goes on where that fails."""
        try:
            record()
        except Exception as fault:
            log.warning("a request or reply of %s is not recorded: %r", self._observer.member, fault)


def _sent(member: str, api: str, number: int, request: Any) -> Event:
    if api == Api.FIND_COORDINATOR:
        return LookUpSent(member=member, request=number)
    version = getattr(request, "API_VERSION", None)
    fields: dict[str, Any] = {
        "member": member, "api": api, "request": number, "member_id": request.member_id or "",
        "version": UNKNOWN_VERSION if version is None else version,
    }  # fmt: skip
    if api != Api.JOIN_GROUP:
        epoch = getattr(request, "generation_id_or_member_epoch", NO_GENERATION)
        return RequestSent(generation=getattr(request, "generation_id", epoch), **fields)
    protocols = [JoinProtocol(name, _encoded(metadata)) for name, metadata in map(_named, request.protocols)]
    first = protocols[0].metadata if protocols else b""
    return RequestSent(
        metadata=metadata_digest(protocols), protocols=tuple(protocol.name for protocol in protocols),
        owned=_claims(first), claimed_generation=_claimed_generation(first), **fields,
    )  # fmt: skip


def _answered(member: str, api: str, number: int, reply: Any) -> LookUpAnswered | RequestAnswered:
    is_unknown = isinstance(reply, Exception)
    if api == Api.FIND_COORDINATOR:
        if is_unknown:
            return LookUpAnswered(member=member, request=number, error=None)
        found = reply.coordinators[0] if reply.coordinators else reply
        return LookUpAnswered(member=member, request=number, error=_error(found.error_code), node=found.node_id)
    said: dict[str, Any] = {"member": member, "api": api, "request": number}
    if is_unknown:
        return RequestAnswered(error=None, **said)
    if api == Api.OFFSET_COMMIT:
        codes = (partition.error_code for topic in reply.topics for partition in topic.partitions)
        return RequestAnswered(error=_error(next((code for code in codes if code), 0)), **said)
    said["error"] = _error(reply.error_code)
    if api == Api.JOIN_GROUP:
        members = tuple((joined.member_id, _claims(_encoded(joined.metadata))) for joined in reply.members)
        return RequestAnswered(
            generation=reply.generation_id, leader=reply.leader or "", protocol=reply.protocol_name or "",
            members=members, assigned_member_id=reply.member_id or "", **said,
        )  # fmt: skip
    if api == Api.SYNC_GROUP:
        return RequestAnswered(assignment=_work(_encoded(reply.assignment)), **said)
    return RequestAnswered(**said)


def _error(code: int) -> str:
    return ACCEPTED if not code else str(for_code(code).message)


def _named(protocol: Any) -> tuple[str, Any]:
    """A protocol of a JoinGroup: a pair, or a structure with these fields."""
    return tuple(protocol) if isinstance(protocol, tuple | list) else (protocol.name, protocol.metadata)


def _encoded(data: Any) -> bytes:
    """The bytes of a structure, which may be bytes already."""
    return bytes(data) if isinstance(data, bytes | bytearray | memoryview) else bytes(data.encode())


def _claims(data: bytes) -> tuple[str, ...]:
    """The partitions that a subscription claims; none where no consumer of Kafka could read it."""
    try:
        return _names(read_subscription(data).owned)
    except MalformedBytes:
        return ()


def _claimed_generation(data: bytes) -> int | None:
    try:
        return read_claimed_generation(data)
    except MalformedBytes:
        return None


def _work(data: bytes) -> tuple[str, ...]:
    try:
        return _names(read_assignment(data).partitions) if data else ()
    except MalformedBytes:
        return ()


def _names(partitions: tuple[TopicPartition, ...]) -> tuple[str, ...]:
    return names((one.topic, one.partition) for one in partitions)
