"""Mutants that break the contract of a coordinator with the code that uses it: callbacks, requests and their times."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions

_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))
_PAUSED_COORDINATOR: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=(FaultKind.COORDINATOR_PAUSE,)), last=20
)
_ELECTION: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.ELECTION))


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _EAGER) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


CONTRACT_MUTANTS: Final = [
    _mutant(
        "next-join-is-not-prepared",
        "a member that completed a generation joins the next without onJoinPrepare",
        "prepares_before_joining",
    ),
    _mutant(
        "prepare-names-no-membership",
        "onJoinPrepare is called with -1 although the membership goes on",
        "prepares_with_what_it_had",
        _ELECTION,
    ),
    _mutant(
        "close-does-not-prepare-to-leave",
        "close() leaves the group without onLeavePrepare, in which its user gives up what it holds",
        "prepares_before_leaving",
    ),
    _mutant(
        "followers-assign",
        "performAssignment is called on every member",
        "only_the_leader_assigns",
    ),
    _mutant(
        "next-join-is-prepared-while-completing",
        "onJoinPrepare for the next generation is called when an assignment is delivered",
        "callbacks_are_not_nested",
        _ELECTION,
    ),
    _mutant(
        "close-prepares-to-leave-last",
        "close() calls onLeavePrepare when everything is over",
        "no_callback_after_the_end",
    ),
    _mutant(
        "heartbeats-at-half-the-interval",
        "a heartbeat follows the one before after half of heartbeat.interval.ms",
        "heartbeats_keep_the_interval",
    ),
    _mutant(
        "silent-coordinator-is-kept-twice-as-long",
        "a member waits two session timeouts for the answer to a heartbeat",
        "silent_coordinator_is_given_up",
        _PAUSED_COORDINATOR,
    ),
    _mutant(
        "absent-application-stays-twice-as-long",
        "a member leaves when its application has not polled for twice max.poll.interval.ms",
        "absent_application_leaves",
    ),
    _mutant(
        "unknown-member-joins-after-a-backoff",
        "a member whose JoinGroup is answered UNKNOWN_MEMBER_ID waits before it joins as a new one",
        "refused_join_joins_again",
    ),
    _mutant(
        "failed-join-is-repeated-at-once",
        "a member whose coordinator moved or loads joins again without a pause",
        "retries_wait_for_the_backoff",
    ),
    _mutant(
        "closing-member-leaves-against-its-setting",
        "who closes sends LeaveGroup exactly when internal.leave.group.on.close is false",
        "who_leaves_says_so",
    ),
    _mutant(
        "static-member-leaves",
        "a static member that closes sends LeaveGroup",
        "who_leaves_says_so",
    ),
    _mutant(
        "close-leaves-last",
        "a member sends its LeaveGroup when it has ended",
        "nothing_is_sent_after_the_end",
    ),
    _mutant(
        "lost-coordinator-is-not-reported",
        "a member that gives its coordinator up does not record it",
        "one_coordinator_at_a_time",
    ),
]
