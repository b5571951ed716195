"""A Connect worker of ours: ``python -m rebalance_check.integration.connect.workers.ours.process ORDER``.

Its coordinator, herder and stores are those of the simulator; connections, topics, REST and time are real. The work
of its tasks is simulated: they start and stop at once. SIGTERM ends it in good order.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import msgspec

from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import Properties
from rebalance_check.impl.connect.herder.behaviour import WELL_BEHAVED
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.core import HerderParts
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.instance import Surroundings
from rebalance_check.impl.connect.herder.peers import TaskConfig
from rebalance_check.impl.connect.herder.producers import SharedProducers
from rebalance_check.impl.connect.herder.statuses import StatusWriter
from rebalance_check.impl.connect.herder.work_events import WorkEvents
from rebalance_check.impl.connect.herder.worker import Worker
from rebalance_check.impl.connect.status.log import CLIENT_ID_SUFFIX
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.connect.workers.build import SINK_CONNECTOR, SOURCE_CONNECTOR
from rebalance_check.integration.connect.workers.journal import STARTED, STOPPED
from rebalance_check.integration.connect.workers.ours.driven import DrivenHerder
from rebalance_check.integration.connect.workers.ours.logs import KafkaConfigLog, KafkaStatusLog
from rebalance_check.integration.connect.workers.ours.order import WorkerOrder
from rebalance_check.integration.connect.workers.ours.peers import HttpPeers
from rebalance_check.integration.connect.workers.ours.rest_server import RestServer
from rebalance_check.integration.connect.workers.ours.threads import WorkerThreads
from rebalance_check.integration.driver.sockets import Member
from rebalance_check.integration.live.recording import RawRecording
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.parent import end_with_parent
from rebalance_check.model.vocabulary.events import (
    CancelledWorkEnded,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    TaskStarted,
    TaskStopped,
)

POLL_S: Final = 0.5
"""The longest wait of the worker's thread."""


class RecordingHerder(Herder):
    """A herder whose connectors answer ``taskConfigs`` as the recording connector does, so that Java can run them."""

    def task_configs(self, config: Properties) -> tuple[TaskConfig, ...]:
        """The connector's config for each task, with the number of the task and its class."""
        given = {str(key): str(value) for key, value in config.items()}
        most = int(given.get("tasks.max", "1"))
        connector = SINK_CONNECTOR if given.get("connector.class") == SINK_CONNECTOR else SOURCE_CONNECTOR
        task = {**given, "task.class": f"{connector}$Task"}
        count = min(int(given.get("recording.tasks", most)), most)
        return tuple({**task, "recording.task": str(number)} for number in range(count))


class Recordings:
    """The events of the process, and its journal: the running work, in the form that the recording connector writes."""

    def __init__(self, order: WorkerOrder) -> None:
        self._raw = RawRecording(Path(order.recording))
        self._journal = Path(order.journal).open("a", buffering=1)  # noqa: SIM115 - open until the process ends
        self._started = 0
        self._open: defaultdict[str, list[int]] = defaultdict(list)
        self.recorder = Recorder(order.group, order.member, now_ms, self._take)

    def _take(self, event: Event) -> None:
        self._raw.write(event)
        match event:
            case ConnectorStarted(connector=item) | TaskStarted(task=item):
                self._started += 1
                self._open[item].append(self._started)
                self._note(STARTED, item, self._started)
            case ConnectorStopped(connector=item) | TaskStopped(task=item) if self._open[item]:
                self._note(STOPPED, item, self._open[item].pop())
            case CancelledWorkEnded(work=item) if self._open[item]:
                self._note(STOPPED, item, self._open[item].pop(0))
            case _:
                pass

    def _note(self, what: str, item: str, incarnation: int) -> None:
        self._journal.write(f"{time.monotonic_ns()}\t{what}\t{item}\t{incarnation}\n")


class OurWorker:
    """The parts of the process, and the loop of its thread."""

    def __init__(self, order: WorkerOrder) -> None:
        self.threads = WorkerThreads()
        recorder = Recordings(order).recorder
        self.config_log = KafkaConfigLog(order.bootstrap, order.configs, self.threads)
        self.configs = self.config_log.store = ConfigStore(order.member, self.config_log, recorder, now=now_ms)
        client_id = f"{order.member}-{CLIENT_ID_SUFFIX}"
        self.status_log = KafkaStatusLog(order.bootstrap, order.statuses, self.threads, client_id)
        self.statuses = StatusStore(order.store, self.status_log, recorder)
        self.status_log.start(self.statuses)
        self.herder = self._herder(order, recorder)
        self.member: Member[Any] = Member(DrivenHerder(self.herder), order.bootstrap)
        self.threads.wake = self.member.wake_up
        self.rest = RestServer(order.port, self.herder, self.threads)

    def _herder(self, order: WorkerOrder, recorder: Recorder) -> Herder:
        config = order.config()
        statuses = StatusWriter(self.statuses, order.worker_id, lambda: self.herder.generation)
        events = WorkEvents(order.member, recorder, self._generation)
        parts = HerderParts(
            member=order.member, url=order.url, config=config, settings=HerderConfig(), recorder=recorder,
            configs=self.configs, statuses=statuses, threads=self.threads, peers=HttpPeers(self.threads),
            producers=SharedProducers(recorder),
            worker=Worker(Surroundings(self.threads, statuses, events), lambda _key: WELL_BEHAVED),
        )  # fmt: skip

        def coordinator(herder: Herder) -> WorkerCoordinator:
            return WorkerCoordinator(
                config, recorder, member=order.member, url=order.url, configs=self.configs, listener=herder
            )

        return RecordingHerder(parts, coordinator)

    def _generation(self) -> Generation:
        return self.herder.coordinator.generation()

    def run(self) -> None:
        """Until the herder has stopped."""
        with self.member:
            while not self.herder.halted:
                self.member.call(lambda _driven: self.threads.run_due())
                self.member.poll(self.threads.wait_s(POLL_S))
        self.rest.close()
        self.status_log.close()

    def request_stop(self) -> None:
        """End in good order."""
        self.threads.post(self.herder.request_stop)


def main() -> None:
    """Run the worker that the command line orders."""
    end_with_parent()
    worker = OurWorker(msgspec.json.decode(sys.argv[1], type=WorkerOrder))
    signal.signal(signal.SIGTERM, lambda *_: worker.request_stop())
    worker.run()


if __name__ == "__main__":
    main()
