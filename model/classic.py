"""The classic group protocol (JoinGroup, SyncGroup, Heartbeat, LeaveGroup), EAGER and COOPERATIVE, as one model.

Read in this order: `classic_state` (what there is), `classic_member` (the client side), `classic_coordinator` (the
broker side), `classic_network`, `assignment` (what a leader may decide), `classic_claims` (what must hold),
`classic_progress` (what must happen). A concern that bounds switch on has a module of its own: `classic_timeouts`,
`classic_statics` (members with an instance id), `classic_losses`, `classic_voting` (lists of assignors, and rolling
bounces along an upgrade path), `classic_log` with `classic_failover` (another coordinator takes over),
`classic_commits`, `classic_zombie` (the one before goes on answering), `classic_newcomers` (ids given back, and members
that are new for too long), `classic_beats` (heartbeats beside a SyncGroup).

What is left open, and explored in all ways: the order of everything; who leads after a leader is gone; which of the
legal targets a leader picks; when a timer fires. What is left out: votes that end in a tie; what a coordinator of the
past tells static members, a replacement whose record is not committed at once, and JoinGroup below v9 of a static
member (a returning leader then takes itself for a follower).
"""

from typing import Final

from rebalance_check.model.actions import ActionKind
from rebalance_check.model.assignment import target_table
from rebalance_check.model.bounds import Bounds
from rebalance_check.model.classic_beats import (
    heartbeat_beside,
    heartbeat_beside_is_fenced,
    heartbeat_is_well_while_completing,
    heartbeat_tells_of_a_rebalance_before_the_sync,
    receive_heartbeat_beside,
    sync_is_in_vain,
    who_was_reset_takes_no_assignment,
)  # fmt: skip
from rebalance_check.model.classic_bounce import bounce
from rebalance_check.model.classic_claims import (
    assignment_is_a_function,
    at_most_one_owner,
    copy_is_stale,
    copy_takes_the_place,
    eager_owns_nothing_while_joining,
    empty_group_is_clean,
    everyone_is_stable,
    generation_has_only_who_joined,
    generation_is_monotone,
    generation_is_new_after_each_join_phase,
    generation_is_not_ahead,
    generation_waits_for_pending_ids,
    group_empties,
    heartbeat_is_fenced,
    heartbeat_meets_illegal_generation,
    heartbeat_meets_rebalance,
    heartbeat_meets_unknown_member,
    id_is_required,
    join_is_fenced,
    join_meets_unknown_member,
    leader_is_a_member,
    leader_is_down,
    no_generation_owns_nothing,
    owned_equals_assigned,
    partition_is_withheld,
    pending_ids_are_not_members,
    refused_member_loses_everything,
    requests_are_parked_in_their_phase,
    second_round_happens,
    sync_is_fenced,
    sync_meets_illegal_generation,
    sync_meets_rebalance,
    sync_meets_unknown_member,
    zombie_owns_beside_the_owner,
)  # fmt: skip
from rebalance_check.model.classic_commits import (
    commit_beside,
    commit_is_accepted_in_a_rebalance,
    commit_is_by_the_owner,
    commit_is_fenced,
    commit_meets_fenced_instance,
    commit_meets_illegal_generation,
    commit_meets_rebalance,
    commit_meets_unknown_member,
    commit_without_group,
    lost_is_not_committed,
    no_commit_while_completing,
    offset_commit,
    outside_commit_is_accepted,
    outside_commit_needs_an_empty_group,
    receive_offset_commit,
    send_offset_commit,
    zombie_commits_in_vain,
)  # fmt: skip
from rebalance_check.model.classic_coordinator import (
    delete_group,
    deliver_choices,
    deliver_duplicate,
    expire_choices,
    expire_initial_delay,
    expire_session,
    heartbeat,
    join_group,
    leave_choices,
    leave_group,
    sync_group,
)  # fmt: skip
from rebalance_check.model.classic_failover import (
    assignment_of_a_generation_is_final,
    assignment_was_never_told,
    commit_append,
    crash_coordinator,
    elect_coordinator,
    failover_resets_no_member,
    forgotten_id_comes_back,
    generation_is_issued_again,
    generation_is_not_below_the_log,
    heartbeat_is_believed,
    heartbeat_meets_no_coordinator,
    join_meets_loading,
    join_meets_no_coordinator,
    load_coordinator,
    loaded_is_the_record,
    loading_keeps_a_second_owner,
    member_is_ahead,
    persisted_before_told,
    record_outlives_its_rebalance,
    resign_coordinator,
    stable_is_persisted,
    stranger_is_refused,
    sync_meets_loading,
    tail_choices,
)  # fmt: skip
from rebalance_check.model.classic_losses import (
    drop_connection,
    id_is_never_learned,
    lose_reply,
    lose_request,
    member_waits_in_vain,
    parked_request_outlives_its_connection,
    unknown_outcome_resets_nothing,
)  # fmt: skip
from rebalance_check.model.classic_member import (
    crash,
    join_choices,
    receive_error,
    receive_heartbeat,
    receive_join_group,
    receive_sync_group,
    restart,
    send_heartbeat,
    send_join_group,
    send_leave_group,
)  # fmt: skip
from rebalance_check.model.classic_network import duplicate_request
from rebalance_check.model.classic_newcomers import (
    newcomer_is_forgotten_while_it_waits,
    newcomer_that_expires_is_told,
    newcomers_are_parked,
    unused_id_is_forgotten,
    unused_id_is_given_back,
    who_gave_its_id_back_is_not_waited_for,
)  # fmt: skip
from rebalance_check.model.classic_progress import (
    every_partition_gets_an_owner,
    no_stuck_member,
    parked_requests_are_answered,
    pending_ids_vanish,
    rebalance_completes,
)
from rebalance_check.model.classic_state import Config, State, is_cooperative, sizes
from rebalance_check.model.classic_static_claims import (
    eager_assignment_leaves_nothing_out,
    heartbeat_meets_fenced_instance,
    join_meets_fenced_instance,
    join_phase_keeps_silent_static_members,
    leader_comes_back_without_assigning,
    member_is_fenced_by_its_own_past,
    one_member_has_the_seat,
    replaced_id_owes_a_sync,
    replaced_id_owes_only_while_stable,
    restarted_member_finds_its_seat_in_the_log,
    seat_is_taken_while_the_group_prepares,
    seat_keeps_its_assignment,
    silent_static_member_is_kept,
    silent_static_member_returns_as_an_owner,
    sync_meets_fenced_instance,
    who_was_replaced_is_fenced,
)  # fmt: skip
from rebalance_check.model.classic_statics import enlist
from rebalance_check.model.classic_timeouts import (
    empty_group_has_pending_ids,
    expire_rebalance,
    expire_rebalance_choices,
    expire_sync,
    expire_sync_choices,
    follower_owes_in_a_stable_group,
    leader_of_a_new_generation_joined,
    leader_that_died_owes_a_sync,
    who_owes_a_sync_is_a_member,
)  # fmt: skip
from rebalance_check.model.classic_voting_claims import (
    bounced_member_changes_the_vote,
    bounced_member_keeps_its_seat,
    cooperative_assignor_runs_among_eager_members,
    eager_and_cooperative_are_stable_together,
    join_is_refused_by_what_the_log_forgot,
    join_meets_inconsistent_protocol,
    join_tells_the_selected_protocol,
    nobody_is_refused_for_its_protocols,
    protocol_changes_with_the_generation,
    selected_protocol_is_listed_by_all,
    stable_group_keeps_its_vote,
    upgrade_is_over,
)  # fmt: skip
from rebalance_check.model.classic_zombie import (
    depose_coordinator,
    heartbeat_at_zombie,
    join_group_at_zombie,
    past_assignment_is_told,
    sync_group_at_zombie,
    zombie_is_believed,
    zombie_keeps_a_second_owner,
    zombie_owns_by_the_past,
    zombie_resigns,
)  # fmt: skip
from rebalance_check.model.layout import NIL
from rebalance_check.model.specification import Aim, Model, Rule
from rebalance_check.model.upgrade import (
    cooperative_lists,
    encoded_lists,
    offered_names,
    path_numbered,
    withholding_names,
)  # fmt: skip

RULES: Final = (
    Rule(ActionKind.SEND_JOIN_GROUP, send_join_group, fair=True),
    Rule(ActionKind.RECEIVE_JOIN_GROUP, receive_join_group, join_choices, fair=True),
    Rule(ActionKind.RECEIVE_SYNC_GROUP, receive_sync_group, fair=True),
    Rule(ActionKind.SEND_HEARTBEAT, send_heartbeat, fair=True),
    Rule(ActionKind.RECEIVE_HEARTBEAT, receive_heartbeat, fair=True),
    Rule(ActionKind.RECEIVE_ERROR, receive_error, fair=True),
    Rule(ActionKind.SEND_LEAVE_GROUP, send_leave_group),
    Rule(ActionKind.CRASH, crash),
    Rule(ActionKind.RESTART, restart),
    Rule(ActionKind.JOIN_GROUP, join_group, fair=True),
    Rule(ActionKind.SYNC_GROUP, sync_group, fair=True),
    Rule(ActionKind.HEARTBEAT, heartbeat, fair=True),
    Rule(ActionKind.LEAVE_GROUP, leave_group, leave_choices, fair=True),
    Rule(ActionKind.EXPIRE_SESSION, expire_session, expire_choices, fair=True),
    Rule(ActionKind.EXPIRE_INITIAL_DELAY, expire_initial_delay, members=False, fair=True),
    Rule(ActionKind.DELETE_GROUP, delete_group, members=False),
    Rule(ActionKind.DUPLICATE_REQUEST, duplicate_request),
    Rule(ActionKind.DELIVER_DUPLICATE, deliver_duplicate, deliver_choices),
    Rule(ActionKind.EXPIRE_REBALANCE, expire_rebalance, expire_rebalance_choices, members=False, fair=True),
    Rule(ActionKind.EXPIRE_SYNC, expire_sync, expire_sync_choices, members=False, fair=True),
    Rule(ActionKind.LOSE_REQUEST, lose_request),
    Rule(ActionKind.LOSE_REPLY, lose_reply),
    Rule(ActionKind.DROP_CONNECTION, drop_connection),
    Rule(ActionKind.BOUNCE, bounce),
    Rule(ActionKind.COMMIT_APPEND, commit_append, members=False, fair=True),
    Rule(ActionKind.CRASH_COORDINATOR, crash_coordinator, tail_choices, members=False),
    Rule(ActionKind.RESIGN_COORDINATOR, resign_coordinator, tail_choices, members=False),
    Rule(ActionKind.ELECT_COORDINATOR, elect_coordinator, members=False, fair=True),
    Rule(ActionKind.LOAD_COORDINATOR, load_coordinator, members=False, fair=True),
    Rule(ActionKind.SEND_OFFSET_COMMIT, send_offset_commit),
    Rule(ActionKind.RECEIVE_OFFSET_COMMIT, receive_offset_commit, fair=True),
    Rule(ActionKind.OFFSET_COMMIT, offset_commit, fair=True),
    Rule(ActionKind.COMMIT_WITHOUT_GROUP, commit_without_group, members=False),
    Rule(ActionKind.COMMIT_BESIDE, commit_beside),
    Rule(ActionKind.DEPOSE_COORDINATOR, depose_coordinator, members=False),
    Rule(ActionKind.ZOMBIE_RESIGNS, zombie_resigns, members=False, fair=True),
    Rule(ActionKind.JOIN_GROUP_AT_ZOMBIE, join_group_at_zombie),
    Rule(ActionKind.SYNC_GROUP_AT_ZOMBIE, sync_group_at_zombie),
    Rule(ActionKind.HEARTBEAT_AT_ZOMBIE, heartbeat_at_zombie),
    Rule(ActionKind.HEARTBEAT_BESIDE, heartbeat_beside),
    Rule(ActionKind.RECEIVE_HEARTBEAT_BESIDE, receive_heartbeat_beside, fair=True),
)

CLAIMS: Final = (
    at_most_one_owner,
    generation_is_not_ahead,
    eager_owns_nothing_while_joining,
    no_generation_owns_nothing,
    owned_equals_assigned,
    assignment_is_a_function,
    pending_ids_are_not_members,
    leader_is_a_member,
    empty_group_is_clean,
    requests_are_parked_in_their_phase,
    who_owes_a_sync_is_a_member,
    nobody_is_refused_for_its_protocols,
    selected_protocol_is_listed_by_all,
    stable_group_keeps_its_vote,
    generation_is_not_below_the_log,
    stable_is_persisted,
    lost_is_not_committed,
    one_member_has_the_seat,
    replaced_id_owes_only_while_stable,
    eager_assignment_leaves_nothing_out,
    newcomers_are_parked,
)

STEP_CLAIMS: Final = (
    generation_is_monotone,
    generation_is_new_after_each_join_phase,
    generation_has_only_who_joined,
    generation_waits_for_pending_ids,
    join_is_fenced,
    sync_is_fenced,
    heartbeat_is_fenced,
    refused_member_loses_everything,
    leader_of_a_new_generation_joined,
    unknown_outcome_resets_nothing,
    protocol_changes_with_the_generation,
    join_tells_the_selected_protocol,
    loaded_is_the_record,
    persisted_before_told,
    assignment_of_a_generation_is_final,
    stranger_is_refused,
    failover_resets_no_member,
    commit_is_fenced,
    no_commit_while_completing,
    outside_commit_needs_an_empty_group,
    commit_is_by_the_owner,
    who_was_replaced_is_fenced,
    seat_keeps_its_assignment,
    join_phase_keeps_silent_static_members,
    who_gave_its_id_back_is_not_waited_for,
    newcomer_that_expires_is_told,
    heartbeat_beside_is_fenced,
    who_was_reset_takes_no_assignment,
)

SOMETIMES: Final = (
    everyone_is_stable,
    zombie_owns_beside_the_owner,
    second_round_happens,
    partition_is_withheld,
    group_empties,
    leader_is_down,
    id_is_required,
    join_meets_unknown_member,
    sync_meets_unknown_member,
    sync_meets_illegal_generation,
    sync_meets_rebalance,
    heartbeat_meets_unknown_member,
    heartbeat_meets_illegal_generation,
    heartbeat_meets_rebalance,
    copy_is_stale,
    copy_takes_the_place,
    follower_owes_in_a_stable_group,
    leader_that_died_owes_a_sync,
    empty_group_has_pending_ids,
    member_waits_in_vain,
    parked_request_outlives_its_connection,
    id_is_never_learned,
    join_meets_inconsistent_protocol,
    eager_and_cooperative_are_stable_together,
    cooperative_assignor_runs_among_eager_members,
    upgrade_is_over,
    generation_is_issued_again,
    member_is_ahead,
    assignment_was_never_told,
    record_outlives_its_rebalance,
    forgotten_id_comes_back,
    heartbeat_is_believed,
    join_meets_loading,
    sync_meets_loading,
    join_meets_no_coordinator,
    heartbeat_meets_no_coordinator,
    commit_is_accepted_in_a_rebalance,
    zombie_commits_in_vain,
    commit_meets_rebalance,
    commit_meets_illegal_generation,
    commit_meets_unknown_member,
    commit_meets_fenced_instance,
    outside_commit_is_accepted,
    silent_static_member_is_kept,
    silent_static_member_returns_as_an_owner,
    leader_comes_back_without_assigning,
    join_meets_fenced_instance,
    sync_meets_fenced_instance,
    heartbeat_meets_fenced_instance,
    replaced_id_owes_a_sync,
    seat_is_taken_while_the_group_prepares,
    member_is_fenced_by_its_own_past,
    restarted_member_finds_its_seat_in_the_log,
    bounced_member_keeps_its_seat,
    bounced_member_changes_the_vote,
    join_is_refused_by_what_the_log_forgot,
    zombie_owns_by_the_past,
    unused_id_is_given_back,
    unused_id_is_forgotten,
    newcomer_is_forgotten_while_it_waits,
    heartbeat_is_well_while_completing,
    heartbeat_tells_of_a_rebalance_before_the_sync,
    sync_is_in_vain,
)

MOMENTS: Final = (
    loading_keeps_a_second_owner,
    zombie_is_believed,
    zombie_keeps_a_second_owner,
    past_assignment_is_told,
)

PROGRESS: Final = (
    Aim(rebalance_completes, settles=True),
    Aim(no_stuck_member),
    Aim(parked_requests_are_answered),
    Aim(pending_ids_vanish),
    Aim(every_partition_gets_an_owner),
)


def configure(bounds: Bounds) -> Config:
    """The bounds as the model reads them."""
    start, targets = target_table(bounds.members, bounds.partitions)
    path = path_numbered(bounds.upgrade) if bounds.upgrade else None
    return Config(
        members=bounds.members,
        partitions=bounds.partitions,
        generations=bounds.generations,
        crashes=bounds.crashes,
        leaves=bounds.leaves,
        expiries=bounds.expiries,
        duplicates=bounds.duplicates,
        deletions=bounds.deletions,
        cooperative=is_cooperative(bounds),
        initial_delay=bounds.initial_delay,
        member_id_required=bounds.member_id_required,
        timeouts=bounds.timeouts,
        statics=bounds.statics,
        twins=bounds.twins,
        losses=bounds.losses,
        path=bounds.upgrade,
        bounces=bounds.bounces,
        order=path.order if path else 0,
        steps=len(path.lists) if path else 1,
        lists=encoded_lists(path) if path else (),
        offered=offered_names(path) if path else (),
        withholding=withholding_names(path) if path else (),
        keeps=cooperative_lists(path) if path else (),
        failovers=bounds.failovers,
        commits=bounds.commits,
        deposed=bounds.deposed,
        newcomers=bounds.newcomers,
        beats=bounds.beats,
        target_start=start,
        targets=targets,
    )


def init(c: Config, s: State) -> None:
    """No group yet, and every process about to join."""
    s.leader = NIL
    s.stray.member = NIL
    if c.failovers > 0:
        s.log[0].leader = NIL
        s.append[0].leader = NIL
    enlist(c, s)
    if c.deposed > 0:
        s.zombie[0].leader = NIL


def within_bounds(c: Config, s: State) -> bool:
    """Generations beyond the bounds are not explored."""
    return s.generation <= c.generations


MODEL: Final = Model(
    name="classic",
    modules=(
        "rebalance_check.model.classic_state",
        "rebalance_check.model.assignment",
        "rebalance_check.model.classic_network",
        "rebalance_check.model.classic_voting",
        "rebalance_check.model.classic_statics",
        "rebalance_check.model.classic_log",
        "rebalance_check.model.classic_newcomers",
        "rebalance_check.model.classic_member",
        "rebalance_check.model.classic_bounce",
        "rebalance_check.model.classic_coordinator",
        "rebalance_check.model.classic_beats",
        "rebalance_check.model.classic_claims",
        "rebalance_check.model.classic_static_claims",
        "rebalance_check.model.classic_timeouts",
        "rebalance_check.model.classic_losses",
        "rebalance_check.model.classic_voting_claims",
        "rebalance_check.model.classic_failover",
        "rebalance_check.model.classic_commits",
        "rebalance_check.model.classic_zombie",
        "rebalance_check.model.classic_progress",
        "rebalance_check.model.classic",
    ),
    state=State,
    sizes=sizes,
    configure=configure,
    init=init,
    rules=RULES,
    within_bounds=within_bounds,
    claims=CLAIMS,
    step_claims=STEP_CLAIMS,
    sometimes=SOMETIMES,
    moments=MOMENTS,
    progress=PROGRESS,
)
