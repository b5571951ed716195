"""A herder whose group a test plays round by round; what it asks of its member stands among what it records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rebalance_check.impl.client.generation import NO_MEMBERSHIP, Generation
from rebalance_check.impl.connect.config.channel import ConfigChannel
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.work_events import work_name
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import Event, StatusAttempted
from tests.impl.herder_alone import Group, LoneHerder
from tests.impl.scripted_worker import work

E = TypeVar("E", bound=Event)


class Rounds(Group):
    """A member that completes a round when it is polled, if one ``waits``; ``order`` notes what it is asked."""

    def __init__(self, order: list[str], mode: ConnectMode) -> None:
        super().__init__(mode, leads=False)
        self.order = order
        self.waits: tuple[ConnectAssignment, int] | None = None
        self.completed = NO_MEMBERSHIP
        self.rejoins = False
        self.herder: Herder

    def poll(self, _now_ms: int) -> None:
        self.order.append("poll")
        if self.waits is None:
            return
        assigned, generation = self.waits
        if assigned.revokes and not self.herder.on_revoked("w", assigned.revoked_connectors, assigned.revoked_tasks):
            return
        self.waits, self.rejoins = None, False
        self.completed = Generation(generation, "id", self.mode.protocol)
        self.herder.on_assigned(assigned, generation)

    def rejoin_needed_or_pending(self) -> bool:
        return self.rejoins

    def request_rejoin(self, reason: str) -> None:
        self.order.append(f"rejoin: {reason}")
        self.rejoins = True

    def is_leader(self) -> bool:
        return self.leads and not self.rejoins

    def generation(self) -> Generation:
        return self.completed

    def maybe_leave_group(self, reason: str, _now_ms: int) -> None:
        self.order.append(f"leave: {reason}")

    def close(self, _now_ms: int) -> bool:
        self.order.append("close")
        return True


class HerderBench(LoneHerder):
    """The worker ``w`` of a topic that holds these ``connectors``, with so many tasks each.

    ``order`` holds what its member was asked and the events, by their type, in one order.
    """

    def __init__(
        self,
        connectors: dict[str, int] | None = None,
        *,
        mode: ConnectMode = ConnectMode.SESSIONED,
        exactly_once: ExactlyOnce = ExactlyOnce.DISABLED,
    ) -> None:
        self.order: list[str] = []
        self.exactly_once = exactly_once
        topic = SharedConfigLog(Recorder("connect", "log", lambda: 0, self._note_type))
        self.operator, _ = self._operator(topic)
        for connector, tasks in (connectors or {}).items():
            self.commit(connector, tasks)
        self.rounds = Rounds(self.order, mode)
        super().__init__(settings=HerderConfig(exactly_once=exactly_once), topic=topic, group=self.rounds)
        self.rounds.herder = self.herder
        self.took()

    def _operator(self, topic: SharedConfigLog) -> tuple[ConfigStore, ConfigChannel]:
        channel = ConfigChannel(topic, "operator", committed=self.exactly_once is ExactlyOnce.ENABLED)
        recorder = Recorder("connect", "operator", lambda: 0, None)
        store = channel.store = ConfigStore(
            "operator", channel, recorder, now=lambda: 0, exactly_once=self.exactly_once
        )
        store.start()
        return store, channel

    def note(self, event: Event) -> None:
        super().note(event)
        self._note_type(event)

    def _note_type(self, event: Event) -> None:
        self.order.append(type(event).__name__)

    # ------------------------------------------------------------------------------------------------ the script

    def commit(self, connector: str, tasks: int, version: int = 1) -> None:
        """The operator's store writes a connector and all of its tasks; this worker has not read them."""
        self.fence()
        self.operator.put_connector(connector, {"tasks.max": str(tasks), "version": str(version)})
        self.operator.put_tasks(connector, [{"task.id": str(n), "version": str(version)} for n in range(tasks)])

    def fence(self) -> None:
        """The operator's store takes the privilege to write, if there is one: what this worker writes next fails."""
        self.operator._drop_privileges()
        self.operator.claim_privileges()

    def read_configs(self) -> None:
        """The worker's reader of the config topic reads to the end; its herder does nothing yet."""
        self.config_log.poll()

    def round(
        self, names: str = "", revoked: str = "", *, generation: int = 1, leads: bool = False, **fields: Any
    ) -> None:
        """The next poll of the member completes this round, at the offset that the worker has read, and goes on."""
        self.rounds.leads = leads
        offset = fields.pop("offset", self.configs.snapshot().offset)
        leader = "w" if leads else "other"
        self.rounds.waits = (work(names, revoked, leader=leader, offset=offset, **fields), generation)
        self.rounds.rejoins = True
        self.herder.wake()
        self.go()

    def go(self, for_ms: int = 0) -> None:
        """All threads go on, and time passes."""
        end_ms = self.clock.now_ms + for_ms
        while True:
            while self._goes_on():
                pass
            if self.clock.now_ms >= end_ms:
                return
            due = (self.clock.next_deadline(), self.herder.next_poll(), end_ms)
            self.clock.run_until(min(ms for ms in due if ms is not None and ms > self.clock.now_ms))

    def _goes_on(self) -> bool:
        """Let everything happen that is due now; whether anything did, but for polls."""
        before = self._progress()
        self.run(0)
        self.clock.run_until(self.clock.now_ms)
        return self._progress() != before or self.clock.next_deadline() == self.clock.now_ms

    def _progress(self) -> int:
        return len(self.order) - self.order.count("poll")

    def took(self) -> list[str]:
        """The requests to the member and the records since the last time."""
        taken, self.order[:] = list(self.order), []
        return taken

    def seen(self, kind: type[E], where: Callable[[E], bool] = lambda _: True) -> list[E]:
        """The events of a type, in order."""
        return [event for event in self.events if isinstance(event, kind) and where(event)]

    def statuses_written(self) -> list[tuple[str, str, int, bool]]:
        """Key, status, generation and safety of each status that was written."""
        attempts = self.seen(StatusAttempted)
        return [(one.key.removeprefix("status-"), str(one.status), one.generation, one.safe) for one in attempts]

    @property
    def runs(self) -> list[str]:
        """The instances in the worker's process, by name."""
        return sorted(map(work_name, self.herder.worker.instances))
