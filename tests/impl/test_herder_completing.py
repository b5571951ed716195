"""A herder's handling of an assignment: the cases of ``handleRebalanceCompleted``, and its back-off."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rebalance_check.impl.connect.config.errors import ConfigStoreError
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.herder.completing import Completing
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from tests.impl.scripted_worker import work


@dataclass
class Store:
    """A config store that was read to ``offset``; the topic ends at ``end``, if it is readable."""

    offset: int
    end: int
    readable: bool = True
    reads: int = 0

    def refresh(self, _within_ms: int) -> Any:
        """Read to the end."""
        self.reads += 1
        if self.readable:
            self.offset = self.end
        return SimpleNamespace(done=True, error=None if self.readable else ConfigStoreError("not in time"))

    def snapshot(self) -> ConfigSnapshot:
        """The configs that were read."""
        return ConfigSnapshot(offset=self.offset)


@dataclass
class Member:
    """The member of the group; notes what the herder asks of it."""

    leads: bool = False
    asked: list[str] = field(default_factory=list)

    def is_leader(self) -> bool:
        """Whether it leads."""
        return self.leads

    def request_rejoin(self, reason: str) -> None:
        """Note it."""
        self.asked.append(reason)

    def maybe_leave_group(self, _reason: str, _now_ms: int) -> None:
        """Note it."""
        self.asked.append("leave")


class Herder(Completing):
    """The part under test, with an assignment that is not resolved yet."""

    def __init__(self, store: Store, member: Member, **assigned: Any) -> None:
        super().__init__()
        self.configs: Any = store
        self.coordinator: Any = member
        self.threads: Any = SimpleNamespace(now_ms=1_000)
        self.config = WorkerConfig(group_id="g")
        self.config_state = store.snapshot()
        self.assignment = work("c0", **assigned)
        self.resolved = False
        self.mode = ConnectMode.SESSIONED
        self.started = 0

    def start_work(self) -> None:
        """Count it."""
        self.started += 1

    def _revoke_everything(self) -> Steps[None]:
        self.coordinator.asked.append("revoke everything")
        yield from ()

    def complete(self) -> tuple[bool, list[int]]:
        """The result, and how long the herder slept, in ms."""
        slept: list[int] = []
        steps = self._complete_rebalance()
        while True:
            try:
                wait = next(steps)
            except StopIteration as end:
                return end.value, slept
            assert wait.deadline_ms is not None
            slept.append(wait.deadline_ms - self.now_ms)


@pytest.mark.parametrize(
    ("offset", "leads", "error", "reads", "starts", "asks"),
    [
        (5, True, 1, 1, 0, "the assignment failed"),
        (3, False, 1, 1, 0, "the assignment failed"),
        (5, False, 1, 0, 0, "the assignment failed"),
        (3, False, 0, 1, 1, ""),
        (5, False, 0, 0, 1, ""),
        (7, False, 0, 0, 0, "config offset is 7, the assignment was made at 5"),
    ],
    ids=["failed, leads", "failed, behind", "failed, not behind", "behind", "level", "ahead"],
)
def test_the_cases_of_a_completed_rebalance(
    offset: int, leads: bool, error: int, reads: int, starts: int, asks: str
) -> None:
    store, member = Store(offset, 5), Member(leads)
    herder = Herder(store, member, offset=5, error=error)
    assert herder.complete() == (starts == 1, [])
    assert (store.reads, herder.started, member.asked) == (reads, starts, [asks] if asks else [])
    assert herder.metrics.completed.total == starts, "completed-rebalances-total"


def test_a_worker_that_read_past_the_assignment_starts_nothing() -> None:
    herder = Herder(Store(3, 9), Member(), offset=5)
    assert herder.complete() == (False, [])
    assert (herder.started, herder.resolved) == (0, False)


def test_a_scheduled_rebalance_that_is_due_is_asked_for_once() -> None:
    member = Member()
    herder = Herder(Store(5, 5), member, offset=5)
    herder.scheduled_ms = 1_000
    assert herder.complete()[0] is False
    assert member.asked == ["the scheduled rebalance is due"]
    assert herder.complete()[0] is True


def test_what_was_revoked_leads_to_one_more_round() -> None:
    member = Member()
    herder = Herder(Store(5, 5), member, offset=5)
    herder._revocations_to_follow = True
    assert herder.complete()[0] is False
    assert (herder.started, member.asked) == (1, ["work was revoked"])
    assert herder.complete()[0] is True


def test_a_cooperative_worker_that_cannot_read_waits_longer_each_time__and_gives_up_at_last() -> None:
    store, member = Store(3, 5, readable=False), Member()
    herder = Herder(store, member, offset=5)
    slept = [herder.complete()[1] for _ in range(6)]
    assert slept == [[6_000], [7_500], [10_000], [15_000], [30_000], []]
    assert member.asked.count("leave") == 6
    assert not herder._can_read_configs
    assert member.asked[-2:] == ["revoke everything", "the config topic could not be read"]
    assert herder.complete()[1] == [6_000]


def test_a_read_that_succeeds_makes_the_next_wait_the_first() -> None:
    store = Store(3, 5, readable=False)
    herder = Herder(store, Member(), offset=5)
    slept = [herder.complete()[1] for _ in range(2)]
    store.readable = True
    assert herder.complete() == (True, [])
    store.readable, herder.resolved, herder.config_state = False, False, ConfigSnapshot(offset=3)
    assert [*slept, herder.complete()[1]] == [[6_000], [7_500], [6_000]]


def test_an_eager_worker_that_cannot_read_waits_for_its_own_time() -> None:
    herder = Herder(Store(3, 5, readable=False), Member(), offset=5)
    herder.mode = ConnectMode.EAGER
    assert herder.complete() == (False, [300_000])
    assert herder.started == 0
