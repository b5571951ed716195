"""A herder's reaction when connectors and task configurations change: also where Kafka's herder gets stuck."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from rebalance_check.impl.connect.config.changes import (
    ConfigChange,
    ConnectorConfigRemove,
    ConnectorConfigUpdate,
    TaskConfigUpdate,
)
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.herder.updating import Updating
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode, ConnectorTask

SINK, TASK = ConnectorKey("sink"), TaskKey("sink", 0)
CONFIGURED = ConfigSnapshot.of({"sink": 1}, offset=1)
NOTHING: Mapping[WorkKey, ConfigChange] = {}
GONE = ConfigSnapshot.of({}, offset=2)


class Herder(Updating):
    """The part under test; notes what it does to work and to its membership.

    ``while_stopping`` is what its store reads while a connector or task stops.
    """

    def __init__(self, mode: ConnectMode, while_stopping: Mapping[WorkKey, ConfigChange] = NOTHING) -> None:
        super().__init__()
        self.while_stopping = while_stopping
        self.done: list[str] = []
        self.snapshot = CONFIGURED
        self.member = "w"
        self.recorder: Any = SimpleNamespace(emit=lambda _event: None)
        self.configs: Any = SimpleNamespace(snapshot=lambda: self.snapshot)
        self.coordinator: Any = SimpleNamespace(
            mode=mode, generation=lambda: SimpleNamespace(member_id="a"), request_rejoin=self._joins_again
        )
        self.config_state = CONFIGURED
        self.assignment = ConnectAssignment(
            leader="a", leader_url="u", connectors=("sink",), tasks=(ConnectorTask("sink", 0),)
        )

    def wake(self) -> None:
        """Nothing waits."""

    def _joins_again(self, _reason: str) -> None:
        self.done.append("joins again")

    def _stop_and_await(self, work: tuple[WorkKey, ...], *, at_once: int = 0) -> Steps[None]:  # noqa: ARG002 - part of the contract
        self.done += [f"stops {key}" for key in work]
        for key in work:
            if key in self.while_stopping:
                self.on_config_change(self.while_stopping[key])
        yield from ()

    def _start(self, key: WorkKey) -> None:
        self.done.append(f"starts {key}")

    def tick(self, *changes: ConfigChange, snapshot: ConfigSnapshot = CONFIGURED) -> bool:
        """The store reads something, then the herder deals with it; whether the tick ends there."""
        self.snapshot = snapshot
        for change in changes:
            self.on_config_change(change)
        steps = self._apply_updates()
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return bool(end.value)


def test_a_commit_of_an_eager_group_stops_the_tasks_of_an_incremental_one__as_in_kafka() -> None:
    """``DistributedHerder.updateConfigsWithEager`` leaves ``taskConfigUpdates`` as they are; no round follows."""
    herder = Herder(ConnectMode.EAGER)
    herder.tick(TaskConfigUpdate("sink", (0,)))
    herder.done.clear()
    herder.coordinator.mode = ConnectMode.COMPATIBLE
    assert not herder.tick()
    assert herder.done == [f"stops {TASK}"]


def test_a_connector_that_is_created_again_before_the_round_goes_on_as_it_was__as_in_kafka() -> None:
    """``onConnectorConfigUpdate`` wants a round for a connector that the herder does not know, and nothing else."""
    herder = Herder(ConnectMode.COMPATIBLE)
    assert herder.tick(ConnectorConfigRemove("sink"), snapshot=GONE)
    assert herder.tick(ConnectorConfigUpdate("sink"), snapshot=CONFIGURED)
    assert not herder.tick()
    assert herder.done == ["joins again", "joins again"]


def test_a_commit_that_is_read_while_a_connector_stops_waits_for_the_next_tick() -> None:
    """The herder knows the task configurations as of the snapshot that it took before: the old ones."""
    herder = Herder(ConnectMode.COMPATIBLE, while_stopping={SINK: TaskConfigUpdate("sink", (0,))})
    assert not herder.tick(ConnectorConfigUpdate("sink"))
    assert herder.done == [f"stops {SINK}", f"starts {SINK}"]
    assert herder.tick()
    assert herder.done[2:] == ["joins again", f"stops {TASK}"]
