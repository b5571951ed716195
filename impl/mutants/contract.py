"""Mutants that break the contract of a coordinator with the code that uses it: callbacks, requests and their times."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions

_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))
_PAUSED_COORDINATOR: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=(FaultKind.COORDINATOR_PAUSE,)), last=20
)
_LONG_POLLS: Final = FuzzSearch(
    options=SimulationOptions(
        protocol=SimulatedProtocol.EAGER, faults=(FaultKind.LONG_POLL, FaultKind.LOOK_UP, FaultKind.COORDINATOR_KILL)
    )
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
        find=replace(_EAGER, first=90, last=100),
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
    _mutant(
        "asked-member-joins-when-its-poll-ends",
        "a coordinator that must join does not say so to what polls it",
        "asked_member_joins_at_once",
        _LONG_POLLS,
    ),
    _mutant(
        "committed-member-joins-when-its-poll-ends",
        "a member whose commit is answered that precedes its join waits as long as for one that is not",
        "asked_member_joins_at_once",
        _LONG_POLLS,
    ),
    _mutant(
        "accepted-member-goes-on-when-its-poll-ends",
        "an answer to JoinGroup, or a join that is over, does not wake the poll",
        "accepted_member_goes_on_at_once",
        _LONG_POLLS,
    ),
    _mutant(
        "failed-join-is-repeated-when-the-poll-ends",
        "a member polls on while its join is in flight, and not when it must be repeated",
        "failed_join_is_repeated_in_time",
        _LONG_POLLS,
    ),
    _mutant(
        "look-up-is-repeated-when-the-poll-ends",
        "the end of a look-up's back-off does not wake the poll",
        "coordinator_is_looked_up_in_time",
        _LONG_POLLS,
    ),
    _mutant(
        "periodic-commit-waits-for-the-poll-to-end",
        "auto.commit.interval.ms do not wake the poll",
        "periodic_commits_keep_the_interval",
        _LONG_POLLS,
    ),
]
