"""Claims about the config topic: what its readers may see, how transactions end, what compaction must keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigRead,
    ConfigReadEnded,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
    MemberCrashed,
    ProducerInitialised,
    RunSettled,
    RunStarted,
    WorkerConfigured,
)
from rebalance_check.properties.config_store.catalogue import ConfigStoreClaims
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]

OURS: Final = RunStarted(subject="simulator")
WORKER: Final = WorkerConfigured(member="r", mode="sessioned")
READER: Final = ConfigReadStarted(member="r", isolation="read_committed")
SEES_ALL: Final = ConfigReadStarted(member="r", isolation="read_uncommitted")
PRODUCER: Final = ProducerInitialised(member="w", transactional_id="t", epoch=0)
YOUNGER: Final = ProducerInitialised(member="v", transactional_id="t", epoch=1)


def plain(offset: int, key: str = "connector-c", value: str | None = "{}") -> ConfigAppended:
    return ConfigAppended(writer="w", offset=offset, key=key, value=value)


def within(offset: int, key: str = "connector-c", value: str | None = "{}", epoch: int = 0) -> ConfigAppended:
    return ConfigAppended(writer="w", offset=offset, key=key, value=value, transactional_id="t", epoch=epoch)


def ended(offset: int, outcome: str = "committed", epoch: int = 0) -> ConfigTransactionEnded:
    return ConfigTransactionEnded(transactional_id="t", epoch=epoch, offset=offset, outcome=outcome)


def read(offset: int, key: str = "connector-c", value: str | None = "{}") -> ConfigRead:
    return ConfigRead(member="r", offset=offset, key=key, value=value)


def reached(offset: int) -> ConfigReadEnded:
    return ConfigReadEnded(member="r", offset=offset)


RETURN: Final = "config_readers_return_the_topic"
SKIP: Final = "config_readers_skip_nothing"
GAPS: Final = "config_offsets_have_no_gaps"
EPOCHS: Final = "config_epochs_are_given"
END: Final = "config_transactions_end"
KEEP: Final = "compaction_keeps_what_is_needed"
REACH: Final = "config_reads_reach_the_end"

HOLDS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a committed record is read": (RETURN, [READER, within(0), ended(1), read(0)]),
    "what was aborted is read by a reader of all": (RETURN, [SEES_ALL, within(0), ended(1, "aborted"), read(0)]),
    "what is open is read by a reader of all": (RETURN, [SEES_ALL, within(0), read(0)]),
    "a record that lies below an open transaction is read": (RETURN, [READER, plain(0), within(1), read(0)]),
    "what was aborted is passed over": (SKIP, [READER, within(0), ended(1, "aborted"), plain(2), read(2)]),
    "what was compacted is passed over": (
        SKIP, [READER, plain(0), plain(1), ConfigCompacted(removed=(0,)), read(1)]
    ),
    "a new process begins at the beginning": (
        SKIP, [READER, plain(0), read(0), MemberCrashed(member="r"), READER, read(0), plain(1), read(1)]
    ),
    "a marker takes an offset": (GAPS, [READER, within(0), ended(1), plain(2)]),
    "a transaction is of the epoch that its writer was given": (EPOCHS, [READER, PRODUCER, within(0)]),
    "a transaction is aborted by the next producer": (
        END, [READER, PRODUCER, within(0), ended(1, "aborted"), YOUNGER, RunSettled()]
    ),
    "what a later record replaces goes": (KEEP, [READER, plain(0), plain(1), ConfigCompacted(removed=(0,))]),
    "what was aborted goes": (
        KEEP, [READER, plain(0), within(1), ended(2, "aborted"), ConfigCompacted(removed=(1,))]
    ),
    "a tombstone goes that was read": (
        KEEP, [READER, plain(0, value=None), read(0, value=None), ConfigCompacted(removed=(0,))]
    ),
    "a tombstone goes after a day": (
        KEEP,
        [WORKER, READER, plain(0, value=None), read(0, value=None),
         ConfigCompacted(removed=(0,), time_ms=86_400_000)],
    ),
    "a read ends at an open transaction": (
        REACH, [WORKER, plain(0), within(1), plain(2), READER, read(0), reached(1)]
    ),
    "a read ends behind what was aborted": (
        REACH, [WORKER, plain(0), within(1), ended(2, "aborted"), READER, read(0), reached(1)]
    ),
}  # fmt: skip

BREAKS: Final[dict[str, tuple[str, list[Event]]]] = {
    "what is open is read": (RETURN, [READER, within(0), read(0)]),
    "what lies behind an open transaction is read": (RETURN, [READER, within(0), plain(1), read(1)]),
    "what was aborted is read": (RETURN, [READER, within(0), ended(1, "aborted"), read(0)]),
    "what was compacted is read": (RETURN, [READER, plain(0), plain(1), ConfigCompacted(removed=(0,)), read(0)]),
    "another value is read": (RETURN, [READER, plain(0), read(0, value=None)]),
    "a committed record is passed over": (SKIP, [READER, within(0), ended(1), plain(2), read(2)]),
    "a reader of all passes over what was aborted": (
        SKIP, [SEES_ALL, within(0), ended(1, "aborted"), plain(2), read(2)]
    ),
    "a marker takes no offset": (GAPS, [READER, within(0), ended(1), plain(1)]),
    "a transaction is of an epoch of another": (EPOCHS, [READER, YOUNGER, within(0, epoch=1)]),
    "a transaction is of no epoch": (EPOCHS, [READER, PRODUCER, within(0, epoch=4)]),
    "a transaction is open at rest": (END, [READER, PRODUCER, within(0), RunSettled()]),
    "a transaction ends that holds nothing": (END, [READER, plain(0), PRODUCER, ended(1)]),
    "a fenced producer commits": (END, [READER, PRODUCER, within(0), YOUNGER, ended(1)]),
    "a transaction neither commits nor aborts": (END, [READER, PRODUCER, within(0), ended(1, "open")]),
    "what a transaction committed goes": (KEEP, [READER, within(0), ended(1), ConfigCompacted(removed=(0,))]),
    "what lies behind an open transaction goes": (
        KEEP, [READER, within(0), plain(1, "connector-d"), plain(2, "connector-d"), ConfigCompacted(removed=(1,))]
    ),
    "a tombstone goes that was not read": (KEEP, [READER, plain(0, value=None), ConfigCompacted(removed=(0,))]),
    "a tombstone goes at once": (
        KEEP, [WORKER, READER, plain(0, value=None), read(0, value=None), ConfigCompacted(removed=(0,))]
    ),
    "a read ends before what was committed": (
        REACH, [WORKER, within(0), ended(1), READER, reached(0)]
    ),
    "a reader of all ends before what is open": (REACH, [WORKER, within(0), SEES_ALL, reached(0)]),
}  # fmt: skip


def outcome(history: History, name: str, events: list[Event], run: RunStarted = OURS) -> Outcome:
    claim = next(one for one in ConfigStoreClaims if one.name == name)
    return judge(history(run, *events), [claim]).outcome


@pytest.mark.parametrize("case", HOLDS)
def test_it_holds(history: History, case: str) -> None:
    assert outcome(history, *HOLDS[case]) is not Outcome.VIOLATED


@pytest.mark.parametrize("case", BREAKS)
def test_it_breaks(history: History, case: str) -> None:
    assert outcome(history, *BREAKS[case]) is Outcome.VIOLATED


@pytest.mark.parametrize("case", [case for case in BREAKS if BREAKS[case][0] != REACH])
def test_others_are_not_accused_of_what_they_may_not_have_recorded(history: History, case: str) -> None:
    assert outcome(history, *BREAKS[case], run=RunStarted(subject="broker")) is not Outcome.VIOLATED


@pytest.mark.parametrize("case", [case for case in BREAKS if BREAKS[case][0] != REACH])
def test_topics_are_judged_that_are_recorded_from_their_first_record_on(history: History, case: str) -> None:
    name, events = BREAKS[case]
    later = [_moved(event) for event in events]
    assert outcome(history, name, later) is not Outcome.VIOLATED


def _moved(event: Event) -> Event:
    """The same, seven offsets later."""
    if isinstance(event, ConfigAppended | ConfigRead | ConfigTransactionEnded):
        return replace(event, offset=event.offset + 7)
    if isinstance(event, ConfigCompacted):
        return replace(event, removed=tuple(offset + 7 for offset in event.removed))
    return event
