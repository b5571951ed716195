"""What ends has begun: a record that shows an end shows the begin before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from rebalance_check.model.vocabulary.events import (
    ConfigCallEnded,
    ConfigCallStarted,
    ConfigReadEnded,
    ConfigReadStarted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RestartPlanned,
    RestartRequested,
    StatusFlushed,
    StatusFlushStarted,
    StatusStoreStarted,
    StatusStoreStarting,
    StatusStoreStopped,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class EndsFollowBeginsViolated(Violation):
    """The record shows how something ended, and not that it had begun."""


class StoresStopWithTheirWorkerViolated(Violation):
    """A worker left for good, and its status store did not stop."""


class _Pair(NamedTuple):
    """An event that begins something, the one that ends it, what both call it, and the fields that they share."""

    begin: type[Event]
    end: type[Event]
    what: str
    fields: tuple[str, ...]
    counts: Callable[[Any], bool] = lambda _: True
    """Whether an event of the end's type ends it; one of its other kinds does not."""
    ends_all: bool = False
    """Whether one end is that of all that have begun by then."""


PAIRS: Final = (
    _Pair(ConfigReadStarted, ConfigReadEnded, "a read to the end of the config topic", ("member",)),
    _Pair(ConfigCallStarted, ConfigCallEnded, "a call of a config store", ("member", "method")),
    _Pair(StatusStoreStarting, StatusStoreStarted, "the start of a status store", ("worker",)),
    _Pair(StatusFlushStarted, StatusFlushed, "a flush of a status store", ("worker",)),
    _Pair(
        RestartRequested,
        RestartPlanned,
        "a request to restart",
        ("member", "connector"),
        counts=lambda event: event.is_read,
        ends_all=True,
    ),
)
"""A begin may go without its end: a process may die meanwhile, and a request may wait for ever."""


class _Begun(SimulatedFold):
    """How often each thing has begun and not ended, by its pair and what its events share."""

    bookkeeping = frozenset({MemberStarted, *(pair.begin for pair in PAIRS)})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_process,
            **{pair.begin: self.on_begin for pair in PAIRS},
            **{pair.end: self.on_end for pair in PAIRS},
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._begun: dict[tuple[str, ...], int] = {}
        self._of_begin = {pair.begin: pair for pair in PAIRS}
        self._of_end = {pair.end: pair for pair in PAIRS}

    def on_process(self, event: MemberStarted) -> None:
        """What another process began counts no more; a store may end what it began after its process has left."""
        for key in [key for key in self._begun if key[1] == event.member]:
            del self._begun[key]

    def on_begin(self, event: Event) -> None:
        """It goes on from here."""
        key = _key(self._of_begin[type(event)], event)
        self._begun[key] = self._begun.get(key, 0) + 1

    def on_end(self, event: Event) -> None:
        """It had begun; several requests to restart one connector may be served as one."""
        pair = self._of_end[type(event)]
        if not pair.counts(event) or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        key = _key(pair, event)
        if not self._begun.get(key):
            of = " ".join(key[1:])
            self.contradiction(
                f"{pair.what} of {of} ends, and its begin is not recorded",
                (f"{pair.what} of {of} is over at {STEP}, and no {pair.begin.__name__} precedes it: contradiction.",
                 event),
            )  # fmt: skip
        else:
            self._begun[key] = 0 if pair.ends_all else self._begun[key] - 1


def _key(pair: _Pair, event: Event) -> tuple[str, ...]:
    return pair.end.__name__, *(str(getattr(event, field)) for field in pair.fields)


class _Stores(SimulatedFold):
    """The worker of each status store that has started, and has not stopped."""

    bookkeeping = frozenset({MemberCrashed, MemberStarted, StatusStoreStarting, StatusStoreStopped, WorkerConfigured})
    needs = ((WorkerConfigured,), (MemberLeft,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((MemberStarted, MemberCrashed), self.on_process),
            WorkerConfigured: self.on_configured,
            StatusStoreStarting: self.on_starting,
            StatusStoreStopped: self.on_stopped,
            MemberLeft: self.on_left,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._store_of: dict[str, str] = {}
        self._started: dict[str, StatusStoreStarting] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A process that dies stops nothing."""
        self._started.pop(self._store_of.pop(event.member, ""), None)

    def on_configured(self, event: WorkerConfigured) -> None:
        """Its store has this name."""
        self._store_of[event.member] = event.store

    def on_starting(self, event: StatusStoreStarting) -> None:
        """It reads and writes from here on."""
        self._started[event.worker] = event

    def on_stopped(self, event: StatusStoreStopped) -> None:
        """It does so no more."""
        self._started.pop(event.worker, None)

    def on_left(self, event: MemberLeft) -> None:
        """Nothing of the worker goes on."""
        store = self._store_of.pop(event.member, None)
        if store is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        started = self._started.pop(store, None)
        if started is not None:
            self.contradiction(
                f"{event.member} left, and its status store goes on",
                (f"the store {store} of {event.member} started at {STEP};", started),
                (f"{event.member} left at {STEP}, and the store had not stopped: contradiction.", event),
            )


EndsFollowBegins: Final = Invariant(
    name="ends_follow_begins",
    family=FAMILY,
    claim="before the end of each start of a status store, flush, read to the end of the config topic, call of a "
    "config store and request to restart, its begin is recorded",
    source="KafkaBasedLog.start, flush, readToEnd; DistributedHerder.onRestartRequest",
    premises=(RECORDED,),
    exempted_by=(ConfigCallStarted, ConfigReadStarted, RestartRequested, StatusFlushStarted, StatusStoreStarting),
    violation=EndsFollowBeginsViolated,
    fold=_Begun,
)
"""Claims about how long something takes, or about what it must see, begin where it began.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConfigReadEnded(member="w0", offset=1)
"""

StoresStopWithTheirWorker: Final = Invariant(
    name="stores_stop_with_their_worker",
    family=FAMILY,
    claim="a worker that leaves has stopped its status store before",
    source="DistributedHerder.stop, stopServices; KafkaStatusBackingStore.stop",
    premises=(RECORDED,),
    exempted_by=(MemberCrashed, MemberStarted, StatusStoreStopped),
    violation=StoresStopWithTheirWorkerViolated,
    fold=_Stores,
)
"""A store that goes on may write what another worker has written since.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="compatible", store="s0")
    StatusStoreStarting(worker="s0", ends=(0,))
    MemberLeft(member="w0")
"""

CLAIMS: Final = (EndsFollowBegins, StoresStopWithTheirWorker)
"""In the order in which reports name them."""
