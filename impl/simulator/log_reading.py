"""A coordinator's reading of its log, ``__consumer_offsets``, takes long, or fails part-way.

Kafka has two answers to a read that fails (a segment that cannot be read, a record that cannot be parsed, no memory
for a large batch). Both drop the records read until then; the log stays as it is, and the next leader may read it.

- The Java coordinators (``CoordinatorRuntime``): the shard is FAILED, and every request to it is answered
  NOT_COORDINATOR. Look-ups still name the node, so members ask in vain until the partition gets another leader, which
  no time-out brings about: it takes an operator.
- The Scala coordinator (``GroupMetadataManager.loadGroupsAndOffsets``) says so in its own output, and the partition
  counts as loaded. It serves as if there had never been a group: members are unknown, generations begin anew, and
  committed offsets are gone until a leader reads the log that can.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from random import Random

from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.simulator.network import SimulatedNetwork


class Outcome(Enum):
    """The outcomes of a reading: all is read, the coordinator fails (Java), or it serves without (Scala)."""

    READ = auto()
    FAILED = auto()
    FORGOTTEN = auto()


class LogReading:
    """Draws from one stream of the seed, by the present plan of ``network``; ``note`` takes each fault that strikes."""

    def __init__(self, network: SimulatedNetwork, random: Random, note: Callable[[FaultKind], None]) -> None:
        self._network = network
        self._random = random
        self._note = note

    def longer_ms(self) -> int:
        """How much longer than usual the next reading takes."""
        most_ms = self._network.plan.slow_log_ms
        if not most_ms:
            return 0
        self._note(FaultKind.SLOW_LOG)
        return self._random.randrange(most_ms)

    def outcome(self) -> Outcome:
        """The outcome of the reading that ends now."""
        plan = self._network.plan
        if self._strikes(FaultKind.FAILED_LOAD, plan.failed_load):
            return Outcome.FAILED
        if self._strikes(FaultKind.FORGOTTEN_LOG, plan.forgotten_log):
            return Outcome.FORGOTTEN
        return Outcome.READ

    def _strikes(self, kind: FaultKind, chance: float) -> bool:
        """Nothing is drawn for a fault that is switched off."""
        struck = chance > 0 and self._random.random() < chance
        if struck:
            self._note(kind)
        return struck
