"""`open_broker`: the one way to a broker of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from rebalance_check.integration.brokers.local import local_kafka
from rebalance_check.integration.brokers.local_cluster import local_cluster
from rebalance_check.integration.brokers.nodes import Cluster
from rebalance_check.integration.brokers.readiness import await_ready
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.control import Control
from rebalance_check.integration.interrupts import orderly_end
from rebalance_check.integration.wire.call import split_address
from rebalance_check.integration.wire.served import Served
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

if TYPE_CHECKING:
    from rebalance_check.integration.virtual import VirtualKafka


EXTERNAL_TIMEOUT_S = 5.0
"""How long a broker that runs already may take to answer."""


LONGEST_REQUEST_BYTES = 16 * 1024 * 1024
"""The longest request that the embedded broker reads here: random ones are longer than it reads by default."""

CLUSTER_TIMEOUT_S = 120.0
"""How long the nodes of a cluster may take to start, all at once, on a busy machine."""


class BrokerSpec(StrEnum):
    """The brokers that have a name; any other spec is the address of a running one."""

    EMBEDDED = "embedded"
    LOCAL = "local"
    TESTCONTAINERS = "testcontainers"
    VIRTUAL = "virtual"


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that coordinates groups: its address, and its name in reports (``embedded``, ``kafka 4.3.1``).

    Virtual Kafka has no address, so ``bootstrap`` only names it; it is reached through ``virtual``. A cluster has
    several addresses, with commas between them; its nodes are reached through ``cluster``. The embedded broker can be
    driven from inside through ``control``. ``served`` has the latest versions that members may speak, by api key;
    empty: those of Kafka.
    """

    bootstrap: str
    name: str
    virtual: VirtualKafka | None = None
    cluster: Cluster | None = None
    control: Control | None = None
    served: Served = field(default_factory=dict)


def open_broker(spec: str, *, or_virtual: bool = False) -> AbstractContextManager[Broker]:
    """The broker that ``spec`` names, as a context manager: ready inside, and gone outside if it was started here.

    ``embedded`` is the reference coordinator behind a port; ``local`` a Kafka started with plain ``java`` from the jars
    in REBALANCE_CHECK_KAFKA_JARS; ``testcontainers`` a Kafka in a container (image: REBALANCE_CHECK_KAFKA_IMAGE);
    ``HOST:PORT`` one that runs already. A caller that needs no socket says ``or_virtual``: then ``virtual``,
    ``virtual:4.3.1`` and the like start Kafka's coordinator in virtual time. A broker that cannot be had raises
    `RebalanceCheckError`.
    """
    if spec.partition(":")[0] == BrokerSpec.VIRTUAL:
        if or_virtual:
            return _virtual(spec)
        raise RebalanceCheckError(f"{spec!r} has no address that a client could connect to: it serves replay only")
    if spec not in set(BrokerSpec):
        try:
            split_address(spec)
        except RebalanceCheckError:
            names = ", ".join(BrokerSpec)
            raise RebalanceCheckError(f"{spec!r} is no broker: write {names}, or HOST:PORT") from None
    return _open(spec)


@contextmanager
def open_cluster(spec: str, nodes: int = 3) -> Iterator[Broker]:
    """A cluster of ``nodes`` Kafka nodes, each broker and controller, as a context manager like `open_broker`'s.

    ``spec`` is ``local`` or ``testcontainers``. Its offsets topic is on every node, and two must be in sync. A cluster
    that cannot be had raises `RebalanceCheckError`.
    """
    with orderly_end(), _cluster(spec, nodes) as (cluster, version):
        for node in cluster.nodes.values():
            await_ready(node.bootstrap, timeout_s=CLUSTER_TIMEOUT_S, death=node.death, coordinates=False)
        cluster.await_whole()
        yield Broker(cluster.bootstrap, f"kafka {version} on {nodes} nodes", cluster=cluster)


def _cluster(spec: str, nodes: int) -> AbstractContextManager[tuple[Cluster, str]]:
    match spec:
        case BrokerSpec.LOCAL:
            return local_cluster(nodes)
        case BrokerSpec.TESTCONTAINERS:
            from rebalance_check.integration.brokers.container_cluster import (  # noqa: PLC0415 - imports Docker's slow client
                containered_cluster,
            )

            return containered_cluster(nodes)
        case _:
            raise RebalanceCheckError(f"{spec!r} is no cluster that can be started: write local or testcontainers")


@contextmanager
def _virtual(spec: str) -> Iterator[Broker]:
    from rebalance_check.integration.virtual import VirtualKafka, find_release  # noqa: PLC0415 - it uses this package

    with orderly_end(), VirtualKafka(find_release(spec)) as kafka:
        yield Broker(spec, kafka.release.name, kafka)


@contextmanager
def _open(spec: str) -> Iterator[Broker]:
    if spec == BrokerSpec.EMBEDDED:
        with orderly_end(), EmbeddedBroker(max_request_bytes=LONGEST_REQUEST_BYTES) as broker:
            yield Broker(broker.bootstrap, "embedded", control=broker)
        return
    with orderly_end(), _started(spec) as (bootstrap, name):
        yield Broker(bootstrap, name)


@contextmanager
def _started(spec: str) -> Iterator[tuple[str, str]]:
    match spec:
        case BrokerSpec.LOCAL:
            with local_kafka() as (bootstrap, version):
                yield bootstrap, f"kafka {version}"
        case BrokerSpec.TESTCONTAINERS:
            from rebalance_check.integration.brokers.container import containered_kafka  # noqa: PLC0415 - imports Docker

            with containered_kafka() as (bootstrap, version):
                yield bootstrap, f"kafka {version}"
        case _:
            await_ready(spec, timeout_s=EXTERNAL_TIMEOUT_S)
            yield spec, spec
