"""Kafka's own WorkerCoordinator and ours do the same at every step: requests, calls of the herder, claims, owners."""

from __future__ import annotations

from typing import Any

import pytest

from rebalance_check.impl.comparison.compare import Side
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.protocol.connect_protocol import ConnectMode, write_connect_assignment
from rebalance_check.integration.comparison.workers.compare import compare_worker, differ
from rebalance_check.integration.comparison.workers.java_worker import JavaWorker
from rebalance_check.integration.comparison.workers.our_worker import OurWorker
from rebalance_check.integration.comparison.workers.steps import Seen, Step
from rebalance_check.model.vocabulary.errors import Error
from tests.impl.scripted_worker import work

pytestmark = pytest.mark.virtual

SEQUENCES = 120
STEPS = 60
EAGER, COMPATIBLE, SESSIONED = ConnectMode


class Both:
    """Kafka's worker and ours; a step that shows a difference between the two fails the test."""

    def __init__(self, java_worker: Side, mode: ConnectMode = SESSIONED, offset: int = 1) -> None:
        self._java, self._ours = java_worker, OurWorker()
        counts = {"c0": 1}
        self.do("reset", mode=mode.value, offset=offset, counts=counts, maxDelay=300_000, owners=["c0", "c0-0"])

    def do(self, what: str, **fields: Any) -> Seen:
        step: Step = {"do": what, **fields}
        seen = self._ours.perform(step)
        assert differ(seen, self._java.perform(step)) == ()
        return seen

    def answer(self, api: str, error: Error = Error.NONE, **fields: Any) -> Seen:
        return self.do("answer", api=api, error=int(error), **fields)

    def joined(self, generation: int, mode: ConnectMode, leader: str = "other", **fields: Any) -> Seen:
        fields = {"protocol": mode.protocol, "member": "m", "leader": leader, **fields}
        return self.answer("JOIN_GROUP", generation=generation, **fields)

    def synced(self, names: str = "", revoked: str = "", mode: ConnectMode = SESSIONED, error: int = 0) -> Seen:
        data = write_connect_assignment(work(names, revoked, error=error), mode.version) or b""
        return self.answer("SYNC_GROUP", assignment=data.hex())

    def round(self, generation: int, names: str, revoked: str = "", mode: ConnectMode = SESSIONED) -> Seen:
        self.do("rejoin")
        self.do("poll")
        self.joined(generation, mode)
        return self.synced(names, revoked, mode)


def calls(seen: Seen) -> list[tuple[str, ...]]:
    """The calls of the herder: its kind, then connectors and tasks."""
    found = []
    for call in seen["calls"]:
        of = call.get("assignment", call)
        found.append((call["call"], *of["connectors"], *of.get("tasks", [])))
    return found


def test_random_sequences_have_the_same_effects(java_worker: JavaWorker) -> None:
    results = [compare_worker(java_worker, seed, STEPS) for seed in range(SEQUENCES)]
    assert [str(difference) for each in results for difference in each.differences] == []
    assert sum(each.counts["steps"] for each in results) > SEQUENCES * STEPS / 2


def test_a_worker_of_ours_with_a_defect_is_noticed(java_worker: JavaWorker) -> None:
    with planted("worker-keeps-tasks-while-joining"):
        assert any(compare_worker(java_worker, seed, STEPS).differences for seed in range(40))


def test_cooperative_rounds_add_and_take_away(java_worker: JavaWorker) -> None:
    both = Both(java_worker)
    assert calls(both.round(1, "c0 c0-0")) == [("assigned", "c0", "c0-0")]
    assert calls(both.round(2, "c1", revoked="c0")) == [("revoked", "c0"), ("assigned", "c1", "c0-0")]


def test_a_failed_round_is_joined_again_before_the_poll_returns(java_worker: JavaWorker) -> None:
    """CONFIG_MISMATCH: Kafka's herder does not come to its own table of cases; its next JoinGroup is on its way."""
    both = Both(java_worker)
    both.round(1, "c0")
    both.do("rejoin")
    both.do("poll")
    both.joined(2, SESSIONED)
    seen = both.synced(error=1)
    assert [request["api"] for request in seen["requests"]] == ["JOIN_GROUP"]
    assert (calls(seen), seen["inside"], seen["claim"]["connectors"]) == ([("assigned", "c0")], True, ["c0"])


def test_an_eager_worker_joins_and_tasks_go_on_running(java_worker: JavaWorker) -> None:
    """KAFKA-13816, on 3.9.2 and 4.3.1: what the eager assignment leaves out is not revoked by anything."""
    both = Both(java_worker)
    both.round(1, "c0 c1 c0-0")
    seen = both.round(2, "c1", mode=EAGER)
    assert calls(seen) == [("assigned", "c1")]
    both.do("rejoin")
    assert calls(both.do("poll")) == [("revoked", "c1")]


def test_a_worker_that_does_not_poll_leaves_and_tasks_go_on_running(java_worker: JavaWorker) -> None:
    """KAFKA-16056, on 3.9.2 and 4.3.1: nothing is revoked, and the old work is claimed by a new member."""
    both = Both(java_worker)
    both.round(1, "c0")
    requests: list[Seen] = []
    for _ in range(20):
        requests += both.do("step", times=30)["requests"]
        if any(request["api"] == "HEARTBEAT" for request in requests):
            requests.clear()
            both.answer("HEARTBEAT")
    while not requests:
        requests += both.do("step", times=1)["requests"]
    assert (requests[0]["api"], requests[0]["reason"]) == ("LEAVE_GROUP", "worker poll timeout has expired.")
    seen = both.do("poll")
    (joins,) = seen["requests"]
    assert (calls(seen), joins["member"], seen["claim"]["connectors"]) == ([], "", ["c0"])


@pytest.mark.parametrize("mode", ConnectMode)
def test_a_worker_without_a_coordinator_gives_up_all_that_it_claims(java_worker: JavaWorker, mode: ConnectMode) -> None:
    both = Both(java_worker, mode)
    both.round(1, "c0 c0-0", mode=mode)
    both.do("step", times=31)
    both.do("reachable", value=False)
    both.do("disconnect")
    both.do("poll")
    assert calls(both.do("step", times=29)) == []
    seen = both.do("step", times=12)
    assert (calls(seen), seen["claim"]) == ([("revoked", "c0", "c0-0")], None)
    both.do("reachable", value=True)
    (joins,) = both.do("step", times=12)["requests"]
    assert joins["protocols"][0][1].endswith("ffffffff") or mode is EAGER


def test_bytes_come_again_after_the_herder_raised(java_worker: JavaWorker) -> None:
    both = Both(java_worker)
    both.do("poll")
    both.joined(1, SESSIONED)
    both.do("raise")
    assert both.synced("c0")["raised"] == "IllegalStateException"
    seen = both.do("poll")
    assert calls(seen) == [("assigned", "c0", "c0")], "the claim is merged with itself"


def test_no_assignment_at_all_is_raised_from_every_poll(java_worker: JavaWorker) -> None:
    both = Both(java_worker)
    both.do("poll")
    both.joined(1, SESSIONED)
    assert both.answer("SYNC_GROUP", assignment="")["raised"] == "SchemaException"
    assert both.do("poll")["raised"] == "SchemaException"


def test_owners_are_known_to_the_leader_until_a_rejoin_is_needed(java_worker: JavaWorker) -> None:
    both = Both(java_worker)
    (joins,) = both.do("poll")["requests"]
    members = [{"id": "m", "metadata": joins["protocols"][0][1]}]
    (syncs,) = both.joined(1, SESSIONED, leader="m", members=members)["requests"]
    seen = both.answer("SYNC_GROUP", assignment=syncs["assignments"]["m"])
    assert seen["owners"] == ["http://w:8083/", "http://w:8083/"]
    assert both.do("rejoin")["owners"] == [None, None]
