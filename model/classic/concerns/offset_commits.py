"""Concern *offset commits*: members commit offsets of their partitions, and other clients commit without a generation.

The coordinator checks a member's commit against its id and its generation (``ClassicGroup.validateOffsetCommit``). It
accepts the commit while the group is stable or prepares a rebalance, and refuses it while the group waits for an
assignment. A commit without a generation succeeds only in a group without members.

The model says which clients may commit; which offset they commit is left out.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.coordinator import fence
from rebalance_check.model.classic.invariants import is_current, is_new_reply
from rebalance_check.model.classic.parts.group_log import (
    has_stale_id,
    is_serving,
    is_turned_away,
    is_writing,
    must_wait,
    write_group,
)
from rebalance_check.model.classic.parts.network import is_error_reply, put, refuse
from rebalance_check.model.classic.parts.static_members import or_fenced
from rebalance_check.model.classic.reachable import any_refused_with
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    MemberStatus,
    MessageKind,
    State,
    has,
    minus,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error


def may_commit(c: Config, s: State) -> bool:
    """Whether the bounds allow another commit."""
    return c.commits > 0 and s.commits < c.commits


def send_offset_commit(c: Config, s: State, m: int) -> bool:
    """A stable member commits offsets of the partitions that it owns.

    The request names the member's generation. The offset itself does not matter here.

    Source: ``ConsumerCoordinator.sendOffsetCommitRequest``.
    Leaves unchanged: the member's status and what it owns.
    """
    me = s.member[m]
    if not may_commit(c, s) or me.status != MemberStatus.STABLE or me.net.kind != MessageKind.NOTHING or me.owned == 0:
        return False
    s.commits += 1
    s.concurrent_commit_reply = 0
    put(me.net, MessageKind.COMMIT_REQUEST)
    me.net.generation = me.generation
    me.net.partitions = me.owned
    return True


def receive_offset_commit(s: State, m: int) -> bool:
    """The member learns that its commit succeeded.

    A commit changes nothing of the membership, so the member goes on as before.

    Source: ``ConsumerCoordinator.OffsetCommitResponseHandler``.
    Leaves unchanged: everything but the reply, which is consumed.
    """
    net = s.member[m].net
    if net.kind != MessageKind.COMMIT_REPLY or is_error_reply(net):
        return False
    put(net, MessageKind.NOTHING)
    return True


def offset_commit(c: Config, s: State, m: int) -> bool:
    """The OffsetCommit of a member arrives at the coordinator.

    It is checked against the member id, the instance id and the generation, and refused while the group waits for an
    assignment. While a rebalance is prepared commits of the generation before still succeed.

    Source: ``ClassicGroup.validateOffsetCommit``.
    Leaves unchanged: the group: a commit changes no membership.
    """
    net = s.member[m].net
    if net.kind != MessageKind.COMMIT_REQUEST or must_wait(c, s, m):
        return False
    if is_turned_away(s, m):
        return True
    refuse(s, m, MessageKind.COMMIT_REPLY, commit_error(s, m, net.generation))
    return True


def commit_error(s: State, m: int, generation: int) -> int:
    """The error of m's commit for a generation; in a group that does not exist, ILLEGAL_GENERATION (v8).

    A static member names its instance id, as Kafka's consumer does, and may so be fenced.
    """
    if s.status == GroupStatus.DEAD:
        return Error.ILLEGAL_GENERATION
    error = or_fenced(s, m, fence(s, m, generation))
    if error == Error.REBALANCE_IN_PROGRESS:
        return Error.NONE
    if error == Error.NONE and s.status == GroupStatus.COMPLETING:
        return Error.REBALANCE_IN_PROGRESS
    return error


def commit_without_group(c: Config, s: State) -> bool:
    """A client that is no member commits without a generation.

    The commit succeeds in a group without members; a group that does not exist is created, Empty.

    Source: ``OffsetMetadataManager.validateOffsetCommit``; ``ClassicGroup.validateOffsetCommit``.
    Leaves unchanged: a group with members, which refuses the commit.
    """
    if not may_commit(c, s) or not is_serving(s) or is_writing(s):
        return False
    s.commits += 1
    s.concurrent_commit_reply = 0
    if s.status == GroupStatus.DEAD or s.status == GroupStatus.EMPTY:
        s.outside_commits += 1
        if s.status == GroupStatus.DEAD:
            s.status = GroupStatus.EMPTY
            write_group(c, s)
    return True


ACCEPTED = 1
"""The value of ``concurrent_commit_reply`` for a commit that succeeded; any other value is the error."""


def commit_during_join(c: Config, s: State, m: int) -> bool:
    """A process commits for its generation on another connection while its JoinGroup or SyncGroup is outstanding.

    Kafka's consumer commits only while it is stable; other clients do not wait.

    Source: ``ClassicGroup.validateOffsetCommit``.
    Leaves unchanged: the outstanding request, and the member's id, generation and partitions.
    """
    me = s.member[m]
    if not may_commit(c, s) or not is_serving(s) or is_writing(s) or me.has_id == 0 or me.generation == 0:
        return False
    s.commits += 1
    error = commit_during_join_error(s, m)
    s.concurrent_commit_reply = ACCEPTED if error == Error.NONE else error
    return True


def commit_during_join_error(s: State, m: int) -> int:
    """The error in the reply to m's commit for its own generation, whether m joins, syncs or is stable."""
    if has_stale_id(s, m):
        return or_fenced(s, m, Error.UNKNOWN_MEMBER_ID)
    return commit_error(s, m, s.member[m].generation)


# ------------------------------------------------------------------------------------------------ invariants


def is_commit_accepted(c: Config, s: State, t: State, m: int) -> bool:
    """Whether this step accepts a commit of m."""
    return c.commits > 0 and is_new_reply(s.member[m].net, t.member[m].net, MessageKind.COMMIT_REPLY)


def commit_is_fenced(c: Config, s: State, t: State) -> bool:
    """The coordinator accepts a commit only from a member, for the group's generation.

    Commits of a generation are refused once the next one has begun.

    Source: ``ClassicGroup.validateOffsetCommit``.
    Leaves unchanged: commits without a generation; see `commit_without_generation_needs_an_empty_group`.
    """
    if is_commit_during_join_accepted(c, s, t) and not some_member_may_commit(c, s):
        return False
    for m in range(c.members):
        if is_commit_accepted(c, s, t, m):
            if not has(t.members, m) or has_stale_id(t, m) or s.member[m].net.generation != t.generation:
                return False
    return True


def some_member_may_commit(c: Config, s: State) -> bool:
    """Whether some member is in the group's generation."""
    for m in range(c.members):
        if has(s.members, m) and not has_stale_id(s, m) and s.member[m].generation == s.generation:
            return True
    return False


def is_commit_during_join_accepted(c: Config, s: State, t: State) -> bool:
    """Whether this step accepts a commit that was sent during a join."""
    return c.commits > 0 and s.commits != t.commits and t.concurrent_commit_reply == ACCEPTED


def no_commit_while_completing(c: Config, s: State, t: State) -> bool:
    """While the group waits for an assignment no commit of a member succeeds.

    The coordinator answers REBALANCE_IN_PROGRESS, because the new owners are not known yet.

    Source: ``ClassicGroup.validateOffsetCommit``.
    Leaves unchanged: transactional commits, which the model leaves out.
    """
    if is_commit_during_join_accepted(c, s, t) and s.status != GroupStatus.STABLE and s.status != GroupStatus.PREPARING:
        return False
    for m in range(c.members):
        if is_commit_accepted(c, s, t, m) and s.status != GroupStatus.STABLE and s.status != GroupStatus.PREPARING:
            return False
    return True


def commit_without_generation_needs_an_empty_group(c: Config, s: State, t: State) -> bool:
    """A commit without a generation succeeds only in a group without members.

    Tools and consumers without group management commit like that; with members in the group they would overwrite the
    members' positions.

    Source: ``ClassicGroup.validateOffsetCommit``.
    Leaves unchanged: transactional commits, which the model leaves out.
    """
    return c.commits == 0 or s.outside_commits == t.outside_commits or s.status <= GroupStatus.EMPTY


def lost_is_not_committed(c: Config, s: State) -> bool:
    """A member commits only partitions that it owns.

    After ``onPartitionsLost`` another member may own them already.

    Source: KIP-429; ``ConsumerCoordinator.onJoinPrepare``.
    Leaves unchanged: revoked partitions, which may be committed until the revocation is over.
    """
    if c.commits > 0:
        for m in range(c.members):
            me = s.member[m]
            if me.net.kind == MessageKind.COMMIT_REQUEST and minus(me.net.partitions, me.owned) != 0:
                return False
    return True


def commit_is_by_the_owner(c: Config, s: State, t: State) -> bool:
    """While the coordinator accepts a member's commit, no other current member owns those partitions.

    This is the reason for fencing commits: the committed position of a partition is its owner's.

    Source: KIP-429; ``ClassicGroup.validateOffsetCommit``.
    Leaves unchanged: processing, which a stale owner may do without committing.
    """
    for m in range(c.members):
        if is_commit_accepted(c, s, t, m):
            for x in range(c.members):
                if x != m and s.member[x].owned & s.member[m].net.partitions != 0 and is_current(s, x):
                    return False
    return True


# ------------------------------------------------------------------------------------------------ reachable


def commit_is_accepted_in_a_rebalance(c: Config, s: State) -> bool:
    """A commit succeeds while a rebalance is being prepared.

    Members use this to commit before they revoke.

    Source: ``ClassicGroup.validateOffsetCommit``.
    """
    if c.commits > 0 and s.status == GroupStatus.PREPARING:
        for m in range(c.members):
            net = s.member[m].net
            if net.kind == MessageKind.COMMIT_REPLY and net.error == Error.NONE:
                return True
    return False


def commit_of_a_stale_owner_is_refused(c: Config, s: State) -> bool:
    """A member that owns a partition of another current member is refused when it commits.

    Its id is removed or its generation is over, so the new owner's position stays as it is.

    Source: ``ClassicGroup.validateOffsetCommit``.
    """
    if c.commits > 0:
        for m in range(c.members):
            me = s.member[m]
            if me.net.kind == MessageKind.COMMIT_REPLY and is_error_reply(me.net):
                for x in range(c.members):
                    if s.member[x].owned & me.owned != 0 and is_current(s, x) and x != m:
                        return True
    return False


def commit_meets_rebalance(c: Config, s: State) -> bool:
    """A commit during a join is refused with REBALANCE_IN_PROGRESS.

    The group completes a rebalance, and the new owners are not known yet.

    Source: ``ClassicGroup.validateOffsetCommit``.
    """
    return c.commits > 0 and s.concurrent_commit_reply == Error.REBALANCE_IN_PROGRESS


def commit_meets_illegal_generation(c: Config, s: State) -> bool:
    """A commit is refused with ILLEGAL_GENERATION.

    The next generation began before the commit arrived, or the group was deleted.

    Source: ``ClassicGroup.validateOffsetCommit``.
    """
    if c.commits > 0 and s.concurrent_commit_reply == Error.ILLEGAL_GENERATION:
        return True
    return c.commits > 0 and any_refused_with(c, s, MessageKind.COMMIT_REPLY, Error.ILLEGAL_GENERATION)


def commit_meets_unknown_member(c: Config, s: State) -> bool:
    """A commit is refused with UNKNOWN_MEMBER_ID.

    The coordinator removed the member after its last successful request.

    Source: ``ClassicGroup.validateMember``.
    """
    return c.commits > 0 and any_refused_with(c, s, MessageKind.COMMIT_REPLY, Error.UNKNOWN_MEMBER_ID)


def commit_meets_fenced_instance(c: Config, s: State) -> bool:
    """A commit is refused with FENCED_INSTANCE_ID.

    Another process has taken over the instance id that the commit names.

    Source: ``ClassicGroup.validateMember``; KIP-345.
    """
    if c.commits > 0 and s.concurrent_commit_reply == Error.FENCED_INSTANCE_ID:
        return True
    return c.commits > 0 and any_refused_with(c, s, MessageKind.COMMIT_REPLY, Error.FENCED_INSTANCE_ID)


def commit_without_generation_is_accepted(c: Config, s: State) -> bool:
    """A client that is no member commits into a group without members.

    The group is Empty or did not exist.

    Source: ``ClassicGroup.validateOffsetCommit``.
    """
    return c.commits > 0 and s.outside_commits > 0


OFFSET_COMMITS: Final = Concern(
    rules=(
        Rule(ActionKind.SEND_OFFSET_COMMIT, send_offset_commit),
        Rule(ActionKind.RECEIVE_OFFSET_COMMIT, receive_offset_commit, fair=True),
        Rule(ActionKind.OFFSET_COMMIT, offset_commit, fair=True),
        Rule(ActionKind.COMMIT_WITHOUT_GROUP, commit_without_group, members=False),
        Rule(ActionKind.COMMIT_DURING_JOIN, commit_during_join),
    ),
    invariants=(lost_is_not_committed,),
    step_invariants=(
        commit_is_fenced,
        no_commit_while_completing,
        commit_without_generation_needs_an_empty_group,
        commit_is_by_the_owner,
    ),
    reachable_states=(
        commit_is_accepted_in_a_rebalance,
        commit_of_a_stale_owner_is_refused,
        commit_meets_rebalance,
        commit_meets_illegal_generation,
        commit_meets_unknown_member,
        commit_meets_fenced_instance,
        commit_without_generation_is_accepted,
    ),
)
