"""The config store of one worker (``KafkaConfigBackingStore``), sans-IO: write through a log, know only records read.

A worker knows a configuration, also one that it wrote itself, only after it has read it back; ``snapshot().offset``
says how far it read, and workers compare it with each other when they join their group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalance_check.impl.connect.config import arguments, writing
from rebalance_check.impl.connect.config.arguments import NO_ARGUMENTS, Arguments, call_started_event
from rebalance_check.impl.connect.config.changes import ConfigChange
from rebalance_check.impl.connect.config.errors import (
    ConfigRecordError,
    ConfigStoreError,
    ConfigTimeoutError,
    ConfigWriteError,
    PartitionCountError,
    PrivilegedWriteError,
    PrivilegeError,
    UnsupportedError,
)
from rebalance_check.impl.connect.config.log import (
    ConfigLog,
    ExactlyOnce,
    InitTransactions,
    LogStep,
    ReadToEnd,
    Send,
)
from rebalance_check.impl.connect.config.observing import (
    call_ended_event,
    callback_event,
    read_event,
    snapshot_event,
)
from rebalance_check.impl.connect.config.reading import ConfigState, read_record
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.values import (
    Properties,
    RestartRequest,
    SessionKey,
    TargetState,
    WrittenProperties,
)
from rebalance_check.impl.connect.config.writing import READ_WRITE_TIMEOUT_MS, ConfigCall, Plan, Write
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import (
    ConfigReadEnded,
    ConfigReadStarted,
    ConfigStoreStarted,
)


class ConfigStore:
    """One worker's store, from its start to its stop; a restarted worker makes a new one.

    ``member`` is the worker in events, ``log`` the port described in `rebalance_check.impl.connect.config.log`, ``now``
    the clock in milliseconds that bounds calls. ``listener`` is handed every change that is read after the start.
    ``rewrite_tasks`` mends KAFKA-17719, which Kafka has not: a reconfigured connector has its tasks written again.
    """

    def __init__(
        self,
        member: str,
        log: ConfigLog,
        recorder: Recorder,
        *,
        now: Callable[[], int],
        listener: Callable[[ConfigChange], None] = lambda _: None,
        exactly_once: ExactlyOnce = ExactlyOnce.DISABLED,
        rewrite_tasks: bool = False,
    ) -> None:
        self.member = member
        self.listener = listener
        self.exactly_once = exactly_once
        self.rewrite_tasks = rewrite_tasks
        self._log = log
        self._recorder = recorder
        self._now = now
        self._state = ConfigState()
        self._started = False
        self._privileged = False
        self._submitted = 0
        self._begun = 0
        self._calls: dict[int, ConfigCall] = {}

    # -------------------------------------------------------------------------------------------- what is known

    @property
    def started(self) -> bool:
        """Whether the start is over; before, changes are read and not reported."""
        return self._started

    @property
    def privileged(self) -> bool:
        """Whether the store has a producer that can be fenced."""
        return self._privileged

    @property
    def deferred(self) -> dict[str, dict[int, object]]:
        """Task configurations that were read and not committed yet, by connector and number; no snapshot has them."""
        return {connector: dict(tasks) for connector, tasks in self._state.deferred.items()}

    @property
    def calls(self) -> int:
        """How many calls are under way."""
        return len(self._calls)

    def known(self) -> ConfigSnapshot:
        """A copy for an observer, of which nothing is recorded."""
        return self._state.snapshot()

    def snapshot(self) -> ConfigSnapshot:
        """A copy of the configs read so far; the answer is recorded."""
        taken = self._state.snapshot()
        if self._recorder.listens:
            self._recorder.emit(snapshot_event(self.member, taken))
        return taken

    # -------------------------------------------------------------------------------------------- start and stop

    def start(self) -> ConfigCall:
        """Read all that the topic holds now; the store is started once that is done."""
        return self._begin(writing.START, timeout_ms=None)

    def stop(self) -> None:
        """Close the producers and read no more; calls under way are never answered."""
        self._drop_privileges()
        self._calls.clear()
        self._log.close()

    # -------------------------------------------------------------------------------------------- calls

    def put_connector(self, connector: str, config: WrittenProperties, target: TargetState | None = None) -> ConfigCall:
        """Write the configuration of a connector, after its target state if one is given; privileged."""
        given = arguments.of_connector(connector, config, target)
        taken = self._state.snapshot()
        tasks = [_written(taken.task_config(connector, number)) for number in taken.tasks(connector)]
        if self.rewrite_tasks and tasks:
            return self._begin(writing.put_connector_and_tasks(connector, config, target, tasks), given)
        return self._begin(writing.put_connector(connector, config, target), given)

    def put_tasks(self, connector: str, configs: Sequence[WrittenProperties]) -> ConfigCall:
        """Write the configurations of all tasks of a connector and commit them; privileged. Nothing is compared."""
        return self._begin(writing.put_tasks(connector, configs), arguments.of_tasks(connector, configs))

    def remove_connector(self, connector: str) -> ConfigCall:
        """Write the tombstones of a connector and of its target state; privileged."""
        return self._begin(writing.remove_connector(connector), Arguments(connector))

    def remove_tasks(self, connector: str) -> ConfigCall:
        """Raises `UnsupportedError`, as Kafka's store does: tasks vanish with a commit of fewer."""
        raise UnsupportedError(f"the tasks of {connector!r} cannot be removed: put fewer task configurations")

    def put_target_state(self, connector: str, state: TargetState) -> ConfigCall:
        """Write the target state of a connector; any worker may, and nothing is read back."""
        return self._begin(writing.put_target_state(connector, state), arguments.of_target_state(connector, state))

    def put_task_count(self, connector: str, tasks: int) -> ConfigCall:
        """Write that the producers of so many tasks were fenced; privileged."""
        return self._begin(writing.put_task_count(connector, tasks), arguments.of_task_count(connector, tasks))

    def put_session_key(self, key: SessionKey) -> ConfigCall:
        """Write a session key; privileged."""
        return self._begin(writing.put_session_key(key), arguments.of_session_key(key))

    def put_restart(self, request: RestartRequest) -> ConfigCall:
        """Write a request to restart; privileged."""
        return self._begin(writing.put_restart(request), arguments.of_restart(request))

    def put_logger_level(self, namespace: str, level: str) -> ConfigCall:
        """Write the level of loggers on all workers; any worker may, and nothing is read back."""
        return self._begin(writing.put_logger_level(namespace, level), arguments.of_logger_level(namespace, level))

    def refresh(self, timeout_ms: int) -> ConfigCall:
        """Read to the end of the topic."""
        return self._begin(writing.REFRESH, arguments.of_refresh(timeout_ms), timeout_ms)

    def claim_privileges(self) -> ConfigCall:
        """Fence every other leader's producer; nothing where privileged writes are plain, or privileges are held."""
        held = self._privileged or not self.exactly_once.transactional
        return self._begin(writing.NOTHING if held else writing.CLAIM, timeout_ms=None)

    def deadline_of(self, call: ConfigCall) -> int | None:
        """When `expire` fails a call (ms); None while it is in a transaction, which has its own time-outs."""
        step = None if call.done else call.step[0]
        return None if isinstance(step, Write) and self._is_transaction(step) else call.deadline_ms

    def expire(self) -> None:
        """Fail the calls whose time is over."""
        now = self._now()
        for number, call in list(self._calls.items()):
            step, deadline_ms = call.step[0], self.deadline_of(call)
            if deadline_ms is not None and now >= deadline_ms:
                del self._calls[number]
                if isinstance(step, ReadToEnd):
                    self._read_ended("timeout")
                self._fail(call, "the time is over")

    # -------------------------------------------------------------------------------------------- steps

    def _begin(
        self, plan: Plan, given: Arguments = NO_ARGUMENTS, timeout_ms: int | None = READ_WRITE_TIMEOUT_MS
    ) -> ConfigCall:
        call = ConfigCall(plan, None if timeout_ms is None else self._now() + timeout_ms, self._begun)
        self._begun += 1
        self._recorder.emit(call_started_event(self.member, call, given))
        self._go_on(call)
        return call

    def _go_on(self, call: ConfigCall) -> None:
        """Submit the call's next step, if there is one."""
        if call.done:
            self._ended(call)
            return
        step, _ = call.step
        if isinstance(step, Write) and not step.records and not self._is_transaction(step):
            call.at += 1  # plain sends of nothing
            self._go_on(call)
            return
        if isinstance(step, Write) and self._is_transaction(step) and not self._privileged:
            call.error = PrivilegeError(
                f"{self.member} cannot write {step.records[0].key if step.records else 'nothing'} to the config topic "
                "without write privileges: claim them first"
            )
            self._ended(call)
            return
        if isinstance(step, ReadToEnd):
            self._recorder.emit(ConfigReadStarted(member=self.member, isolation=self.exactly_once.isolation))
        self._submitted += 1
        self._calls[self._submitted] = call
        self._log.submit(self._submitted, self._log_step(step))

    def _log_step(self, step: writing.CallStep) -> LogStep:
        return Send(step.records, self._is_transaction(step)) if isinstance(step, Write) else step

    def _is_transaction(self, step: Write) -> bool:
        return step.privileged and self.exactly_once.transactional

    def completed(self, number: int, failure: str = "") -> None:
        """A step is done, or failed: the call goes on, or ends. Steps of calls that are over change nothing."""
        call = self._calls.pop(number, None)
        if call is None:
            return
        step, _ = call.step
        if isinstance(step, ReadToEnd):
            self._read_ended("failed" if failure else "ok")
        if not failure and call.plan is writing.START:
            failure = self._finish_start()
        if failure:
            self._fail(call, failure)
            return
        if isinstance(step, InitTransactions):
            self._privileged = True
        call.at += 1
        self._go_on(call)

    def _finish_start(self) -> str:
        if self._log.partitions > 1:
            return f"the config topic has {self._log.partitions} partitions"
        self._started = True
        self._recorder.emit(ConfigStoreStarted(member=self.member, offset=self._state.offset))
        return ""

    def _fail(self, call: ConfigCall, why: str) -> None:
        """End a call; a transaction that failed costs the privileges."""
        step, what = call.step
        call.error = self._error(call, step, f"{self.member} failed in {what} ({why})")
        if isinstance(step, InitTransactions) or isinstance(call.error, PrivilegedWriteError):
            self._drop_privileges()
        self._ended(call)

    def _ended(self, call: ConfigCall) -> None:
        self._recorder.emit(call_ended_event(self.member, call))

    def _error(self, call: ConfigCall, step: writing.CallStep, text: str) -> ConfigStoreError:
        if call.plan is writing.START and self._log.partitions > 1:
            return PartitionCountError(f"{text}: make the topic with one partition, and start again")
        if isinstance(step, Write) and self._is_transaction(step):
            return PrivilegedWriteError(f"{text}: claim write privileges, and try again")
        if call.plan is writing.REFRESH and call.deadline_ms is not None and self._now() >= call.deadline_ms:
            return ConfigTimeoutError(f"{text}: try again later")
        return ConfigWriteError(f"{text}: what was sent may have been appended; read the topic, and try again")

    def _drop_privileges(self) -> None:
        if self._privileged:
            self._privileged = False
            self._log.close_transactions()

    # -------------------------------------------------------------------------------------------- reading

    def read(self, offset: int, key: str | None, value: bytes | None) -> None:
        """Take one record of the topic, as the reader's thread does, and report its changes.

        Raises: ConfigRecordError at a record at which Kafka's callback throws.
        """
        try:
            reading = read_record(self._state, offset, key, value)
        except ConfigRecordError:
            self._recorder.emit(read_event(self.member, offset, key, value, converted=True))
            raise
        self._recorder.emit(read_event(self.member, offset, key, value, converted=reading.converted))
        if self._started:
            for change in reading.changes:
                self._recorder.emit(callback_event(self.member, change))
                self.listener(change)

    def _read_ended(self, outcome: str) -> None:
        self._recorder.emit(ConfigReadEnded(member=self.member, offset=self._state.offset, outcome=outcome))


def _written(config: Properties | None) -> WrittenProperties:
    """A configuration that was read, as it is written again: its values are texts."""
    return {name: None if value is None else str(value) for name, value in (config or {}).items()}
