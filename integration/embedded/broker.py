"""The embedded broker: a group coordinator and topics behind an asyncio TCP server, and an exchange in between.

Like Kafka's, it handles the requests of one connection one after the other, so a parked JoinGroup holds up all that its
client sends behind it on that connection, and the death of a connection takes nothing back that was received on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final, TypeVar

from rebalance_check.impl.coordinator import GroupCoordinator
from rebalance_check.integration.embedded import (
    answers_admin,
    answers_cluster,
    answers_configs,
    answers_log,
    answers_offsets,
    answers_topics,
    answers_transactions,
)
from rebalance_check.integration.embedded.cluster import FIRST_NODE_ID, Leads, single
from rebalance_check.integration.embedded.coordinators import Coordinators
from rebalance_check.integration.embedded.groups import Groups, shapes_of
from rebalance_check.integration.embedded.listening import Where
from rebalance_check.integration.embedded.options import DEFAULTS, BrokerOptions
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.embedded.transactions import Transactions
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.wire.apis import APIS, VERSIONS, api_name
from rebalance_check.integration.wire.frames import Prefix, decode_request, encode_response, read_prefix
from rebalance_check.integration.wire.kafka_python import ApiMessage
from rebalance_check.integration.wire.malformed import MalformedFrame
from rebalance_check.integration.wire.replies import no_groups, replies_to_wire
from rebalance_check.integration.wire.requests import GROUP_API_KEYS, requests_from_wire
from rebalance_check.model.vocabulary.errors import Error

T = TypeVar("T")

LONG_REQUEST_BYTES: Final = 16 * 1024
"""A longer request is read, and answered in bytes, in another thread."""


class Silence(Enum):
    """The ends of a request that is not answered: silence, or the end of its connection."""

    NO_REPLY = auto()
    HANG_UP = auto()


class WireBroker:
    """The broker inside an event loop; `embedded.EmbeddedBroker` runs it in a thread, `listening` brings the frames.

    ``new_coordinator`` makes a coordinator without groups, ``topics`` maps names to partition counts, ``clock`` has the
    time in ms, ``on_topics`` is called when they change. A frame without a place counts as arrived at the first node.
    """

    def __init__(
        self,
        new_coordinator: Callable[[], GroupCoordinator],
        topics: Mapping[str, int],
        options: BrokerOptions = DEFAULTS,
        clock: Callable[[], int] = now_ms,
        on_topics: Callable[[], None] = lambda: None,
    ) -> None:
        self.topics = Topics(on_topics)
        for name, partitions in topics.items():
            self.topics.create(name, partitions)
        self.transactions = Transactions(self.topics, self._end_in_groups, clock)
        self.coordinators = Coordinators(
            lambda: Groups(new_coordinator(), self.topics, clock, self.transactions),
            range(FIRST_NODE_ID, FIRST_NODE_ID + options.nodes),
        )
        self._here = Where(FIRST_NODE_ID, single("in-process", 0))
        self._options = options

    async def answer(self, frame: bytes, peer: str, where: Where | None = None) -> bytes | None:
        """The bytes that answer a frame of ``peer``: none for a request without an answer, None to hang up.

        A long frame is read, and its answer written, in another thread: both take as long as the frame is.

        Raises:
            MalformedFrame: the frame is no request that is served.
        """
        prefix = read_prefix(frame)
        api = APIS.get(prefix.api_key)
        if api is None:
            raise MalformedFrame(f"api key {prefix.api_key}, which is not served")
        if not api.low <= prefix.api_version <= api.high:
            return _unsupported_version(prefix)
        is_long = len(frame) > LONG_REQUEST_BYTES
        request = await _apart(is_long, decode_request, api.request, prefix, frame)
        response = await self._respond(request, peer, where or self._here, is_long=is_long)
        if isinstance(response, Silence):
            return None if response is Silence.HANG_UP else b""
        return await _apart(is_long, encode_response, response, prefix.api_version, prefix.correlation_id)

    # ----------------------------------------------------------------------------------- requests

    async def _respond(self, request: Any, peer: str, where: Where, *, is_long: bool) -> ApiMessage | Silence:
        self.transactions.expire()
        if request.API_KEY in GROUP_API_KEYS:
            parts = await _apart(is_long, lambda: requests_from_wire(request, client_host=peer))
            answered = [(part, await self.coordinators.reply(part, where.node)) async for part in paced(parts)]
            if not answered:
                return no_groups(request)
            return await _apart(is_long, lambda: replies_to_wire(answered, shapes_of(request, self.topics)))
        name = api_name(request)
        if name == "Fetch":
            return await answers_log.fetch(request, self.topics, self._leads(where))
        if name == "Produce":
            if answers_log.has_null_records(request):
                return Silence.HANG_UP  # Kafka never answers, and reads nothing more from the connection
            response = await answers_log.produce(request, self.topics, self.transactions, self._leads(where))
            return response if request.acks != 0 else Silence.NO_REPLY
        return await self._plain_answers(where)[name](request)

    def _plain_answers(self, where: Where) -> dict[str, Callable[[Any], Awaitable[ApiMessage]]]:
        cluster, settings = where.cluster, self._settings(where.node)
        coordinators, topics, transactions = self.coordinators, self.topics, self.transactions
        leads, nodes = self._leads(where), frozenset(node.id for node in cluster.nodes)
        return {
            "ApiVersions": answers_cluster.served_versions,
            "Metadata": lambda request: answers_cluster.metadata(request, topics, cluster, self._create_missing),
            "DescribeCluster": lambda request: answers_cluster.describe_cluster(request, cluster),
            "FindCoordinator": lambda request: answers_cluster.find_coordinator(request, cluster),
            "CreateTopics": lambda request: answers_topics.create_topics(request, topics, nodes),
            "CreatePartitions": lambda request: answers_topics.create_partitions(request, topics, nodes),
            "DeleteTopics": lambda request: answers_topics.delete_topics(request, topics, coordinators.forget_topic),
            "DescribeConfigs": lambda request: answers_configs.describe_configs(request, topics, settings),
            "IncrementalAlterConfigs": lambda request: answers_configs.alter_configs(request, topics),
            "ListOffsets": lambda request: answers_offsets.list_offsets(request, topics, leads),
            "DeleteRecords": lambda request: answers_offsets.delete_records(request, topics, leads),
            "InitProducerId": lambda request: answers_transactions.init_producer_id(request, transactions),
            "AddPartitionsToTxn": lambda request: answers_transactions.add_partitions(request, transactions, topics),
            "AddOffsetsToTxn": lambda request: answers_transactions.add_offsets(request, transactions),
            "EndTxn": lambda request: answers_transactions.end_transaction(request, transactions),
            "DescribeGroups": lambda request: answers_admin.describe_groups(request, coordinators.describe),
            "ListGroups": lambda request: answers_admin.list_groups(request, coordinators.list_groups),
            "DeleteGroups": lambda request: answers_admin.delete_groups(request, coordinators.delete),
        }

    def _leads(self, where: Where) -> Leads:
        """Whether the node where a request arrived leads a partition."""
        return lambda name, index: where.cluster.leader(index, self.topics.leader(name, index)).id == where.node

    def _settings(self, node: int) -> Mapping[str, str]:
        """The configs of a node that DescribeConfigs shows."""
        return {
            "node.id": str(node),
            "auto.create.topics.enable": str(self._options.auto_create > 0).lower(),
            "num.partitions": str(self._options.auto_create or 1),
            "default.replication.factor": "1",
            "socket.request.max.bytes": str(self._options.max_request_bytes),
            **self.coordinators.config.settings,
        }

    def _create_missing(self, names: Sequence[str]) -> None:
        if self._options.auto_create:
            answers_topics.create_missing(names, self.topics, self._options.auto_create)

    def _end_in_groups(self, producer_id: int, is_committed: bool) -> None:
        self.coordinators.end_transaction(producer_id, is_committed=is_committed)


async def _apart(is_long: bool, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function that shares nothing: where its work ``is_long``, in another thread."""
    return await asyncio.to_thread(function, *arguments) if is_long else function(*arguments)


def _unsupported_version(prefix: Prefix) -> bytes:
    """An ApiVersions of an unknown version is answered in v0 with its versions (KIP-511); the rest is malformed."""
    api = APIS[prefix.api_key]
    if api.name != "ApiVersions":
        raise MalformedFrame(f"{api.name} v{prefix.api_version}, but v{api.low} to v{api.high} are served")
    response = answers_cluster.api_versions(VERSIONS, error_code=int(Error.UNSUPPORTED_VERSION))
    return encode_response(response, 0, prefix.correlation_id)
