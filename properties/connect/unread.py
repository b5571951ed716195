"""What a worker does that could not read the config topic to its end: it leaves, waits, reads on, and then joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallEnded,
    ConfigCallStarted,
    Event,
    HerderRequestEnded,
    HerderRequestStarted,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    RejoinRequested,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.config_store.calls import REFRESH
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

BACK_OFF: Final = "back-off"
RETRIES: Final = 5
"""How often a worker waits before it gives up all that it runs."""

PARTS: Final = 10
"""The last of these pauses is this part of ``scheduled.rebalance.max.delay.ms``."""


class UnreadConfigsAreReadFirstViolated(Violation):
    """A worker that could not read the config topic stayed, joined, read again at once, or gave its work up at once."""


@dataclass(slots=True, eq=False)
class Failing:
    """The last read of a worker that failed, and how many did so in a row since it gave up its work last.

    ``joined`` is how it came into the generation that it has not left since.
    """

    ended: ConfigCallEnded
    failures: int
    joined: MemberJoined | None = None


class _Unread(SimulatedWorkerFold):
    """Per worker: reads that failed, but for those of requests, which are answered; and the generation it is in."""

    bookkeeping = frozenset({*PROCESS, HerderRequestEnded, HerderRequestStarted, ConfigCallEnded, MemberJoined,
                             MembershipLost})  # fmt: skip
    needs = ((WorkerConfigured,), (ConfigCallEnded,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            HerderRequestStarted: self.on_serving,
            HerderRequestEnded: self.on_served,
            ConfigCallStarted: self.on_call,
            ConfigCallEnded: self.on_ended,
            MemberJoined: self.on_joined,
            MembershipLost: self.on_lost,
            RejoinRequested: self.on_rejoin,
            WorkerClaimed: self.on_claimed,
            WorkRevocationStarted: self.on_revocation,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._serving: set[str] = set()
        self._failing: dict[str, Failing] = {}
        self._joined: dict[str, MemberJoined] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A new process has read nothing."""
        self._serving.discard(event.member)
        self._failing.pop(event.member, None)
        self._joined.pop(event.member, None)

    def on_joined(self, event: MemberJoined) -> None:
        """It is in this generation."""
        self._joined[event.member] = event

    def on_lost(self, event: MembershipLost) -> None:
        """It is in none."""
        self._joined.pop(event.member, None)
        if (failing := self._failing.get(event.member)) is not None:
            failing.joined = None

    def on_serving(self, event: HerderRequestStarted) -> None:
        """What it reads for a request decides the answer."""
        self._serving.add(event.member)

    def on_served(self, event: HerderRequestEnded) -> None:
        """It reads for itself again."""
        self._serving.discard(event.member)

    def on_ended(self, event: ConfigCallEnded) -> None:
        """It knows the newest configs, or is to wait."""
        if event.method != REFRESH or event.member in self._serving or not self.run.is_recorded:
            return
        failing = self._failing.pop(event.member, None)
        if event.error:
            failures = 1 if failing is None else failing.failures + 1
            self._failing[event.member] = Failing(event, failures, self._joined.get(event.member))

    def on_rejoin(self, event: RejoinRequested) -> None:
        """It has left before it wants to join again."""
        failing = self._failing.get(event.member)
        if failing is not None and self.run.is_recorded:
            self._look_whether_it_left(event, failing)

    def _look_whether_it_left(self, event: MemberEvent, failing: Failing) -> None:
        """A worker leaves before it waits, and does nothing else between."""
        self.compared = (self.compared or 0) + 1
        joined, failing.joined = failing.joined, None
        if joined is not None:
            self._report(event, failing, f"is in generation {joined.generation}, and has not left it", joined)

    def on_call(self, event: ConfigCallStarted) -> None:
        """It reads again after a pause, which grows."""
        failing = self._failing.get(event.member)
        if failing is not None and event.method == REFRESH and event.member not in self._serving:
            self._look_whether_it_left(event, failing)
        pause_ms = None if failing is None else self._pause_ms(event.member, failing)
        if failing is None or pause_ms is None or event.method != REFRESH or event.member in self._serving:
            return
        self.compared = (self.compared or 0) + 1
        if event.time_ms < failing.ended.time_ms + pause_ms:
            self._report(event, failing, f"reads again, and its pause takes {pause_ms} ms")

    def _pause_ms(self, member: str, failing: Failing) -> int | None:
        worker = self.memory.of(member)
        if worker.configured is None or worker.received is None or worker.is_eager:
            return None
        if not 0 < failing.failures <= RETRIES:
            return None  # it has given up what it ran, and reads at once
        return worker.configured.scheduled_rebalance_max_delay_ms // PARTS // (RETRIES + 1 - failing.failures)

    def on_claimed(self, event: WorkerClaimed) -> None:
        """It has read the topic since."""
        self.compared = (self.compared or 0) + 1
        failing = self._failing.pop(event.member, None)
        if failing is not None:
            self._report(event, failing, "joins, and has not read it since")

    def on_revocation(self, event: WorkRevocationStarted) -> None:
        """It has waited often enough."""
        failing = self._failing.get(event.member)
        if event.reason != BACK_OFF or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if failing is None or failing.failures <= RETRIES:
            times = 0 if failing is None else failing.failures
            self._report(event, failing, f"gives up all that it runs, after {times} reads that failed")
        elif failing is not None:
            failing.failures = 0

    def _report(
        self, event: MemberEvent, failing: Failing | None, what: str, joined: MemberJoined | None = None
    ) -> None:
        self.contradiction(
            f"{event.member} could not read the config topic, and {what}",
            *([(f"{event.member} is in generation {joined.generation} since {STEP};", joined)] if joined else []),
            (f"{event.member} could not read the config topic to its end by {STEP};",
             None if failing is None else failing.ended),
            (f"at {STEP} it {what}: contradiction.", event),
        )  # fmt: skip


UnreadConfigsAreReadFirst: Final = Invariant(
    name="unread_configs_are_read_first",
    family="connect_duties",
    claim="a worker that could not read the config topic to its end leaves its group, and reads it before it joins "
    "again; an incremental one waits before each of five reads, longer each time, and gives up all that it runs when "
    "the sixth has failed, too, and not before",
    source="DistributedHerder.readConfigToEnd (maybeLeaveGroup), backoff, BACKOFF_RETRIES, canReadConfigs",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, ConfigCallEnded, HerderRequestEnded, HerderRequestStarted, MemberJoined, MembershipLost),
    violation=UnreadConfigsAreReadFirstViolated,
    fold=_Unread,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    ConfigCallEnded(member="w0", call=1, method="refresh", error="TimeoutException")
    WorkerClaimed(member="w0", generation=1, url="u", config_offset=3, claim=None)
"""

CLAIMS: Final = (UnreadConfigsAreReadFirst,)
"""In the order in which reports name them."""
