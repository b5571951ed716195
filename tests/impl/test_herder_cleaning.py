"""Statuses that the leader removes from the topic when it is assigned work."""

from __future__ import annotations

from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey
from tests.impl.herder_alone import LoneHerder


def destroyed(alone: LoneHerder) -> list[str]:
    """The keys that the herder wrote tombstones for."""
    return [text.removesuffix(" DESTROYED") for text in alone.written() if text.endswith(" DESTROYED")]


def with_statuses(*, leads: bool = True) -> LoneHerder:
    """The connector ``a`` with one task is configured; there are statuses of it, of a second task, and of ``b``."""
    alone = LoneHerder(leads=leads)
    alone.configure("a", tasks=1)
    for key in (ConnectorKey("a"), TaskKey("a", 0), TaskKey("a", 1), ConnectorKey("b"), TaskKey("b", 0)):
        alone.status(key, Status.RUNNING, 9)
    alone.assign()
    return alone


def test_the_leader_removes_deleted_connectors_after_their_tasks__then_tasks_that_are_configured_no_more() -> None:
    """Tasks of a deleted connector are removed twice: nothing is read back between the two passes."""
    assert destroyed(with_statuses()) == ["task-b-0", "connector-b", "task-a-1", "task-b-0"]


def test_a_follower_removes_nothing() -> None:
    assert destroyed(with_statuses(leads=False)) == []


def test_the_leader_cleans_at_every_assignment() -> None:
    alone = with_statuses()
    for key in (TaskKey("b", 0), ConnectorKey("b")):
        alone.status(key, Status.DESTROYED, 9)
    alone.status(ConnectorKey("b"), Status.UNASSIGNED, 9)  # a late write brings it back
    alone.assign()
    assert destroyed(alone)[4:] == ["connector-b"]


def test_a_task_whose_connector_has_no_entry_is_never_removed() -> None:
    """A task that was written late, behind the tombstone of its connector."""
    alone = LoneHerder()
    alone.status(TaskKey("b", 0), Status.UNASSIGNED, 9)
    alone.assign()
    assert destroyed(alone) == []
