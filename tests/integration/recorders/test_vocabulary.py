"""A coordinator without Kafka's ideas, in Kafka's vocabulary: names, leases, numbers, and the claims that are sound."""

from __future__ import annotations

import uuid
from collections.abc import Hashable
from pathlib import Path

import pytest

from rebalance_check import (
    Event,
    HistoryFile,
    MemberStarted,
    Numbering,
    OffsetCommitted,
    Outcome,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RebalanceCheckError,
    Vocabulary,
    judge,
    read_history,
)
from rebalance_check.properties.catalogue import choose


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def partitions(events: list[Event]) -> list[tuple[str, ...]]:
    return [event.partitions for event in events if isinstance(event, PartitionsAssigned)]


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (3, "g-3"),
        ("shard", "shard"),
        (("payments", 7), "payments-7"),
        (("a", "b"), "('a', 'b')"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (None, "None"),
    ],
)
def test_a_resource_has_a_name(resource: Hashable, name: str) -> None:
    assert partitions(Vocabulary("g", "w0").assigned([resource])) == [(name,)]


def test_two_resources_of_one_name_are_refused() -> None:
    worker = Vocabulary("g", "w0")
    worker.assigned([3])
    with pytest.raises(RebalanceCheckError, match="the resources 3 and 'g-3' are both called 'g-3'"):
        worker.assigned(["g-3"])


def test_each_method_returns_what_the_listener_gets__numbered_without_a_gap() -> None:
    recorded: list[Event] = []
    worker = Vocabulary("g", "w0", recorded.append, clock=Clock())
    returned = [
        *worker.started(), *worker.assigned([0, 1]), *worker.revoked([0]), *worker.committed(1, 5), *worker.lost([1]),
        *worker.left(), *worker.crashed(),
    ]  # fmt: skip
    assert returned == recorded
    assert [event.seq for event in recorded] == list(range(7))
    assert {(event.group, event.source) for event in recorded} == {("g", "w0")}
    assert judge(recorded, without=worker.without).outcome is Outcome.HELD


def test_a_lease_is_lost_when_its_time_is_over__with_that_time() -> None:
    clock = Clock()
    worker = Vocabulary("g", "w0", clock=clock)
    worker.lease([0, 1], 100)
    clock.now = 90
    assert worker.lease([0], 100) == []
    clock.now = 300
    assert [(event.time_ms, event.partitions) for event in worker.look() if isinstance(event, PartitionsLost)] == [
        (100, ("g-1",)),
        (190, ("g-0",)),
    ]
    assert worker.look() == []
    (again,) = worker.lease([0], 100)
    assert isinstance(again, PartitionsAssigned)


@pytest.mark.parametrize("end", ["revoked", "lost"])
def test_a_lease_that_was_given_back_is_not_lost_later(end: str) -> None:
    clock = Clock()
    worker = Vocabulary("g", "w0", clock=clock)
    worker.lease([0], 100)
    getattr(worker, end)([0])
    clock.now = 200
    assert worker.look() == []


@pytest.mark.parametrize("end", ["left", "crashed", "started"])
def test_a_process_that_ended_has_no_leases(end: str) -> None:
    clock = Clock()
    worker = Vocabulary("g", "w0", clock=clock)
    worker.lease([0], 100)
    getattr(worker, end)()
    clock.now = 200
    assert worker.look() == []


def test_a_renewal_under_another_number_is_a_new_grant() -> None:
    worker = Vocabulary("g", "w0", clock=Clock(), numbering=Numbering.RESOURCE)
    worker.lease([0], 100, generation=4)
    assert worker.lease([0], 100, generation=4) == []
    revoked, assigned = worker.lease([0], 100, generation=6)
    assert isinstance(revoked, PartitionsRevoked)
    assert isinstance(assigned, PartitionsAssigned)
    assert (revoked.generation, assigned.generation) == (4, 6)


@pytest.mark.parametrize(("numbering", "generation"), [("nothing", 3), ("group", None), ("resource", None)])
def test_a_number_too_many_or_too_few_is_refused(numbering: str, generation: int | None) -> None:
    worker = Vocabulary("g", "w0", numbering=Numbering(numbering))
    with pytest.raises(RebalanceCheckError, match=f"w0 is granted g-0 in generation {generation}.*numbers {numbering}"):
        worker.assigned([0], generation)


def test_with_tokens_each_resource_is_a_group_that_begins_with_its_member() -> None:
    worker = Vocabulary("g", "w0", clock=Clock(), numbering=Numbering.RESOURCE)
    events = worker.assigned([0, 1], generation=4)
    assert [(type(event), event.group, event.seq) for event in events] == [
        (MemberStarted, "g/g-0", 0), (PartitionsAssigned, "g/g-0", 1),
        (MemberStarted, "g/g-1", 0), (PartitionsAssigned, "g/g-1", 1),
    ]  # fmt: skip
    (stored,) = worker.committed(0, 9, error=None)
    assert isinstance(stored, OffsetCommitted)
    assert (stored.group, stored.generation, stored.error) == ("g/g-0", 4, None)
    assert {event.group for event in worker.left()} == {"g", "g/g-0", "g/g-1"}


def test_a_group_that_is_numbered__an_old_owner_is_a_zombie__and_one_that_goes_on_says_so() -> None:
    history: list[Event] = []
    w0, w1 = (Vocabulary("g", name, history.append, numbering=Numbering.GROUP) for name in ("w0", "w1"))
    w0.assigned([0], generation=1)
    w1.assigned([0], generation=2)
    assert judge(history, without=w0.without).outcome is Outcome.HELD
    w0.assigned([], generation=2)
    assert judge(history, without=w0.without).counterexamples[0].headline == "g-0 is owned by w0 and w1 in generation 2"


def test_claims_are_left_out_where_they_would_accuse_a_correct_system() -> None:
    def names(of: Vocabulary) -> set[str]:
        return {each.name for each in choose(without=of.without)}

    numbered, plain = names(Vocabulary("g", "w0", numbering=Numbering.GROUP)), names(Vocabulary("g", "w0"))
    unseen = names(Vocabulary("g", "w0", crashes_are_recorded=False))
    assert {"no_double_ownership", "generation_monotonicity", "lost_is_not_committed"} <= numbered
    assert "no_double_ownership" in plain
    assert plain & {"generation_monotonicity", "lost_is_not_committed", "one_leader"} == set()
    assert "no_double_ownership" not in unseen


def test_a_late_answer_of_a_system_without_numbers_is_no_commit_after_the_loss() -> None:
    worker = Vocabulary("g", "w0", clock=Clock())
    events = [*worker.assigned([0]), *worker.lost([0]), *worker.assigned([1]), *worker.committed(0, 5)]
    assert judge(events, without=worker.without).outcome is Outcome.HELD


def test_a_worker_that_is_started_again_goes_on_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "w0.jsonl"
    for _ in range(2):
        with HistoryFile(path) as file:
            worker = Vocabulary("g", "w0", file, clock=Clock())
            worker.started()
            worker.assigned([0])
    history = list(read_history(path))
    assert [event.seq for event in history] == [0, 1, 2, 3]
    assert judge(history, without=worker.without).outcome is Outcome.HELD
