"""Deadlines: who is removed and when, and when a join phase ends. All times are in ms."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    ReplyReceived,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import (
    ALL,
    CHECKED,
    Due,
    Findings,
    broken,
    broken_step,
    deadline,
    form,
    scenario,
)
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import SESSION_EXPIRED, Incarnation, Incarnations
from rebalance_check.properties.views.scenarios import PREMISES, Joins
from rebalance_check.properties.views.sessions import Sessions
from rebalance_check.properties.views.steps import Step, members_of

_PUNCTUAL: Final = (
    "the run says that its timers are punctual (RunStarted), and no node was paused; what is due happens within its ms"
)
_RECORDED: Final = (
    "the timeouts are those of the member's last JoinGroup that was kept (RequestParked); those of a static "
    "member that returns to a Stable group with others than its predecessor's are not certain, and not judged"
)
_UNENDED: Final = "it is judged when it is over; what is never over is for rebalance_completes"

# ---------------------------------------------------------------------------------------------- not too early


def _not_early(event: MemberRemoved, incarnations: Incarnations, sessions: Sessions) -> Findings:
    """Each reason to remove a member has a timeout of that member's own."""
    group, key = incarnations.current, (event.incarnation, event.member_id)
    joined = sessions.joins.get(key)
    if group is None or joined is None or not sessions.punctual:
        return None
    since, allowed_ms = _timeout(group, event.reason, joined, sessions.prolonged.get(key, (None, 0)))
    if since is None or allowed_ms <= 0:
        return None
    took_ms = event.time_ms - since.time_ms
    if took_ms >= allowed_ms:
        return CHECKED
    return broken(
        f"{event.member_id} is removed ({event.reason}) after {took_ms} ms of {allowed_ms} ms",
        (f"{event.member_id} asked for its timeouts at {STEP}.", joined),
        (f"its time of {allowed_ms} ms began at {STEP}.", since),
        (f"it was removed at {STEP}, earlier than that: contradiction.", event),
    )


def _timeout(
    group: Incarnation, reason: str, joined: RequestParked, prolonged: tuple[CoordinatorEvent | None, int]
) -> tuple[CoordinatorEvent | None, int]:
    """The event that began the time after which a member is removed for this reason, and that time in ms.

    The coordinator waits for a group as long as the longest timeout of its members.
    """
    if reason == SESSION_EXPIRED:
        return prolonged
    if reason == "sync timeout":
        return group.started, joined.rebalance_timeout_ms
    changed = group.changed
    if reason == "rebalance timeout" and changed is not None and changed.from_status != GroupStatus.EMPTY:
        return (changed if group.status == GroupStatus.PREPARING_REBALANCE else None), joined.rebalance_timeout_ms
    return None, 0


NobodyIsRemovedEarly: Final = Invariant(
    name="nobody_is_removed_early",
    family="deadlines",
    claim="no member is removed before its session, or the time to join or to sync, has passed",
    source="GroupMetadataManager.rescheduleClassicGroupMemberHeartbeat, prepareRebalance, schedulePendingSync; "
    "ClassicGroup.validateOffsetCommit",
    premises=(
        _PUNCTUAL,
        _RECORDED,
        "a session certainly begins anew when a kept JoinGroup is answered, when a commit arrives that is accepted, "
        "and when a heartbeat arrives that is accepted or answered REBALANCE_IN_PROGRESS",
        "an initial join phase (from Empty) has its own delay and is left out",
    ),
    exempted_by=(NodeChanged,),
    evidence=Evidence.CONCERNED,
    fold=form({MemberRemoved: _not_early}, views=(Incarnations, Sessions)),
    opening="""
        RunStarted(subject="simulator", punctual=True)
        RequestParked(api="JoinGroup", request=0, member_id="a", session_timeout_ms=10000)
        HeartbeatReplied(generation=1, member_id="a", request_generation=1, time_ms=5000)
    """,
    breaks="""MemberRemoved(generation=1, member_id="a", reason="session expired", time_ms=12000)""",
    holds="""MemberRemoved(generation=1, member_id="a", reason="session expired", time_ms=15000)""",
)

# ---------------------------------------------------------------------------------------------- not too late


def _not_silent(
    event: MemberRemoved | RequestParked | ReplyEvent, incarnations: Incarnations, sessions: Sessions
) -> Findings:
    """It is a member until here, so it was not silent for longer than its session."""
    group, before = incarnations.current, sessions.before
    if not sessions.punctual or group is None or before is None or isinstance(before, RequestParked):
        return None
    if event.member_id not in group.members and not isinstance(event, MemberRemoved):
        return None
    (joined, session_ms), silent_ms = sessions.asked, event.time_ms - before.time_ms
    if session_ms <= 0:
        return None
    if silent_ms <= session_ms:
        return CHECKED
    return broken(
        f"{event.member_id} is a member after {silent_ms} ms of silence, its session is {session_ms} ms",
        (f"{event.member_id} has a session of {session_ms} ms, as {STEP} says.", joined),
        (f"its last activity was at {STEP}.", before),
        (f"it was a member until {STEP}: contradiction.", event),
    )


SilentMembersAreRemovedInTime: Final = Invariant(
    name="silent_members_are_removed_in_time",
    family="deadlines",
    claim="a member that waits for nothing and is silent for longer than its session is no member any more",
    source="GroupMetadataManager.expireClassicGroupMemberHeartbeat",
    premises=(
        _PUNCTUAL,
        _RECORDED,
        "any answer to it counts as activity, so does what it waits with, and each generation begins all sessions anew",
        _UNENDED,
    ),
    exempted_by=(HeartbeatReplied, MemberRemoved, NodeChanged, OffsetCommitReplied),
    evidence=Evidence.CONCERNED,
    fold=form(
        dict.fromkeys(
            (MemberRemoved, RequestParked, HeartbeatReplied, SyncGroupReplied, OffsetCommitReplied), _not_silent
        ),
        views=(Incarnations, Sessions),
    ),
    opening="""
        RunStarted(subject="simulator", punctual=True)
        MemberAdded(member_id="a")
        RequestParked(api="JoinGroup", request=0, member_id="a", session_timeout_ms=10000)
        JoinGroupReplied(generation=1, request=0, assigned_member_id="a", reply_generation=1, leader="a")
    """,
    breaks="""MemberRemoved(generation=1, member_id="a", reason="session expired", time_ms=20000)""",
    holds="""MemberRemoved(generation=1, member_id="a", reason="session expired", time_ms=10000)""",
)


def _removed_for_it(event: MemberRemoved, incarnations: Incarnations, sessions: Sessions) -> Findings:
    """It was removed for it, and not in time."""
    if event.reason != "sync timeout":
        return None
    return _owes(event, (event.member_id,), incarnations.current, sessions)


def _left_owing(event: GroupStatusChanged, incarnations: Incarnations, sessions: Sessions) -> Findings:
    """No member of the generation that ends, or becomes Stable, owes a SyncGroup for that long."""
    group, left = incarnations.current, {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}
    if group is None or group.started is None or event.from_status not in left:
        return None
    owing = (member for member in group.started.members if member in group.members and member not in group.synced)
    return _owes(event, tuple(owing), group, sessions)


def _owes(
    event: MemberRemoved | GroupStatusChanged, owing: tuple[str, ...], group: Incarnation | None, sessions: Sessions
) -> Findings:
    if group is None or group.started is None or not owing or not sessions.punctual:
        return None
    allowed_ms, took_ms = sessions.timeouts_of(group), event.time_ms - group.started.time_ms
    if not allowed_ms:
        return None
    if took_ms <= allowed_ms:
        return CHECKED
    return broken(
        f"{owing[0]} owes its SyncGroup for {took_ms} ms, and no rebalance timeout is above {allowed_ms} ms",
        (f"generation {group.started.generation} started at {STEP}.", group.started),
        (f"{owing[0]} had not synced, and was a member until {STEP}: contradiction.", event),
    )


LaggardsAreRemovedInTime: Final = Invariant(
    name="laggards_are_removed_in_time",
    family="deadlines",
    claim="a member that does not sync is no member any more when the longest rebalance timeout has passed",
    source="GroupMetadataManager.schedulePendingSync, expirePendingSync; KAFKA-12890",
    premises=(
        _PUNCTUAL,
        "the incarnation began without members, so that all rebalance timeouts are recorded; the longest counts",
        "only members of the generation as it started owe a SyncGroup, not the successor of a static one",
        _UNENDED,
    ),
    relies_on=frozenset({Feature.SYNC_GROUP}),
    exempted_by=(NodeChanged, SyncGroupReplied),
    evidence=Evidence.CONCERNED,
    fold=form(
        {MemberRemoved: _removed_for_it, GroupStatusChanged: _left_owing},
        views=(Incarnations, Sessions),
    ),
    opening="""
        RunStarted(subject="simulator", punctual=True)
        IncarnationStarted(status="Empty")
        RequestParked(api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=30000)
        GenerationStarted(generation=1, members=("a",), leader="a")
    """,
    breaks="""MemberRemoved(generation=1, member_id="a", reason="sync timeout", time_ms=40000)""",
    holds="""MemberRemoved(generation=1, member_id="a", reason="sync timeout", time_ms=30000)""",
)


def _new(event: MemberAdded, sessions: Sessions) -> Due | None:
    """It is new until its first JoinGroup is answered; a static one may stand for another that was there before."""
    if event.instance_id or not sessions.punctual:
        return None
    member = event.member_id
    says = f"{member} entered the group at {STEP}"
    must = f"the first JoinGroup of {member} is not answered, and {member} not removed"
    return Due((event.incarnation, member), event, sessions.new_member_ms, says, must)


def _first_reply(event: JoinGroupReplied, _sessions: Sessions) -> tuple[int, str]:
    return event.incarnation, event.assigned_member_id


def _of_member(event: ReplyEvent | MemberRemoved, _sessions: Sessions) -> tuple[int, str]:
    return event.incarnation, event.member_id


def _all(*_event_and_views: object) -> object:
    return ALL


def _paused(event: NodeChanged, _sessions: Sessions) -> object | None:
    return ALL if event.change == "paused" else None


NewMembersAreGivenUpInTime: Final = Invariant(
    name="new_members_are_given_up_in_time",
    family="deadlines",
    claim="a new member waits in its first JoinGroup for at most five minutes, and is no member any more after that",
    source="GroupMetadataManager.NEW_MEMBER_JOIN_TIMEOUT_MS, classicGroupJoinNewMember; KAFKA-7610",
    premises=(
        "the run says that its timers are punctual (RunStarted), and no node was paused",
        "static members are not judged: one that replaces another is not new",
        "scenarios may say another time (CoordinatorConfigured)",
        "a member that sends anything else meanwhile has its own session from then on, and is not judged",
        "a coordinator that ends, or another that begins, forgets who is new",
    ),
    exempted_by=(
        NodeChanged,
        HeartbeatReplied,
        SyncGroupReplied,
        OffsetCommitReplied,
        IncarnationEnded,
        IncarnationStarted,
        JoinGroupReplied,
        MemberRemoved,
    ),
    evidence=Evidence.CONCERNED,
    fold=deadline(
        {MemberAdded: _new},
        {JoinGroupReplied: _first_reply, MemberRemoved: _of_member},
        cancels={
            **dict.fromkeys((HeartbeatReplied, SyncGroupReplied, OffsetCommitReplied), _of_member),
            NodeChanged: _paused,
            **dict.fromkeys((IncarnationStarted, IncarnationEnded), _all),
        },
        views=(Sessions,),
    ),
    opening="""RunStarted(subject="simulator", punctual=True)""",
    breaks="""
        MemberAdded(member_id="a")
        JoinGroupReplied(generation=1, request=0, assigned_member_id="a", reply_generation=1, leader="a",
                         time_ms=300001)
    """,
    holds="""
        MemberAdded(member_id="a")
        JoinGroupReplied(generation=1, request=0, assigned_member_id="a", reply_generation=1, leader="a",
                         time_ms=300000)
    """,
)

# ---------------------------------------------------------------------------------------------- join phases


def _awaits_no_other(step: Step, joins: Joins) -> Findings:
    """A client that joins without an id waits under one that only the coordinator knows: it stands for a member."""
    members, waiting = members_of(step.after), joins.waiting(step)
    if step.after.status != GroupStatus.PREPARING_REBALANCE or joins.is_initial or joins.pending or not members:
        return None
    absent = members - {sent.member_id for sent in waiting}
    if len(absent) > sum(not sent.member_id for sent in waiting):
        return CHECKED
    return broken_step(
        step, f"all {len(members)} members wait in JoinGroup, no other is awaited, and the join phase goes on"
    )


JoinPhaseEnds: Final = Invariant(
    name="join_phase_ends",
    family="deadlines",
    claim="a join phase ends when the JoinGroup of every member waits, and no other id is awaited",
    source="ClassicGroup.hasAllMembersJoined",
    premises=(
        *PREMISES,
        "a join phase that began in an Empty group has a delay, and is left out",
    ),
    exempted_by=(ReplyReceived,),
    evidence=Evidence.CONCERNED,
    fold=scenario(_awaits_no_other, views=(Joins,)),
    opening="""StepStarted(step="sync a 1")""",
    breaks="""
        GroupDescribed(status="Stable", members=(("a-1", ""),))
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", member_id="a-1")
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    """,
    holds="""
        GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", member_id="a-1")
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""), ("b-1", "")))
    """,
)


LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
