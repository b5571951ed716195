"""The client libraries of live members, behind one interface: `consumer.LiveConsumer`.

A client is a module here with a class that has the methods of `LiveConsumer`, its `ClientName`, and its line in
`open_consumer`. The adapter subscribes an unmodified consumer through its recording consumer (`integration.recorders`),
which hands the member's `Observer` the same facts as of an application: callbacks, membership, commits.
Facts that a library does not show stay unknown. The offer of a member (`ClientChoice.assignors`) is given with the
order, so a member that is started again may offer something else.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Final

from rebalance_check.integration.live.clients.consumer import LiveConsumer
from rebalance_check.integration.live.settings import ClientName, MemberOrder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

if TYPE_CHECKING:
    from rebalance_check.integration.recorders.observer import Observer

MODULES: Final = {
    ClientName.KAFKA_PYTHON: "kafka",
    ClientName.LIBRDKAFKA: "confluent_kafka",
    ClientName.AIOKAFKA: "aiokafka",
    ClientName.OURS: "kafka",
}


def is_installed(client: ClientName) -> bool:
    """Whether the client's library is there."""
    return importlib.util.find_spec(MODULES[client]) is not None


def require_installed(client: ClientName) -> None:
    """`RebalanceCheckError` when the client's library is not there."""
    if not is_installed(client):
        raise RebalanceCheckError(f"the client {client} is not installed: pip install 'rebalance-check[brokers]'")


def open_consumer(order: MemberOrder, observer: Observer) -> LiveConsumer:
    """The consumer that ``order`` asks for; it joins when it is polled. Only its own library is imported."""
    match order.choice.client:
        case ClientName.KAFKA_PYTHON:
            from rebalance_check.integration.live.clients.kafka_python import KafkaPython  # noqa: PLC0415 - optional

            return KafkaPython(order, observer)
        case ClientName.LIBRDKAFKA:
            from rebalance_check.integration.live.clients.librdkafka import Librdkafka  # noqa: PLC0415 - optional

            return Librdkafka(order, observer)
        case ClientName.AIOKAFKA:
            from rebalance_check.integration.live.clients.aiokafka import AioKafka  # noqa: PLC0415 - optional

            return AioKafka(order, observer)
        case ClientName.OURS:
            from rebalance_check.integration.live.clients.ours import open_ours  # noqa: PLC0415 - as the others

            return open_ours(order, observer)
