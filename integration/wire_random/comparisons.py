"""Who is compared with whom: the embedded broker with virtual Kafka, a live broker with either, ours with itself."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.brokers.open import BrokerSpec
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.virtual.coordinator import member_ids_of
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.release import find_release, is_virtual
from rebalance_check.integration.wire_random.comparing import EVERYWHERE, OF_ADDRESSES, OF_AUTHORIZERS
from rebalance_check.integration.wire_random.embedded_side import EmbeddedSide
from rebalance_check.integration.wire_random.known import KNOWN, OF_KAFKA_3
from rebalance_check.integration.wire_random.live_side import LiveSide
from rebalance_check.integration.wire_random.requests import (
    LOOK_UP,
    OF_GROUPS,
    TOPICS,
    GroupRequests,
    GroupValues,
    Scope,
)
from rebalance_check.integration.wire_random.run import Sent, Sides, Terms, WireDifference, WireRun, compare, replay
from rebalance_check.integration.wire_random.virtual_side import VirtualSide
from rebalance_check.model.shrink import ddmin

FRAMES: Final = 300
"""So many requests each seed has by default."""
EMBEDDED: Final = "the embedded broker"
"""What reports call it."""
SHRINK_RUNS: Final = 400

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
    """Two sides, which ``open`` makes for a seed, on which terms, and what requests they get."""

    reference: str
    follower: str
    open: Open
    terms: Terms
    scope: Scope
    names: frozenset[str] = OF_GROUPS

    @property
    def name(self) -> str:
        """Both sides."""
        return f"{self.reference} and {self.follower}"

    def run(self, seed: int, frames: int = FRAMES) -> WireRun:
        """The requests of a seed on both sides; each seed has groups of its own."""
        suffix = self.scope.suffix and f"{self.scope.suffix}-{seed}"
        requests = GroupRequests(GroupValues(seed, replace(self.scope, suffix=suffix)), seed, names=self.names)
        terms = replace(self.terms, is_listed=lambda group_id: group_id.endswith(suffix) or not group_id)
        return compare(seed, requests, frames, self.open(seed), terms)

    def shrunk(self, found: WireDifference) -> WireDifference:
        """A difference of the same kind with as few requests as leaving out can reach; sides must be new each time."""

        def again(sent: tuple[Sent, ...]) -> WireDifference | None:
            run = replay(found.seed, sent, self.open(found.seed), self.terms)
            return next((each for each in run.differences if each.kind == found.kind), None)

        return ddmin(found, lambda one: one.sent, again, SHRINK_RUNS)


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
            if not broker.name.startswith("kafka 3"):
                yield with_live(broker.bootstrap, broker.name)
                return
            with VirtualKafka(virtual_counterpart(broker)) as kafka:
                yield live_with_virtual(broker.bootstrap, broker.name, kafka)


def with_virtual(kafka: VirtualKafka) -> Comparison:
    """Virtual Kafka and the embedded broker, in virtual time."""
    return Comparison(
        kafka.release.name,
        EMBEDDED,
        lambda seed: (VirtualSide(kafka, SHORT, TOPICS, seed), _embedded(SHORT, seed, verifies=False)),
        Terms(EVERYWHERE | OF_AUTHORIZERS, KNOWN),
        IN_VIRTUAL_TIME,
    )


def with_live(bootstrap: str, name: str) -> Comparison:
    """A live broker of Kafka 4, with the settings of those that this project starts, and the embedded broker."""
    scope = _live_scope(bootstrap)
    return Comparison(
        name,
        EMBEDDED,
        lambda seed: (LiveSide(bootstrap), _embedded(LIVE, seed, verifies=True, topics=scope.topics)),
        Terms(EVERYWHERE | OF_ADDRESSES, KNOWN),
        scope,
        OF_GROUPS | {LOOK_UP},
    )


def live_with_virtual(bootstrap: str, name: str, kafka: VirtualKafka) -> Comparison:
    """A live broker and the virtual Kafka of its release."""
    scope = _live_scope(bootstrap)
    return Comparison(
        name,
        kafka.release.name,
        lambda seed: (LiveSide(bootstrap), VirtualSide(kafka, LIVE, scope.topics, seed)),
        Terms(EVERYWHERE | OF_ADDRESSES | OF_AUTHORIZERS, (*KNOWN, *OF_KAFKA_3)),
        scope,
        OF_GROUPS - {UNVERIFIED},
    )


def with_itself() -> Comparison:
    """The embedded broker twice."""
    return Comparison(
        EMBEDDED,
        f"{EMBEDDED}, again",
        lambda seed: (_embedded(SHORT, seed, verifies=True), _embedded(SHORT, seed, verifies=True)),
        Terms(frozenset(), ()),
        IN_VIRTUAL_TIME,
        OF_GROUPS | {LOOK_UP},
    )


def digest_of(seed: int, frames: int = FRAMES) -> str:
    """A hash of all that the embedded broker is asked and answers in a seed: one seed, one history."""
    seen = hashlib.sha256()

    class Recorded(EmbeddedSide):
        def send(self, number: int, frame: bytes, pass_ms: int = 0) -> None:
            seen.update(repr((number, frame, pass_ms)).encode())
            super().send(number, frame, pass_ms)

        def answers(self, due: object = ()) -> dict[int, bytes | None]:  # noqa: ARG002 - of the protocol
            answered = super().answers()
            seen.update(repr(sorted(answered.items())).encode())
            return answered

    side = Recorded(SHORT, TOPICS, member_ids_of(seed))
    replace(with_itself(), open=lambda seed: (side, _embedded(SHORT, seed, verifies=True))).run(seed, frames)
    return seen.hexdigest()


def _embedded(config: GroupConfig, seed: int, *, verifies: bool, topics: Mapping[str, int] = TOPICS) -> EmbeddedSide:
    return EmbeddedSide(config, topics, member_ids_of(seed), verifies=verifies)


def _live_scope(bootstrap: str) -> Scope:
    """Topics and groups that no other run on this broker has."""
    suffix = f"-{uuid.uuid4().hex[:8]}"
    topics = {f"{name}{suffix}": partitions for name, partitions in TOPICS.items()}
    for name, partitions in topics.items():
        create_topic(bootstrap, name, partitions)
    return Scope(topics, LIVE.offset_metadata_max_bytes, suffix, passes_time=False)
