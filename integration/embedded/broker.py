"""The embedded broker: a group coordinator, topics and a fault plan behind an asyncio TCP server.

Like Kafka's, it handles the requests of one connection one after the other, so a parked JoinGroup holds up whatever its
client sends behind it on that connection, and the death of a connection takes nothing back that was received on it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Final

from rebalance_check.impl.coordinator import GroupCoordinator
from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded import answers_admin, answers_cluster, answers_log
from rebalance_check.integration.embedded.faults import Effect, FaultPlan
from rebalance_check.integration.embedded.refusals import refusal
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.apis import APIS, VERSIONS, api_name
from rebalance_check.integration.wire.frames import (
    MalformedFrame,
    Prefix,
    decode_request,
    encode_response,
    frame_length,
    read_prefix,
)
from rebalance_check.integration.wire.kafka_python import ApiMessage
from rebalance_check.integration.wire.replies import replies_to_wire
from rebalance_check.integration.wire.requests import GROUP_API_KEYS, requests_from_wire
from rebalance_check.model.vocabulary.errors import Error

log = logging.getLogger(__name__)

LOOPBACK: Final = "127.0.0.1"


class WireBroker:
    """The broker inside an event loop; `embedded.EmbeddedBroker` runs it in a thread.

    ``topics`` maps names to partition counts. It listens on loopback only, on a port that the system chooses.
    """

    def __init__(self, coordinator: GroupCoordinator, topics: Mapping[str, int], faults: FaultPlan) -> None:
        self.coordinator = coordinator
        self.faults = faults
        self.topics = Topics()
        for name, partitions in topics.items():
            self.topics.create(name, partitions)
        self.address = answers_cluster.Address(LOOPBACK, 0)
        self._parked: dict[Hashable, asyncio.Future[msg.GroupReply]] = {}
        self._tokens = itertools.count()
        self._producer_ids = itertools.count(1000)
        self._alarm: asyncio.TimerHandle | None = None
        self._connections: dict[asyncio.StreamWriter, asyncio.Task[Any] | None] = {}
        self._server: asyncio.Server | None = None

    # ----------------------------------------------------------------------------------- start and end

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        self.address = answers_cluster.Address(LOOPBACK, self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the port and every connection; parked requests stay unanswered."""
        if self._alarm is not None:
            self._alarm.cancel()
        if self._server is not None:
            self._server.close()
        for writer in self._connections:
            writer.close()
        await asyncio.gather(*filter(None, self._connections.values()), return_exceptions=True)

    # ----------------------------------------------------------------------------------- connections

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: read ahead, so that its end is noticed while a request is parked; answer in order."""
        self._connections[writer] = asyncio.current_task()
        frames: asyncio.Queue[bytes] = asyncio.Queue()
        answering = asyncio.create_task(self._answer_all(frames, writer))
        try:
            while True:
                length = frame_length(await reader.readexactly(4))
                frames.put_nowait(await reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            log.debug("%s closed its connection", _peer(writer))
        except MalformedFrame as error:
            log.warning("closing the connection of %s: it sent %s", _peer(writer), error)
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
            writer.close()
            del self._connections[writer]

    async def _answer_all(self, frames: asyncio.Queue[bytes], writer: asyncio.StreamWriter) -> None:
        try:
            while (frame := await self._answer(await frames.get(), writer)) is not None:
                if frame:
                    writer.write(frame)
                    await writer.drain()
        except MalformedFrame as error:
            log.warning("closing the connection of %s: it sent %s", _peer(writer), error)
        except ConnectionError:
            log.debug("%s went away before its answer", _peer(writer))
        except Exception:
            log.exception("closing the connection of %s: the broker failed to answer", _peer(writer))
        finally:
            # Closing here ends the reader as well.
            writer.close()

    async def _answer(self, frame: bytes, writer: asyncio.StreamWriter) -> bytes | None:
        """The bytes that answer a frame: none for a request without an answer, None to close the connection."""
        prefix = read_prefix(frame)
        api = APIS.get(prefix.api_key)
        if api is None:
            raise MalformedFrame(f"api key {prefix.api_key}, which is not served")
        if not api.low <= prefix.api_version <= api.high:
            return _unsupported_version(prefix)
        request = decode_request(api.request, prefix, frame)
        response = await self._with_faults(request, _peer(writer))
        if isinstance(response, Effect):
            return None if response is Effect.CLOSE_BEFORE else b""
        return encode_response(response, prefix.api_version, prefix.correlation_id)

    async def _with_faults(self, request: Any, peer: str) -> ApiMessage | Effect:
        """The response; DROP_REPLY when there is none, CLOSE_BEFORE when the connection is to be closed."""
        fault = self.faults.strike(api_name(request), request)
        if fault is None:
            return await self._respond(request, peer)
        if fault.effect is Effect.CLOSE_BEFORE:
            return Effect.CLOSE_BEFORE
        if fault.effect is Effect.ANSWER:
            return refusal(request, fault.error, self.address, peer)
        if fault.effect is Effect.DELAY:
            await asyncio.sleep(fault.delay_s)
        response = await self._respond(request, peer)
        if fault.effect is Effect.CLOSE_AFTER:
            return Effect.CLOSE_BEFORE
        return Effect.DROP_REPLY if fault.effect is Effect.DROP_REPLY else response

    # ----------------------------------------------------------------------------------- requests

    async def _respond(self, request: Any, peer: str) -> ApiMessage | Effect:
        if request.API_KEY in GROUP_API_KEYS:
            parts = requests_from_wire(request, client_host=peer)
            return replies_to_wire([(part, await self._coordinate(part)) for part in parts])
        name = api_name(request)
        if name == "Fetch":
            return await answers_log.fetch(request, self.topics)
        if name == "Produce":
            response = answers_log.produce(request, self.topics)
            return response if request.acks != 0 else Effect.DROP_REPLY
        return self._plain_answers()[name](request)

    def _plain_answers(self) -> dict[str, Callable[[Any], ApiMessage]]:
        return {
            "ApiVersions": lambda _request: answers_cluster.api_versions(VERSIONS),
            "Metadata": lambda request: answers_cluster.metadata(request, self.topics, self.address),
            "FindCoordinator": lambda request: answers_cluster.find_coordinator(request, self.address),
            "CreateTopics": lambda request: answers_cluster.create_topics(request, self.topics),
            "ListOffsets": lambda request: answers_log.list_offsets(request, self.topics),
            "InitProducerId": lambda _request: answers_log.init_producer_id(next(self._producer_ids)),
            "DescribeGroups": lambda request: answers_admin.describe_groups(request, self.coordinator.describe),
            "ListGroups": lambda request: answers_admin.list_groups(request, self.coordinator.list_groups()),
            "DeleteGroups": lambda request: answers_admin.delete_groups(request, self.coordinator.delete),
        }

    async def _coordinate(self, request: msg.GroupRequest) -> msg.GroupReply:
        if not isinstance(request, msg.OffsetCommitRequest | msg.TxnOffsetCommitRequest):
            return await self._ask(request)
        # As in Kafka, partitions that do not exist are answered before the coordinator sees the commit.
        known = tuple(o for o in request.offsets if self.topics.log(o.topic, o.partition) is not None)
        is_plain = isinstance(request, msg.OffsetCommitRequest)
        reply: msg.GroupReply = msg.OffsetCommitReply() if is_plain else msg.TxnOffsetCommitReply()
        if known or not request.offsets:
            reply = await self._ask(replace(request, offsets=known))
        assert isinstance(reply, msg.OffsetCommitReply | msg.TxnOffsetCommitReply)
        errors = {(topic, index): error for topic, index, error in reply.partitions}
        missing = Error.UNKNOWN_TOPIC_OR_PARTITION
        partitions = tuple((o.topic, o.partition, errors.get((o.topic, o.partition), missing)) for o in request.offsets)
        return replace(reply, partitions=partitions)

    async def _ask(self, request: msg.GroupRequest) -> msg.GroupReply:
        token = next(self._tokens)
        answer: asyncio.Future[msg.GroupReply] = asyncio.get_running_loop().create_future()
        self._parked[token] = answer
        try:
            self._deliver(self.coordinator.handle(token, request, now_ms()))
            return await answer
        finally:
            del self._parked[token]

    def _deliver(self, replies: list[tuple[Hashable, msg.GroupReply]]) -> None:
        for token, reply in replies:
            answer = self._parked.get(token)
            if answer is not None and not answer.done():
                answer.set_result(reply)
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Wake the coordinator when its next timer is due."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        deadline = self.coordinator.next_deadline()
        if deadline is not None:
            delay_s = max(deadline - now_ms(), 0) / 1000
            self._alarm = asyncio.get_running_loop().call_later(delay_s, self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        self._deliver(self.coordinator.advance(now_ms()))


def now_ms() -> int:
    """Milliseconds of the monotonic clock."""
    return time.monotonic_ns() // 1_000_000


def _peer(writer: asyncio.StreamWriter) -> str:
    peer = writer.get_extra_info("peername")
    return f"/{peer[0]}" if peer else "/unknown"


def _unsupported_version(prefix: Prefix) -> bytes:
    """An ApiVersions of an unknown version is answered in v0 with what is served (KIP-511); the rest is malformed."""
    api = APIS[prefix.api_key]
    if api.name != "ApiVersions":
        raise MalformedFrame(f"{api.name} v{prefix.api_version}, but v{api.low} to v{api.high} are served")
    response = answers_cluster.api_versions(VERSIONS, error=Error.UNSUPPORTED_VERSION)
    return encode_response(response, 0, prefix.correlation_id)
