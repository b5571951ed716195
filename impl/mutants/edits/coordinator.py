"""Mutants of the group coordinator that change what it does: its groups, its timers, its log."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_SHARD: Final = f"{_COORDINATOR}.shard:Shard"
_SERVICE: Final = f"{_COORDINATOR}.coordinator:GroupCoordinator"
_JOIN: Final = f"{_COORDINATOR}.join"
_REBALANCE: Final = f"{_COORDINATOR}.rebalance"
_STATIC: Final = f"{_COORDINATOR}.static"
_LEAVE: Final = f"{_COORDINATOR}.leave"
_NODES: Final = "rebalance_check.impl.simulator.nodes"

_TIMERS: Final = {
    "session-cut-short": (Edit(f"{_SHARD}.arm_session", "self.now_ms + timeout_ms", "self.now_ms + timeout_ms // 2"),),
    "session-runs-twice": (Edit(f"{_SHARD}.arm_session", "self.now_ms + timeout_ms", "self.now_ms + 2 * timeout_ms"),),
    "join-phase-waits-for-ever": (
        Edit(
            f"{_REBALANCE}:prepare_rebalance",
            "        shard.arm_join(group, group.rebalance_timeout_ms())",
            "        shard.cancel_join(group)",
        ),
    ),
    "no-sync-deadline": (Edit(f"{_REBALANCE}:answer_joins", "\n    shard.arm_sync(group)", ""),),
    "sync-deadline-runs-twice": (
        Edit(f"{_SHARD}.arm_sync", "group.rebalance_timeout_ms()", "2 * group.rebalance_timeout_ms()"),
    ),
    "redpanda-join-timer-not-cancelled": (
        Edit(
            f"{_SHARD}.cancel_join",
            "    self.timers.cancel(TimerKey(TimerKind.JOIN, group.group_id))",
            "    deadline_ms = self.timers.deadline(TimerKey(TimerKind.JOIN, group.group_id))\n"
            "    if deadline_ms is not None:\n"
            '        self.timers.arm(TimerKey(TimerKind.JOIN, group.group_id, "behind"), deadline_ms)\n'
            "    self.timers.cancel(TimerKey(TimerKind.JOIN, group.group_id))",
        ),
    ),
    "new-member-join-timeout-never-fires": (
        Edit(
            f"{_JOIN}:add_member",
            "shard.arm_session(group, member_id, shard.config.new_member_join_timeout_ms)",
            "shard.cancel_session(group, member_id)",
        ),
    ),
    "heartbeat-rejected-while-preparing": (
        Edit(
            f"{_COORDINATOR}.heartbeat:heartbeat",
            "if member is not None:",
            "if member is not None and error is Error.NONE:",
        ),
    ),
    "parked-member-expires": (
        Edit(
            f"{_COORDINATOR}.heartbeat:on_session_timer",
            "    if member.has_satisfied_heartbeat:\n"
            "        return  # the answer to what it waits for starts its session again\n",
            "",
        ),
    ),
    "expiry-without-rebalance": (
        Edit(f"{_COORDINATOR}.heartbeat:after_expiry", "prepare_rebalance(shard, group)", "pass"),
    ),
}

_JOINING: Final = {
    "join-v0-zero-rebalance-timeout": (
        Edit(
            f"{_JOIN}:join_group",
            "    group = shard.groups.get(request.group_id)",
            "    if request.version < 1:\n"
            "        from dataclasses import replace\n"
            "\n"
            "        # a millisecond, because at 0 an absent static leader is awaited without end\n"
            "        request = replace(request, version=1, rebalance_timeout_ms=1)\n"
            "    group = shard.groups.get(request.group_id)",
        ),
    ),
    "size-gate-open": (
        Edit(
            f"{_JOIN}:accepts_joining_member",
            "    member = group.members.get(member_id)",
            "    return True\n    member = group.members.get(member_id)",
        ),
    ),
    "max-size-evicts-first-rejoiner": (
        Edit(
            f"{_JOIN}:accepts_joining_member",
            "group.awaiting_join_count < shard.config.max_size",
            "len(group.members) <= shard.config.max_size",
        ),
    ),
    "join-retry-creates-abandoned-members": (
        Edit(
            f"{_JOIN}:join_as_new_member",
            "elif instance_id is None and request.version >= MEMBER_ID_REQUIRED_SINCE:",
            "elif False:",
        ),
    ),
    "pending-id-admitted-at-once": (
        Edit(
            f"{_JOIN}:join_as_new_member",
            "        group.pending_join.add(member_id)",
            "        group.pending_join.add(member_id)\n"
            "        group.add(new_member(member_id, request))\n"
            "        shard.emit.member_added(group, member_id)",
        ),
    ),
    "join-completes-before-all-joined": (
        Edit(
            f"{_COORDINATOR}.group:Group.has_all_members_joined",
            "len(self.members) == self.awaiting_join_count and not self.pending_join",
            "bool(self.awaiting_join_count) or (not self.members and not self.pending_join)",
        ),
    ),
    "join-keeps-absent-members": (
        Edit(f"{_REBALANCE}:complete_join", "    remove_silent_dynamic_members(shard, group)\n", ""),
    ),
    "absent-leader-not-replaced": (
        Edit(f"{_REBALANCE}:elect_joined_leader", "group.leader = shard.choices.leader(joined)", "group.leader = None"),
    ),
    "generation-not-advanced": (
        Edit(
            f"{_REBALANCE}:start_generation",
            "group.generation += 1",
            "group.generation += 0 if group.generation and group.members else 1",
        ),
    ),
    "generation-reused": (
        Edit(
            f"{_REBALANCE}:start_generation",
            "group.generation += 1",
            "group.generation = group.generation + 1 if group.members else 0",
        ),
    ),
    "leader-decides-protocol": (
        Edit(
            f"{_REBALANCE}:start_generation",
            "    group.subscribed_topics =",
            "    if group.leader is not None:\n"
            "        group.protocol_name = group.members[group.leader].protocols[0].name\n"
            "    group.subscribed_topics =",
        ),
    ),
}

_STATIC_MEMBERS: Final = {
    "static-member-id-not-unique": (
        Edit(
            f"{_JOIN}:join_as_new_member",
            "    if instance_id is not None and",
            "    if instance_id is not None:\n"
            '        member_id = f"{instance_id}-{group.status_since_ms}"\n'
            "    if instance_id is not None and",
        ),
    ),
    "static-restart-keeps-predecessor": (
        Edit(
            f"{_JOIN}:join_as_new_member",
            "if instance_id is not None and instance_id in group.static_members",
            "if False",
        ),
    ),
    "static-rejoin-keeps-old-member-id": (
        Edit(
            f"{_STATIC}:replace_static_member",
            "    predecessor = remember(group, old_id)",
            "    member_id = old_id\n    predecessor = remember(group, old_id)",
        ),
    ),
    "static-join-in-completing-gets-empty": (
        Edit(
            f"{_STATIC}:continue_by_status",
            "    elif group.status is GroupStatus.COMPLETING_REBALANCE:\n        prepare_rebalance(shard, group)",
            "    elif group.status is GroupStatus.COMPLETING_REBALANCE:\n"
            "        answer_without_rebalance(shard, group, member, predecessor)",
        ),
    ),
    "static-rejoin-new-id-not-persisted": (
        Edit(
            f"{_STATIC}:persist_replacement",
            "append_group(shard, group, group_record(group, shard.now_ms), on_answer)",
            "on_answer(Error.NONE)",
        ),
    ),
    "load-forgets-static-followers": (
        Edit(
            f"{_COORDINATOR}.failover:restore",
            "        group.add(restored_member(record, member_record))",
            "        if member_record.group_instance_id and member_record.member_id != record.leader:\n"
            "            continue\n"
            "        group.add(restored_member(record, member_record))",
        ),
    ),
}

_LEAVING: Final = {
    "iggy-leave-lookup-outside-update": (
        Edit(
            f"{_LEAVE}:leave_group",
            "        left = tuple("
            "outcome(identity, leave_one(shard, group, identity)) for identity in request.members)",
            "        known = [one.member_id for one in request.members if one.member_id in group.members]\n"
            "        for place in [list(group.members).index(member_id) for member_id in known]:\n"
            "            if place < len(group.members):\n"
            "                remove_member(shard, group, list(group.members)[place])\n"
            "        left = tuple(outcome(identity, Error.NONE) for identity in request.members)",
        ),
    ),
    "emptied-without-preparing": (
        Edit(
            f"{_LEAVE}:after_leave",
            "    if group.status in",
            "    if not group.members:\n"
            "        before, group.status = group.status, GroupStatus.EMPTY\n"
            "        shard.emit.moved(group, before)\n"
            "    elif group.status in",
        ),
    ),
    "leave-without-rebalance": (Edit(f"{_LEAVE}:after_leave", "prepare_rebalance(shard, group, on_empty)", "pass"),),
    "leave-does-not-complete-join": (
        Edit(f"{_LEAVE}:after_leave", "maybe_complete_join(shard, group, on_empty)", "pass"),
    ),
    "deletes-any-group": (
        Edit(
            f"{_COORDINATOR}.describe:delete",
            "    if group.status is not GroupStatus.EMPTY:\n        return Error.NON_EMPTY_GROUP\n",
            "",
        ),
    ),
}

_FAILOVER: Final = {
    "late-unload-wipes-newer-load": (
        Edit(
            f"{_SERVICE}.unload",
            "    if epoch is not None and epoch <= self._epoch:\n        return self._shard.take_answers()\n",
            "",
        ),
    ),
    "redpanda-ops-served-before-recovery": (
        Edit(f"{_SERVICE}.start_loading", "self._stop(Phase.LOADING)", "self._stop(Phase.ACTIVE)"),
    ),
    "redpanda-recovery-exception-leaves-loading": (
        Edit(
            f"{_SERVICE}.load",
            "    load(self._shard, records)",
            "    records = tuple(records)\n"
            "    load(self._shard, records)\n"
            '    if any(type(record).__name__ == "GroupTombstone" for record in records):\n'
            "        self._phase = Phase.LOADING",
        ),
    ),
    "deposed-leader-appends": (
        Edit(f"{_NODES}:NodeLog.append", "self._is_writing = self.is_deposed", "self._is_writing = False"),
    ),
    "deposed-coordinator-never-learns": (
        Edit(
            f"{_NODES}:Nodes._resign",
            "    self._zombies.remove(node)",
            "    return\n    self._zombies.remove(node)",
        ),
    ),
}

_OFFSETS: Final = {
    "iggy-offset-keyed-by-member": (
        Edit(
            f"{_COORDINATOR}.offsets:write",
            "            group.offsets.keep(record, at)",
            "            from dataclasses import replace\n"
            "\n"
            '            own = replace(record.committed, topic=f"{request.member_id}/{record.committed.topic}")\n'
            "            group.offsets.keep(replace(record, committed=own), at)",
        ),
    ),
    "offsets-expired-while-rebalancing": (
        Edit(
            f"{_COORDINATOR}.offset_expiry:expired_offsets",
            "    if not can_expire(group):",
            "    if group.status is GroupStatus.PREPARING_REBALANCE:\n"
            "        stored = sorted(group.offsets.committed.items())\n"
            "        return [key for key, each in stored if is_old(shard, group, each)]\n"
            "    if not can_expire(group):",
        ),
    ),
}

COORDINATOR_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    **_TIMERS,
    **_JOINING,
    **_STATIC_MEMBERS,
    **_LEAVING,
    **_FAILOVER,
    **_OFFSETS,
}
"""By name of the mutant."""
