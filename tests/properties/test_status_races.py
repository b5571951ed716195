"""Every safe write that lowers a generation in a clean history is put down to a known race; a planted bug is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDeleted,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusRead,
    StatusSent,
    StatusSuppressed,
)
from rebalance_check.properties.views.status_races import Race, outdated_suppressions, overwrites

KEY = "status-connector-c"


def wrote(worker: str, generation: int, *, safe: bool) -> StatusAttempted:
    return StatusAttempted(
        worker=worker, key=KEY, attempt=0, status="FAILED", generation=generation, safe=safe, status_worker=worker
    )


def sent(worker: str, send: int = 1) -> StatusSent:
    return StatusSent(worker=worker, key=KEY, attempt=0, send=send, value="v")


def appended(worker: str, offset: int, send: int = 1) -> StatusAppended:
    return StatusAppended(worker=worker, key=KEY, attempt=0, send=send, partition=0, offset=offset)


FAILED = StatusAnswered(worker="w", key=KEY, attempt=0, send=1, outcome="retriable")
NEW, NEW_SENT, NEW_APPENDED = wrote("x", 2, safe=False), sent("x"), appended("x", 0)
NEW_READ = StatusRead(worker="w", key=KEY, partition=0, offset=0, status="FAILED", status_worker="x", generation=2)
OLD, OLD_SENT, OLD_APPENDED = wrote("w", 1, safe=True), sent("w"), appended("w", 1)
AGAIN, AGAIN_APPENDED = sent("w", 2), appended("w", 1, 2)


def about_task(event: StatusAttempted | StatusSent | StatusAppended | StatusRead) -> Event:
    """The same of a task of the connector."""
    return replace(event, key="status-task-c-0")


def removal(offset: int) -> Event:
    """The store reads a tombstone of the connector."""
    return StatusRead(worker="w", key=KEY, partition=0, offset=offset, status="DESTROYED", status_worker="")


def races(*history: Event) -> list[Race]:
    return [overwrite.race for overwrite in overwrites(history)]


def test_the_newer_status_was_in_the_log_and_unread() -> None:
    assert races(NEW, NEW_SENT, NEW_APPENDED, OLD, OLD_SENT, OLD_APPENDED) == [Race.UNREAD]


def test_the_newer_status_was_in_flight() -> None:
    assert races(NEW, NEW_SENT, OLD, NEW_APPENDED, OLD_SENT, OLD_APPENDED) == [Race.IN_FLIGHT]


def test_the_newer_status_overtook_the_write() -> None:
    assert races(OLD, NEW, NEW_SENT, NEW_APPENDED, OLD_SENT, OLD_APPENDED) == [Race.OVERTOOK]


def test_a_copy_came_behind_the_newer_status() -> None:
    first = StatusAppended(worker="w", key=KEY, attempt=0, send=1, partition=0, offset=0)
    second = StatusAppended(worker="x", key=KEY, attempt=0, send=1, partition=0, offset=1)
    history = (OLD, OLD_SENT, first, FAILED, NEW, NEW_SENT, second, AGAIN, appended("w", 2, 2))
    assert races(*history) == [Race.COPY]


def test_a_retry_was_sent_after_the_newer_status_had_been_read() -> None:
    history = (OLD, OLD_SENT, NEW, NEW_SENT, NEW_APPENDED, FAILED, NEW_READ, AGAIN, AGAIN_APPENDED)
    assert races(*history) == [Race.LATE_RETRY]


def test_a_newer_status_that_had_been_read_is_explained_by_no_race() -> None:
    assert races(NEW, NEW_SENT, NEW_APPENDED, NEW_READ, OLD, OLD_SENT, OLD_APPENDED) == [Race.NONE]


def test_a_newer_status_was_forgotten_with_its_connector__which_is_removed_again_later() -> None:
    newer = (about_task(NEW), about_task(NEW_SENT), about_task(NEW_APPENDED), about_task(NEW_READ))
    older = (about_task(OLD), about_task(OLD_SENT))
    later = about_task(appended("w", 3))
    assert races(*newer, removal(1), *older, removal(2), later) == [Race.CASCADE]
    assert races(*newer, *older, removal(1), later) == [Race.NONE]


def test_a_tombstone_that_its_writer_reports_late_is_known_by_who_read_it() -> None:
    destroyed = StatusAttempted(
        worker="y", key=KEY, attempt=0, status="DESTROYED", generation=3, safe=False, status_worker="y"
    )
    newer = (NEW, NEW_SENT, NEW_APPENDED, NEW_READ, destroyed, sent("y"))
    later = appended("w", 2)
    assert races(*newer, removal(1), OLD, OLD_SENT, later, appended("y", 1)) == []
    assert races(*newer, removal(1), appended("y", 1), OLD, OLD_SENT, later) == []
    assert races(*newer, OLD, OLD_SENT, appended("w", 1), appended("y", 2)) == [Race.NONE]


def test_what_is_in_force_follows_the_log__where_a_writer_reports_its_append_late() -> None:
    """RUNNING of x, FAILED of y, and UNASSIGNED of z, which replaces a FAILED and would not replace a RUNNING."""
    key = "status-task-c-0"
    calls = [
        StatusAttempted(worker=w, key=key, attempt=0, status=status, generation=g, safe=False, status_worker=w)
        for w, status, g in (("x", "RUNNING", 3), ("y", "FAILED", 1), ("z", "UNASSIGNED", 2))
    ]
    reports = [about_task(appended(w, offset)) for offset, w in enumerate("xyz")]
    read = StatusRead(worker="w", key=key, partition=0, offset=0, status="RUNNING", status_worker="x", generation=3)
    last = (about_task(replace(OLD, generation=2)), about_task(OLD_SENT), about_task(appended("w", 3)))
    for order in permutations(reports):
        assert races(*calls, *order, read, *last) == [], order
    assert races(*calls, reports[0], reports[2], read, *last) == [Race.NONE]


SUPPRESSED = StatusSuppressed(worker="w", key=KEY, attempt=0)
DELETED = GroupDeleted(incarnation=0, generation=0, status="Empty")


def test_a_suppression_that_no_status_of_the_present_group_explains_is_flagged() -> None:
    assert list(outdated_suppressions((NEW, NEW_APPENDED, NEW_READ, DELETED, OLD, SUPPRESSED))) == [SUPPRESSED]


def test_a_suppression_by_a_status_of_the_present_group_is_not_flagged() -> None:
    assert list(outdated_suppressions((DELETED, NEW, NEW_APPENDED, NEW_READ, OLD, SUPPRESSED))) == []
    assert list(outdated_suppressions((NEW, NEW_APPENDED, NEW_READ, OLD, SUPPRESSED))) == []


def met(mutant: str, seeds: range) -> Counter[Race]:
    found: Counter[Race] = Counter()
    for seed in seeds:
        options = SimulationOptions(protocol=SimulatedProtocol.STATUS, steps=10, mutant=mutant)
        found.update(overwrite.race for overwrite in overwrites(simulate(seed, options)))
    return found


def test_clean_runs_meet_races__and_every_overwrite_fits_one() -> None:
    found = met("", range(60))
    assert found[Race.NONE] == 0
    assert {Race.UNREAD, Race.IN_FLIGHT} <= set(found)


def test_a_blind_safe_write_fits_no_race() -> None:
    assert met("put-safe-ignores-generation", range(20))[Race.NONE] > 0
