"""Connect workers of all modes in one group, against our own group coordinator, while everything around them changes.

Workers start, stop, die, stall and lose their coordinator; connectors come and go, and each worker reads of that at its
own pace. The claims about rounds and groups judge the run as it goes. In the end everything is left in peace: then
each configured connector and task must be claimed exactly once, and evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from rebalance_check.impl.connect.worker.config import WorkerConfig
from rebalance_check.impl.connect.worker.coordinator import WorkerCoordinator
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode, ConnectorTask
from rebalance_check.impl.protocol.messages import FindCoordinatorRequest
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.events import Event, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.laws import config, status
from rebalance_check.properties.laws.connect import at_rest, work

CONNECTORS: Final = ("c0", "c1", "c2")
NAMES: Final = ("w0", "w1", "w2")
NAME: Final = st.sampled_from(NAMES)
TIMES: Final = st.sampled_from((0, 300, 2_000, 14_000))
"""How long, in ms, nothing else happens after a disturbance."""

MAX_DELAY_MS: Final = 5_000
"""``scheduled.rebalance.max.delay.ms``, short enough to be waited out."""

REBALANCE_TIMEOUT_MS: Final = 12_000

PEACE_MS: Final = 60_000
"""How long a group that is left in peace may take: sessions, a delay, the back-off of several revocations, rounds."""

_OF_HERDERS: Final = frozenset({*work.LAWS, *at_rest.LAWS, *status.LAWS, *config.LAWS})

ROUND_CLAIMS: Final[tuple[Invariant, ...]] = tuple(
    invariant for invariant in CATALOGUE if invariant.kind is Kind.SAFETY and invariant not in _OF_HERDERS
)
"""The claims that judge a run. These workers run nothing: claims about running work need a herder."""


class UnsettledError(AssertionError):
    """A group that was left in peace does not share its work as it must."""


@dataclass(frozen=True, slots=True)
class Configs:
    """The contents of the config topic up to ``offset``."""

    offset: int
    task_counts: Mapping[str, int]


class Worker(WorkerCoordinator):
    """A worker whose herder does no more than rounds need: it rejoins when there is a reason, and stops work."""

    def __init__(self, name: str, mode: ConnectMode, log: list[Configs], recorder: Recorder) -> None:
        self._log = log
        self._read = 1
        self._rejoin_at_ms: int | None = None
        self._is_new = False
        self.stops = True
        config = WorkerConfig(
            group_id="g",
            connect_protocol=mode,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            scheduled_rebalance_max_delay_ms=MAX_DELAY_MS,
        )
        super().__init__(config, recorder, member=name, url=f"http://{name}:8083/", configs=self, listener=self)

    def snapshot(self) -> Configs:
        """One record further than the last time."""
        self._read = min(len(self._log), self._read + 1)
        return self._log[self._read - 1]

    def on_assigned(self, assignment: ConnectAssignment, generation: int) -> None:  # noqa: ARG002 - part of the contract
        """Remember the delay, and that there is something to look at."""
        self._is_new = True
        self._rejoin_at_ms = self._now_ms + assignment.delay_ms if assignment.delay_ms else None

    def on_revoked(self, leader: str, connectors: Sequence[str], tasks: Sequence[ConnectorTask]) -> bool:  # noqa: ARG002 - part of the contract
        """Everything stops at once, unless it is slow just now."""
        return self.stops

    def on_poll(self) -> None:
        """A herder's reasons to join again: work given up, an offset that differs, the delay, other connectors."""
        claim, known = self.assignment, self.config_state
        latest = self.snapshot()
        if self._is_new and claim is not None:
            self._is_new = False
            if claim.revokes or latest.offset != claim.config_offset:
                self.request_rejoin("the round has to go on")
        elif self._rejoin_at_ms is not None and self._now_ms >= self._rejoin_at_ms:
            self._rejoin_at_ms = None
            self.request_rejoin("the delay is over")
        elif latest.offset != known.offset:
            self.request_rejoin("connectors changed")


class Cluster(Loopback):
    """Workers and their coordinator, whose connection may be gone."""

    def exchange(self) -> None:
        """As the base class; without a coordinator every other request is lost."""
        if self.has_coordinator:
            super().exchange()
            return
        for client in self.clients.values():
            for number, request in client.take_requests():
                found = self._found() if isinstance(request, FindCoordinatorRequest) else None
                client.receive(number, found, self.now_ms)


class ConnectWorkers(RuleBasedStateMachine):
    """One run; with a mutant planted (`rebalance_check.impl.mutants.planted`) it must fail."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster()
        self.log = [Configs(1, {"c0": 2, "c1": 1})]
        self.judge = Judge(ROUND_CLAIMS)
        self.judge.observe(RunStarted(subject="workers"))
        self._observed = 0

    @initialize(modes=st.lists(st.sampled_from(ConnectMode), min_size=2, max_size=len(NAMES)))
    def open(self, modes: list[ConnectMode]) -> None:
        """Some workers have joined already."""
        for name, mode in zip(NAMES, modes, strict=False):
            self.start(name, mode, 1_000)

    @rule(name=NAME, mode=st.sampled_from(ConnectMode), ms=TIMES)
    def start(self, name: str, mode: ConnectMode, ms: int) -> None:
        """A worker process begins, where none of that name runs."""
        if name not in self.cluster.clients:
            self.cluster.add(lambda recorder: Worker(name, mode, self.log, recorder), group="g", member=name)
        self._advance(ms)

    @rule(name=NAME, ms=TIMES)
    def stop(self, name: str, ms: int) -> None:
        """A worker leaves in an orderly way."""
        if name in self.cluster.clients:
            self.cluster.close(name)
        self._advance(ms)

    @rule(name=NAME, ms=TIMES)
    def die(self, name: str, ms: int) -> None:
        """A worker process ends on the spot."""
        if name in self.cluster.clients:
            self.cluster.kill(name)
        self._advance(ms)

    @rule(name=NAME, ms=TIMES)
    def stall(self, name: str, ms: int) -> None:
        """A herder does not poll any more, while heartbeats go on; or it does again."""
        self.cluster.stalled ^= {name}
        self._advance(ms)

    @rule(name=NAME, ms=TIMES)
    def be_slow(self, name: str, ms: int) -> None:
        """Revoked work does not stop any more; or it does again."""
        worker = self.cluster.clients.get(name)
        if isinstance(worker, Worker):
            worker.stops = not worker.stops
        self._advance(ms)

    @rule(ms=TIMES)
    def lose_coordinator(self, ms: int) -> None:
        """The connection to the coordinator is gone; or it is back."""
        self.cluster.has_coordinator = not self.cluster.has_coordinator
        self._advance(ms)

    @rule(name=st.sampled_from(CONNECTORS), tasks=st.integers(-1, 3), ms=TIMES)
    def configure(self, name: str, tasks: int, ms: int) -> None:
        """A connector gets so many tasks; with -1 it is deleted."""
        counts = {other: count for other, count in self.log[-1].task_counts.items() if other != name}
        if tasks >= 0:
            counts[name] = tasks
        self.log.append(Configs(self.log[-1].offset + 1, counts))
        self._advance(ms)

    def _advance(self, ms: int) -> None:
        """Time passes, and the events of it are judged."""
        self.cluster.run(ms)
        events: list[Event] = self.cluster.events[self._observed :]
        self._observed += len(events)
        for event in events:
            self.judge.observe(event)
        self.judge.judgement().check(allow_undecided=True)

    def teardown(self) -> None:
        """Leave the group in peace, and look how it shares its work."""
        cluster = self.cluster
        cluster.has_coordinator = True
        cluster.stalled.clear()
        for worker in self._workers():
            worker.stops = True
        if cluster.clients:
            self._advance(PEACE_MS)
            self._check_shares()

    def _workers(self) -> list[Worker]:
        return [client for client in self.cluster.clients.values() if isinstance(client, Worker)]

    def _check_shares(self) -> None:
        counts = self.log[-1].task_counts
        tasks = sorted(ConnectorTask(name, number) for name, count in counts.items() for number in range(count))
        claims = [worker.assignment or ConnectAssignment() for worker in self._workers()]
        self._expect("connectors", sorted(counts), sorted(name for claim in claims for name in claim.connectors))
        self._expect("tasks", tasks, sorted(task for claim in claims for task in claim.tasks))
        if any(worker.mode is ConnectMode.EAGER for worker in self._workers()):
            loads = [[len(claim.connectors) + len(claim.tasks) for claim in claims]]
        else:
            loads = [[len(claim.connectors) for claim in claims], [len(claim.tasks) for claim in claims]]
        for load in loads:
            self._expect("spread of the load", True, max(load) - min(load) <= 1)

    def _expect(self, subject: str, expected: object, found: object) -> None:
        if expected != found:
            claims = {worker.member: worker.assignment and worker.assignment.names for worker in self._workers()}
            raise UnsettledError(f"{subject}: expected {expected}, found {found}; claims {claims}")
