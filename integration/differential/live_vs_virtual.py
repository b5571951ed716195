"""The same stories, told to a live broker and to virtual Kafka at once, line by line, many at a time.

The live broker goes first. The member id that it makes is given to virtual Kafka, which makes the same one: so even
what hash order decides is the same, and replies are compared whole, as they are. Which answers are due is what virtual
Kafka says; the live broker may take a moment for them, and may not give others.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.protocol.messages import DescribedGroup
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.differential.connections import Lanes
from rebalance_check.integration.differential.live_scenario import Parted, TwinCoordinator, TwinStory
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.release import Release, find_release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

STORIES_AT_ONCE: Final = 64
PATIENCE_S: Final = 5.0
"""How long the live broker may take for what virtual Kafka does at once."""

PAUSE_S: Final = 0.002


@dataclass(frozen=True, slots=True)
class TwinResult:
    """What was told to both, how many replies were compared, and where they differ."""

    broker: str
    stories: int
    requests: int
    replies: int
    seconds: float
    parted: tuple[Parted, ...]

    def __str__(self) -> str:
        """One line of figures."""
        return (
            f"{self.stories:,} stories on {self.broker} and on its virtual twin: {self.requests:,} requests, "
            f"{self.replies:,} replies compared, {len(self.parted)} stories differ; {self.seconds:.1f} s, "
            f"{self.stories / self.seconds:,.0f} stories/s"
        )


def twin_of(broker: Broker) -> Release:
    """The virtual Kafka that should do what a broker does: that of its release, and the coordinator that runs there by
    default. `RebalanceCheckError` for a broker whose release is not known."""
    kind, _, version = broker.name.partition(" ")
    if kind != "kafka":
        raise RebalanceCheckError(f"which Kafka {broker.name!r} is cannot be told: choose local or testcontainers")
    return find_release(f"virtual:{version}{'-scala' if version.startswith('3.') else ''}")


def hold_equal(broker: Broker, kafka: VirtualKafka, stories: Sequence[Sequence[str]]) -> TwinResult:
    """Tell every story to both, each in a group of its own. They must be such that no time passes in them."""
    started = time.monotonic()
    run = f"twin-{uuid.uuid4().hex[:12]}"
    requests_before = kafka.requests
    parted: list[Parted] = []
    compared = 0
    with Lanes(broker.bootstrap) as lanes:
        for first in range(0, len(stories), STORIES_AT_ONCE):
            batch = _Batch(lanes)
            for number, story in enumerate(stories[first : first + STORIES_AT_ONCE], first):
                coordinator = TwinCoordinator(kafka, story[0], lanes, number, f"{run}-{number}")
                batch.going[number] = TwinStory(coordinator, story)
            parted += batch.tell()
            compared += batch.compared
    return TwinResult(
        broker.name, len(stories), kafka.requests - requests_before, compared, time.monotonic() - started,
        tuple(parted),
    )  # fmt: skip


class _Batch:
    """Stories that are told at the same time, a line of each after the other."""

    def __init__(self, lanes: Lanes) -> None:
        self.going: dict[int, TwinStory] = {}
        self.compared = 0
        self._lanes = lanes

    def tell(self) -> Iterator[Parted]:
        """Every story to its end, or to where it parts."""
        while True:
            for number in [number for number, story in self.going.items() if not story.begin()]:
                self._end(number)
            if not self.going:
                return
            yield from self._line()

    def _line(self) -> Iterator[Parted]:
        unknown = {number: story for number, story in self.going.items() if story.makes_id()}
        self._until(lambda: self._learn(unknown))
        for story in self.going.values():
            story.follow()
        for story in self.going.values():
            story.hear()
        self._until(self._is_answered)
        differing = dict(self.going)
        seen: dict[int, DescribedGroup] = {}
        self._until(lambda: self._settled(differing, seen))
        for number, story in list(self.going.items()):
            parted = story.compare(seen[number])
            if parted is not None:
                self._end(number)
                yield parted

    def _learn(self, unknown: dict[int, TwinStory]) -> bool:
        """Who does not tell the id that it made shows it in the group."""
        self._receive()
        silent = {number: story for number, story in unknown.items() if story.makes_id()}
        shown = self._described(silent)
        for number in [number for number, story in unknown.items() if story.learn(shown.get(number))]:
            del unknown[number]
        return not unknown

    def _is_answered(self) -> bool:
        self._receive()
        return all(story.is_answered() for story in self.going.values())

    def _settled(self, differing: dict[int, TwinStory], seen: dict[int, DescribedGroup]) -> bool:
        seen |= self._described(differing)
        for number in [number for number, story in differing.items() if story.looks_like(seen[number])]:
            del differing[number]
        return not differing

    def _described(self, stories: dict[int, TwinStory]) -> dict[int, DescribedGroup]:
        """The live groups, and with them the answers that are there."""
        if not stories:
            return {}
        groups = self._lanes.describe([story.coordinator.group_id for story in stories.values()])
        self._receive()
        return {number: groups[story.coordinator.group_id] for number, story in stories.items()}

    def _receive(self) -> None:
        for address, reply in self._lanes.replies():
            if address.story in self.going:
                self.going[address.story].arrive(address.token, reply)

    @staticmethod
    def _until(done: Callable[[], bool]) -> None:
        """Try until it is done, or for as long as the live broker may take."""
        deadline = time.monotonic() + PATIENCE_S
        while not done() and time.monotonic() < deadline:
            time.sleep(PAUSE_S)

    def _end(self, number: int) -> None:
        self._lanes.drop(number)
        story = self.going.pop(number)
        self.compared += story.compared
        story.coordinator.close()
