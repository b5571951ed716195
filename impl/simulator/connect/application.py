"""The code inside a simulated worker process: its member of the group, both stores, and the herder over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from random import Random
from typing import Final

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.client.lookup import Node
from rebalance_check.impl.connect.config.channel import ConfigChannel
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.core import HerderParts
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.instance import InstanceState, Surroundings
from rebalance_check.impl.connect.herder.statuses import StatusWriter
from rebalance_check.impl.connect.herder.work_events import WorkEvents, WorkKey, assigned_work, work_name
from rebalance_check.impl.connect.herder.worker import Worker
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.impl.connect.status.shared_log import Channel
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.protocol.connect_protocol import EMPTY, ConnectMode
from rebalance_check.impl.protocol.messages import MemberReply, MemberRequest
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.application import record_start
from rebalance_check.impl.simulator.connect.config_threads import ConfigThreads
from rebalance_check.impl.simulator.connect.internal_rest import PeersOf
from rebalance_check.impl.simulator.connect.process_threads import ProcessThreads
from rebalance_check.impl.simulator.connect.shared import SharedCluster
from rebalance_check.impl.simulator.connect.status_threads import StatusThreads
from rebalance_check.model.vocabulary.events import PluginDrawn, WorkerConfigured

UNSYNC_BACKOFF_MS: Final = 20_000
"""``worker.unsync.backoff.ms``: how long an eager worker stays away that could not read the config topic."""

SCHEDULED_DELAY_MS: Final = 20_000
"""``scheduled.rebalance.max.delay.ms``, which Kafka's default of 5 minutes would only wait out."""

KEY_TTL_MS: Final = 60_000
"""``inter.worker.key.ttl.ms``, of which Kafka's default is an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStart:
    """One start of a worker process: its name and ``worker_id``, how often it was started, how it was configured.

    ``long_poll_ms`` is how long one poll of its herder waits that is polled rarely, 0 for all others.
    """

    name: str
    worker_id: str
    incarnation: int
    mode: ConnectMode
    client: ClientConfig
    exactly_once: ExactlyOnce = ExactlyOnce.DISABLED
    long_poll_ms: int = 0

    @property
    def store(self) -> str:
        """How events of the status store call this process: ``m0``, later ``m0/2``."""
        return self.name if self.incarnation == 1 else f"{self.name}/{self.incarnation}"

    @property
    def url(self) -> str:
        """Where the worker is reached, also after a restart."""
        return f"http://{self.worker_id}/"

    def worker_config(self) -> WorkerConfig:
        """The settings of the worker."""
        settings = {each.name: getattr(self.client, each.name) for each in fields(self.client)}
        return WorkerConfig(
            **settings,
            connect_protocol=self.mode,
            scheduled_rebalance_max_delay_ms=SCHEDULED_DELAY_MS,
            worker_unsync_backoff_ms=UNSYNC_BACKOFF_MS,
        )


class WorkerApplication:
    """A worker process from its start to its end (an `Application` of the simulator)."""

    def __init__(
        self,
        start: ProcessStart,
        recorder: Recorder,
        shared: SharedCluster,
        *,
        wake: Callable[[], None],
        jitter: Random,
    ) -> None:
        self.name = start.name
        self.threads = ProcessThreads(shared.clock, wake)
        self._record_start(start, recorder)
        self._open_status_store(start, recorder, shared)
        self._open_config_store(start, recorder, shared)
        self.herder = self._build_herder(start, recorder, shared, jitter)
        shared.rest.listen(self.herder, self.threads)
        self.pump()

    def _record_start(self, start: ProcessStart, recorder: Recorder) -> None:
        config = start.worker_config()
        protocol = "eager" if start.mode is ConnectMode.EAGER else "cooperative"
        offered = tuple(one.protocol for one in start.mode.offered)
        record_start(recorder, start.name, config, protocol, offered=offered, poll_ms=start.long_poll_ms)
        recorder.emit(
            WorkerConfigured(
                member=start.name,
                mode=start.mode.value,
                url=start.url,
                store=start.store,
                scheduled_rebalance_max_delay_ms=config.scheduled_rebalance_max_delay_ms,
                heartbeat_interval_ms=config.heartbeat_interval_ms,
                exactly_once=start.exactly_once.transactional,
                session_key_ttl_ms=KEY_TTL_MS,
            )
        )

    def _open_status_store(self, start: ProcessStart, recorder: Recorder, shared: SharedCluster) -> None:
        channel = Channel(shared.status_log, start.store)
        self.status_channel = channel
        self.statuses = channel.store = StatusStore(start.store, channel, recorder)
        self._status_threads = StatusThreads(
            self.statuses,
            channel,
            self.threads,
            shared.disturbances,
            at_broker=shared.clock.after,
            appended=shared.pump_all,
            answered=self.threads.wake_herder,
        )
        self.statuses.start(shared.status_log.ends)

    def _open_config_store(self, start: ProcessStart, recorder: Recorder, shared: SharedCluster) -> None:
        channel = ConfigChannel(
            shared.config_log, start.name, prompt=False, committed=start.exactly_once is ExactlyOnce.ENABLED
        )
        self.config_channel = channel
        self.configs = channel.store = ConfigStore(
            start.name, channel, recorder, now=shared.clock.now, exactly_once=start.exactly_once
        )
        self._config_threads = ConfigThreads(channel, self.threads, shared.disturbances, shared.pump_all)

    def _build_herder(self, start: ProcessStart, recorder: Recorder, shared: SharedCluster, jitter: Random) -> Herder:
        statuses = StatusWriter(self.statuses, start.worker_id, lambda: self.herder.generation)
        events = WorkEvents(start.name, recorder, self._generation)
        around = Surroundings(self.threads, statuses, events)
        config = start.worker_config()

        def drawn(key: WorkKey) -> Behaviour:
            behaviour = shared.disturbances.behaviour_of(key)
            recorder.emit(_plugin_drawn(start.name, key, behaviour))
            return behaviour

        def make_coordinator(herder: Herder) -> WorkerCoordinator:
            return WorkerCoordinator(
                config,
                recorder,
                member=start.name,
                url=start.url,
                configs=self.configs,
                listener=herder,
                random=jitter,
            )

        return Herder(
            HerderParts(
                member=start.name,
                url=start.url,
                config=config,
                settings=HerderConfig(key_ttl_ms=KEY_TTL_MS, exactly_once=start.exactly_once),
                recorder=recorder,
                configs=self.configs,
                statuses=statuses,
                worker=Worker(around, drawn),
                threads=self.threads,
                peers=PeersOf(shared.rest, self.threads),
                producers=shared.producers,
            ),
            make_coordinator,
        )

    def _generation(self) -> Generation:
        return self.herder.coordinator.generation()

    def pump(self) -> None:
        """Let the threads of both stores go on."""
        self._status_threads.pump()
        self._config_threads.pump()

    def end_outage(self) -> None:
        """The config topic can be read again."""
        self._config_threads.end_outage()

    # -------------------------------------------------------------------------------------------- an application

    def poll(self, now_ms: int) -> None:  # noqa: ARG002 - the herder reads the clock of its process
        """The herder's thread goes on."""
        self.herder.poll()
        self.pump()

    def work(self, now_ms: int) -> None:
        """A worker does nothing between two polls."""

    def tick(self, now_ms: int) -> None:
        """The heartbeat thread."""
        self.herder.coordinator.tick(now_ms)

    @property
    def coordinator(self) -> Node | None:
        """The node that it takes for the coordinator."""
        return self.herder.coordinator.coordinator

    def coordinator_disconnected(self, now_ms: int) -> None:
        """The connection to that node broke."""
        self.herder.coordinator.coordinator_disconnected(now_ms)

    def receive(self, correlation_id: int, reply: MemberReply | None, now_ms: int) -> None:
        """A reply came, or its request was given up."""
        self.herder.coordinator.receive(correlation_id, reply, now_ms)

    def take_requests(self) -> list[tuple[int, MemberRequest]]:
        """The requests to be sent, in order."""
        return self.herder.coordinator.take_requests()

    def next_deadline(self) -> int | None:
        """When the heartbeat thread has something to do."""
        return self.herder.coordinator.next_deadline()

    def next_poll(self) -> int | None:
        """When the herder's thread goes on by itself."""
        return self.herder.next_poll()

    def close(self, now_ms: int) -> bool:  # noqa: ARG002 - the herder reads the clock of its process
        """Whether an orderly end, begun by the herder's `request_stop`, is over."""
        return self.herder.halted

    def crash(self) -> None:
        """The process dies: records on the wire may still be appended."""
        self.threads.end()
        self._status_threads.close()
        self.config_channel.close()

    # -------------------------------------------------------------------------------------------- what is pending

    def pending(self) -> str:
        """The thing that this worker waits for; empty when it is settled."""
        herder, coordinator = self.herder, self.herder.coordinator
        if coordinator.state is not MemberState.STABLE:
            return f"is {coordinator.state.value}"
        if coordinator.rejoin_needed_or_pending():
            return "wants to join again"
        if herder.scheduled_ms is not None:
            return "waits for a scheduled rebalance"
        if not herder.resolved:
            return "has not started what it was assigned"
        return self._pending_in_stores()

    def _pending_in_stores(self) -> str:
        if self.configs.calls or self.config_channel.behind:
            return "has not finished reading or writing the config topic"
        if self.statuses.in_flight or self.statuses.retries or self.status_channel.unread():
            return "has not finished reading or writing the status topic"
        return ""

    def standing(self) -> tuple[int, str]:
        """Generation and member id."""
        generation = self.herder.coordinator.generation()
        return generation.generation_id, generation.member_id

    @property
    def holds(self) -> tuple[str, ...]:
        """The work that runs here as it was assigned: connectors, then tasks; cancelled work counts no longer."""
        keys = sorted(self._claimed(), key=lambda key: (not isinstance(key, ConnectorKey), work_name(key)))
        return tuple(f"connector {key.connector}" if isinstance(key, ConnectorKey) else work_name(key) for key in keys)

    def _claimed(self) -> set[WorkKey]:
        return self.herder.worker.instances.keys() & set(assigned_work(self.herder.coordinator.assignment or EMPTY))

    @property
    def unclaimed(self) -> tuple[str, ...]:
        """The work that runs here outside of the assignment: an eager round leaves it running (KAFKA-13816)."""
        instances = self.herder.worker.instances
        left = (key for key in instances.keys() - self._claimed() if instances[key].state is InstanceState.RUNNING)
        return tuple(sorted(map(work_name, left)))


def _plugin_drawn(member: str, key: WorkKey, behaviour: Behaviour) -> PluginDrawn:
    return PluginDrawn(
        member=member,
        work=work_name(key),
        begin_ms=behaviour.begin_ms,
        start_ms=behaviour.start_ms,
        stop_ms=behaviour.stop_ms,
        fails_at_start=behaviour.fails_at_start,
        fails_at_stop=behaviour.fails_at_stop,
        fails_after_ms=-1 if behaviour.fails_after_ms is None else behaviour.fails_after_ms,
    )
