"""A healthy group of two Connect workers, step by step: what every claim about workers must let pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from rebalance_check.model.vocabulary import events as e

W0, W1 = "w0", "w1"
ID: Final = {W0: "a", W1: "b"}
URL: Final = {W0: "http://w0/", W1: "http://w1/"}
ALL: Final = ("c", "c-0")
TARGET: Final = '{"state":"PAUSED","state.v2":"PAUSED"}'


class HealthyWorkers:
    """Writes the events of a correct group; ``generation`` and ``offset`` are those of now."""

    def __init__(self, *, exactly_once: bool = True) -> None:
        self.events: list[e.Event] = []
        self.generation = 0
        self.offset = 3
        self.completed = -1
        self.exactly_once = exactly_once
        self.attempts: dict[str, int] = {}
        self.claims: dict[str, tuple[str, ...] | None] = {}
        self.herder: dict[str, int] = {}

    def add(self, *events: e.Event) -> None:
        self.events += events

    def of(self, worker: str, kind: Any, **fields: Any) -> None:
        """An event of a worker that is in a generation."""
        generation = fields.pop("generation", self.herder.get(worker, -1))
        self.add(kind(member=worker, member_id=ID[worker], generation=generation, **fields))

    def start(self, worker: str) -> None:
        self.add(
            e.MemberStarted(member=worker, protocol="sessioned"),
            e.WorkerConfigured(
                member=worker, mode="sessioned", url=URL[worker], store=worker, exactly_once=self.exactly_once
            ),
            e.StatusStoreStarting(worker=worker, ends=(0,)),
            e.StatusStoreStarted(worker=worker),
        )
        self.snapshot(worker)
        self.claims[worker] = None

    def snapshot(self, worker: str, config: str = "y", applied: str = "x") -> None:
        self.add(
            e.ConfigSnapshotTaken(
                member=worker, offset=self.offset, connectors=(("c", "x"),), target_states=(("c", "STARTED"),),
                task_counts=(("c", 1),), tasks=("c-0",), task_configs=(("c-0", config),), applied=(("c", applied),),
            )
        )  # fmt: skip

    def join(self, *workers: str) -> None:
        self.generation += 1
        for worker in workers:
            self.of(worker, e.WorkerClaimed, url=URL[worker], config_offset=self.offset, claim=self.claims[worker])

    def computed(
        self, assigned: dict[str, tuple[str, ...]], revoked: dict[str, tuple[str, ...]] | None = None, delay_ms: int = 0
    ) -> None:
        revoked = revoked or {}
        claims = {w: claim or () for w, claim in self.claims.items() if w in assigned}
        owners = {
            work: ID[w] for w in assigned for work in (*claims[w], *assigned[w]) if work not in revoked.get(w, ())
        }
        self.of(
            W0, e.ConnectAssignmentComputed, generation=self.generation, protocol="sessioned", leader=ID[W0],
            leader_url=URL[W0], config_offset=self.offset, configured=ALL, delay_ms=delay_ms,
            completed=self.completed, offsets=tuple((ID[w], self.offset) for w in assigned),
            claims=tuple((ID[w], claims[w]) for w in assigned),
            assigned=tuple((ID[w], assigned[w]) for w in assigned),
            revoked=tuple((ID[w], revoked.get(w, ())) for w in assigned), owners=tuple(sorted(owners.items())),
        )  # fmt: skip

    def receive(
        self, worker: str, assigned: tuple[str, ...] = (), revoked: tuple[str, ...] = (), delay_ms: int = 0
    ) -> None:
        self.completed = self.generation
        self.of(
            worker, e.ConnectAssignmentReceived, generation=self.generation, protocol="sessioned", version=2,
            leader=ID[W0], leader_url=URL[W0], config_offset=self.offset, assigned=assigned, revoked=revoked,
            delay_ms=delay_ms,
        )  # fmt: skip
        self.herder[worker] = self.generation
        self.claims[worker] = tuple(w for w in (*(self.claims[worker] or ()), *assigned) if w not in revoked)

    def accept(self, worker: str, *work: str) -> None:
        self.of(worker, e.AssignmentAccepted, config_offset=self.offset, work=work)

    def status(self, worker: str, work: str, status: str) -> None:
        attempt = self.attempts[worker] = self.attempts.get(worker, -1) + 1
        kind = "task" if "-" in work else "connector"
        self.add(
            e.StatusAttempted(
                worker=worker, key=f"status-{kind}-{work}", attempt=attempt, status=status,
                generation=self.herder[worker], safe=status in {"UNASSIGNED", "FAILED"}, status_worker=worker,
            )
        )  # fmt: skip

    def start_work(self, worker: str, work: str, config: str = "y", epoch: int = 0) -> None:
        if "-" in work:
            name = f"connect-{work}"
            self.add(e.ProducerInitialised(member=worker, transactional_id=name, epoch=epoch, work=work))
            self.of(worker, e.TaskStarted, task=work, config=config, connector_config="x")
        else:
            self.of(worker, e.ConnectorStarted, connector=work)
        self.of(worker, e.WorkStateChanged, work=work, state="RUNNING")
        self.status(worker, work, "RUNNING")

    def stop_work(self, worker: str, *works: str, reason: str = "revoked") -> None:
        self.of(worker, e.WorkRevocationStarted, work=works, reason=reason)
        for work in works:
            self.stop_one(worker, work)
            self.status(worker, work, "UNASSIGNED")
        self.add(e.StatusFlushStarted(worker=worker), e.StatusFlushed(worker=worker))
        self.of(worker, e.WorkRevocationEnded, work=works)

    def stop_one(self, worker: str, work: str) -> None:
        if "-" in work:
            self.of(worker, e.TaskStopped, task=work)
        else:
            self.of(worker, e.ConnectorStopped, connector=work)

    # ------------------------------------------------------------------------------------------------ scenarios

    def first_round(self) -> None:
        """One worker gets everything."""
        self.start(W0)
        self.join(W0)
        self.computed({W0: ALL})
        self.receive(W0, ALL)
        self.accept(W0, *ALL)
        for work in ALL:
            self.start_work(W0, work)
        self.of(W0, e.SessionKeyWritten)
        checked = e.InternalRequestChecked(
            member=W0, mode="sessioned", algorithm="HmacSHA256", key="k", known_key="k", refusal=0
        )
        self.add(checked, replace(checked, key="old", refusal=403), replace(checked, algorithm="", key="", refusal=400))
        self.of(W0, e.OwnerLookedUp, work="c-0", url=URL[W0])

    def second_worker_joins(self) -> None:
        """The task moves in two rounds."""
        self.start(W1)
        self.join(W0, W1)
        self.computed({W0: (), W1: ()}, revoked={W0: ("c-0",)})
        self.stop_work(W0, "c-0")
        self.receive(W0, revoked=("c-0",))
        self.receive(W1)
        self.accept(W0)
        self.accept(W1)
        self.add(e.RejoinRequested(member=W0, reason="revoked"), e.RejoinRequested(member=W1, reason="leader"))
        self.join(W0, W1)
        self.computed({W0: (), W1: ("c-0",)})
        self.receive(W0)
        self.receive(W1, ("c-0",))
        self.accept(W0)
        self.accept(W1, "c-0")
        self.start_work(W1, "c-0", epoch=1)

    def reconfigure(self) -> None:
        """The task gets another config, restarts with it, and a leftover status is removed."""
        self.of(W0, e.TaskConfigsGenerated, connector="c", connector_config="x", tasks=(("c-0", "z"),), published=True)
        self.offset += 2
        self.of(W1, e.TaskConfigsApplied, connector="c", tasks=("c-0",))
        self.of(W1, e.TaskStopped, task="c-0")
        for worker in (W0, W1):
            self.add(e.RejoinRequested(member=worker, reason="task configs"))
            self.snapshot(worker, "z")
        self.leftover()
        self.join(W0, W1)
        self.computed({W0: (), W1: ()})
        self.receive(W0)
        self.status(W0, "c-7", "DESTROYED")
        self.add(e.StatusRead(worker=W0, key="status-task-c-7", partition=1, offset=1, status="DESTROYED"))
        self.receive(W1)
        self.accept(W0)
        self.of(W0, e.ZombieFencingEnded, connector="c", transactional_ids=("connect-c-0",))
        self.add(e.ProducerFenced(source="brokers", transactional_id="connect-c-0", epoch=2))
        self.accept(W1, "c-0")
        self.start_work(W1, "c-0", config="z", epoch=3)

    def leftover(self) -> None:
        """Statuses of the connector and of a task that is not configured are read."""
        for offset, key in enumerate(("status-connector-c", "status-task-c-7")):
            self.add(
                e.StatusRead(worker=W0, key=key, partition=offset, offset=0, status="RUNNING", status_worker="w9",
                             generation=1)
            )  # fmt: skip

    def restart(self) -> None:
        """The task is restarted by request; before, the coordinator is gone for a little while."""
        waits = e.CoordinatorAwaited(member=W1)
        self.add(e.CoordinatorLost(member=W1), waits, waits, e.CoordinatorFound(member=W1, node=0))
        self.of(W1, e.MembershipLost, reason="left")
        self.of(W1, e.WorkerClaimed, url=URL[W1], config_offset=self.offset, claim=self.claims[W1])
        self.add(e.RestartRequested(member=W1, connector="c", include_tasks=True))
        self.of(W1, e.RestartPlanned, connector="c", work=("c-0",), include_tasks=True, is_read=True)
        self.of(W1, e.TaskStopped, task="c-0")
        self.status(W1, "c-0", "RESTARTING")
        self.start_work(W1, "c-0", config="z", epoch=4)

    def use_a_topic(self) -> None:
        """The task uses a topic, twice; then an operator has the topics of its connector forgotten."""
        self.of(W1, e.TopicUsed, task="c-0", topic="t")
        self.topic_status(W1, "TOPIC")
        self.of(W1, e.TopicUsed, task="c-0", topic="t")
        self.add(e.TopicsReset(member=W1, connector="c"))
        self.topic_status(W1, "DESTROYED")

    def topic_status(self, worker: str, status: str) -> None:
        """The status of topic t is written, and read back."""
        self.attempts[worker] += 1
        key, attempt = "status-topic-t:connector-c", self.attempts[worker]
        self.add(
            e.StatusAttempted(worker=worker, key=key, attempt=attempt, status=status, generation=-1, safe=False),
            e.StatusRead(worker=worker, key=key, partition=2, offset=attempt, status=status),
        )

    def pause_what_is_paused(self) -> None:
        """An operator asks for a pause; a second request is refused, and a worker that does not lead stops nothing."""
        asked = e.HerderAsked(member=W0, request=0, operation="pause", work="c")
        record = e.ConfigAppended(writer=W0, offset=9, key="target-state-c", value=TARGET)
        self.add(asked, record, e.HerderAnswered(member=W0, request=0, answer=204))
        for worker in (W0, W1):
            self.add(e.TargetStateChanged(member=worker, connector="c", state="STARTED"))
        self.add(replace(asked, request=1, work="d"), e.HerderAnswered(member=W0, request=1, answer=404))
        stop = replace(asked, member=W1, request=2, operation="stop")
        self.add(stop, e.HerderAnswered(member=W1, request=2, answer=409))

    def second_worker_is_lost(self) -> None:
        """Its task waits for the delay, then the first worker gets it."""
        self.add(e.MemberCrashed(member=W1))
        del self.claims[W1]
        self.join(W0)
        self.computed({W0: ()}, delay_ms=1000)
        self.receive(W0, delay_ms=1000)
        self.accept(W0)
        self.add(e.RejoinRequested(member=W0, reason="delay"))
        self.join(W0)
        self.computed({W0: ("c-0",)})
        self.events[-1] = replace(self.events[-1], time_ms=1000)
        self.receive(W0, ("c-0",))
        self.accept(W0, "c-0")
        self.start_work(W0, "c-0", config="z", epoch=5)
        self.add(e.RunSettled())

    def stop(self) -> None:
        """The last worker stops in good order."""
        self.stop_work(W0, *ALL, reason="stop")
        self.add(e.MemberLeft(member=W0))

    def run(self) -> list[e.Event]:
        """All of these, one after the other."""
        for step in (self.first_round, self.second_worker_joins, self.reconfigure, self.restart,
                     self.use_a_topic, self.pause_what_is_paused, self.second_worker_is_lost, self.stop):  # fmt: skip
            step()
        return self.events
