"""The assignors of Connect: what the eager one deals, when a leader cannot assign, how delays grow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.impl.connect.assignors.eager import EagerAssignor
from rebalance_check.impl.connect.assignors.incremental import IncrementalAssignor
from rebalance_check.impl.connect.assignors.memory import backoff_ms
from rebalance_check.impl.connect.assignors.round import Round, config_mismatch, leader_configs
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot, ConnectorState
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectorTask, WorkerState
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def a_round(leader: str, members: list[str], task_counts: dict[str, int]) -> Round:
    return Round(
        leader=leader,
        members={member: WorkerState(url=f"http://{member}:8083/", config_offset=7) for member in members},
        task_counts=task_counts,
        config_offset=7,
        generation=1,
        last_completed_generation=-1,
        now_ms=0,
    )


def test_the_eager_leader_deals_connectors_and_tasks_in_one_circle() -> None:
    """The example of Kafka's own class."""
    assigned = EagerAssignor().assign(a_round("m-1", ["m-2", "m-1"], {"c2": 3, "c1": 2}))
    c1, c2 = [ConnectorTask("c1", n) for n in range(2)], [ConnectorTask("c2", n) for n in range(3)]
    first, second = assigned.assignments["m-1"], assigned.assignments["m-2"]
    assert (first.connectors, first.tasks) == (("c1",), (c1[0], c2[0], c2[2]))
    assert (second.connectors, second.tasks) == (("c2",), (c1[1], c2[1]))
    assert {(one.leader, one.leader_url, one.config_offset) for one in (first, second)} == {
        ("m-1", "http://m-1:8083/", 7)
    }
    assert assigned.connector_owners == {"c1": "m-1", "c2": "m-2"}
    assert assigned.task_owners[c2[1]] == "m-2"


def test_a_connector_with_inconsistent_task_configs_has_no_tasks() -> None:
    config = ConnectorState(config={"name": "c1"}, task_count=2, inconsistent=True)
    assert ConfigSnapshot(known={"c1": config, "c2": replace(config, inconsistent=False)}).task_counts == {
        "c1": 0, "c2": 2,
    }  # fmt: skip


def test_the_eager_leader_does_not_look_at_claims() -> None:
    current = a_round("m-1", ["m-1", "m-2"], {"c1": 2})
    everything = ConnectAssignment(connectors=("c1",), tasks=(ConnectorTask("c1", 0), ConnectorTask("c1", 1)))
    holds_all = {**current.members, "m-2": replace(current.members["m-2"], allocation=everything)}
    assert EagerAssignor().assign(replace(current, members=holds_all)) == EagerAssignor().assign(current)


@given(
    task_counts=st.dictionaries(st.sampled_from("abcd"), st.integers(0, 4)),
    members=st.lists(st.sampled_from(["w0", "w1", "w2"]), unique=True, min_size=1),
)
def test_eager_assignments_are_disjoint_complete_and_balanced(task_counts: dict[str, int], members: list[str]) -> None:
    assigned = EagerAssignor().assign(a_round(members[0], members, task_counts)).assignments
    tasks = [task for one in assigned.values() for task in one.tasks]
    assert sorted(name for one in assigned.values() for name in one.connectors) == sorted(task_counts)
    assert sorted(tasks) == [(name, n) for name in sorted(task_counts) for n in range(task_counts[name])]
    loads = [len(one.connectors) + len(one.tasks) for one in assigned.values()]
    assert max(loads) - min(loads) <= 1


def test_a_mismatch_names_the_furthest_offset_and_assigns_nothing() -> None:
    states = {"a": WorkerState(url="u", config_offset=3), "b": WorkerState(url="u", config_offset=9)}
    failed = config_mismatch("a", states, version=2)
    assert {(one.error, one.config_offset, one.connectors, one.tasks) for one in failed.values()} == {(1, 9, (), ())}


@pytest.mark.parametrize(
    ("known", "latest", "expected"),
    [(9, 0, (9, 9)), (12, 0, (12, 9)), (3, 9, (9, 9)), (3, 11, (11, 11)), (3, 8, None)],
    ids=["as far", "further", "after a second look", "further after a second look", "not even then"],
)
def test_the_leader_assigns_by_what_it_read__if_no_worker_has_read_further(
    known: int, latest: int, expected: tuple[int, int] | None
) -> None:
    states = {"a": WorkerState(url="u", config_offset=3), "b": WorkerState(url="u", config_offset=9)}
    found = leader_configs(ConfigSnapshot(offset=known), lambda: ConfigSnapshot(offset=latest), states)
    assert (found and (found[0].offset, found[1])) == expected


@pytest.mark.parametrize(
    ("max_delay_ms", "expected"),
    [(300_000, [40, 1_600, 64_000, 300_000, 300_000]), (30_000, [40, 1_600, 29_999]), (1, [1, 1]), (0, [0, 0])],
)
def test_the_delay_of_successive_revocations_grows_forty_fold__up_to_the_maximum(
    max_delay_ms: int, expected: list[int]
) -> None:
    assert [backoff_ms(count + 1, max_delay_ms) for count in range(len(expected))] == expected


def test_a_negative_delay_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"scheduled\.rebalance\.max\.delay\.ms is -1: choose 0"):
        IncrementalAssignor(-1)


def test_rules_of_a_release_that_are_not_there_are_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"the rules of Kafka 3\.3 are not implemented: choose 3\.4 or later"):
        IncrementalAssignor(release=(3, 3))
