"""Mutants of what is recorded (what the group does is the same, and its history says something else), and those that
the same random edits led to."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions


def _mutant(name: str, what: str, caught_by: str, protocol: SimulatedProtocol = SimulatedProtocol.EAGER) -> Mutant:
    find = FuzzSearch(options=SimulationOptions(protocol=protocol))
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


RECORD_MUTANTS: Final = [
    _mutant(
        "generations-have-no-protocol",
        "the coordinator records the start of a generation without the protocol that it selected",
        "answers_fit_the_record",
    ),
    _mutant(
        "answered-join-lists-nothing",
        "the coordinator records no protocols of a JoinGroup that it answers",
        "replies_repeat_their_requests",
    ),
    _mutant(
        "request-numbers-skip",
        "a member numbers its requests with gaps",
        "numbers_have_no_gaps",
    ),
    _mutant(
        "closing-is-recorded-as-a-loss",
        "a member that leaves because it closes records that it lost its membership",
        "losses_are_recorded_once",
    ),
    _mutant(
        "computed-assignment-is-not-recorded",
        "the leader of a group of consumers does not record the assignment that it computed",
        "assignments_are_recorded",
    ),
    _mutant(
        "coordinator-is-not-looked-at",
        "the coordinator of a settled group does not say what it keeps of it",
        "looks_are_whole",
    ),
    _mutant(
        "commit-events-name-no-member",
        "a consumer records its commits under a member id that no member has",
        "events_name_their_membership",
    ),
    _mutant(
        "assignments-teach-nothing",
        "a consumer that is assigned topics which it wants already records that it wants others now",
        "learned_topics_are_new",
    ),
    _mutant(
        "cooperative-assignors-are-followed-eagerly",
        "a consumer whose assignors are all cooperative follows the eager protocol",
        "rebalance_protocol_is_common",
        SimulatedProtocol.COOPERATIVE,
    ),
    _mutant(
        "commits-prolong-no-session",
        "a commit is no sign of activity of its member",
        "sessions_run_from_the_last_sign",
    ),
    _mutant(
        "resigning-coordinator-lets-requests-wait",
        "a coordinator that resigns does not answer the JoinGroups and SyncGroups that wait",
        "what_waits_is_answered",
    ),
    _mutant(
        "closing-consumer-keeps-its-partitions",
        "a consumer that closes does not revoke what it owns",
        "who_closes_owns_nothing",
    ),
    _mutant(
        "old-members-need-an-id",
        "a JoinGroup of an old version is answered MEMBER_ID_REQUIRED, which its client does not know",
        "member_ids_are_required_by_version",
    ),
    _mutant(
        "claims-are-of-no-generation",
        "a consumer says of no claim of which generation it is",
        "claims_name_their_generation",
        SimulatedProtocol.COOPERATIVE,
    ),
    _mutant(
        "closing-consumer-commits-nothing",
        "a consumer that commits by itself does not when it closes, and one that does not does",
        "auto_commits_keep_the_interval",
    ),
    _mutant(
        "unknown-instance-is-fenced",
        "a member whose group instance id the group does not know is refused as if another had it",
        "refusals_are_true",
    ),
    _mutant(
        "completed-assignment-is-not-recorded",
        "a worker of Connect does not record that its assignment of a generation is complete",
        "calls_are_recorded_whole",
        SimulatedProtocol.CONNECT,
    ),
    _mutant(
        "worker-claims-are-not-recorded",
        "a worker of Connect does not record the metadata with which it joins",
        "claims_are_recorded",
        SimulatedProtocol.CONNECT,
    ),
    _mutant(
        "commit-outcomes-are-not-recorded",
        "a consumer does not record how its commits ended",
        "commits_are_recorded",
    ),
    _mutant(
        "config-reads-begin-unrecorded",
        "a config store does not record that it begins to read to the end of the topic",
        "ends_follow_begins",
        SimulatedProtocol.CONNECT_CONFIG,
    ),
    _mutant(
        "session-keys-are-written-unrecorded",
        "a leading worker does not record that it writes a session key",
        "config_writes_are_announced",
        SimulatedProtocol.CONNECT,
    ),
    _mutant(
        "topic-statuses-have-a-generation",
        "a status store records a generation of the status of a topic, which has none",
        "status_records_are_true",
        SimulatedProtocol.STATUS,
    ),
    _mutant(
        "topics-are-reset-unrecorded",
        "a worker does not record that it resets the topics of a connector",
        "resets_are_recorded",
        SimulatedProtocol.CONNECT,
    ),
    _mutant(
        "status-stores-stop-unrecorded",
        "a status store does not record that it stops",
        "stores_stop_with_their_worker",
        SimulatedProtocol.CONNECT,
    ),
    _mutant(
        "target-states-are-applied-unrecorded",
        "a worker pauses and resumes what it runs, and does not record it",
        "changed_work_has_a_target",
        SimulatedProtocol.CONNECT,
    ),
    _mutant(
        "joined-claims-are-those-of-before",
        "a member records of a generation that it joined the claims of the JoinGroup before",
        "joins_record_their_claims",
        SimulatedProtocol.COOPERATIVE,
    ),
    _mutant(
        "claimed-generations-are-not-recorded",
        "a member records no generation of the partitions that its JoinGroup claims",
        "leaders_record_what_was_claimed",
        SimulatedProtocol.COOPERATIVE,
    ),
    _mutant(
        "raised-calls-are-recorded-as-unfinished",
        "a member records of a call that raised that it asked to be repeated",
        "repeated_calls_wait_for_something",
    ),
    _mutant(
        "restart-requests-are-not-queued",
        "a worker that is asked to restart a connector or task neither queues that nor answers",
        "operator_requests_are_queued",
        SimulatedProtocol.CONNECT,
    ),
    _mutant(
        "wishes-are-not-recorded",
        "a consumer whose application subscribes to other topics does not record it",
        "wanted_topics_are_recorded",
    ),
    _mutant(
        "received-requests-have-one-number",
        "a worker gives each request of another worker the number of the first one",
        "numbers_have_no_gaps",
        SimulatedProtocol.CONNECT,
    ),
]
