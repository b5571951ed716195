"""Our implementation compared with Kafka's own classes: each comparison takes a seed, and shows the first difference.

Of one subject each: the coordinator, the workers of Connect and their herders, in virtual time; the stores of configs
and statuses; the assignors. Processes begin when they are needed, and end with `Kafka`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Self

from rebalance_check.impl.comparison.compare import Side
from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.connect.status.codec import ValueFormat
from rebalance_check.impl.scenarios.random_scenarios import random_scenario
from rebalance_check.integration.comparison.assignors.assignors import JavaAssignors
from rebalance_check.integration.comparison.assignors.compare import compare as compare_assignors
from rebalance_check.integration.comparison.connect_assignors.compare import compare as compare_connect_assignors
from rebalance_check.integration.comparison.connect_assignors.java import JavaConnectAssignors
from rebalance_check.integration.comparison.scenarios.campaign import finding_in
from rebalance_check.integration.comparison.scenarios.run import DIFFERENTIAL
from rebalance_check.integration.comparison.stores.compare import compare as compare_stores
from rebalance_check.integration.comparison.stores.config_ours import OurConfigStores
from rebalance_check.integration.comparison.stores.config_sequences import call_sequences, record_sequences
from rebalance_check.integration.comparison.stores.java_stores import JavaStores, StoreKind
from rebalance_check.integration.comparison.stores.status_ours import OurStatusStores
from rebalance_check.integration.comparison.stores.status_sequences import status_sequences
from rebalance_check.integration.comparison.workers.compare import compare_groups, compare_herders
from rebalance_check.integration.comparison.workers.java_worker import JavaWorker
from rebalance_check.integration.comparison.workers.our_worker import OurWorker
from rebalance_check.integration.virtual import Release, VirtualKafka, find_release
from rebalance_check.properties.assignment.connect_histories import SHAPES as CONNECT_SHAPES
from rebalance_check.properties.assignment.problem import ASSIGNORS
from rebalance_check.properties.assignment.problems import SHAPES

WORKERS: Final = ("w0", "w1", "w2")
ACTIONS: Final = 40
"""Of a schedule of workers."""

SEQUENCES: Final = 40
"""Of steps of a store, with one seed."""


@dataclass(slots=True)
class Kafka:
    """Kafka's classes of one release, as a context manager: its processes are gone outside.

    Where a comparison ends in an exception, what was said to a process and not yet answered is unknown: all end, and
    begin anew when they are needed.
    """

    release: Release = field(default_factory=find_release)
    _started: dict[str, Any] = field(default_factory=dict)
    _ends: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        """Nothing runs yet."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End the processes."""
        self.close()

    def close(self) -> None:
        """End the processes; those that are needed again begin anew."""
        self._started.clear()
        self._ends.close()

    def _process(self, name: str, start: Callable[[], Any]) -> Any:
        if name not in self._started:
            self._started[name] = self._ends.enter_context(start())
        return self._started[name]

    @property
    def virtual(self) -> VirtualKafka:
        """Its coordinator, in virtual time."""
        started: VirtualKafka = self._process("virtual", lambda: VirtualKafka(self.release))
        return started

    @property
    def worker(self) -> JavaWorker:
        """Its workers of Connect, step by step."""
        started: JavaWorker = self._process("worker", lambda: JavaWorker(self.release))
        return started

    def stores(self, kind: StoreKind) -> JavaStores:
        """Its stores of this kind."""
        started: JavaStores = self._process(str(kind), lambda: JavaStores(self.release, kind))
        return started

    @property
    def assignors(self) -> JavaAssignors:
        """Its assignors of consumers."""
        started: JavaAssignors = self._process("assignors", lambda: JavaAssignors(self.release.version))
        return started

    @property
    def connect_assignors(self) -> JavaConnectAssignors:
        """Its assignors of Connect."""
        started: JavaConnectAssignors = self._process("connect", lambda: JavaConnectAssignors(self.release.version))
        return started

    def compared(self, name: str, seed: int) -> list[str]:
        """Compare the subject of this name (`COMPARISONS`) by a seed; its first differences."""
        try:
            return list(map(str, COMPARISONS[name](self, seed)))
        except BaseException:
            self.close()
            raise


def _coordinator(kafka: Kafka, seed: int) -> Iterator[Difference]:
    scenario = random_scenario(seed, faults=None if seed % 2 else False)
    found = finding_in(kafka.virtual, scenario, seed, [DIFFERENTIAL])
    if found is not None:
        yield found


def _workers(kafka: Kafka, seed: int) -> Iterator[Difference]:
    sides: dict[str, dict[str, Side]] = {
        "ours": {name: OurWorker() for name in WORKERS},
        "Kafka's": dict.fromkeys(WORKERS, kafka.worker),
    }
    yield from compare_groups(kafka.virtual, sides, seed, ACTIONS).differences


def _herders(kafka: Kafka, seed: int) -> Iterator[Difference]:
    mode = ("eager", "compatible")[seed % 2]
    done = compare_herders(kafka.virtual, kafka.worker, WORKERS, seed=seed, mode=mode, actions=ACTIONS)
    yield from done.differences


def _config_store(kafka: Kafka, seed: int) -> Iterator[Difference]:
    random = Random(f"config store {seed}")
    sequences = record_sequences(random, SEQUENCES) + call_sequences(random, SEQUENCES)
    yield from compare_stores(OurConfigStores(), kafka.stores(StoreKind.CONFIG), sequences).differences


def _status_store(kafka: Kafka, seed: int) -> Iterator[Difference]:
    layout = ValueFormat.KAFKA_3_9 if kafka.release.version.startswith("3.") else ValueFormat.KAFKA_4_3
    sequences = status_sequences(Random(f"status store {seed}"), SEQUENCES)
    yield from compare_stores(OurStatusStores(layout), kafka.stores(StoreKind.STATUS), sequences).differences


def _assignors(kafka: Kafka, seed: int) -> Iterator[Difference]:
    for found in compare_assignors(kafka.assignors, ASSIGNORS, list(SHAPES), range(seed, seed + 1)):
        yield from found.differences


def _connect_assignors(kafka: Kafka, seed: int) -> Iterator[Difference]:
    for found in compare_connect_assignors([kafka.connect_assignors], list(CONNECT_SHAPES), range(seed, seed + 1)):
        yield from found.differences


COMPARISONS: Final[Mapping[str, Callable[[Kafka, int], Iterator[Difference]]]] = {
    "coordinator": _coordinator,
    "workers": _workers,
    "herders": _herders,
    "config store": _config_store,
    "status store": _status_store,
    "assignors": _assignors,
    "Connect's assignors": _connect_assignors,
}
"""By subject, the comparison of it."""
