"""Three processes of each library in one group, with kills and restarts: their files are one run, and it is judged."""

from __future__ import annotations

import signal

import pytest

pytest.importorskip("kafka", reason="recorded applications need the extra 'brokers'")

from rebalance_check import (
    Event,
    MemberJoined,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    read_history,
)
from tests.integration.recorders.applications import Group, python_app
from tests.integration.seen import assert_seen

KINDS = {
    "kafka_python": "recorder: kafka-python", "confluent": "recorder: confluent-kafka", "aiokafka": "recorder: aiokafka"
}  # fmt: skip

TESTED = {
    "no_double_ownership", "generation_monotonicity", "callbacks_alternate",
    "wire_member_id_is_kept", "eager_owns_nothing_while_joining",
}  # fmt: skip


def histories(group: Group) -> list[list[Event]]:
    return [list(read_history(path)) for path in group.folder.glob("*.jsonl")]


@pytest.mark.parametrize(
    ("library", "more"),
    [("kafka_python", ()), pytest.param("confluent", (), marks=pytest.mark.nightly), ("aiokafka", ()),
     pytest.param("kafka_python", ("cooperative",), marks=pytest.mark.nightly), ("confluent", ("cooperative",))],
)  # fmt: skip
def test_a_correct_application_is_judged_held__with_kills_and_restarts(
    library: str, more: tuple[str, ...], group: Group
) -> None:
    command = python_app(library)
    group.begin_with_a_kill(command, *more)
    group.stop("m0")
    group.settle()
    group.start("m0", command, *more)
    group.kill("m2")
    group.settle()
    group.end()
    document = group.judged()
    held = {name for name, one in document["verdicts"].items() if one["verdict"] == "held"}
    assert (document["verdict"], document["exit_code"]) == ("held", 0), document.get("counterexample")
    assert len(document["histories"]) == 1
    assert held >= (TESTED - {"eager_owns_nothing_while_joining"} if more else TESTED)
    m1 = list(read_history(group.folder / "m1.jsonl"))
    assert [event.seq for event in m1] == list(range(len(m1)))
    assert [type(event) for event in m1].count(MemberStarted) == 2
    assert [type(event) for event in m1].count(MemberLeft) == 1
    kinds = {type(event) for event in m1}
    assert kinds >= {MemberJoined, PartitionsAssigned, OffsetCommitted}
    assert_seen(KINDS[library], *histories(group))


@pytest.mark.parametrize(
    ("leader", "others"),
    [
        ("kafka_python", "confluent"),
        pytest.param("kafka_python", "kafka_python", marks=pytest.mark.nightly),
        pytest.param("aiokafka", "aiokafka", marks=pytest.mark.nightly),
    ],
)
def test_two_owners_are_caught__of_an_application_whose_assignor_gives_all_to_each(
    leader: str, others: str, group: Group
) -> None:
    group.start("m0", python_app(leader), "doubles")
    group.settle()
    for member in ("m1", "m2"):
        group.start(member, python_app(others))
    group.await_commits("m1", "m2")
    group.stop("m0")  # the generation that follows orders what they recorded
    group.settle()
    group.kill_all()
    document = group.judged("--invariant", "assigned_once_per_generation")
    assert (document["verdict"], document["exit_code"]) == ("violated", 10)
    assert "is assigned to m" in document["counterexample"]["headline"]


@pytest.mark.parametrize("library", [pytest.param("kafka_python", marks=pytest.mark.nightly), "confluent"])
def test_commits_of_lost_partitions_are_caught(library: str, group: Group) -> None:
    group.start("m0", python_app(library), "commits-lost")
    group.await_commits("m0")
    group.settle()
    group.send("m0", signal.SIGSTOP)
    group.start("m1", python_app(library))
    group.await_commits("m1")
    group.send("m0", signal.SIGCONT)
    group.settle()
    group.await_commits("m0", "m1")
    group.kill_all()
    document = group.judged("--invariant", "lost_is_not_committed")
    assert (document["verdict"], document["exit_code"]) == ("violated", 10)
    if library == "kafka_python":
        assert_seen("recorder: kafka-python, paused", *histories(group))
    assert "after it was lost" in document["counterexample"]["headline"]
