"""Mutants of coordinators and consumers that random edits led to: what an application is called about, what is written
of a group, and how long its members wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions

_MIXED: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.MIXED))
_ELECTION: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.ELECTION))


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _MIXED) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


GROUP_CLAIM_MUTANTS: Final = [
    _mutant(
        "listener-is-not-called-before-a-revocation",
        "a consumer revokes partitions and does not call the listener of its application",
        "listener_is_called_for_each_change",
    ),
    _mutant(
        "emptied-group-is-not-written",
        "a coordinator whose group has become empty writes no record of it",
        "emptied_groups_are_written",
    ),
    _mutant(
        "answers-to-commits-name-no-partition",
        "the answer to OffsetCommit says nothing of the partitions",
        "commit_answers_name_each_partition",
    ),
    _mutant(
        "patterns-are-matched-with-old-metadata",
        "a consumer that subscribes by a pattern joins for the topics that it knew before",
        "patterns_are_matched_before_joining",
    ),
    _mutant(
        "join-does-not-wait-for-its-commit",
        "onJoinPrepare goes on while the commit that precedes the rebalance is on its way",
        "joins_wait_for_the_commit",
    ),
    _mutant(
        "failed-commit-is-not-repeated",
        "onJoinPrepare goes on when the commit that precedes the rebalance failed for a while only",
        "joins_wait_for_the_commit",
    ),
    _mutant(
        "joining-member-revokes-when-it-leaves",
        "a consumer that leaves while it joins revokes its partitions, which other members may have",
        "leaving_members_revoke_what_is_theirs",
        find=replace(_MIXED, first=40, last=50),
    ),
    _mutant(
        "initial-delay-lasts-as-long-as-it-may",
        "the first join phase of a group goes on for the whole rebalance timeout when a member came in its first delay",
        "initial_delay_ends_in_time",
    ),
    _mutant(
        "commits-prolong-no-session-in-a-join-phase",
        "a commit that comes in a join phase is no sign of activity of its member",
        "nobody_is_removed_early",
    ),
    _mutant(
        "unused-id-leaves-the-join-phase-open",
        "a join phase goes on although the member id that it waited for last was not used and is forgotten",
        "last_join_ends_the_join_phase",
        _ELECTION,
    ),
    _mutant(
        "deposed-coordinator-is-not-recorded",
        "the end of an incarnation whose coordinator is deposed is not recorded",
        "answers_fit_the_record",
        find=replace(_MIXED, first=60, last=70),
    ),
    _mutant(
        "returning-member-learns-no-id",
        "a static member that comes back to a stable group is refused without an error when its record is written",
        "answers_fit_the_record",
        find=replace(_MIXED, first=30, last=40),
    ),
    _mutant(
        "lost-coordinator-is-looked-up-at-once",
        "a member that lost its coordinator looks for it without a pause",
        "look_ups_keep_the_backoff",
    ),
    _mutant(
        "loaded-members-have-no-session",
        "the sessions of members that a coordinator read from the log do not run",
        "silent_members_are_removed_in_time",
    ),
    _mutant(
        "failed-commit-is-repeated-at-once",
        "a consumer repeats the commit that precedes a join, and that failed, without a pause",
        "commits_before_a_join_pause",
    ),
    _mutant(
        "leaving-member-revokes-nothing",
        "a consumer that leaves and owns nothing calls its listener about no partitions",
        "leaving_members_revoke_what_is_theirs",
    ),
    _mutant(
        "sticky-looks-at-no-subscriptions",
        "the sticky assignors deal as if all members wanted the same topics",
        "assigned_topics_are_wanted",
    ),
]
