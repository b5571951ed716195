"""A herder with stores of its own, whose group and peers a test plays: the group is stable, and the test assigns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.connect.config.channel import ConfigChannel
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import SessionKey
from rebalance_check.impl.connect.herder.behaviour import WELL_BEHAVED, Behaviour
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.core import HerderParts
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.instance import Surroundings
from rebalance_check.impl.connect.herder.peers import Answer, InternalRequest, OnAnswer, Signature
from rebalance_check.impl.connect.herder.producers import SharedProducers
from rebalance_check.impl.connect.herder.statuses import StatusWriter
from rebalance_check.impl.connect.herder.work_events import WorkEvents, WorkKey
from rebalance_check.impl.connect.herder.worker import Worker
from rebalance_check.impl.connect.status.codec import Status, StatusValue
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode, ConnectorTask
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import Event, StatusAttempted
from tests.impl.herder_work import ClockThreads

NO_MORE: Mapping[str, str] = {}
URL, LEADER_URL = "http://w:8083/", "http://l:8083/"


@dataclass
class Group:
    """The member of the group, which is stable; ``asked`` are the reasons of its requests to join again."""

    mode: ConnectMode = ConnectMode.SESSIONED
    leads: bool = True
    asked: list[str] = field(default_factory=list)

    def is_leader(self) -> bool:
        return self.leads

    def request_rejoin(self, reason: str) -> None:
        self.asked.append(reason)

    def maybe_leave_group(self, reason: str, _now_ms: int) -> None:
        self.asked.append(reason)

    def poll(self, _now_ms: int) -> None: ...

    def next_poll(self) -> int | None: ...

    def wake_up(self) -> None: ...

    def rejoin_needed_or_pending(self) -> bool:
        return False

    def generation(self) -> Generation:
        return Generation(3, "id", self.mode.value)


@dataclass
class Peers:
    """Other workers: each request that was sent to one, answered with ``answer`` (None: it is ``waiting``)."""

    answer: Answer | None = Answer.OK
    sent: list[tuple[int, str, InternalRequest, Signature | None]] = field(default_factory=list)
    waiting: list[OnAnswer] = field(default_factory=list)
    now: Any = None

    def request(self, url: str, request: InternalRequest, signature: Signature | None, on_answer: OnAnswer) -> None:
        self.sent.append((self.now(), url, request, signature))
        if self.answer is None:
            self.waiting.append(on_answer)
        else:
            on_answer(self.answer)


class LoneHerder:
    """A herder that has started, and everything around it; `run` lets time pass."""

    def __init__(
        self,
        *,
        leads: bool = True,
        mode: ConnectMode = ConnectMode.SESSIONED,
        settings: HerderConfig | None = None,
        topic: SharedConfigLog | None = None,
        group: Group | None = None,
    ) -> None:
        self.clock = VirtualClock()
        self.events: list[Event] = []
        self.behaviours: dict[WorkKey, Behaviour] = {}
        self.recorder = Recorder("connect", "w", self.clock.now, self.note)
        settings = settings or HerderConfig()
        self.group, self.peers = group or Group(mode, leads), Peers(now=self.clock.now)
        self.topic = topic or SharedConfigLog(Recorder("connect", "log", self.clock.now, None))
        self.configs, self.config_log = self.config_store("w", settings.exactly_once)
        self.status_log = Channel(SharedLog(1, Recorder("connect", "statuses", self.clock.now, None)), "w")
        self.statuses = self.status_log.store = StatusStore("w", self.status_log, self.recorder)
        self.herder = Herder(self._parts(settings), lambda _: self.group)  # type: ignore[arg-type,return-value]  # a test plays the group
        self.herder.poll()

    def config_store(self, name: str, exactly_once: ExactlyOnce) -> tuple[ConfigStore, ConfigChannel]:
        """A store of the same topic."""
        channel = ConfigChannel(self.topic, name, committed=exactly_once is ExactlyOnce.ENABLED)
        recorder = self.recorder if name == "w" else Recorder("connect", name, self.clock.now, None)
        channel.store = store = ConfigStore(name, channel, recorder, now=self.clock.now, exactly_once=exactly_once)
        return store, channel

    def _parts(self, settings: HerderConfig) -> HerderParts:
        threads = ClockThreads(self.clock)
        writer = StatusWriter(self.statuses, "w:8083", lambda: self.herder.generation)
        events = WorkEvents("w", self.recorder, self.group.generation)
        worker = Worker(Surroundings(threads, writer, events), lambda key: self.behaviours.get(key, WELL_BEHAVED))
        return HerderParts(
            member="w", url=URL, config=WorkerConfig(group_id="g"), settings=settings, recorder=self.recorder,
            configs=self.configs, statuses=writer, worker=worker, threads=threads, peers=self.peers,
            producers=SharedProducers(self.recorder),
        )  # fmt: skip

    def note(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)

    # -------------------------------------------------------------------------------------------- the environment

    def run(self, for_ms: int = 100) -> None:
        """Let time pass; statuses are appended and read back at once."""
        end = self.clock.now_ms + for_ms
        while True:
            self.herder.poll()
            self._deliver_statuses()
            if self.clock.now_ms >= end:
                return
            due = [ms for ms in (self.clock.next_deadline(), self.herder.next_poll()) if ms is not None]
            self.clock.run_until(min([end, *(max(ms, self.clock.now_ms + 1) for ms in due)]))

    def _deliver_statuses(self) -> None:
        while self.status_log.head is not None:
            self.status_log.append()
            self.status_log.answer(SendOutcome.OK)
        while self.status_log.read(0):
            pass

    def assign(self, connectors: tuple[str, ...] = (), tasks: tuple[tuple[str, int], ...] = ()) -> None:
        """The herder is assigned this work at the end of the config topic, and starts it."""
        leader_url = URL if self.group.leads else LEADER_URL
        offset = self.configs.snapshot().offset
        work = tuple(ConnectorTask(*task) for task in tasks)
        assigned = ConnectAssignment(leader_url=leader_url, config_offset=offset, connectors=connectors, tasks=work)
        self.herder.on_assigned(assigned, 3)
        self.run()

    def configure(self, connector: str = "a", tasks: int = 0, more: Mapping[str, str] = NO_MORE) -> None:
        """Another worker writes a connector and its task configs, and this one reads them."""
        self.write(connector, tasks, more)
        self.read()

    def write(self, connector: str = "a", tasks: int = 0, more: Mapping[str, str] = NO_MORE) -> None:
        """Another worker writes a connector and its task configs; this one has not read them."""
        other, _channel = self.config_store("other", ExactlyOnce.DISABLED)
        other.start().result()
        written = {"tasks.max": str(tasks), "version": "1", **more}
        other.put_connector(connector, written).result()
        if tasks:
            other.put_tasks(connector, [{"task.id": str(n), "version": "1"} for n in range(tasks)]).result()

    def read(self) -> None:
        """The herder serves what was asked, the config store reads to the end, and the herder goes on."""
        self.run()
        self.config_log.poll()
        self.run()

    def status(self, key: WorkKey, status: Status, generation: int = 1) -> None:
        """A status of another worker, read back."""
        self.statuses.put(key, StatusValue(status, "other:8083", generation))
        self.run()

    # -------------------------------------------------------------------------------------------- what happened

    def keys(self) -> list[str | None]:
        """The keys of the config topic's records, in order."""
        return [record.key for record in self.topic.records]

    def written(self) -> list[str]:
        """Every status that this worker's herder wrote: key and status."""
        attempts = [event for event in self.events if isinstance(event, StatusAttempted)]
        return [f"{event.key.removeprefix('status-')} {event.status}" for event in attempts
                if event.status_worker == "w:8083"]  # fmt: skip

    def knows_key(self, key: SessionKey) -> None:
        """Another worker writes a session key, and this one reads it."""
        other, _channel = self.config_store("other", ExactlyOnce.DISABLED)
        other.start().result()
        other.put_session_key(key).result()
        self.read()
