"""The topics of a simulated cluster: the first may grow, others come and go, and members learn of it."""

from __future__ import annotations

from functools import partial
from typing import Final

from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.consumers import OTHER_TOPIC, ConsumerApplication, partitions_of
from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.impl.simulator.group_config import TOPIC
from rebalance_check.impl.simulator.process import MemberProcess
from rebalance_check.impl.simulator.schedule import OF_SOME
from rebalance_check.model.vocabulary.events import TopicsDescribed
from rebalance_check.model.vocabulary.ids import partition

METADATA_MS: Final = 5_000
"""How long it takes, at most, until a client that nothing urges learns that topics came or went."""

INTERNAL_TOPIC: Final = "__consumer_offsets"


class Topics:
    """The topics that exist; ``environment.to_own`` follows them. ``internal`` adds one that brokers call internal."""

    def __init__(self, environment: Environment, partitions: int, *, internal: bool) -> None:
        self.cluster: dict[str, int] = {OTHER_TOPIC: 1}
        self._environment = environment
        self._random = stream(environment.seed, "metadata")
        if internal:
            self.cluster[INTERNAL_TOPIC] = 1
        self.grow(partitions)

    def grow(self, partitions: int) -> None:
        """The first topic has so many partitions now, and everybody knows."""
        self.cluster[TOPIC] = partitions
        self._changed()
        for member in self._environment.members:
            self._learn(member)

    def change(self, choice: int) -> None:
        """Topics like the first exist, or (from `OF_SOME` on) the topic that some want has other partitions."""
        if choice < OF_SOME:
            self.let_exist(choice)
        else:
            self.resize_other(choice - OF_SOME)

    def resize_other(self, partitions: int) -> None:
        """The topic that only some members want has so many partitions, or (0) is gone; members learn one by one."""
        self.cluster.pop(OTHER_TOPIC, None)
        if partitions:
            self.cluster[OTHER_TOPIC] = partitions
        self._changed_slowly()

    def let_exist(self, count: int) -> None:
        """``t1`` to ``t<count>`` exist next to the first topic, and no others like them; members learn one by one."""
        for topic in [each for each in self.cluster if each.startswith(TOPIC) and each != TOPIC]:
            del self.cluster[topic]
        self.cluster |= {f"{TOPIC}{number}": 1 for number in range(1, count + 1)}
        self._changed_slowly()

    def _changed_slowly(self) -> None:
        self._changed()
        for member in self._environment.members:
            self._environment.clock.after(self._random.randint(0, METADATA_MS), partial(self._learn, member))

    def _changed(self) -> None:
        by_pattern = self._environment.plan.has(FaultKind.PATTERN)  # else no member wants the topics like the first
        wanted = {
            topic: count
            for topic, count in self.cluster.items()
            if topic == TOPIC or (by_pattern and topic.startswith(TOPIC))
        }
        to_own = tuple(partition(topic, index) for topic, count in sorted(wanted.items()) for index in range(count))
        self._environment.to_own = lambda: to_own
        self._environment.harness.emit(
            TopicsDescribed(partitions=partitions_of(self.cluster), metadata_max_age_ms=METADATA_MS)
        )

    def _learn(self, member: MemberProcess) -> None:
        if isinstance(member.application, ConsumerApplication):
            member.application.receive_metadata(self.cluster)
            member.notice()
