"""Repairs by hand in a healed Connect cluster: an operator ends the states in which Kafka's herders get stuck.

A connector is given another configuration, which restarts it and has its tasks committed and assigned again, when it
does not run as it should long after the faults ended, and one of these was the case:

- Workers had different modes. Work that an eager round left in a worker is not started when it is assigned there again
  (KAFKA-13816). And ``DistributedHerder`` keeps the commits of task configurations that it read in an eager group until
  the group is an incremental one: then it stops their tasks and asks for no round that would start them again.
- Two workers took themselves for the leader and committed task configurations of one connector at the same time, which
  makes them inconsistent (``KafkaConfigBackingStore.processTasksCommitRecord``).
- The connector was deleted and created again while its owner was in a rebalance: ``DistributedHerder`` then wants a
  round, in which the connector stays where it is, and goes on as it did before it was deleted.

A connector that is paused or stopped is resumed first: a worker may serve a request of the disturbed phase after the
run is healed, because its herder had to read the config topic first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.connect.config.keys import ConfigKey, RecordKind
from rebalance_check.impl.connect.config.shared_log import TopicRecord
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.reconfiguring import TASKS_MAX
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.simulator.connect.process import ConnectProcess

REPAIR_MS: Final = 60_000
"""How long the operator of a healed cluster waits before it looks at the connectors, and looks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """Looks every `REPAIR_MS` at the running work.

    ``resume`` lets a connector run, ``reconfigure`` gives it another configuration. ``records`` gives those of the
    config topic that a worker reads which starts now, ``snapshot`` its knowledge then.
    ``several_modes`` says that workers of the run have different modes, or change theirs.
    """

    clock: VirtualClock
    records: Callable[[], Iterable[TopicRecord]]
    processes: Sequence[ConnectProcess]
    snapshot: Callable[[], ConfigSnapshot]
    resume: Callable[[str], None]
    reconfigure: Callable[[str], None]
    several_modes: bool

    def begin(self) -> None:
        """The run is healed."""
        self.clock.after(REPAIR_MS, self._look)

    def _look(self) -> None:
        snapshot = self.snapshot()
        for connector in snapshot.connectors():
            if snapshot.of_connector(connector).target_state is not TargetState.STARTED:
                self.resume(connector)
            elif not self._runs(snapshot, connector) and any(self._causes(snapshot, connector)):
                self.reconfigure(connector)
        self.clock.after(REPAIR_MS, self._look)

    def _runs(self, snapshot: ConfigSnapshot, connector: str) -> bool:
        """Whether the connector and as many tasks as it is configured with are where they were assigned."""
        if lacks_tasks(snapshot, connector):
            return False
        wanted = {f"connector {connector}", *(f"{connector}-{number}" for number in snapshot.tasks(connector))}
        running = {name for process in self.processes if process.worker is not None for name in process.worker.holds}
        return wanted <= running

    def _causes(self, snapshot: ConfigSnapshot, connector: str) -> Iterator[bool]:
        yield self.several_modes
        yield snapshot.of_connector(connector).inconsistent
        yield self._was_created_again(connector)

    def _was_created_again(self, connector: str) -> bool:
        """Whether the topic says that the connector was deleted once, compacted or not."""
        key = str(ConfigKey(RecordKind.CONNECTOR, connector))
        return any(record.key == key and record.value is None for record in self.records())


def lacks_tasks(snapshot: ConfigSnapshot, connector: str) -> str:
    """How the tasks of a started connector differ from its configuration; empty where they do not."""
    state, tasks = snapshot.of_connector(connector), len(snapshot.tasks(connector))
    wanted = str((state.config or {}).get(TASKS_MAX))
    if state.target_state is not TargetState.STARTED or wanted == str(tasks):
        return ""
    return f"{connector} has {tasks} tasks, its configuration says {wanted}"
