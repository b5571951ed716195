"""The status store: model and `StatusStore` take the same steps over a log each, and every observable is compared.

After each step the events of both must be equal (sent or suppressed, appended where, answered, given up why,
read or left out), and so must every cache and every log. Safe status writes are judged along the way, on the
implementation's events. A failure prints the schedule as Python, and its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from rebalance_check.impl.comparison.difference import Difference, differing
from rebalance_check.impl.connect.status.codec import StatusValue
from rebalance_check.impl.connect.status.subject import StatusStoreSubject
from rebalance_check.model.connect.status.state import STATUS_NAMES
from rebalance_check.model.connect.status.subject import StatusModelSubject
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted, StatusQueried, StatusSent
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.laws import status
from rebalance_check.properties.machines.repeating import as_code, check

KINDS = (
    ActionKind.PUT, ActionKind.PUT_SAFE, ActionKind.APPEND, ActionKind.APPEND, ActionKind.FAIL_APPEND,
    ActionKind.RETRY, ActionKind.READ_BACK, ActionKind.READ_BACK, ActionKind.NEXT_GENERATION, ActionKind.RESTART,
)  # fmt: skip
"""The kinds of step; appending and reading twice as often as the rest, or the logs would stay empty."""


SIDES: Final = ("the model", "the stores")


class StoreDiffersFromModel(AssertionError):  # noqa: N818 - a failed claim about a subject
    """The store did, or holds, something else than the model says."""


def bounds() -> st.SearchStrategy[Bounds]:
    """Up to three workers and keys; budgets that a run of some fifty steps can use up."""
    return st.builds(
        Bounds,
        protocol=st.just(RebalanceProtocol.STATUS),
        members=st.integers(1, 3),
        partitions=st.integers(1, 3),
        generations=st.integers(1, 4),
        crashes=st.integers(0, 2),
        writes=st.integers(1, 8),
        failures=st.integers(0, 3),
    )


def comparable(events: Sequence[Event]) -> list[Event]:
    """The events without all that only the implementation knows: the bytes of values, and which workers run."""
    plain: list[Event] = []
    for event in events:
        if isinstance(event, StatusSent):
            plain.append(replace(event, value=event.value and "a value"))
        elif isinstance(event, RunStarted):
            plain.append(replace(event, subject=""))
        elif not isinstance(event, StatusQueried):
            plain.append(replace(event, seq=-1))
    return [replace(event, seq=-1) for event in plain]


class StatusStores(RuleBasedStateMachine):
    """One run of a random schedule; with a mutant planted (`rebalance_check.impl.mutants.planted`) it must fail."""

    def __init__(self) -> None:
        super().__init__()
        self.model = StatusModelSubject()
        self.stores = StatusStoreSubject()
        self.judge = Judge(status.LAWS)
        self.bounds = Bounds(protocol=RebalanceProtocol.STATUS)
        self.performed: list[Action] = []

    @initialize(bounds=bounds())
    def open(self, bounds: Bounds) -> None:
        """Empty logs, workers in generation 1."""
        self.bounds = bounds
        self._compare(self.model.open(bounds, 0), self.stores.open(bounds, 0))

    @rule(kind=st.sampled_from(KINDS), member=st.integers(0, 5), choice=st.integers(0, 11))
    def step(self, kind: ActionKind, member: int, choice: int) -> None:
        """Any action; one that is not possible must do nothing to either."""
        keys = self.bounds.partitions
        outcomes = {
            ActionKind.PUT: 2 * keys, ActionKind.PUT_SAFE: 2 * keys, ActionKind.FAIL_APPEND: 2,
            ActionKind.READ_BACK: keys,
        }  # fmt: skip
        self.perform(Action(kind, member % self.bounds.members, choice % outcomes.get(kind, 1)))

    def perform(self, action: Action) -> None:
        """Do it to both, and compare everything."""
        before = self.model.machine.pack(self.model.state)
        predicted = self.model.perform(action)
        if self.model.machine.pack(self.model.state) != before:
            self.performed.append(action)
        self._compare(predicted, self.stores.perform(action))
        for event in self.stores.observe():
            self.judge.observe(event)
        check(self.judge, self.schedule)

    def _compare(self, predicted: Sequence[Event], observed: Sequence[Event]) -> None:
        for event in observed:
            self.judge.observe(event)
        fields = differing(
            {"events": comparable(predicted), **self._model_shows()},
            {"events": comparable(observed), **self._stores_show()},
        )
        if fields:
            raise StoreDiffersFromModel(f"{Difference(SIDES, tuple(self.performed), fields)}\n{self.schedule()}")

    def _model_shows(self) -> dict[str, Any]:
        """Every worker's answer about every key, and the generation of its last write; every record of every key."""
        shown: dict[str, Any] = {}
        for number, key in enumerate(self.stores.keys):
            log = self.model.state.logs[number]
            shown[f"the log of {key}"] = [STATUS_NAMES[record.status] for record in log.records[: log.length]]
            for m, worker in enumerate(self.stores.workers):
                cached = self.model.state.workers[m].entries[number].cached
                record = log.records[cached - 1] if cached else None
                said = record and (STATUS_NAMES[record.status], f"m{record.writer}", record.generation)
                shown[f"{worker.store.worker} about {key}"] = said
        for m, worker in enumerate(self.stores.workers):
            shown[f"{worker.store.worker}'s generation"] = self.model.state.workers[m].store_generation
        return shown

    def _stores_show(self) -> dict[str, Any]:
        """The same of the stores."""
        shown: dict[str, Any] = {}
        for number, key in enumerate(self.stores.keys):
            written = [record.value for record in self.stores.records(number)]
            statuses = ["DESTROYED" if value is None else value.decode().split('"')[3] for value in written]
            shown[f"the log of {key}"] = statuses
            for worker in self.stores.workers:
                shown[f"{worker.store.worker} about {key}"] = as_record(worker.store.get(key))
        return shown | {f"{one.store.worker}'s generation": one.store.generation for one in self.stores.workers}

    def schedule(self) -> str:
        """How to do it again."""
        return as_code(self.bounds, self.performed)

    def teardown(self) -> None:
        """End both runs; with nothing on its way in the end, every write must have come to rest."""
        ended = self.stores.close()
        for event in ended:
            self.judge.observe(event)
        self.model.close()
        if any(isinstance(event, RunEnded) and event.pending == () for event in ended):
            self.judge.judgement().check(allow_undecided=True)


def as_record(value: StatusValue | None) -> tuple[str, str | None, int] | None:
    """A cached status as the model's records have it."""
    return None if value is None else (str(value.status), value.worker_id, value.generation)
