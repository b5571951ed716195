"""The pairs to compare: the embedded broker with virtual Kafka, a live broker with either, ours with itself."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.impl.comparison.compare import Script, compared
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, shrunk
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.integration.brokers import Broker, open_broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.brokers.open import BrokerSpec
from rebalance_check.integration.comparison.requests.comparing import EVERYWHERE, OF_ADDRESSES, OF_AUTHORIZERS
from rebalance_check.integration.comparison.requests.embedded_side import EmbeddedSide
from rebalance_check.integration.comparison.requests.known import KNOWN, OF_LIVE_KAFKA_3
from rebalance_check.integration.comparison.requests.live_side import LiveSide
from rebalance_check.integration.comparison.requests.requests import (
    LOOK_UP,
    OF_GROUPS,
    TOPICS,
    GroupRequests,
    GroupValues,
    Scope,
)
from rebalance_check.integration.comparison.requests.run import Drawn, Sent, Sides, Terms, WireRun
from rebalance_check.integration.comparison.requests.virtual_side import VirtualSide
from rebalance_check.integration.jvm.release import find_release, is_virtual
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.virtual.coordinator import member_ids_of
from rebalance_check.integration.virtual.process import VirtualKafka

FRAMES: Final = 300
"""So many requests each seed has by default."""
EMBEDDED: Final = "the embedded broker"
"""Its name in reports."""
SHORT: Final = GroupConfig(min_session_timeout_ms=100, initial_rebalance_delay_ms=0, offset_metadata_max_bytes=40)
"""The settings of virtual runs: sessions end, and metadata are short, so that requests are."""
LIVE: Final = GroupConfig(min_session_timeout_ms=100, initial_rebalance_delay_ms=0)
"""The settings of the brokers that this project starts."""
UNVERIFIED: Final = "TxnOffsetCommit"
"""A broker asks its coordinator of transactions first, which virtual Kafka has not."""

IN_VIRTUAL_TIME: Final = Scope(TOPICS, SHORT.offset_metadata_max_bytes)

Open = Callable[[int], Sides]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides that ``open`` makes for a seed, the terms of their comparison, and the requests that both get."""

    terms: Terms
    open: Open
    scope: Scope
    names: frozenset[str] = OF_GROUPS

    def run(self, seed: int, frames: int = FRAMES) -> Compared:
        """The requests of a seed on both sides, until an answer differs; each seed has groups of its own."""
        began, result = time.monotonic(), Compared(self.terms.names)
        suffix = self.scope.suffix and f"{self.scope.suffix}-{seed}"
        requests = GroupRequests(GroupValues(seed, replace(self.scope, suffix=suffix)), seed, names=self.names)
        terms = replace(self.terms, is_listed=lambda group_id: group_id.endswith(suffix) or not group_id)
        drawn = Drawn(requests, frames, self.terms.known)
        run = WireRun(self.open(seed), drawn, terms)
        found = compared(run)
        result.counts.update(requests=len(run.steps), answers=run.answers.total(), spared=drawn.spared)
        result.reached += run.answers
        if found is not None:
            result.note(replace(found, origin=f"seed {seed}, {found.origin}", start=seed))
        result.seconds = time.monotonic() - began
        return result

    def shrunk(self, found: Difference) -> Difference:
        """A difference of the same kind with as few requests as leaving out can reach; sides must be new each time."""

        def again(sent: tuple[Sent, ...]) -> Difference | None:
            return compared(WireRun(self.open(found.start), Script(sent), self.terms))

        return shrunk(found, again)


@contextmanager
def open_comparison(spec: str) -> Iterator[Comparison]:
    """The comparison for the broker that ``spec`` names, as a context manager.

    Of Kafka 3 a live broker is compared with the virtual Kafka of its release, as the embedded broker follows Kafka 4.
    Raises `RebalanceCheckError` when the broker cannot be had.
    """
    if is_virtual(spec):
        with VirtualKafka(find_release(spec)) as kafka:
            yield with_virtual(kafka)
    elif spec == BrokerSpec.EMBEDDED:
        yield with_itself()
    else:
        with open_broker(spec) as broker:
            if broker.name.startswith("kafka 3"):
                with _counterpart(broker) as comparison:
                    yield comparison
            else:
                yield with_live(broker.bootstrap, broker.name)


@contextmanager
def open_live_and_virtual(spec: str) -> Iterator[Comparison]:
    """The live broker that ``spec`` names and the virtual Kafka of its release, as a context manager.

    Raises `RebalanceCheckError` when the broker cannot be had, or its release cannot be found out.
    """
    with open_broker(spec) as broker, _counterpart(broker) as comparison:
        yield comparison


@contextmanager
def _counterpart(broker: Broker) -> Iterator[Comparison]:
    with VirtualKafka(virtual_counterpart(broker)) as kafka:
        yield live_with_virtual(broker.bootstrap, broker.name, kafka)


def with_virtual(kafka: VirtualKafka) -> Comparison:
    """Virtual Kafka and the embedded broker, in virtual time."""
    return Comparison(
        Terms((kafka.release.name, EMBEDDED), EVERYWHERE | OF_AUTHORIZERS, KNOWN),
        lambda seed: (VirtualSide(kafka, SHORT, TOPICS, seed), _embedded(SHORT, seed, verifies=False)),
        IN_VIRTUAL_TIME,
    )


def with_live(bootstrap: str, name: str) -> Comparison:
    """A live broker of Kafka 4, with the settings of those that this project starts, and the embedded broker."""
    scope = _live_scope(bootstrap)
    return Comparison(
        Terms((name, EMBEDDED), EVERYWHERE | OF_ADDRESSES, KNOWN),
        lambda seed: (LiveSide(bootstrap), _embedded(LIVE, seed, verifies=True, topics=scope.topics)),
        scope,
        OF_GROUPS | {LOOK_UP},
    )


def live_with_virtual(bootstrap: str, name: str, kafka: VirtualKafka) -> Comparison:
    """A live broker and the virtual Kafka of its release."""
    scope = _live_scope(bootstrap)
    return Comparison(
        Terms((name, kafka.release.name), EVERYWHERE | OF_ADDRESSES | OF_AUTHORIZERS, (*KNOWN, *OF_LIVE_KAFKA_3)),
        lambda seed: (LiveSide(bootstrap), VirtualSide(kafka, LIVE, scope.topics, seed)),
        scope,
        OF_GROUPS - {UNVERIFIED},
    )


def with_itself() -> Comparison:
    """The embedded broker twice."""
    return Comparison(
        Terms((EMBEDDED, f"{EMBEDDED}, again"), frozenset()),
        lambda seed: (_embedded(SHORT, seed, verifies=True), _embedded(SHORT, seed, verifies=True)),
        IN_VIRTUAL_TIME,
        OF_GROUPS | {LOOK_UP},
    )


def _embedded(config: GroupConfig, seed: int, *, verifies: bool, topics: Mapping[str, int] = TOPICS) -> EmbeddedSide:
    return EmbeddedSide(config, topics, member_ids_of(seed), verifies=verifies)


def _live_scope(bootstrap: str) -> Scope:
    """Topics and groups that no other run on this broker has."""
    suffix = f"-{uuid.uuid4().hex[:8]}"
    topics = {f"{name}{suffix}": partitions for name, partitions in TOPICS.items()}
    for name, partitions in topics.items():
        create_topic(bootstrap, name, partitions)
    return Scope(topics, LIVE.offset_metadata_max_bytes, suffix, passes_time=False)
