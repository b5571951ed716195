"""How a call of a config store may end: it throws for a reason that the run shows, and its time is limited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigAppended,
    ConfigCallEnded,
    ConfigCallStarted,
    ConfigTransactionEnded,
    Event,
    MemberEvent,
    MemberPaused,
    MemberResumed,
    ProducerInitialised,
    RunEnded,
    WorkerConfigured,
)
from rebalance_check.properties.config_store.calls import CLAIM, FAILED_TRANSACTION, PRIVILEGED, REFRESH, CallsFold
from rebalance_check.properties.config_store.readers import ConfigStoreViolated
from rebalance_check.properties.config_store.topic import Producer
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

READ_WRITE_TOTAL_TIMEOUT_MS: Final = 30_000
"""How long a write, with what is read back, may take."""

UNBOUNDED: Final = frozenset({"start", CLAIM})
"""The methods that wait for as long as it takes."""

NO_PRIVILEGES: Final = "IllegalStateException"
TIMES_OUT: Final = "TimeoutException"
FAILS: Final = "ConnectException"

KNOWN: Final = frozenset({FAILED_TRANSACTION, NO_PRIVILEGES, TIMES_OUT, FAILS})
"""What a call may throw where topic and settings are as they should be."""

LOST_SENDS: Final = "drop"
"""The kind of fault that lets a producer's send fail."""


class ConfigCallsThrowForAReasonViolated(ConfigStoreViolated):
    """A call of a config store threw, and nothing had failed."""


class ConfigCallsEndInTimeViolated(ConfigStoreViolated):
    """A call of a config store went on when its time was over."""


def _time_ms(call: ConfigCallStarted) -> int | None:
    """How long a call may take; None is for ever."""
    if call.method in UNBOUNDED:
        return None
    return int(dict(call.given).get("timeoutMs", READ_WRITE_TOTAL_TIMEOUT_MS))


class _Reasons(CallsFold):
    """Who has the producer of the config topic; and what threw where only a send that failed explains it."""

    bookkeeping = frozenset({ConfigCallStarted, ProducerInitialised, *PROCESS})
    needs = ((ConfigCallStarted,), (ConfigCallEnded,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ProducerInitialised: self.on_initialised,
                ConfigCallEnded: self.on_ended,
                RunEnded: self.on_run_ended,
            },
        )
        self.compared = 0
        self._youngest: ProducerInitialised | None = None
        self._privileged: dict[str, ProducerInitialised] = {}
        self._unexplained: list[tuple[ConfigCallStarted, ConfigCallEnded]] = []

    def on_process(self, event: MemberEvent) -> None:
        """The next one has no producer."""
        super().on_process(event)
        self._privileged.pop(event.member, None)

    def on_initialised(self, event: ProducerInitialised) -> None:
        """It fences the one before; those of tasks are others."""
        if not event.work:
            self._youngest = self._privileged[event.member] = event

    def on_ended(self, event: ConfigCallEnded) -> None:
        """A call that threw has a reason."""
        started = self.started_of(event)
        if started is None or not event.error:
            return
        self.compared = (self.compared or 0) + 1
        own, limit = self._privileged.get(event.member), _time_ms(started)
        is_over = limit is not None and event.time_ms - started.time_ms >= limit
        is_transactional = own is not None and event.method in PRIVILEGED
        if event.error == NO_PRIVILEGES and own is not None:
            self._report(event, own, f"{event.member} has the producer of epoch {own.epoch} since {STEP}")
        elif event.error == TIMES_OUT and not (is_over and event.method == REFRESH):
            self._report(event, started, f"it was called at {STEP}, and is no refresh whose time is over")
        elif event.error == FAILS and is_over and event.method == REFRESH:
            self._report(
                event, started, f"it was called at {STEP}, and a refresh whose time is over throws {TIMES_OUT}"
            )
        elif event.error == FAILS and not is_over and is_transactional:
            self._report(
                event, own, f"{event.member} has a producer since {STEP}, whose failure is {FAILED_TRANSACTION}"
            )
        elif (event.error == FAILS and not is_over) or (event.error == FAILED_TRANSACTION and own is self._youngest):
            self._unexplained.append((started, event))
        elif event.error not in KNOWN:
            self._report(event, started, f"it was called at {STEP}, and nothing of the kind was in its way")
        if event.error == FAILED_TRANSACTION:
            self._privileged.pop(event.member, None)

    def on_run_ended(self, event: RunEnded) -> None:
        """Sends fail where that fault strikes."""
        if any(kind == LOST_SENDS for kind, _ in event.struck):
            return
        for started, ended in self._unexplained:
            self._report(ended, started, f"it was called at {STEP}, its time was not over, no younger producer had "
                         "been initialised, and no send failed in the whole run")  # fmt: skip

    def _report(self, event: ConfigCallEnded, evidence: Event | None, why: str) -> None:
        self.contradiction(
            f"{event.method} of {event.member}'s config store throws {event.error} without a reason",
            (f"{why};", evidence),
            (f"{event.method} threw {event.error} at {STEP}: contradiction.", event),
        )


@dataclass(slots=True, eq=False)
class _Process:
    """Until when a process was paused, busy or in a transaction of its config store; and the one that is open.

    The herder of a worker (``has_herder``) looks at the time while it waits. A store without one may throw later than
    that; it is only known that no call of it returns when its time is over.
    """

    went_on: int = 0
    producer: Producer | None = None
    has_herder: bool = False


class _InTime(CallsFold):
    """Per process: until when it was held up."""

    bookkeeping = frozenset({
        ApplicationBusy, ConfigAppended, ConfigCallStarted, ConfigTransactionEnded, MemberPaused, MemberResumed,
        WorkerConfigured, *PROCESS,
    })  # fmt: skip
    needs = ((ConfigCallStarted,), (ConfigCallEnded,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                WorkerConfigured: self.on_worker,
                ConfigCallEnded: self.on_ended,
                MemberResumed: self.on_resumed,
                ApplicationBusy: self.on_busy,
                ConfigAppended: self.on_appended,
                ConfigTransactionEnded: self.on_transaction,
            },
        )
        self.compared = 0
        self._processes: dict[str, _Process] = {}

    def on_process(self, event: MemberEvent) -> None:
        """What held it up is over."""
        super().on_process(event)
        self._processes.pop(event.member, None)

    def _of(self, member: str) -> _Process:
        return self._processes.setdefault(member, _Process())

    def on_worker(self, event: WorkerConfigured) -> None:
        """Its herder waits for its calls, and looks at the time."""
        self._processes[event.member] = _Process(has_herder=True)

    def on_resumed(self, event: MemberResumed) -> None:
        """It looks at the time now."""
        process = self._of(event.member)
        process.went_on = max(process.went_on, event.time_ms)

    def on_busy(self, event: ApplicationBusy) -> None:
        """Its herder's thread does something else until then."""
        process = self._of(event.member)
        process.went_on = max(process.went_on, event.time_ms + event.busy_ms)

    def on_appended(self, event: ConfigAppended) -> None:
        """A transaction is under way, which its producer bounds."""
        if event.transactional_id:
            self._of(event.writer).producer = event.transactional_id, event.epoch

    def on_transaction(self, event: ConfigTransactionEnded) -> None:
        """Its store may end the call from here on."""
        for process in self._processes.values():
            if process.producer == (event.transactional_id, event.epoch):
                process.went_on, process.producer = max(process.went_on, event.time_ms), None

    def on_ended(self, event: ConfigCallEnded) -> None:
        """A transaction that failed, and a call that needs other privileges, are bounded by their producer."""
        started, process = self.started_of(event), self._of(event.member)
        if started is None or event.error in {FAILED_TRANSACTION, NO_PRIVILEGES}:
            return
        limit = _time_ms(started)
        if limit is None or (event.error and not process.has_herder):
            return
        self.compared = (self.compared or 0) + 1
        if event.time_ms <= max(started.time_ms + limit, process.went_on):
            return
        self.contradiction(
            f"{event.method} of {event.member}'s config store ends after {event.time_ms - started.time_ms} ms",
            (f"{event.member} called {event.method} at {STEP}, for {limit} ms at most;", started),
            (f"the call ended at {STEP}, and was in no transaction meanwhile: contradiction.", event),
        )


ConfigCallsThrowForAReason: Final = Invariant(
    name="config_calls_throw_for_a_reason",
    family="config_store",
    claim="a call of a config store throws only when its time is over, a younger producer has fenced its own, a send "
    "failed, or it needs write privileges that its store has not; and what it throws says which of these it was",
    source="KafkaConfigBackingStore (READ_WRITE_TOTAL_TIMEOUT_MS), sendPrivileged, refresh; KIP-618",
    premises=(RECORDED, "the end of the run says which kinds of fault struck: where none lost messages, no send fails"),
    exempted_by=(ConfigCallStarted, ProducerInitialised, *PROCESS),
    violation=ConfigCallsThrowForAReasonViolated,
    fold=_Reasons,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConfigCallStarted(member="w0", call=0, method="refresh", given=(("timeoutMs", "3000"),))
    ConfigCallEnded(member="w0", call=0, method="refresh", error="TimeoutException")
"""

ConfigCallsEndInTime: Final = Invariant(
    name="config_calls_end_in_time",
    family="config_store",
    claim="a call of a config store returns before its time is over, 30 seconds of a write and what refresh was given, "
    "or when its transaction ends after that; a worker's has thrown by then otherwise; start and claims of privileges "
    "have no limit",
    source="KafkaConfigBackingStore (READ_WRITE_TOTAL_TIMEOUT_MS), refresh; Producer (max.block.ms)",
    premises=(RECORDED,),
    exempted_by=(
        ApplicationBusy,
        ConfigAppended,
        ConfigCallStarted,
        ConfigTransactionEnded,
        MemberResumed,
        *PROCESS,
    ),
    violation=ConfigCallsEndInTimeViolated,
    fold=_InTime,
)
"""The herder's thread does nothing else meanwhile. The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    ConfigCallStarted(member="w0", call=0, method="putTargetState", time_ms=0)
    ConfigCallEnded(member="w0", call=0, method="putTargetState", time_ms=30_001)
"""

CLAIMS: Final = (ConfigCallsThrowForAReason, ConfigCallsEndInTime)
"""In the order in which reports name them."""
