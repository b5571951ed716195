"""Mutants of the group coordinator that change what it answers: which requests it refuses, and what its replies say."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_VERDICT: Final = f"{_COORDINATOR}.heartbeat:verdict"
_SYNC: Final = f"{_COORDINATOR}.sync"
_OFFSETS: Final = f"{_COORDINATOR}.offsets"
_REBALANCE: Final = f"{_COORDINATOR}.rebalance"

_ANSWER: Final = "            shard.answer(parked.token, join_reply(group, member.member_id))"
_ERROR: Final = "    if error is not Error.NONE:\n        return error"
_STALE: Final = "    if request.generation_id != group.generation:\n        return Error.ILLEGAL_GENERATION\n"


def _answered(changes: str, condition: str = "") -> tuple[Edit, ...]:
    """The answer at the end of the join phase with some fields changed, where ``condition`` holds."""
    changed = f"replace(reply, {changes})" + (f" if {condition} else reply" if condition else "")
    return (
        Edit(
            f"{_REBALANCE}:answer_joins",
            _ANSWER,
            "            from dataclasses import replace\n"
            "\n"
            "            reply = join_reply(group, member.member_id)\n"
            f"            shard.answer(parked.token, {changed})",
        ),
    )


_JOIN_ANSWERS: Final = {
    "members-shown-to-followers": _answered("members=group.joined_members()"),
    "every-member-leads": _answered("leader=member.member_id, members=group.joined_members()"),
    "followers-get-their-last-choice": _answered(
        "protocol_name=member.protocols[-1].name", "member.member_id != group.leader"
    ),
    "followers-get-the-oldest-as-leader": _answered(
        "leader=next(iter(group.members))", "member.member_id != group.leader"
    ),
}

_JOIN_REFUSALS: Final = {
    "join-of-full-group-unanswered": (
        Edit(
            f"{_COORDINATOR}.join:join_existing",
            "        refuse(shard, token, Error.GROUP_MAX_SIZE_REACHED)\n",
            "",
        ),
    ),
}

_SYNC_ANSWERS: Final = {
    "sync-of-unknown-member-unanswered": (
        Edit(
            f"{_SYNC}:sync_group",
            "    if group is None or error is not Error.NONE:",
            "    if group is not None and error is Error.UNKNOWN_MEMBER_ID:\n"
            "        return\n"
            "    if group is None or error is not Error.NONE:",
        ),
    ),
    "sync-debt-kept": (Edit(f"{_SYNC}:sync_group", "    group.pending_sync.discard(member.member_id)\n", ""),),
    "all-get-one-assignment": (
        Edit(
            f"{_SYNC}:propagate",
            'assignments.get(member.member_id, b"")',
            'max(assignments.values(), key=len, default=b"")',
        ),
    ),
    "late-sync-gets-nothing": (Edit(f"{_SYNC}:sync_group", "sync_reply(group, member)", "SyncGroupReply()"),),
    "sync-answered-before-leader": (
        Edit(
            f"{_SYNC}:sync_group",
            "        propose_assignment(shard, group, request)",
            "        propose_assignment(shard, group, request)\n"
            "    else:\n"
            "        answer_sync(shard, group, member, Error.NONE)",
        ),
    ),
    "sync-accepts-stale-generation": (Edit(f"{_SYNC}:refusal", _STALE, ""),),
    "assignment-not-persisted": (
        Edit(
            f"{_SYNC}:propose_assignment",
            "append_group(shard, group, group_record(group, shard.now_ms, assignments), on_answer)",
            "on_answer(Error.NONE)",
        ),
    ),
    "record-of-the-synced-only": (
        Edit(
            f"{_SYNC}:propose_assignment",
            "    append_group(shard, group, group_record(group, shard.now_ms, assignments), on_answer)",
            "    from dataclasses import replace\n"
            "\n"
            "    synced = {member.member_id for member in group.members.values() if member.awaiting_sync is not None}\n"
            "    record = group_record(group, shard.now_ms, assignments)\n"
            "    present = tuple(member for member in record.members if member.member_id in synced)\n"
            "    append_group(shard, group, replace(record, members=present), on_answer)",
        ),
    ),
    "stale-assignment-kept": (
        Edit(
            f"{_SYNC}:propagate",
            'assignments.get(member.member_id, b"")',
            "assignments.get(member.member_id, member.assignment)",
        ),
    ),
    "parked-sync-answered-twice": (
        Edit(
            f"{_REBALANCE}:answer_sync",
            "parked, member.awaiting_sync = member.awaiting_sync, None",
            "parked = member.awaiting_sync",
        ),
    ),
}

_HEARTBEAT_ANSWERS: Final = {
    "heartbeat-accepts-unknown-member": (
        Edit(_VERDICT, _ERROR, f"    if error is Error.UNKNOWN_MEMBER_ID:\n        return Error.NONE\n{_ERROR}"),
    ),
    "fenced-heartbeat-accepted": (
        Edit(_VERDICT, _ERROR, f"    if error is Error.FENCED_INSTANCE_ID:\n        return Error.NONE\n{_ERROR}"),
    ),
    "iggy-stale-client-misreported": (
        Edit(
            _VERDICT,
            _ERROR,
            f"    if error is Error.UNKNOWN_MEMBER_ID:\n        return Error.GROUP_ID_NOT_FOUND\n{_ERROR}",
        ),
    ),
    "heartbeat-accepts-stale-generation": (Edit(_VERDICT, _STALE, ""),),
    "heartbeat-accepted-while-preparing": (
        Edit(
            _VERDICT,
            "return Error.REBALANCE_IN_PROGRESS if group.status is GroupStatus.PREPARING_REBALANCE else Error.NONE",
            "return Error.NONE",
        ),
    ),
}

_REPLACEMENT: Final = {
    "live-groups-are-not-left": (
        Edit(
            "rebalance_check.impl.coordinator.leave:leave_group",
            "group.status is GroupStatus.DEAD",
            "group.status is not GroupStatus.DEAD",
        ),
    ),
}

_COMMIT_ANSWERS: Final = {
    "commit-accepted-while-completing": (
        Edit(
            f"{_OFFSETS}:refusal",
            "    if error is Error.NONE and group.status is GroupStatus.COMPLETING_REBALANCE and not in_transaction:\n"
            "        return Error.REBALANCE_IN_PROGRESS\n",
            "",
        ),
    ),
    "commit-not-fenced": (
        Edit(
            f"{_OFFSETS}:fencing",
            "    error = group.validate_member(",
            "    return Error.NONE\n    error = group.validate_member(",
        ),
    ),
}

ANSWER_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    **_JOIN_ANSWERS,
    **_JOIN_REFUSALS,
    **_SYNC_ANSWERS,
    **_HEARTBEAT_ANSWERS,
    **_REPLACEMENT,
    **_COMMIT_ANSWERS,
}
"""By name of the mutant."""
