"""The duties of the operator of a healed Connect cluster, and the cluster's knowledge of its config topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rebalance_check.impl.connect.config.keys import ConfigKey, RecordKind
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog, TopicRecord, Transaction
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot, ConnectorState
from rebalance_check.impl.connect.config.values import ConfigRecord, TargetState, connector_record
from rebalance_check.impl.connect.herder.reconfiguring import TASKS_MAX
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.options import ClusterMode, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator import simulate
from rebalance_check.impl.simulator.connect.repairs import REPAIR_MS, Repairs
from rebalance_check.model.vocabulary.events import RunEnded

DELETED = TopicRecord(7, str(ConfigKey(RecordKind.CONNECTOR, "c")), None)
ALL = ("connector c", "c-0", "c-1")


def configured(tasks: int = 2, target: TargetState = TargetState.STARTED, **fields: Any) -> ConnectorState:
    """A connector that is configured with two tasks and has ``tasks``."""
    configs = {number: {"task.id": str(number)} for number in range(tasks)}
    config = {TASKS_MAX: "2"}
    return ConnectorState(config=config, target_state=target, task_count=tasks, task_configs=configs, **fields)


@dataclass
class Watched:
    """A connector ``c`` under repair; ``asked`` is what was done to it."""

    state: ConnectorState
    runs: tuple[str, ...] = ALL
    records: tuple[TopicRecord, ...] = ()
    several_modes: bool = False
    asked: list[str] = field(default_factory=list)

    def after(self, ms: int) -> list[str]:
        """The requests within that time after the healing."""
        clock = VirtualClock()
        worker: Any = SimpleNamespace(worker=SimpleNamespace(holds=self.runs))
        down: Any = SimpleNamespace(worker=None)
        Repairs(
            clock=clock,
            records=lambda: self.records,
            processes=[down, worker],
            snapshot=lambda: ConfigSnapshot(known={"c": self.state}),
            resume=lambda connector: self.asked.append(f"resume {connector}"),
            reconfigure=lambda connector: self.asked.append(f"reconfigure {connector}"),
            several_modes=self.several_modes,
        ).begin()
        clock.run_until(ms)
        return self.asked


def test_the_operator_looks_each_minute() -> None:
    stuck = Watched(configured(), runs=(), several_modes=True)
    assert stuck.after(REPAIR_MS - 1) == []
    assert stuck.after(3 * REPAIR_MS) == ["reconfigure c"] * 3


@pytest.mark.parametrize(
    ("watched", "repaired"),
    [
        (Watched(configured(), ALL, several_modes=True), False),
        (Watched(configured(), ALL[:2], several_modes=True), True),
        (Watched(configured(), ALL[1:], several_modes=True), True),
        (Watched(configured(tasks=1), ALL[:2], several_modes=True), True),
        (Watched(configured(), ALL[:2]), False),
        (Watched(configured(inconsistent=True), ALL[:2]), True),
        (Watched(configured(), ALL[:2], (DELETED,)), True),
        (Watched(configured(), ALL[:2], (DELETED._replace(value=b"{}"),)), False),
        (Watched(configured(), ALL, (DELETED,)), False),
    ],
    ids=[
        "everything runs",
        "a task does not run",
        "the connector does not run",
        "a task is missing",
        "for no reason of Kafka's",
        "its task configs are inconsistent",
        "it was created again",
        "it was configured again",
        "it was created again and runs",
    ],
)
def test_a_connector_is_reconfigured_if_it_does_not_run_for_a_reason_of_kafkas(
    watched: Watched, repaired: bool
) -> None:
    assert watched.after(REPAIR_MS) == (["reconfigure c"] if repaired else [])


@pytest.mark.parametrize("target", [TargetState.PAUSED, TargetState.STOPPED])
def test_a_connector_that_a_late_request_paused_or_stopped_is_resumed(target: TargetState) -> None:
    assert Watched(configured(target=target), runs=(), several_modes=True).after(REPAIR_MS) == ["resume c"]


def test_what_a_reader_of_committed_records_passes_lacks_what_was_aborted() -> None:
    log = SharedConfigLog(Recorder("connect", "log", lambda: 0, None))
    transaction = Transaction(log.init_transactions("m0"))
    log.append("m0", connector_record("a", {}), transaction)
    log.commit(transaction)
    log.append(
        "m0", ConfigRecord(str(ConfigKey(RecordKind.CONNECTOR, "a")), None), Transaction(log.init_transactions("m0"))
    )
    log.init_transactions("m1")  # aborts it
    log.append("m1", connector_record("b", {}))
    assert [record.offset for record in log.readable(committed=True)] == [0, 4]
    assert [record.offset for record in log.readable(committed=False)] == [0, 2, 4]


@pytest.mark.parametrize(
    ("mode", "seed"),
    [
        pytest.param(ClusterMode.UPGRADE, 137, id="a leader whose reader waited when the run was healed"),
        pytest.param(ClusterMode.UPGRADE, 193, id="a leader whose records were under way for seconds"),
        pytest.param(ClusterMode.EXACTLY_ONCE, 51, id="a connector that was paused after the healing"),
        pytest.param(ClusterMode.EXACTLY_ONCE, 78, id="a connector whose deletion was aborted"),
    ],
)
def test_a_healed_cluster_becomes_stable_after(mode: ClusterMode, seed: int) -> None:
    history = simulate(seed, SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode))
    end = history[-1]
    assert isinstance(end, RunEnded)
    assert end.pending == ()
