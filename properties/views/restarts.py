"""Causes for Connect workers to start again the connectors and tasks that they run."""

from __future__ import annotations

from typing import ClassVar, Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConnectAssignmentReceived,
    CoordinatorLost,
    Event,
    HerderAsked,
    MemberEvent,
    MemberPaused,
    MembershipLost,
    WorkRevocationStarted,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.config_readers import kind_and_name
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.worker import connector_of
from rebalance_check.properties.views.workers import Workers

NOTED_MS: Final = 120_000
"""So long may a herder not act on a record that it has read, where rounds come between."""

KEPT: Final = 4
"""So many requests and records that ask for the same start are remembered."""


class Restarts(Memory):
    """The connectors and tasks that the record or request at hand asks to start again, as ``asked``.

    ``is_topic_recorded`` says that some record of the config topic came before. Of the assignment at hand ``new`` are
    those that its worker starts for it, and ``noted`` those of them that were asked for shortly before.
    """

    uses: ClassVar = (Workers,)

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.is_topic_recorded = False
        self.asked: list[str] = []
        self.new: list[str] = []
        self.noted: list[str] = []
        self._asked_at: dict[str, list[tuple[int, int]]] = {}
        self._seen = 0
        self._received_at: dict[int, int] = {}
        self._rounds: Recent[int, tuple[int, int]] = Recent(WAITING)
        self._stopped_all: set[int] = set()
        self._eager: set[int] = set()
        handlers: dict[type[Event], Handler] = {
            ConfigAppended: self._appended,
            HerderAsked: self._requested,
            ConnectAssignmentReceived: self._received,
            AssignmentAccepted: self._accepted,
            WorkRevocationStarted: self._revoking,
            MembershipLost: self._away,
            CoordinatorLost: self._away,
            MemberPaused: self._away,
        }
        super().__init__(handlers)

    def _appended(self, event: ConfigAppended) -> None:
        self.is_topic_recorded = True
        self._ask_for(event)

    def _ask_for(self, event: ConfigAppended) -> None:
        """A connector's record concerns the connector, a commit its tasks, which wait for a round; a restart both."""
        kind, name = kind_and_name(event.key)
        connector = [name] if kind in {"connector-", "restart-connector-"} else []
        tasks = self._tasks_of(name, event) if kind in {"commit-", "restart-connector-"} else []
        self._ask([*connector, *tasks], event)

    def _requested(self, event: HerderAsked) -> None:
        """An operator asks any worker, which forwards the request to the one that runs the work."""
        is_restart = event.operation.startswith("restart")
        self._ask([event.work, *self._tasks_of(event.work, event)] if is_restart else [], event)

    def _ask(self, works: list[str], event: Event) -> None:
        self.asked = works
        self._seen += 1
        for work in works:
            self._remember(work, event, self._seen)

    def _remember(self, name: str, event: Event, seen: int) -> None:
        self._asked_at[name] = [*self._asked_at.get(name, ())[1 - KEPT :], (event.time_ms, seen)]

    def _tasks_of(self, name: str, event: Event) -> list[str]:
        """Those that some worker knows; which others there are shows when they are assigned."""
        self._remember(f"{name}-", event, self._seen + 1)
        known = {work for worker in self.workers.workers.values() for work in worker.known_work}
        return sorted(work for work in known if work != name and connector_of(work) == name)

    def _revoking(self, event: WorkRevocationStarted) -> None:
        if event.reason != "revoked":
            self._away(event)

    def _away(self, event: MemberEvent) -> None:
        """It may stop all that it runs."""
        self._stopped_all.add(self.workers.of(event.member).number)

    def _received(self, event: ConnectAssignmentReceived) -> None:
        worker = self.workers.of(event.member)
        is_new = worker.is_eager or worker.number in self._stopped_all
        self._stopped_all.discard(worker.number)
        stopped = [work for work in worker.claim or () if work not in worker.running]
        self.new = [work for work in stopped if is_new or work in event.assigned]
        earlier, _ = self._rounds.get(worker.number, (0, 0))
        if event.revoked:
            self._received_at.pop(worker.number, None)
        else:
            self._received_at[worker.number] = self._seen
        self.noted = [work for work in self.new for _ in self._noted(work, event.time_ms, earlier)]
        if worker.is_eager:
            self._eager.add(worker.number)
        elif worker.number in self._eager:
            self.noted += self.new  # one that was eager acts on the commits from then when its group is at rest

    def _accepted(self, event: AssignmentAccepted) -> None:
        """It is at rest, and acts on the records that it noted; one that must join again at once acts on none."""
        worker = self.workers.of(event.member)
        seen = self._received_at.pop(worker.number, None)
        if seen is not None:
            _, before = self._rounds.get(worker.number, (0, 0))
            self._rounds[worker.number] = (before, seen)

    def _noted(self, work: str, now_ms: int, earlier: int) -> set[tuple[int, int]]:
        """Those that asked for it shortly before, or since the assignment before the last one that it accepted."""
        names = {work, f"{connector_of(work)}-"} if connector_of(work) != work else {work}
        asked = {one for name in names for one in self._asked_at.get(name, ())}
        return {(time_ms, seen) for time_ms, seen in asked if now_ms - time_ms <= NOTED_MS or seen > earlier}
