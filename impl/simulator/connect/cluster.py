"""The simulated Connect cluster: its configuration, its operator's acts, and its unsettled work."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.reading import ConfigState, read_record
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.values import TargetState, connector_record, target_state_record
from rebalance_check.impl.connect.herder.producers import SharedProducers
from rebalance_check.impl.connect.herder.reconfiguring import TASKS_MAX, VERSION
from rebalance_check.impl.connect.status.shared_log import SharedLog
from rebalance_check.impl.runtime.options import ClusterMode, SimulationOptions
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.connect.addresses import address_of
from rebalance_check.impl.simulator.connect.application import ProcessStart, WorkerApplication
from rebalance_check.impl.simulator.connect.disturbances import Disturbances
from rebalance_check.impl.simulator.connect.internal_rest import InternalRest
from rebalance_check.impl.simulator.connect.modes import drawn_mode, mode_of
from rebalance_check.impl.simulator.connect.operator import Operator
from rebalance_check.impl.simulator.connect.process import ConnectProcess
from rebalance_check.impl.simulator.connect.repairs import Repairs, lacks_tasks
from rebalance_check.impl.simulator.connect.shared import SharedCluster
from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.impl.simulator.group_config import SimulatedGroupConfig
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.errors import Error

CONNECTORS: Final = ("c0", "c1")
"""These exist when a run begins; the tasks are spread over both."""

STATUS_PARTITIONS: Final = 3


class ConnectCluster:
    """Both topics and the operator of one run; processes are built by `build` and kept by the environment."""

    def __init__(self, environment: Environment, options: SimulationOptions) -> None:
        self._environment = environment
        self._options = options
        disturbances = Disturbances(
            stream(environment.seed, "connect"),
            lambda: environment.network.plan,
            environment.struck.note,
            environment.progress.wait,
        )
        self.shared = SharedCluster(
            clock=environment.clock,
            disturbances=disturbances,
            config_log=SharedConfigLog(environment.recorder("config topic")),
            status_log=SharedLog(STATUS_PARTITIONS, environment.recorder("status topic")),
            rest=InternalRest(disturbances),
            producers=SharedProducers(environment.recorder("transactions")),
        )
        mode = drawn_mode(environment.seed, options.mode)
        self._has_several_modes = mode in {ClusterMode.MIXED, ClusterMode.UPGRADE}
        self._is_exactly_once = mode is ClusterMode.EXACTLY_ONCE
        self.processes: list[ConnectProcess] = []
        self.operator = Operator(environment.clock, self.processes, self.shared, environment.recorder("operator"))
        self._configure(options.partitions)
        environment.to_own = self.to_own
        environment.more_pending = self.pending
        environment.unclaimed = self.unclaimed
        environment.change_cluster = self.perform
        environment.change_config = lambda tasks: self.perform(Action(ActionKind.CHANGE_CONFIG, 0, tasks))
        environment.heal_cluster = self.heal

    def _configure(self, tasks: int) -> None:
        """The connectors are configured before any worker starts; their tasks are generated when they run."""
        counts = (tasks - tasks // 2, tasks // 2)
        for name, count in zip(CONNECTORS, counts, strict=True):
            config = {TASKS_MAX: str(count), VERSION: "0"}
            self.shared.config_log.append("operator", target_state_record(name, TargetState.STARTED))
            self.shared.config_log.append("operator", connector_record(name, config))

    def build(self, name: str, settings: SimulatedGroupConfig, random: Random, recorder: Recorder) -> ConnectProcess:
        """The slot of one worker, down.

        After a failover a coordinator knows of each member only the protocol that the group had: where modes differ, it
        refuses a worker that does not offer that one, until the others have joined again. The worker ends, and a
        supervisor starts it anew.
        """
        number = len(self.processes)

        def start(step: int) -> WorkerApplication:
            process.incarnations += 1
            began = ProcessStart(
                name=name,
                worker_id=address_of(self._environment.seed, name, number),
                incarnation=process.incarnations,
                mode=mode_of(self._environment.seed, self._options.mode, number, step),
                client=settings.client(name),
                long_poll_ms=settings.long_poll_ms,
                exactly_once=ExactlyOnce.ENABLED if self._is_exactly_once else ExactlyOnce.DISABLED,
            )
            jitter = stream(self._environment.seed, f"backoff {name}")
            return WorkerApplication(began, recorder, self.shared, wake=process.wake, jitter=jitter)

        choices = stream(self._environment.seed, f"nodes {name}")
        process = ConnectProcess(
            name, self._environment.network, random, recorder, start,
            choices=choices, long_poll_ms=settings.long_poll_ms,
        )  # fmt: skip
        self.processes.append(process)
        if self._has_several_modes:
            process.restarted_after |= {Error.INCONSISTENT_GROUP_PROTOCOL}
        self.shared.pumps.append(process.pump)
        return process

    def perform(self, action: Action) -> None:
        """One thing that happens to the cluster, its connectors or its topics."""
        self.operator.perform(action)

    # -------------------------------------------------------------------------------------------- what must be

    def snapshot(self) -> ConfigSnapshot:
        """The configs that a worker would have if it read the config topic from beginning to end now."""
        state = ConfigState()
        for record in self.shared.config_log.readable(committed=self._is_exactly_once):
            read_record(state, record.offset, record.key, record.value)
        return state.snapshot()

    def to_own(self) -> tuple[str, ...]:
        """Every connector and task that one worker must run."""
        counts = self.snapshot().task_counts
        tasks = [f"{name}-{number}" for name, count in counts.items() for number in range(count)]
        return (*(f"connector {name}" for name in counts), *tasks)

    def pending(self) -> Iterator[str]:
        """Connectors whose tasks are not those of their configuration, and operations that are not over."""
        snapshot = self.snapshot()
        for name in snapshot.connectors():
            if difference := lacks_tasks(snapshot, name):
                yield difference
        yield from self.operator.pending()

    def unclaimed(self) -> tuple[tuple[str, str], ...]:
        """The work that workers run beyond their assignments, each connector and task after its worker."""
        running = ((process.name, process.worker) for process in self.processes)
        return tuple((name, work) for name, worker in running if worker is not None for work in worker.unclaimed)

    def heal(self) -> None:
        """The config topic can be read, and the operator has every connector run, with a new configuration."""
        for process in self.processes:
            if process.worker is not None:
                process.worker.end_outage()
        self.operator.heal(self.snapshot())
        Repairs(
            clock=self._environment.clock,
            records=lambda: self.shared.config_log.readable(committed=self._is_exactly_once),
            processes=self.processes,
            snapshot=self.snapshot,
            resume=self.operator.resume,
            reconfigure=lambda connector: self.operator.reconfigure(self.snapshot(), connector),
            several_modes=self._has_several_modes,
        ).begin()
