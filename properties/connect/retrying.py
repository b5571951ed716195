"""What a worker asks its leader for: the leader that it knows, and again only after a failure, with longer pauses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    HerderRequestEnded,
    HerderRequestQueued,
    HerderRequestStarted,
    LeaderAnswered,
    LeaderAsked,
    MemberEvent,
    RunEnded,
    TaskConfigsGenerated,
    WorkerConfigured,
)
from rebalance_check.properties.connect.asking import DONE
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

RECONFIGURE: Final = "reconfigure"
WRITE: Final = "write task configs"

RETRY_MS: Final = 250
MOST_RETRY_MS: Final = 60_000
"""The pause before the first retry in ms, which doubles, and the longest one."""


class ReconfigurationsAreRetriedViolated(Violation):
    """A worker put a request off, or looked at task configs again unasked, at another time, or not after a failure."""


class LeadersAreAskedViolated(Violation):
    """A worker asked another worker than the leader of its last assignment, or itself."""


def pause_ms(attempts: int) -> int:
    """How long a worker waits after so many attempts that failed, one after the other."""
    return min(MOST_RETRY_MS, RETRY_MS << min(attempts - 1, 16))


@dataclass(slots=True, eq=False)
class _Attempts:
    """The attempts of one worker, each by how many it makes one after the other with those that failed before.

    ``queued`` holds them by the number in its herder's queue, ``asked`` by the request to the leader; ``serves`` is the
    one that its herder serves, ``may_retry`` what it may look at again, ``failed`` what it must.
    """

    queued: dict[int, tuple[str, int]] = field(default_factory=dict)
    asked: dict[int, tuple[str, int]] = field(default_factory=dict)
    serves: tuple[str, int] | None = None
    may_retry: list[tuple[str, int]] = field(default_factory=list)
    failed: tuple[str, int, LeaderAnswered] | None = None


class _Retried(SimulatedWorkerFold):
    bookkeeping = frozenset({*PROCESS, HerderRequestStarted, LeaderAsked, TaskConfigsGenerated})
    needs = ((WorkerConfigured,), (TaskConfigsGenerated,), (HerderRequestQueued,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            HerderRequestQueued: self.on_queued,
            HerderRequestStarted: self.on_started,
            TaskConfigsGenerated: self.on_generated,
            LeaderAsked: self.on_asked,
            LeaderAnswered: self.on_answered,
            HerderRequestEnded: self.on_ended,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._of: dict[str, _Attempts] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A process takes what it is to repeat with it."""
        self._of.pop(event.member, None)

    def on_queued(self, event: HerderRequestQueued) -> None:
        """At once a worker looks at any time, later only after a failure."""
        if not self.run.is_recorded:
            return
        if event.operation != RECONFIGURE:
            self._at_once(event)
            return
        attempts = self._of.setdefault(event.member, _Attempts())
        before = self._before(attempts, event)
        attempts.queued[event.number] = (event.work, before)
        attempts.failed = None
        if before < 0:
            self.compared = (self.compared or 0) + 1
            self._report(event, attempts)

    def _at_once(self, event: HerderRequestQueued) -> None:
        """Nothing else is put off."""
        if event.delay_ms:
            self.contradiction(
                f"{event.member} puts off a request to {event.operation} {event.work}",
                (f"{event.member} queued a request to {event.operation} {event.work} for {event.delay_ms} ms later at "
                 f"{STEP}: contradiction.", event),
            )  # fmt: skip

    def _before(self, attempts: _Attempts, event: HerderRequestQueued) -> int:
        """How many attempts failed before this one; -1 where none fits."""
        if not event.delay_ms:
            return 0
        fitting = [one for one in attempts.may_retry if one[0] == event.work and pause_ms(one[1] + 1) == event.delay_ms]
        if not fitting:
            return -1
        self.compared = (self.compared or 0) + 1
        attempts.may_retry.remove(fitting[0])
        return fitting[0][1] + 1

    def on_started(self, event: HerderRequestStarted) -> None:
        """Its herder looks at task configs, or does something else."""
        attempts = self._look(event)
        attempts.serves = attempts.queued.pop(event.number, None)

    def on_generated(self, event: TaskConfigsGenerated) -> None:
        """To write them may fail."""
        attempts = self._look(event)
        if event.published and attempts.serves is not None:
            attempts.may_retry.append(attempts.serves)

    def on_asked(self, event: LeaderAsked) -> None:
        """Its answer decides."""
        attempts = self._look(event)
        if event.operation == WRITE and attempts.serves is not None and attempts.serves in attempts.may_retry:
            attempts.may_retry.remove(attempts.serves)
            attempts.asked[event.request] = attempts.serves

    def on_answered(self, event: LeaderAnswered) -> None:
        """After anything but success the worker tries again."""
        attempts = self._look(event)
        asked = attempts.asked.pop(event.request, None)
        if asked is not None and event.answer != DONE:
            self.compared = (self.compared or 0) + 1
            attempts.may_retry.append(asked)
            attempts.failed = (*asked, event)

    def on_ended(self, event: HerderRequestEnded) -> None:
        """What its herder has written itself has failed by now, if it has."""
        attempts = self._look(event)
        if attempts.serves in attempts.may_retry:
            attempts.may_retry.remove(attempts.serves)
        attempts.serves = None

    def on_end(self, event: RunEnded) -> None:
        """A retry is queued as soon as an answer is taken."""
        for attempts in self._of.values():
            self._forgotten(attempts, event)

    def _look(self, event: MemberEvent) -> _Attempts:
        attempts = self._of.setdefault(event.member, _Attempts())
        self._forgotten(attempts, event)
        return attempts

    def _forgotten(self, attempts: _Attempts, event: Event) -> None:
        """Something else happens: a retry that is not queued by now is none."""
        if attempts.failed is None or not self.run.is_recorded:
            return
        connector, _, answer = attempts.failed
        attempts.failed = None
        self.contradiction(
            f"{answer.member} does not repeat a request to write task configs of {connector} that failed",
            (f"{answer.member} took the answer {answer.answer} to its request to write task configs of {connector} at "
             f"{STEP};", answer),
            (f"it queued no retry before {STEP}: contradiction.", event),
        )  # fmt: skip

    def _report(self, event: HerderRequestQueued, attempts: _Attempts) -> None:
        known = [pause_ms(before + 1) for connector, before in attempts.may_retry if connector == event.work]
        due = f"the pause that is due is {known[0]} ms" if known else "nothing that it had asked for has failed"
        self.contradiction(
            f"{event.member} is to look at the task configs of {event.work} again in {event.delay_ms} ms, and {due}",
            (f"{event.member} queued at {STEP} another look at the task configs of {event.work}, {event.delay_ms} ms "
             f"from then, and {due}: contradiction.", event),
        )  # fmt: skip


class _AskLeaders(SimulatedWorkerFold):
    needs = ((WorkerConfigured,), (LeaderAsked,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {LeaderAsked: self.on_asked})
        self.compared = 0

    def on_asked(self, event: LeaderAsked) -> None:
        """Compared with the assignment that it took last."""
        worker = self.memory.of(event.member)
        if worker.received is None or worker.configured is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        leader = worker.received.leader_url
        is_itself = event.operation == WRITE and event.url == worker.configured.url
        if event.url == leader and not is_itself:
            return
        self.contradiction(
            f"{event.member} asks {event.url}, and {'that is itself' if is_itself else f'its leader is at {leader}'}",
            (f"the last assignment that {event.member} took, at {STEP}, has its leader at {leader};", worker.received),
            (f"it asks {event.url} to {event.operation} of {event.connector} at {STEP}: contradiction.", event),
        )


ReconfigurationsAreRetried: Final = Invariant(
    name="reconfigurations_are_retried",
    family="connect_duties",
    claim="a worker queues requests to be served at once; it looks at a connector's task configs again after a pause "
    "only where they were to be written and were not, and always where its leader's answer is another than 204; the "
    "pause is a quarter of a second, and doubles up to a minute",
    source="DistributedHerder.reconfigureConnectorTasksWithExponentialBackoffRetries, publishConnectorTaskConfigs",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, HerderRequestQueued, HerderRequestStarted, LeaderAnswered, LeaderAsked,
                 TaskConfigsGenerated),
    violation=ReconfigurationsAreRetriedViolated,
    fold=_Retried,
)  # fmt: skip
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    TaskConfigsGenerated(member="w0", generation=1, connector="c", connector_config="x", tasks=(), published=True)
    HerderRequestQueued(member="w0", number=0, operation="reconfigure", work="c", delay_ms=250)
"""

LeadersAreAsked: Final = Invariant(
    name="leaders_are_asked",
    family="connect_duties",
    claim="a worker sends internal requests to the URL of its leader in the assignment that it took last, and has task "
    "configs written by no request to itself",
    source="DistributedHerder.publishConnectorTaskConfigs, fenceZombieSourceTasks, leaderUrl",
    premises=(RECORDED,),
    exempted_by=(WorkerConfigured,),
    violation=LeadersAreAskedViolated,
    fold=_AskLeaders,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager", url="http://w0/")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="default", leader="b", leader_url="http://w1/",
                              config_offset=3)
    LeaderAsked(member="w0", request=0, operation="fence", connector="c", url="http://w2/")
"""

CLAIMS: Final = (ReconfigurationsAreRetried, LeadersAreAsked)
"""In the order in which reports name them."""
