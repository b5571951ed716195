"""Claims about the calls of a config store: each one ends; a failed transaction costs privileges, and is aborted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCallEnded,
    ConfigCallStarted,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
    MemberCrashed,
    MemberStarted,
    ProducerInitialised,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
OURS: Final = RunStarted(subject="simulator", punctual=True)
CLAIM: Final = "claimWritePrivileges"
WRITE: Final = "putTaskConfigs"
FAILED: Final = "PrivilegedWriteException"
REFUSED: Final = "IllegalStateException"


def started(call: int, method: str = WRITE) -> ConfigCallStarted:
    return ConfigCallStarted(member="w", call=call, method=method)


def ended(call: int, method: str = WRITE, error: str = "") -> ConfigCallEnded:
    return ConfigCallEnded(member="w", call=call, method=method, error=error)


def initialised(work: str = "") -> ProducerInitialised:
    return ProducerInitialised(member="w", transactional_id="t", epoch=1, work=work)


def closed(outcome: str = "committed", epoch: int = 1) -> ConfigTransactionEnded:
    return ConfigTransactionEnded(transactional_id="t", epoch=epoch, offset=1, outcome=outcome)


END: Final = "config_calls_end"
ANEW: Final = "lost_write_privileges_are_claimed_anew"
BEGIN: Final = "ends_follow_begins"
ABORT: Final = "failed_transactions_are_aborted"
LOST: Final = (started(0), ended(0, error=FAILED))
WRITTEN: Final = ConfigAppended(writer="w", offset=0, key="c", value="{}", transactional_id="t", epoch=1)
READS: Final = ConfigReadStarted(member="w")
CRASH: Final = MemberCrashed(member="w")

HOLDS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a call returns": (END, [started(0), ended(0), RunEnded()]),
    "a call throws": (END, [started(0), ended(0, error=FAILED), RunEnded()]),
    "a call ends with its process": (END, [started(0), MemberCrashed(member="w"), RunEnded()]),
    "a run says what is pending": (END, [started(0), RunEnded(pending=("w has not read to the end",))]),
    "a run is cut off": (END, [started(0)]),
    "a claim makes a producer": (ANEW, [*LOST, started(1, CLAIM), initialised(), ended(1, CLAIM)]),
    "a write is refused": (ANEW, [*LOST, started(1), ended(1, error=REFUSED)]),
    "a write began before and has ended since": (ANEW, [started(1), *LOST, ended(1)]),
    "a new process has privileges": (
        ANEW, [*LOST, MemberCrashed(member="w"), started(0, CLAIM), ended(0, CLAIM)]
    ),
    "what needs no privileges goes on": (ANEW, [*LOST, started(1, "putTargetState"), ended(1, "putTargetState")]),
    "a call had begun": (BEGIN, [started(0), ended(0)]),
    "what was committed is read back": (ABORT, [WRITTEN, closed(), READS, ended(0)]),
    "a call returns with its transaction": (ABORT, [WRITTEN, closed(), ended(0), ended(1, error=FAILED)]),
    "a failed transaction is aborted": (ABORT, [WRITTEN, closed("aborted"), ended(0, error=FAILED)]),
    "the next transaction fails": (ABORT, [WRITTEN, closed(), READS, ended(0, error=FAILED)]),
    "a process ends, and its transaction is aborted": (ABORT, [WRITTEN, CRASH, closed("aborted")]),
    "a process ends that went on": (ABORT, [WRITTEN, closed(), READS, CRASH]),
    "the next process commits": (
        ABORT, [WRITTEN, closed("aborted"), CRASH, MemberStarted(member="w"), WRITTEN, closed(), READS]
    ),
    "a transaction of another fails": (ABORT, [WRITTEN, closed(epoch=0), ended(0, error=FAILED)]),
}  # fmt: skip

BREAKS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a call never ends": (END, [started(0), started(1), ended(1), RunEnded()]),
    "a claim returns without a producer": (ANEW, [*LOST, started(1, CLAIM), ended(1, CLAIM)]),
    "the producer of a task is another": (ANEW, [*LOST, started(1, CLAIM), initialised("c-0"), ended(1, CLAIM)]),
    "a write goes on": (ANEW, [*LOST, started(1), ended(1)]),
    "a transaction fails again": (ANEW, [*LOST, started(1), ended(1, error=FAILED)]),
    "a failed transaction is committed": (ABORT, [WRITTEN, closed(), ended(0, error=FAILED)]),
    "a call that needs no privileges returns meanwhile": (
        ABORT, [WRITTEN, closed(), ended(1, "putTargetState"), ended(0, error=FAILED)]
    ),
    "a process ends that did not go on": (ABORT, [WRITTEN, closed(), CRASH]),
    "a transaction is committed when its process has ended": (ABORT, [WRITTEN, CRASH, closed()]),
    "a call had not begun": (BEGIN, [ended(0)]),
    "a call of another method had begun": (BEGIN, [started(0, CLAIM), ended(0)]),
}  # fmt: skip


def outcome(history: History, name: str, events: list[Event], run: RunStarted = OURS) -> Outcome:
    judged = judge(history(run, *events, ended=False), select([name]))
    return next(verdict.outcome for claim, verdict in judged.verdicts.items() if claim.name == name)


@pytest.mark.parametrize("case", HOLDS)
def test_it_holds(history: History, case: str) -> None:
    assert outcome(history, *HOLDS[case]) is not Outcome.VIOLATED


@pytest.mark.parametrize("case", BREAKS)
def test_it_breaks(history: History, case: str) -> None:
    assert outcome(history, *BREAKS[case]) is Outcome.VIOLATED


@pytest.mark.parametrize("case", BREAKS)
def test_others_are_not_accused_of_what_they_may_not_have_recorded(history: History, case: str) -> None:
    assert outcome(history, *BREAKS[case], run=RunStarted(subject="broker")) is not Outcome.VIOLATED
