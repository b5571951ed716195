"""Live clients as a `Subject`: churn in, one history out."""

from __future__ import annotations

import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.brokers.open import Broker
from rebalance_check.integration.interrupts import is_interrupted
from rebalance_check.integration.live.clients import require_installed
from rebalance_check.integration.live.nodes import Elections, NodeFaults
from rebalance_check.integration.live.process import MemberProcess
from rebalance_check.integration.live.recording import RawRecording, merge
from rebalance_check.integration.live.settings import LiveOptions, LiveProtocol, MemberOrder
from rebalance_check.integration.live.settling import Unsettled, await_settled
from rebalance_check.integration.live.topics import create_topic, fill
from rebalance_check.model.vocabulary.actions import CHURN, COORDINATOR_FAULTS, Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    HealEnded,
    MemberCrashed,
    MemberPaused,
    MemberResumed,
    RunEnded,
    RunStarted,
    TopicsDescribed,
)
from rebalance_check.model.vocabulary.ids import partition
from rebalance_check.properties.incarnations import with_incarnations

RECORDS_PER_PARTITION: Final = 200
MEMBER_CHURN: Final = CHURN - {ActionKind.CHANGE_CONFIG}
HARNESS: Final = "harness"
NODES: Final = "nodes"


class LiveSubject:
    """A group of real consumers of the libraries that ``settings`` name on ``broker``, each a process that gets real
    signals. `RebalanceCheckError` when a library is not installed. On a cluster its coordinator may be killed, paused
    and moved, too.

    ``folder`` receives the raw recordings while the run goes on (default: a temporary folder that goes with the run).
    `close` returns one merged history; `perform` returns nothing, since the effect of an action is
    seen by other processes, later.
    """

    def __init__(self, broker: Broker, settings: LiveOptions, folder: Path | None = None) -> None:
        for client in settings.clients:
            require_installed(client)
        self.name = f"{' + '.join(settings.clients)} on {broker.name}"
        self.actions = MEMBER_CHURN | (COORDINATOR_FAULTS if broker.cluster else frozenset())
        self._broker = broker
        self._settings = settings
        self._folder = folder
        self._run: _Run | None = None
        self._broke_off = False

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """A new topic and group; members start when the schedule says so."""
        started = _Run(self._broker, self._settings, bounds, self._folder)
        started.prepare()
        self._run, self._broke_off = started, False
        address = f"{bounds.address()} session {self._settings.session_timeout_ms} ms"
        self._run.harness.emit(RunStarted(subject=self.name, seed=seed, bounds=address))
        self._run.describe_topics()
        return ()

    def perform(self, action: Action) -> Sequence[Event]:
        """Do one churn action; `Heal` returns when the group has settled, or is known not to.

        Raises `ClientFailedError` when the process of a member crashed or hung, and another `RebalanceCheckError` when
        the subject is not open.
        """
        if self._run is None:
            raise RebalanceCheckError(f"{action} came before open() or after close(): open the subject first")
        try:
            self._run.perform(action)
        except BaseException:
            self._broke_off = True
            raise
        return ()

    def close(self) -> Sequence[Event]:
        """End every member, orderly unless the run broke off or was interrupted, and return the merged history."""
        run, self._run = self._run, None
        if run is None:
            return ()
        try:
            if self._broke_off or is_interrupted():
                run.abandon()
            else:
                run.end()
            return list(with_incarnations(list(merge(run.recordings))))
        finally:
            run.discard()


class _Run:
    """One run: its folder, its group, its processes."""

    def __init__(self, broker: Broker, settings: LiveOptions, bounds: Bounds, folder: Path | None) -> None:
        self._settings = settings
        self._bounds = bounds
        self._broker = broker
        self._temporary = folder is None
        self._folder = folder or Path(tempfile.mkdtemp(prefix="rebalance-check-live-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        # Kafka remembers groups and topics: every run has its own.
        identity = uuid.uuid4().hex[:8]
        self._group, self._topic = f"live-{identity}", f"t{identity}"
        self._processes: list[MemberProcess | None] = [None] * bounds.members
        self._heals = 0
        self._pending: list[str] = []
        self._faults: NodeFaults | None = None
        self._watching = ExitStack()
        self.recordings: list[Path] = []
        self._harness_file = RawRecording(self._new_recording(HARNESS))
        self.harness: Recorder = self._harness_file.recorder(self._group, HARNESS)
        self._effects: dict[ActionKind, Callable[[Action], None]] = {
            ActionKind.START_MEMBER: self._start,
            ActionKind.STOP_MEMBER: self._stop,
            ActionKind.CRASH_MEMBER: self._crash,
            ActionKind.PAUSE_MEMBER: self._pause,
            ActionKind.RESUME_MEMBER: self._resume,
            ActionKind.ADVANCE_CLOCK: self._wait,
            ActionKind.HEAL: self._heal,
            ActionKind.AWAIT_GROUP: self._await_group,
        }

    def prepare(self) -> None:
        """Create the topic and put something into it to read; nothing is left on the disk when that fails."""
        nodes = self._broker.bootstrap
        try:
            create_topic(nodes, self._topic, self._bounds.partitions, replicas=len(nodes.split(",")))
            fill(nodes, self._topic, self._bounds.partitions, RECORDS_PER_PARTITION)
            self._watch_nodes()
        except BaseException:
            self._harness_file.close()
            self.discard()
            raise

    def describe_topics(self) -> None:
        """Record which partitions exist; they stay as they are. Candidates of an election own none."""
        if self._settings.protocol is LiveProtocol.ELECTION:
            return
        existing = tuple(partition(self._topic, index) for index in range(self._bounds.partitions))
        self.harness.emit(TopicsDescribed(partitions=existing))

    def _watch_nodes(self) -> None:
        if self._broker.cluster is None:
            return
        self._faults = NodeFaults(self._broker.cluster, self._group, self.harness)
        self._effects |= self._faults.effects
        recording = RawRecording(self._new_recording(NODES))
        self._watching.enter_context(Elections(self._broker.cluster, self._group, recording))

    def perform(self, action: Action) -> None:
        self._require_no_crash()
        self._effects[action.kind](action)

    def _require_no_crash(self) -> None:
        for process in self._processes:
            if process is not None:
                process.require_no_crash()

    def end(self) -> None:
        """Ask all members to leave, and close the recording of the harness when they have."""
        try:
            self._require_no_crash()
            if self._faults is not None:
                self._faults.heal()
            alive = [process for process in self._processes if process is not None]
            for process in alive:
                process.ask_to_leave()
            for process in alive:
                process.await_end()
            self._watching.close()  # no source of the run goes on behind its end
            self.harness.emit(RunEnded(pending=tuple(self._pending)))
        finally:
            self._kill_all()
            self._watching.close()
            self._harness_file.close()

    def abandon(self) -> None:
        """Kill all members, and close the recording of the harness, in which the end of the run is missing.

        A member that was starting may have recorded nothing, not even its file.
        """
        self._kill_all()
        self.recordings = [path for path in self.recordings if path.exists()]
        self._watching.close()
        self._harness_file.close()

    def discard(self) -> None:
        """Remove the folder if it was made for this run."""
        if self._temporary:
            shutil.rmtree(self._folder)

    def _kill_all(self) -> None:
        for process in self._processes:
            if process is not None and process.alive:
                process.kill()

    def _new_recording(self, name: str) -> Path:
        path = self._folder / f"{len(self.recordings):03d}-{name}.raw"
        self.recordings.append(path)
        return path

    def _of(self, action: Action) -> MemberProcess:
        process = self._processes[action.member]
        if process is None or not process.alive:
            raise RebalanceCheckError(f"{action} needs m{action.member} to run, and it does not: start it first")
        return process

    def _start(self, action: Action) -> None:
        previous = self._processes[action.member]
        if previous is not None and previous.alive:
            previous.await_end()
        name = f"m{action.member}"
        order = MemberOrder(
            bootstrap=self._broker.bootstrap,
            group=self._group,
            topic=self._topic,
            member=name,
            recording=str(self._new_recording(name)),
            choice=self._settings.choice(action.member, action.choice if self._settings.upgrade else 0),
            settings=self._settings,
        )
        process = self._processes[action.member] = MemberProcess(order)
        process.await_started()

    def _stop(self, action: Action) -> None:
        if not self._gave_up(action):
            self._of(action).ask_to_leave()

    def _crash(self, action: Action) -> None:
        if self._gave_up(action):
            return
        self._of(action).kill()
        self.harness.emit(MemberCrashed(member=f"m{action.member}"))

    def _pause(self, action: Action) -> None:
        if self._gave_up(action):
            return
        self._of(action).pause()
        self.harness.emit(MemberPaused(member=f"m{action.member}"))

    def _resume(self, action: Action) -> None:
        if self._gave_up(action):
            return
        process = self._of(action)
        self.harness.emit(MemberResumed(member=f"m{action.member}"))
        process.resume()

    def _gave_up(self, action: Action) -> bool:
        """Whether the group refused this member for good, so that nothing can be done to it but starting it again."""
        process = self._processes[action.member]
        return process is not None and bool(process.gave_up)

    def _await_group(self, _action: Action) -> None:
        """The group holds no members but those that run; `Heal` finds the obstacles."""
        self._settled(self._resume_all())

    def _settled(self, running: Sequence[str]) -> Unsettled:
        return await_settled(
            self._broker,
            self._group,
            members=running,
            partitions=self._bounds.partitions,
            timeout_s=self._settings.settle_timeout_ms / 1000,
        )

    def _wait(self, action: Action) -> None:
        time.sleep(action.choice * self._settings.time_scale / 1000)

    def _heal(self, _action: Action) -> None:
        """A group that does not come to rest in time is a finding, even after a good ``Heal``: a stuck member is
        one, also when it was stopped since."""
        self._heals += 1
        if self._faults is not None:
            self._faults.heal()
        found = self._settled(self._resume_all())
        self._require_no_crash()
        pending = tuple(f"at heal {self._heals}, {what}" for what in (*found.pending, *self._deaths()))
        self.harness.emit(HealEnded(pending=pending, missing=found.missing))
        self._pending += pending

    def _deaths(self) -> list[str]:
        """The members whose clients gave up, and why."""
        dead = [(slot, process.gave_up) for slot, process in enumerate(self._processes) if process is not None]
        return [f"m{slot} gave up; {why}" for slot, why in dead if why]

    def _resume_all(self) -> list[str]:
        """Wake who sleeps and see off who was asked to leave; the members that run then."""
        running: list[str] = []
        for slot, process in enumerate(self._processes):
            if process is None:
                continue
            if process.paused and process.alive:
                self._resume(Action(ActionKind.RESUME_MEMBER, slot))
            if process.leaving:
                process.await_end()
            if process.alive:
                running.append(process.order.member)
        return running
