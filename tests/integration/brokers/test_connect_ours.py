"""A worker of ours in a group with one of Java's, on the broker: it leads, and it follows, in all three modes."""

from pathlib import Path

import pytest

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.connect.workers.cluster import ConnectCluster
from rebalance_check.integration.connect.workers.open import open_connect
from rebalance_check.integration.connect.workers.rest import RestReply, signature_headers, task_configs_body
from rebalance_check.integration.connect.workers.scenarios import SCENARIOS, Scenario, begin_with, ours_and_java
from rebalance_check.integration.connect.workers.settings import ConnectConfig
from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    TaskConfigsGenerated,
    TaskStarted,
)
from rebalance_check.properties.history import read_history, write_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

TOGETHER = [scenario for scenario in SCENARIOS if scenario.act is ours_and_java]
HELD = {
    "work_runs_once", "connect_assignment_is_agreed", "start_waits_for_configs",
}  # fmt: skip


@pytest.mark.parametrize("scenario", TOGETHER, ids=lambda scenario: scenario.name)
def test_ours_leads_and_follows(real: Broker, spec: str, tmp_path: Path, scenario: Scenario) -> None:
    with open_connect(real, spec, scenario.config, folder=tmp_path / "cluster") as cluster:
        scenario.act(cluster)
        write_history(tmp_path / "history.jsonl", cluster.end())
    history = list(read_history(tmp_path / "history.jsonl"))
    verdicts = {invariant.name: verdict.outcome for invariant, verdict in judge(history).verdicts.items()}
    assert {name for name, outcome in verdicts.items() if outcome is Outcome.VIOLATED} == set()
    assert {name for name, outcome in verdicts.items() if outcome is Outcome.HELD} >= HELD
    received = [event for event in history if isinstance(event, ConnectAssignmentReceived)]
    assert {event.protocol for event in received} == {scenario.config.mode.protocol}
    assert {event.member for event in history if isinstance(event, TaskStarted)} == {"w0", "w1"}
    leading = [event for event in history if isinstance(event, ConnectAssignmentComputed)]
    assert {event.member for event in leading} == {"w1"}
    assert max(len(event.assigned) for event in leading) == 2, "it assigned work to Java's worker"
    urls = {event.leader_url for event in received}
    assert len(urls) == 2, "both led"
    published = [event for event in history if isinstance(event, TaskConfigsGenerated) and event.published]
    assert published, "it ran a connector and had its task configs written"


def test_internal_requests__are_refused_as_java_refuses_them(real: Broker, spec: str, tmp_path: Path) -> None:
    config = ConnectConfig(mode=ConnectMode.SESSIONED)
    with open_connect(real, spec, config, folder=tmp_path / "cluster") as cluster:
        begin_with(cluster, "w1", "w0")
        ours = refusals(cluster, "w1")
        cluster.stop("w1")
        cluster.await_running({"s", "s-0"})
        java = refusals(cluster, "w0")
    assert [reply.status for reply in ours] == [reply.status for reply in java] == [400, 400, 403, 400, 403]


def refusals(cluster: ConnectCluster, leader: str) -> list[RestReply]:
    """The leader's answers to requests without signature, in another algorithm, and with a wrong key."""
    rest = cluster.rest(leader)
    body = task_configs_body([{"recording.task": "0"}])
    return [
        rest.put_task_configs("s", body),
        rest.put_task_configs("s", body, headers=signature_headers(b"wrong", "HmacSHA1", body)),
        rest.put_task_configs("s", body, headers=signature_headers(b"wrong", "HmacSHA256", body)),
        rest.fence("s"),
        rest.fence("s", headers=signature_headers(b"wrong", "HmacSHA256", b"")),
    ]
