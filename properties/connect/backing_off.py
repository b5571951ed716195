"""Rounds that take work away for the balance do not follow each other at once: a leader waits longer each time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker import NO_ERROR
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.holdings import EAGER
from rebalance_check.properties.views.simulated import RECORDED

MULTIPLIER: Final = 40
"""How much longer each back-off is than the one before; the first is as many ms."""


class SuccessiveRevocationsWaitViolated(Violation):
    """A leader waited for another time before it took work away once more, or for none."""


@dataclass(slots=True)
class _Memory:
    """What the assignor of a process remembers of the rounds that it computed.

    ``revoked``: the last one took work away for the balance, or waits to do so. ``count`` is how often one waited
    before another (both None where events do not tell), ``is_delayed`` whether the last one had a delay, ``last`` the
    round itself, None before the first.
    """

    revoked: bool | None = False
    count: int | None = 0
    is_delayed: bool = False
    last: ConnectAssignmentComputed | None = None


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a round takes away that one worker claims at most: ``balanced`` is configured, and taken for the balance.

    ``vague`` says whether it takes what is not: because it was deleted, or for the balance, too.
    """

    balanced: tuple[str, ...]
    vague: bool


class _BacksOff(SimulatedWorkerFold):
    """Per process: the memory of its assignor."""

    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft})
    needs = ((WorkerConfigured,), (ConnectAssignmentComputed,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            MemberCrashed: self.on_gone,
            MemberLeft: self.on_gone,
            ConnectAssignmentComputed: self.on_computed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._memories: dict[str, _Memory] = {}

    def on_started(self, event: MemberStarted) -> None:
        """Its assignor remembers nothing."""
        self._memories[event.member] = _Memory()

    def on_gone(self, event: MemberEvent) -> None:
        """Its assignor is gone."""
        self._memories.pop(event.member, None)

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """Compare a round with what is remembered, and remember it."""
        memory, configured = self._memories.get(event.member), self.memory.of(event.member).configured
        if event.error != NO_ERROR or event.protocol == EAGER or memory is None or configured is None:
            return
        if not self.run.is_recorded:
            return
        longest_ms = configured.scheduled_rebalance_max_delay_ms
        if event.delay_ms:
            self._delayed(memory, event, longest_ms)
        else:
            self._undelayed(memory, event, longest_ms)
        memory.is_delayed, memory.last = bool(event.delay_ms), event

    def _delayed(self, memory: _Memory, event: ConnectAssignmentComputed, longest_ms: int) -> None:
        """A back-off begins where no other delay can; any other delay ends the succession."""
        begins = not memory.is_delayed and not _has_departed(memory.last, event)
        if begins and memory.revoked:
            if memory.count is not None:
                memory.count += 1
                self._judge(memory, event, longest_ms)
        elif begins and memory.revoked is None:
            memory.count = None
        else:
            memory.revoked = False

    def _judge(self, memory: _Memory, event: ConnectAssignmentComputed, longest_ms: int) -> None:
        self.compared = (self.compared or 0) + 1
        count, last = memory.count or 0, memory.last
        grown_ms = MULTIPLIER**count
        allowed = {grown_ms} if grown_ms < longest_ms else {longest_ms - 1, longest_ms}
        if event.delay_ms not in allowed and last is not None:
            self.contradiction(
                f"{event.member} waits {event.delay_ms} ms before it takes work away again, for {max(allowed)} ms",
                (f"{event.member} took work away for the balance at {STEP}, in generation {last.generation};", last),
                (f"it waits before it does so again, for the {_times(count)} time, which is {max(allowed)} ms: at "
                 f"{STEP} it has everybody wait for {event.delay_ms} ms: contradiction.", event),
            )  # fmt: skip

    def _undelayed(self, memory: _Memory, event: ConnectAssignmentComputed, longest_ms: int) -> None:
        """Work is taken away, or the workers are balanced, and a succession ends."""
        taken = _taken(event)
        if memory.is_delayed:
            memory.revoked = False
        if longest_ms == 0:
            memory.revoked = memory.count = None  # no back-off ever lasts, and nothing tells how many there were
        elif taken.balanced:
            if memory.revoked and memory.last is not None:
                self._accuse(memory.last, event, taken.balanced[0])
            memory.revoked = True
        elif taken.vague and not memory.revoked:
            memory.revoked = None
        else:
            memory.count = 0 if memory.revoked else memory.count if memory.revoked is False else None
            memory.revoked = False

    def _accuse(self, last: ConnectAssignmentComputed, event: ConnectAssignmentComputed, work: str) -> None:
        self.contradiction(
            f"{event.member} takes {work} away at once, after it took work away in the round before",
            (f"{event.member} took work away for the balance at {STEP}, in generation {last.generation};", last),
            (f"it takes {work} away at {STEP}, in its next round, and has not waited: contradiction.", event),
        )


def _has_departed(last: ConnectAssignmentComputed | None, event: ConnectAssignmentComputed) -> bool:
    """Whether a worker of the last round is not in this one: then it is its work that waits."""
    return last is not None and not {member for member, _ in last.assigned} <= {member for member, _ in event.assigned}


def _taken(event: ConnectAssignmentComputed) -> _Taken:
    claimed = Counter(work for _, some in event.claims for work in some)
    taken = [work for _, some in event.revoked for work in some if claimed[work] <= 1]
    balanced = tuple(work for work in taken if work in event.configured)
    return _Taken(balanced, len(balanced) < len(taken))


def _times(count: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(count, f"{count}th")


SuccessiveRevocationsWait: Final = Invariant(
    name="successive_revocations_wait",
    family="connect_rounds",
    claim=f"a leader that took work away for the balance, and would do so again in its next round, waits before, "
    f"{MULTIPLIER} ms the first time and {MULTIPLIER} times as long each further time, and never longer than "
    "scheduled.rebalance.max.delay.ms, until it finds the workers balanced in the round after one that took work away",
    source="KAFKA-12495; IncrementalCooperativeAssignor.performTaskAssignment (consecutiveRevokingRebalancesBackoff)",
    premises=(
        RECORDED,
        "where the longest delay is no power of the multiplier it may be a millisecond shorter",
        "a delay in a round in which a worker of the round before is missed is that of lost work",
    ),
    exempted_by=(MemberStarted, MemberCrashed, MemberLeft),
    violation=SuccessiveRevocationsWaitViolated,
    fold=_BacksOff,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="w0")
    WorkerConfigured(member="w0", mode="compatible", scheduled_rebalance_max_delay_ms=20000)
    ConnectAssignmentComputed(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, configured=("c",), claims=(("a", ("c",)),), revoked=(("a", ("c",)),))
    ConnectAssignmentComputed(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, configured=("c",), delay_ms=20000)
"""

CLAIMS: Final = (SuccessiveRevocationsWait,)
"""In the order in which reports name them."""
