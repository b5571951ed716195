"""Assignors that answer problems: Kafka's own of a release, in a Java process, and ours, in this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, Protocol

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.protocol.consumer_protocol import Subscription
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.integration.comparison.assignors.messages import (
    owned_field,
    problem_message,
    read_answer,
    user_data_of,
)
from rebalance_check.integration.comparison.assignors.release import DEFAULT_VERSION, assignors_command
from rebalance_check.integration.jvm.child import JavaChild
from rebalance_check.properties.assignment.problem import Answer, Problem
from rebalance_check.properties.machines.assignor_rounds import PATIENCE_LINES, answer_of

PATIENCE_MS: Final = 5_000
"""How long one small problem may take; one that takes longer counts as endless."""

FIRST_WITH_RACKS: Final = (3, 5)
_BATCH: Final = 500


class Assignors(Protocol):
    """Something that answers assignment problems."""

    @property
    def name(self) -> str:
        """Whose assignors these are, as reports call them."""
        ...

    @property
    def knows_racks(self) -> bool:
        """Whether they look at racks (KIP-881)."""
        ...

    def answer_all(self, assignor: str, problems: Iterable[Problem]) -> Iterator[Answer]:
        """The answers of one assignor, in the order of the problems."""
        ...


class JavaAssignors(JavaChild):
    """The assignors of one release of kafka-clients, as a context manager: the process is gone outside.

    ``version`` is a release since 2.4.0. `RebalanceCheckError` when there is no Java, or no jars can be had.
    """

    def __init__(self, version: str = DEFAULT_VERSION, *, patience_ms: int = PATIENCE_MS) -> None:
        self.version = version
        super().__init__(f"the assignors of {self.name}", assignors_command(version))
        self.answer_to({"open": {"patience_ms": patience_ms}})

    @property
    def name(self) -> str:
        """``kafka-clients 4.3.1``."""
        return f"kafka-clients {self.version}"

    @property
    def knows_racks(self) -> bool:
        """Kafka's do since 3.5.0."""
        return tuple(map(int, self.version.split(".")[:2])) >= FIRST_WITH_RACKS

    def answer(self, assignor: str, problem: Problem) -> Answer:
        """The answer to one problem."""
        return next(self.answer_all(assignor, [problem]))

    def answer_all(self, assignor: str, problems: Iterable[Problem]) -> Iterator[Answer]:
        """The answers in order; problems go out in batches, while the answers to earlier ones are read."""
        problems = iter(problems)
        while batch := list(islice(problems, _BATCH)):
            asked = [problem_message(assignor, problem) for problem in batch]
            yield from map(read_answer, self.answers_to(asked))


class OurAssignors:
    """The assignors of `rebalance_check.impl`, behind the same interface.

    ``patience_lines`` ends endless work, and slows everything down by a factor of five; None where that is known.
    """

    name = "our own"
    knows_racks = True

    def __init__(self, *, patience_lines: int | None = PATIENCE_LINES) -> None:
        self._patience_lines = patience_lines

    def answer(self, assignor: str, problem: Problem) -> Answer:
        """The answer to one problem; an assignor's exception is a failure, as it is for Java's."""
        subscriptions = {
            name: Subscription(
                topics=member.topics,
                owned=tuple(TopicPartition(*partition) for partition in owned_field(assignor, member)),
                user_data=user_data_of(assignor, member),
                generation=member.generation,
                group_instance_id=member.instance,
                rack=member.rack,
            )
            for name, member in problem.members.items()
        }
        return answer_of(OUR_ASSIGNORS[assignor](), problem, subscriptions, self._patience_lines)

    def answer_all(self, assignor: str, problems: Iterable[Problem]) -> Iterator[Answer]:
        """The answers in order."""
        for problem in problems:
            yield self.answer(assignor, problem)


OUR_ASSIGNORS: Final[dict[str, Callable[[], Assignor]]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "sticky": StickyAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}
"""How each of our assignors is made."""
