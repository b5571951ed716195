"""Mutants of Kafka Connect: what each does wrong, and the simulated groups that show it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import Find, FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import ClusterMode, FaultKind, SimulatedProtocol, SimulationOptions


def _search(mode: ClusterMode, first: int, last: int) -> FuzzSearch:
    return FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode), first=first, last=last)


def _search_with(fault: FaultKind, mode: ClusterMode, last: int) -> FuzzSearch:
    """In runs in which nothing but this goes wrong."""
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode, faults=(fault,))
    return FuzzSearch(options=options, last=last)


_EAGER: Final = _search(ClusterMode.EAGER, 0, 100)
_SESSIONED: Final = _search(ClusterMode.SESSIONED, 0, 100)
_EXACTLY_ONCE: Final = _search(ClusterMode.EXACTLY_ONCE, 0, 100)
_CONFIG_OUTAGE: Final = _search_with(FaultKind.CONFIG_OUTAGE, ClusterMode.COMPATIBLE, 160)
_GIVEN_UP: Final = FuzzSearch(
    options=SimulationOptions(
        protocol=SimulatedProtocol.CONNECT,
        mode=ClusterMode.SESSIONED,
        faults=(
            FaultKind.DELAY, FaultKind.DROP, FaultKind.DUPLICATE, FaultKind.REORDER, FaultKind.DISCONNECT,
            FaultKind.PAUSE, FaultKind.SLOW_APPLICATION, FaultKind.REFUSAL, FaultKind.LOOK_UP, FaultKind.FAILOVER,
            FaultKind.COORDINATOR_KILL, FaultKind.COORDINATOR_PAUSE, FaultKind.COORDINATOR_MOVE,
        ),
    ),
    first=455,
    last=475,
)  # fmt: skip
"""A worker looks for its coordinator for so long that it gives its work up."""


def _mutant(name: str, what: str, caught_by: str, find: Find = _SESSIONED, catalogue_id: str = "") -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find, catalogue_id=catalogue_id)


def _of_the_field(name: str, what: str, caught_by: str, find: Find = _SESSIONED) -> Mutant:
    """A defect that stands in the catalogue under its name."""
    return _mutant(name, what, caught_by, find, name)


_ROUNDS: Final = [
    _mutant(
        "offset-of-each-worker",
        "the leader answers each worker with the offset that this worker reported",
        "connect_assignment_is_agreed",
        _EAGER,
    ),
    _mutant(
        "leader-url-of-each-worker",
        "the leader answers each worker with that worker's own URL as the leader's",
        "connect_assignment_is_agreed",
        _EAGER,
    ),
    _mutant(
        "connect-active-work-counts-as-new",
        "the incremental assignor takes work that a worker claims for new when it does not remember it",
        "work_runs_once",
    ),
    _mutant(
        "eager-deals-connectors-to-all",
        "the eager assignor deals each connector to two workers",
        "work_is_granted_once",
        _EAGER,
    ),
    _mutant(
        "lost-work-never-assigned-again",
        "when the delay is over, lost work without candidates is forgotten",
        "configured_work_runs",
    ),
]

_WORK: Final = [
    _of_the_field(
        "connect-revocations-skipped-after-incomplete-rebalance",
        "an incremental worker stops nothing that is revoked while its last assignment is not started (KAFKA-10763)",
        "revoked_work_has_stopped",
        find=replace(_SESSIONED, first=0, last=10),
    ),
    _of_the_field(
        "connect-task-reconfig-not-restarted-incremental",
        "tasks that stay with their worker go on with their old configuration (KAFKA-8449)",
        "tasks_run_their_configs",
    ),
    _of_the_field(
        "connect-restart-cascades-to-cached-tasks",
        "a commit for one connector restarts the tasks of all (KAFKA-8931)",
        "work_starts_again_for_a_cause",
    ),
    _of_the_field(
        "connect-compares-transformed-with-raw-configs",
        "generated task configs with resolved secrets are compared with the references that are stored (KAFKA-16837)",
        "changed_task_configs_are_published",
    ),
    _of_the_field(
        "connect-runtime-only-change-not-applied",
        "a change of the connector's configuration that its task configs do not show is not published (KAFKA-9228)",
        "changed_task_configs_are_published",
    ),
    _of_the_field(
        "connect-shrunk-task-set-not-cleaned",
        "a connector that returns no task configs any more has none written (KAFKA-3459)",
        "changed_task_configs_are_published",
        find=replace(_SESSIONED, first=10, last=20),
    ),
    _of_the_field(
        "connect-key-rotation-after-leader-change",
        "the worker that led when it read a session key rotates it, also when another one leads by then (KAFKA-12252)",
        "only_the_leader_rotates_keys",
        _search(ClusterMode.SESSIONED, 80, 100),
    ),
    _mutant(
        "worker-waits-for-a-coordinator",
        "a worker that lost contact waits for its coordinator without limit, and lets its work run (KAFKA-9184)",
        "work_stops_while_away",
        catalogue_id="connect-zombie-worker-keeps-tasks",
        find=replace(_SESSIONED, first=0, last=10),
    ),
    _mutant(
        "old-assignment-started-after-giving-up",
        "a worker that gave up for want of a coordinator starts its old assignment once more",
        "running_work_is_claimed",
        replace(_GIVEN_UP, first=460, last=470),
    ),
    _mutant(
        "unassigned-work-restarted",
        "a worker restarts a task on request that it was not assigned",
        "only_assigned_work_starts",
        find=replace(_SESSIONED, first=20, last=30),
    ),
    _mutant(
        "started-before-configs-are-read",
        "a worker starts its assignment although it has read further than the leader had",
        "start_waits_for_configs",
    ),
    _mutant(
        "no-rejoin-after-revocation",
        "a worker that gave work up does not ask for the round that gives it on",
        "revocation_leads_to_rejoin",
        find=replace(_SESSIONED, first=60, last=70),
    ),
    _mutant("revoked-tasks-not-stopped", "a worker stops revoked connectors, and no tasks", "work_runs_once"),
    _mutant("lost-start", "the first piece of new work is not started", "configured_work_runs"),
]

_STATUSES: Final = [
    _mutant(
        "statuses-with-the-groups-generation",
        "statuses carry the next generation instead of that of the last assignment",
        "status_carries_the_generation",
    ),
    _of_the_field(
        "status-deleted-task-lingers",
        "the leader leaves the statuses of tasks that are not configured any more (KAFKA-9472)",
        "removed_work_loses_its_status",
        find=replace(_SESSIONED, first=10, last=20),
    ),
    _mutant("silent-connector-start", "a connector that starts writes no RUNNING", "last_status_says_what_runs"),
]

_READING: Final = [
    _of_the_field(
        "connect-unsync-backoff-exceeds-rebalance-delay",
        "a cooperative worker that cannot read the config topic leaves, and waits as long as an eager one (KAFKA-9849)",
        "work_stops_while_away",
        _CONFIG_OUTAGE,
    ),
    _of_the_field(
        "connect-rebalance-config-read-unbounded",
        "a worker reads the config topic to its end without a time-out, out of its group by then (KAFKA-3299)",
        "work_stops_while_away",
        replace(_CONFIG_OUTAGE, first=130, last=140),
    ),
]

_OPERATOR: Final = [
    _mutant(
        "target-state-begins-a-round",
        "a worker that reads another target state of a connector asks for a round of the whole group",
        "connect_round_has_a_cause",
        find=replace(_SESSIONED, first=15, last=25),
    ),
    _mutant(
        "target-state-restarts-the-connector",
        "a worker that reads another target state of a connector starts the connector again",
        "work_starts_again_for_a_cause",
    ),
]

_FENCING: Final = [
    _of_the_field(
        "connect-fencing-aborted-by-pending-rebalance",
        "a leader that is about to rebalance refuses to fence zombie producers, and their tasks fail (KAFKA-15059)",
        "earlier_tasks_are_fenced",
        _EXACTLY_ONCE,
    ),
    _mutant(
        "producer-keeps-its-epoch",
        "a producer that is initialised takes over the epoch of the one before, which can go on writing",
        "producer_epochs_grow",
        _EXACTLY_ONCE,
    ),
]

CONNECT_MUTANTS: Final = [*_ROUNDS, *_WORK, *_READING, *_OPERATOR, *_FENCING, *_STATUSES]
