"""Mutants of Connect workers: what they do with plug-ins, restarts, stops, configs and the records that they write."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import ClusterMode, FaultKind, SimulatedProtocol, SimulationOptions


def _search(mode: ClusterMode, first: int = 0) -> FuzzSearch:
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode)
    return FuzzSearch(options=options, first=first, last=first + 150)


_ANY: Final = _search(ClusterMode.ANY)
_EXACTLY_ONCE: Final = _search(ClusterMode.EXACTLY_ONCE)

_OUTAGES: Final = FuzzSearch(
    options=SimulationOptions(
        protocol=SimulatedProtocol.CONNECT, faults=(FaultKind.CONFIG_OUTAGE,), mode=ClusterMode.EXACTLY_ONCE
    ),
    first=10,
    last=20,
)

_STATUSES: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.STATUS), first=0, last=100)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _ANY) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


WORKER_DUTY_MUTANTS: Final = [
    _mutant(
        "configured-tasks-fail",
        "a worker lets each task fail that has a configuration, instead of starting it",
        "work_fails_for_a_cause",
    ),
    _mutant(
        "paused-connectors-run-on",
        "the thread of a connector that is to be paused or stopped does nothing",
        "plugins_reach_their_state",
    ),
    _mutant(
        "quick-work-is-cancelled",
        "a worker waits for the end of connectors and tasks only once their time is over",
        "only_slow_work_is_cancelled",
    ),
    _mutant(
        "restart-takes-what-runs",
        "a request to restart what failed restarts what did not",
        "restarts_follow_statuses",
        find=replace(_ANY, first=40, last=50),
    ),
    _mutant(
        "planned-restart-starts-nothing",
        "a worker stops what it was asked to restart, and does not start it again",
        "planned_restarts_are_done",
        find=replace(_ANY, first=30, last=40),
    ),
    _mutant(
        "fencing-leaves-the-epoch",
        "fencing a transactional id takes no epoch: the producer that is fenced can write on",
        "producer_epochs_grow",
        _EXACTLY_ONCE,
    ),
    _mutant(
        "fencing-forgets-a-task",
        "a leading worker fences the producers of all earlier tasks but the last",
        "earlier_tasks_are_fenced",
        _EXACTLY_ONCE,
    ),
    _mutant(
        "refused-task-goes-on",
        "a task whose predecessors could not be fenced fails, and initialises its producer all the same",
        "failed_tasks_get_no_producer",
        _EXACTLY_ONCE,
    ),
    _mutant(
        "refused-task-configs-are-forgotten",
        "a worker whose task configs the leader refuses does not send them again",
        "published_task_configs_arrive",
        find=replace(_ANY, first=70, last=80),
    ),
    _mutant(
        "asked-worker-stays",
        "a worker that is asked to end goes on",
        "workers_end_when_asked",
        find=replace(_ANY, first=10, last=20),
    ),
    _mutant(
        "stopping-worker-waits-for-its-round",
        "a worker that is asked to end while it joins waits for its assignment, and starts that",
        "stopping_workers_start_nothing",
    ),
    _mutant(
        "new-work-goes-to-the-most",
        "a leading worker gives new work to those first that have the most",
        "new_work_goes_to_the_least",
    ),
    _mutant(
        "balance-takes-what-is-left-over",
        "a leading worker takes from those that may keep one more what is beyond the share",
        "work_is_taken_for_a_cause",
    ),
    _mutant(
        "reads-end-at-once",
        "a read to the end of the config topic is over wherever the reader stands",
        "config_reads_reach_the_end",
    ),
    _mutant(
        "stopped-is-written-once",
        "the target state STOPPED is written so that releases that do not know it find an unknown name",
        "config_records_have_kafkas_form",
        find=replace(_ANY, first=20, last=30),
    ),
    _mutant(
        "status-of-the-next-generation",
        "the record of a status names a higher generation than the call did",
        "safe_status_writes.sent_records_say_so",
    ),
    _mutant(
        "stopped-status-store-sends",
        "a status store that was stopped sends on",
        "safe_status_writes.stopped_stores_are_silent",
        _STATUSES,
    ),
    _mutant(
        "status-store-starts-for-ever",
        "a status store says at each record that it has started",
        "safe_status_writes.stores_start_once",
    ),
    _mutant(
        "commits-need-no-round",
        "a worker that reads a commit of task configs does not join again for it",
        "new_configs_lead_to_a_round",
    ),
    _mutant(
        "restart-of-the-known-is-not-found",
        "a leading worker answers 404 to a request to restart a connector of which it knows a status",
        "operators_get_true_answers",
        find=replace(_ANY, first=20, last=30),
    ),
    _mutant(
        "deletion-of-the-unknown-is-a-bad-request",
        "a leading worker answers 400 to a request to delete a connector that it does not know",
        "operators_get_true_answers",
        find=replace(_ANY, first=10, last=20),
    ),
    _mutant(
        "delay-begins-anew",
        "a leading worker that computes a round while its delay runs begins the delay anew",
        "delays_run_out",
        find=replace(_ANY, first=0, last=10),
    ),
    _mutant(
        "statuses-are-not-drained",
        "a worker that ends stops its status store while its last statuses are on their way",
        "statuses_are_drained",
    ),
    _mutant(
        "known-configs-are-read-again",
        "a worker reads the config topic to its end for each assignment",
        "known_configs_are_not_read_again",
    ),
    _mutant(
        "paused-connectors-are-not-written",
        "a worker whose connector is paused writes no status of it",
        "states_are_written",
    ),
    _mutant(
        "pause-stops-no-connector",
        "a worker whose connector is to pause, or to stop, says at once that it does, and does not stop its plug-in",
        "plugins_take_their_time",
        find=replace(_ANY, first=0, last=10),
    ),
    _mutant(
        "calls-of-a-connector-overlap",
        "the thread of a connector does what it is asked for while it is inside its plug-in",
        "plugins_take_their_time",
    ),
    _mutant(
        "paused-tasks-do-not-start",
        "a task that was paused before it started runs when it is resumed, and does not start",
        "tasks_start_once",
    ),
    _mutant(
        "stopping-task-outlives-its-refusal",
        "a task that is to stop, and whose predecessors could not be fenced, does not end",
        "refused_tasks_end_at_once",
        _EXACTLY_ONCE,
    ),
    _mutant(
        "work-is-given-up-at-once",
        "a worker that finds no coordinator gives its work up at its first poll in vain",
        "work_is_given_up_after_a_wait",
    ),
    _mutant(
        "paused-connectors-are-stopped",
        "a worker that is asked to pause a connector writes that it is stopped",
        "stores_are_called_as_asked",
    ),
    _mutant(
        "read-back-has-no-limit",
        "a worker waits for what it reads back behind a transaction for as long as it takes",
        "config_calls_end_in_time",
        _OUTAGES,
    ),
    _mutant(
        "status-store-starts-unread",
        "a status store says at once that it has read the topic",
        "safe_status_writes.stores_start_behind_the_topic",
    ),
    _mutant(
        "cached-status-is-not-written-again",
        "a status store does not write a status that it has read of the same connector or task",
        "last_status_says_what_runs",
    ),
    _mutant(
        "begun-revocation-waits-for-a-coordinator",
        "a worker that loses its coordinator while it gives work up for a join goes on when it has found another",
        "revocations_go_on_at_once",
        replace(_search(ClusterMode.EAGER), first=30, last=40),
    ),
    _mutant(
        "successive-revocations-wait-for-long",
        "a leading worker that takes work away once more waits for the longest delay the first time",
        "successive_revocations_wait",
        replace(_ANY, first=10, last=20),
    ),
    _mutant(
        "unsettled-worker-is-notified",
        "a worker that is notified of a rebalance while it joins, or when it has left, asks for a round",
        "only_settled_workers_are_notified",
    ),
]
"""In the order of the claims that they break."""
