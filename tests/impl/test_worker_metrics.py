"""A worker of the simulated cluster measures itself under Kafka's names, its herder's rebalances included."""

from __future__ import annotations

from rebalance_check.impl.runtime.metrics import Metrics
from rebalance_check.impl.runtime.options import ClusterMode, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator.connect.application import WorkerApplication
from rebalance_check.impl.simulator.subject import GroupRun
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.events import Event, TaskStarted


def test_a_worker_alone_measures_what_it_did() -> None:
    events: list[Event] = []
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=ClusterMode.SESSIONED, faults=())
    run = GroupRun(0, options, events.append)
    run.perform(Action(ActionKind.START_MEMBER, 0, 0))
    run.perform(Action(ActionKind.ADVANCE_CLOCK, 0, 20_000))
    application = run._environment.members[0].application
    assert isinstance(application, WorkerApplication)
    values = application.herder.metric_values()
    claim = application.herder.coordinator.assignment
    assert claim is not None
    assert values["connect-protocol"] == "SESSIONED"
    assert values["leader-name"] == claim.leader_url == "http://m0:8083/"
    assert values["epoch"] == application.herder.generation >= 1
    assert values["completed-rebalances-total"] == values["rebalance-total"]
    assert values["rebalancing"] == 0
    assert values["assigned-tasks"] == len(claim.tasks) == sum(isinstance(event, TaskStarted) for event in events)


def test_a_worker_registers_two_groups_of_metrics__as_kafkas_does() -> None:
    run = GroupRun(0, SimulationOptions(protocol=SimulatedProtocol.CONNECT, faults=()), lambda _: None)
    run.perform(Action(ActionKind.START_MEMBER, 0, 0))
    application = run._environment.members[0].application
    assert isinstance(application, WorkerApplication)
    metrics = Metrics()
    application.herder.register_metrics(metrics)
    described = {(metric.group, metric.name): metric.description for metric in metrics}
    assert described["connect-coordinator-metrics", "assigned-tasks"] == (
        "The number of tasks currently assigned to this worker"
    )
    assert {name for group, name in described if group == "connect-worker-rebalance-metrics"} == {
        "connect-protocol", "leader-name", "epoch", "completed-rebalances-total", "rebalancing",
        "rebalance-max-time-ms", "rebalance-avg-time-ms", "time-since-last-rebalance-ms",
    }  # fmt: skip
