"""Races of the status store that no search counts, each as a short scenario with its documented outcome."""

from __future__ import annotations

from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, StatusValue, TaskKey
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import Event, StatusSuppressed

SINK, TASK = ConnectorKey("sink"), TaskKey("sink", 0)


class Stores:
    """Stores over one topic of one partition; nothing is appended or read but on demand."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.log = SharedLog(1, self._recorder("log"))

    def _recorder(self, source: str) -> Recorder:
        return Recorder("connect", source, lambda: 0, self.events.append)

    def open(self, name: str) -> tuple[StatusStore, Channel]:
        channel = Channel(self.log, name)
        channel.store = store = StatusStore(name, channel, self._recorder(name))
        return store, channel

    def suppressed(self) -> int:
        return sum(isinstance(event, StatusSuppressed) for event in self.events)


def deliver(channel: Channel) -> None:
    """Everything in flight is appended and answered."""
    while channel.head is not None:
        channel.append()
        channel.answer(SendOutcome.OK)


def read(channel: Channel) -> None:
    """The store reads to the end."""
    while channel.read(0):
        pass


def status(state: Status, worker: str, generation: int) -> StatusValue:
    return StatusValue(state, f"{worker}:8083", generation)


def test_r4_a_failure_is_suppressed_by_the_old_generation_of_another_worker() -> None:
    """The group began anew: its own RUNNING of generation 1 is not read back, the cache still says generation 9."""
    stores = Stores()
    old, old_log = stores.open("x")
    new, new_log = stores.open("w")
    old.put(TASK, status(Status.RUNNING, "x", 9))
    deliver(old_log)
    read(new_log)
    new.put(TASK, status(Status.RUNNING, "w", 1))
    deliver(new_log)
    new.put_safe(TASK, status(Status.FAILED, "w", 1))
    deliver(new_log)
    read(new_log)
    assert stores.suppressed() == 1
    assert new.get(TASK) == status(Status.RUNNING, "w", 1)


def test_r9_a_process_with_the_same_worker_id_writes_over_a_higher_generation() -> None:
    stores = Stores()
    first, first_log = stores.open("w")
    again, again_log = stores.open("w/2")
    first.put(SINK, status(Status.RUNNING, "w", 9))
    deliver(first_log)
    read(again_log)
    again.put_safe(SINK, status(Status.UNASSIGNED, "w", 1))
    deliver(again_log)
    read(again_log)
    assert stores.suppressed() == 0
    assert again.get(SINK) == status(Status.UNASSIGNED, "w", 1)


def test_r11_after_a_group_began_anew_safe_writes_are_suppressed_and_unassigned_is_left_out() -> None:
    stores = Stores()
    old, old_log = stores.open("x")
    new, new_log = stores.open("w")
    old.put(TASK, status(Status.RUNNING, "x", 9))
    deliver(old_log)
    read(new_log)
    new.put_safe(TASK, status(Status.UNASSIGNED, "w", 1))
    assert stores.suppressed() == 1
    old.put(TASK, status(Status.UNASSIGNED, "x", 2))
    deliver(old_log)
    read(new_log)
    assert new.get(TASK) == status(Status.RUNNING, "x", 9)


def test_r12_a_late_safe_write_brings_a_deleted_connector_back() -> None:
    stores = Stores()
    leader, leader_log = stores.open("l")
    late, late_log = stores.open("w")
    leader.put(SINK, status(Status.RUNNING, "l", 9))
    leader.put(SINK, status(Status.DESTROYED, "l", 9))
    deliver(leader_log)
    read(late_log)
    late.put_safe(SINK, status(Status.UNASSIGNED, "w", 1))
    deliver(late_log)
    read(leader_log)
    assert leader.get(SINK) == status(Status.UNASSIGNED, "w", 1)


def test_r17_a_removed_worker_writes_over_the_status_of_its_successor() -> None:
    stores = Stores()
    zombie, zombie_log = stores.open("z")
    owner, owner_log = stores.open("w")
    owner.put(TASK, status(Status.RUNNING, "w", 5))
    deliver(owner_log)
    read(zombie_log)
    zombie.put(TASK, status(Status.RUNNING, "z", 4))
    deliver(zombie_log)
    read(owner_log)
    assert owner.get(TASK) == status(Status.RUNNING, "z", 4)


def test_r18_after_compaction_a_new_store_shows_what_older_ones_left_out() -> None:
    stores = Stores()
    worker, worker_log = stores.open("w")
    worker.put(TASK, status(Status.RUNNING, "w", 3))
    worker.put_safe(TASK, status(Status.UNASSIGNED, "w", 3))
    deliver(worker_log)
    read(worker_log)
    stores.log.compact()
    late, late_log = stores.open("l")
    read(late_log)
    assert worker.get(TASK) == status(Status.RUNNING, "w", 3)
    assert late.get(TASK) == status(Status.UNASSIGNED, "w", 3)
