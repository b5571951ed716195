"""Task configs that a worker has written come to the config topic, or the worker tries again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConnectorStopped,
    Event,
    MemberEvent,
    MemberPaused,
    MembershipLost,
    RejoinRequested,
    RequestSent,
    RunEnded,
    TaskConfigsGenerated,
    WorkCancelled,
    WorkerClaimed,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import SIMULATED

WRITE_MS: Final = 45_000
"""How long a leader takes at most to write them, with what its herder is blocked in before."""

REQUEST_MS: Final = 15_000
"""How long a request to the leader takes at most, with what the herder is blocked in that is to repeat it."""

RETRY_MS: Final = 250
MOST_RETRY_MS: Final = 60_000
"""The pause before the first retry in ms, which doubles, and the longest one."""

GONE: Final[tuple[type[Event], ...]] = (*PROCESS, MemberPaused)
AWAY: Final[tuple[type[Event], ...]] = (MembershipLost, RejoinRequested, WorkerClaimed)
"""After these the herder serves nothing until it has accepted an assignment."""


class PublishedTaskConfigsArriveViolated(Violation):
    """Task configs were to be written, did not come to the topic, and their worker did not try again."""


@dataclass(slots=True, eq=False)
class _Published:
    """Task configs that are on their way: ``attempts`` counts those in a row, ``since_ms`` is when time began.

    ``takes_ms`` is how long an attempt takes.
    """

    event: TaskConfigsGenerated
    attempts: int
    since_ms: int
    takes_ms: int

    @property
    def due_ms(self) -> int:
        """When they have come to the topic, or are written again."""
        return self.since_ms + self.takes_ms + min(MOST_RETRY_MS, RETRY_MS << min(self.attempts, 16))


class _Arrive(SimulatedWorkerFold):
    """Per worker and connector: task configs that are on their way."""

    needs = ((TaskConfigsGenerated,), (WorkerConfigured,))
    bookkeeping = frozenset({*GONE, *AWAY, AssignmentAccepted, TaskConfigsGenerated, ConfigAppended, ConnectorStopped,
                             WorkCancelled, WorkStateChanged})  # fmt: skip

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(GONE, self.on_gone),
            **dict.fromkeys(AWAY, self.on_away),
            AssignmentAccepted: self.on_accepted,
            TaskConfigsGenerated: self.on_generated,
            ConfigAppended: self.on_appended,
            ConnectorStopped: self.on_stopped,
            WorkCancelled: self.on_cancelled,
            WorkStateChanged: self.on_changed,
            RequestSent: self.on_request,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._open: dict[str, dict[str, _Published]] = {}
        self._away: set[str] = set()

    def on_gone(self, event: MemberEvent) -> None:
        """Nothing is due of a process that ended or stands still."""
        self._open.pop(event.member, None)
        self._away.discard(event.member)

    def on_away(self, event: MemberEvent) -> None:
        """Its herder joins first."""
        self._away.add(event.member)

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its herder serves what waits."""
        self._away.discard(event.member)
        for published in self._open.get(event.member, {}).values():
            published.since_ms = event.time_ms

    def on_generated(self, event: TaskConfigsGenerated) -> None:
        """The connector was asked for task configs, perhaps once more."""
        before = self._open.setdefault(event.member, {}).pop(event.connector, None)
        if event.published:
            attempts = 1 if before is None else before.attempts + 1
            takes_ms = WRITE_MS if self.memory.of(event.member).leads else REQUEST_MS
            self._open[event.member][event.connector] = _Published(event, attempts, event.time_ms, takes_ms)

    def on_appended(self, event: ConfigAppended) -> None:
        """They have come; or the connector has another target state, or is gone."""
        for kind in ("commit-", "target-state-", "connector-"):
            if event.key.startswith(kind):
                self._forget(event.key.removeprefix(kind))

    def _forget(self, connector: str) -> None:
        for published in self._open.values():
            published.pop(connector, None)

    def on_stopped(self, event: ConnectorStopped) -> None:
        """Its next start asks it anew."""
        self._open.get(event.member, {}).pop(event.connector, None)

    def on_cancelled(self, event: WorkCancelled) -> None:
        """As `on_stopped`."""
        self._open.get(event.member, {}).pop(event.work, None)

    def on_changed(self, event: WorkStateChanged) -> None:
        """Only a connector that runs is asked."""
        self._open.get(event.member, {}).pop(event.work, None)

    def on_request(self, event: RequestSent) -> None:
        """Time goes on."""
        self._judge(event.member, event)

    def on_end(self, event: RunEnded) -> None:
        """As `on_request`."""
        for member in list(self._open):
            self._judge(member, event)

    def _judge(self, member: str, event: Event) -> None:
        if member in self._away or not self.run.is_simulated:
            return
        for connector, published in list(self._open.get(member, {}).items()):
            self.compared = (self.compared or 0) + 1
            if event.time_ms > published.due_ms:
                del self._open[member][connector]
                self.contradiction(
                    f"{member} has task configs of {connector} written, which never come, and does not try again",
                    (f"{member} generated task configs of {connector} at {STEP}, to be written;", published.event),
                    (f"no commit of {connector} was appended by {STEP}, and they were not generated again: "
                     "contradiction.", event),
                )  # fmt: skip


PublishedTaskConfigsArrive: Final = Invariant(
    name="published_task_configs_arrive",
    family="connect_duties",
    claim="task configs that a worker has written, or has sent to its leader, come to the config topic, or the worker "
    "tries again with pauses that double, while the connector runs there",
    source="DistributedHerder.reconfigureConnectorTasksWithExponentialBackoffRetries, publishConnectorTaskConfigs",
    premises=(
        SIMULATED,
        f"a leader writes within {WRITE_MS // 1000} s, a request to it takes {REQUEST_MS // 1000} s at most",
        "its herder serves nothing while it joins its group",
        "the connector's configuration and its target state do not change, and its process does not stand still",
    ),
    exempted_by=(
        *GONE,
        *AWAY,
        ConfigAppended,
        ConnectorStopped,
        TaskConfigsGenerated,
        WorkCancelled,
        WorkStateChanged,
    ),
    violation=PublishedTaskConfigsArriveViolated,
    fold=_Arrive,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    TaskConfigsGenerated(member="w0", generation=1, connector="c", connector_config="x", tasks=(), published=True)
    RequestSent(member="w0", api="Heartbeat", request=9, generation=1, time_ms=200000)
"""

CLAIMS: Final = (PublishedTaskConfigsArrive,)
"""In the order in which reports name them."""
