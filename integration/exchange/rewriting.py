"""Replies that a proxy changes on their way: addresses of nodes, and the versions that clients may choose from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from rebalance_check.integration.exchange.nodes import Address, Nodes
from rebalance_check.integration.exchange.seen import BATCHED_LOOK_UP_VERSION, GROUP_KEY_TYPE
from rebalance_check.integration.wire.frames import LENGTH_BYTES, MalformedFrame, Prefix
from rebalance_check.integration.wire.kafka_python import admin, metadata, producer
from rebalance_check.integration.wire.messages import KEY_OF, MESSAGES, name_of, read_request, read_response

Place = Callable[[int], Awaitable[Address]]
"""Where the client is to find a node."""

BROKERS: Final = 1
"""A DescribeCluster reply lists brokers, not controllers (KIP-919)."""

BY_NAME: Final = {"Fetch": 12, "OffsetCommit": 9, "OffsetFetch": 9}
"""The highest version that a client may choose where later ones name topics by id, which the bytes do not explain."""

UNREAD: Final = frozenset({KEY_OF["SaslHandshake"], KEY_OF["SaslAuthenticate"]})
"""Apis that a client may choose although their bytes are not read: they carry no address."""

REWRITTEN: Final = frozenset(
    KEY_OF[name] for name in ("Metadata", "FindCoordinator", "DescribeCluster", "ApiVersions", "Produce")
)
"""Apis whose replies carry values that a proxy changes."""


async def rewritten(prefix: Prefix, request: bytes, reply: bytes, nodes: Nodes, place: Place) -> bytes:
    """The reply (with its length) as the client is to receive it.

    Raises:
        MalformedFrame: it cannot be read, so the addresses in it would lead the client past the proxy.
    """
    if prefix.api_key not in REWRITTEN:
        return reply
    response = read_response(prefix, reply[LENGTH_BYTES:])
    if response is None:
        raise MalformedFrame(f"{name_of(prefix.api_key)} v{prefix.api_version}, whose reply cannot be rewritten")
    if isinstance(response, metadata.ApiVersionsResponse):
        narrow(response)
    elif nodes.is_virtual:
        _show_virtual(response, request, prefix, nodes)
    for entry, node in _addressed(response):
        nodes.learn(node, Address(entry.host, entry.port))
        entry.host, entry.port = await place(node)
    return bytes(response.encode(header=True, framed=True))


def narrow(response: Any) -> None:
    """Leave those versions in an ApiVersions reply that can be read, and rewritten where they carry addresses."""
    left = []
    for api in response.api_keys:
        api.max_version = min(api.max_version, highest(api.api_key))
        if api.api_key in UNREAD or api.min_version <= api.max_version:
            left.append(api)
    response.api_keys = left


def highest(api_key: int) -> int:
    """The highest version of an api that can be read, and names its topics; -1 for none."""
    if api_key in UNREAD:
        return 0x7FFF
    message = MESSAGES.get(api_key)
    return -1 if message is None else min(message.high, BY_NAME.get(name_of(api_key), message.high))


def _addressed(response: Any) -> Iterator[tuple[Any, int]]:
    """The parts of a response that say where a node listens, each with the node."""
    match response:
        case metadata.MetadataResponse():
            yield from ((broker, broker.node_id) for broker in response.brokers)
        case admin.DescribeClusterResponse() if _lists_brokers(response):
            yield from ((broker, broker.broker_id) for broker in response.brokers)
        case metadata.FindCoordinatorResponse():
            yield from ((found, found.node_id) for found in _found_in(response) if found.node_id >= 0)
        case producer.ProduceResponse():
            yield from ((endpoint, endpoint.node_id) for endpoint in response.node_endpoints or ())


def _lists_brokers(response: Any) -> bool:
    return bool(response.API_VERSION < 1 or response.endpoint_type == BROKERS)


def _found_in(response: Any) -> list[Any]:
    return response.coordinators if response.API_VERSION >= BATCHED_LOOK_UP_VERSION else [response]


# ------------------------------------------------------------------------------------------------ virtual nodes


def _show_virtual(response: Any, request: bytes, prefix: Prefix, nodes: Nodes) -> None:
    """Put the virtual nodes in the place of the only real one."""
    match response:
        case metadata.MetadataResponse():
            response.brokers = [_copy(broker, node_id=n) for broker in response.brokers for n in nodes.virtual_ids]
        case admin.DescribeClusterResponse() if _lists_brokers(response):
            response.brokers = [_copy(broker, broker_id=n) for broker in response.brokers for n in nodes.virtual_ids]
        case metadata.FindCoordinatorResponse():
            asked = read_request(prefix, request)
            if asked is not None and asked.key_type == GROUP_KEY_TYPE:
                for found in _found_in(response):
                    if found.node_id >= 0:
                        found.node_id = nodes.coordinator(getattr(found, "key", None) or asked.key)


def _copy(broker: Any, **changed: int) -> Any:
    fields = {name: getattr(broker, name) for name in type(broker)._struct.fields} | changed
    return type(broker)(**fields)
