"""A live broker and virtual Kafka perform the same scenarios at once, line by line, many at a time.

The live broker goes first. The member id that it makes is given to virtual Kafka, which makes the same one: so even
what hash order decides is the same, and replies are compared whole, as they are. Which answers are due is what virtual
Kafka says; the live broker may take a while for them, and may not give others.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.protocol.messages import DescribedGroup
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.differential.connections import Connections
from rebalance_check.integration.differential.live_scenario import Divergence, FollowingCoordinator, PairedScenario
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.waiting import ask_until

SCENARIOS_AT_ONCE: Final = 64
PATIENCE_S: Final = 5.0
"""How long the live broker may take for what virtual Kafka does at once."""

PAUSE_S: Final = 0.002


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """What was sent to both, how many replies were compared, and where they differ."""

    broker: str
    scenarios: int
    requests: int
    replies: int
    seconds: float
    parted: tuple[Divergence, ...]

    def __str__(self) -> str:
        """One line of figures."""
        return (
            f"{self.scenarios:,} scenarios on {self.broker} and on its virtual counterpart: "
            f"{self.requests:,} requests, {self.replies:,} replies compared, {len(self.parted)} scenarios differ; "
            f"{self.seconds:.1f} s, {self.scenarios / self.seconds:,.0f} scenarios/s"
        )


def hold_equal(broker: Broker, kafka: VirtualKafka, scenarios: Sequence[Sequence[str]]) -> ComparisonResult:
    """Perform every scenario on both, each in a group of its own. They must be such that no time passes in them."""
    started = time.monotonic()
    run = f"compared-{uuid.uuid4().hex[:12]}"
    requests_before = kafka.requests
    parted: list[Divergence] = []
    compared = 0
    with Connections(broker.bootstrap) as connections:
        for first in range(0, len(scenarios), SCENARIOS_AT_ONCE):
            batch = _Batch(connections)
            for number, scenario in enumerate(scenarios[first : first + SCENARIOS_AT_ONCE], first):
                coordinator = FollowingCoordinator(kafka, scenario[0], connections, number, f"{run}-{number}")
                batch.going[number] = PairedScenario(coordinator, scenario)
            parted += batch.perform()
            compared += batch.compared
    return ComparisonResult(
        broker.name, len(scenarios), kafka.requests - requests_before, compared, time.monotonic() - started,
        tuple(parted),
    )  # fmt: skip


class _Batch:
    """Scenarios that are performed at the same time, a line of each after the other."""

    def __init__(self, connections: Connections) -> None:
        self.going: dict[int, PairedScenario] = {}
        self.compared = 0
        self._connections = connections

    def perform(self) -> Iterator[Divergence]:
        """Every scenario to its end, or to where it parts."""
        while True:
            for number in [number for number, scenario in self.going.items() if not scenario.begin()]:
                self._end(number)
            if not self.going:
                return
            yield from self._line()

    def _line(self) -> Iterator[Divergence]:
        unknown = {number: scenario for number, scenario in self.going.items() if scenario.makes_id()}
        self._until(lambda: self._learn(unknown))
        for scenario in self.going.values():
            scenario.follow()
        for scenario in self.going.values():
            scenario.hear()
        self._until(self._is_answered)
        differing = dict(self.going)
        seen: dict[int, DescribedGroup] = {}
        self._until(lambda: self._settled(differing, seen))
        for number, scenario in list(self.going.items()):
            parted = scenario.compare(seen[number])
            if parted is not None:
                self._end(number)
                yield parted

    def _learn(self, unknown: dict[int, PairedScenario]) -> bool:
        """A broker that does not answer with the id that it made shows it in the group."""
        self._receive()
        silent = {number: scenario for number, scenario in unknown.items() if scenario.makes_id()}
        shown = self._described(silent)
        for number in [number for number, scenario in unknown.items() if scenario.learn(shown.get(number))]:
            del unknown[number]
        return not unknown

    def _is_answered(self) -> bool:
        self._receive()
        return all(scenario.is_answered() for scenario in self.going.values())

    def _settled(self, differing: dict[int, PairedScenario], seen: dict[int, DescribedGroup]) -> bool:
        seen |= self._described(differing)
        for number in [number for number, scenario in differing.items() if scenario.looks_like(seen[number])]:
            del differing[number]
        return not differing

    def _described(self, scenarios: dict[int, PairedScenario]) -> dict[int, DescribedGroup]:
        """The live groups, and with them the answers that are there."""
        if not scenarios:
            return {}
        groups = self._connections.describe([scenario.coordinator.group_id for scenario in scenarios.values()])
        self._receive()
        return {number: groups[scenario.coordinator.group_id] for number, scenario in scenarios.items()}

    def _receive(self) -> None:
        for address, reply in self._connections.replies():
            if address.scenario in self.going:
                self.going[address.scenario].arrive(address.token, reply)

    @staticmethod
    def _until(done: Callable[[], bool]) -> None:
        """Try until it is done, or for as long as the live broker may take."""
        ask_until(done, bool, timeout_s=PATIENCE_S, pause_s=PAUSE_S)

    def _end(self, number: int) -> None:
        self._connections.drop(number)
        scenario = self.going.pop(number)
        self.compared += scenario.compared
        scenario.coordinator.close()
