"""Invariants about time and about the log, judged by what clients see of a scenario's steps.

They give the same verdicts as the coordinator's own events do, where a coordinator (Kafka's) records none: each is a
second fold of an invariant in `timing` or `persistence`.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.step_times import StepTimes
from rebalance_check.properties.views.steps import Broken, Finding, Step, StepFold, members_of

REMOVALS: Final = frozenset({"advance", "join", "sync", "heartbeat", "commit"})
"""Steps that remove a member only because its time is up."""


class ObservedRemovals(StepFold):
    """`nobody_is_removed_early`: a member that is gone was silent, or owed its JoinGroup or SyncGroup, for too long."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._times = StepTimes()

    def look(self, step: Step) -> Finding:
        """Static members that were replaced are not gone."""
        found: Finding = False
        comparable = step.before.error == step.after.error == ACCEPTED and step.after.status != GroupStatus.DEAD
        if comparable and step.verb in REMOVALS:
            held = {instance for _, instance in step.after.members if instance}
            for member, instance in step.before.members:
                if member not in members_of(step.after) and instance not in held and not isinstance(found, Broken):
                    found = self._removal(step, member) or found
        self._times.note(step)
        return found

    def _removal(self, step: Step, member_id: str) -> Finding:
        times = self._times.members.get(member_id)
        own = any(sent.member_id == member_id for sent in (*step.sent, *step.waiting.values()))
        if times is None or times.seen_ms is None or own:
            return False
        in_join_phase = self._times.status == GroupStatus.PREPARING_REBALANCE
        phase_ms = step.now_ms - (self._times.since_ms if in_join_phase else self._times.generation_ms)
        owes = in_join_phase or not times.synced
        silent_ms = step.now_ms - times.seen_ms
        if silent_ms >= times.session_ms or (owes and phase_ms >= times.rebalance_ms):
            return True
        return Broken(
            f"{member_id} is removed {silent_ms} ms after its session was restarted and {phase_ms} ms after the phase "
            f"began; its session is {times.session_ms} ms, its rebalance timeout {times.rebalance_ms} ms", step.after,
        )  # fmt: skip


class ObservedLaggards(StepFold):
    """`laggards_are_removed_in_time`: no group is in CompletingRebalance for longer than its members' timeouts.

    Where all members have sent their SyncGroup, the group may wait for a log that acknowledges nothing (KAFKA-12890).
    """

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._times = StepTimes()

    def look(self, step: Step) -> Finding:
        """Only where the timeouts of all members are known, and no fault was injected in this phase."""
        self._times.note(step)
        known = [self._times.members.get(member) for member in members_of(step.after)]
        members = [times for times in known if times is not None]
        if (
            step.after.status != GroupStatus.COMPLETING_REBALANCE
            or self._times.disturbed
            or not members
            or len(members) < len(known)
        ):
            return False
        if self._times.held and all(times.synced for times in members):
            return False
        waited_ms = step.now_ms - max(self._times.since_ms, self._times.generation_ms)
        longest_ms = max(times.longest_ms for times in members)
        if waited_ms <= longest_ms:
            return True
        return Broken(
            f"the group is in CompletingRebalance for {waited_ms} ms, and no member has a rebalance timeout above "
            f"{longest_ms} ms", step.after,
        )  # fmt: skip


class ObservedLoads(StepFold):
    """`load_restores_the_log`: a Stable group has its generation and members after a failover that lost no record.

    While the log acknowledges nothing, what it holds is not certain: a record that timed out is read all the same.
    """

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._stable: tuple[int, frozenset[str]] | None = None
        self._held = False

    def look(self, step: Step) -> Finding:
        """Compare the group after loading with the last Stable group that was seen."""
        found: Finding = False
        is_back = step.after.error == ACCEPTED
        now = step.after.generation, members_of(step.after)
        if is_back and step.verb in {"load", "failover"} and self._stable and not step.loses_records():
            (generation, members), self._stable, found = self._stable, None, True
            if now != (generation, members):
                found = Broken(
                    f"the log was read, and generation {generation} of {sorted(members)} is generation {now[0]} of "
                    f"{sorted(now[1])}", step.after,
                )  # fmt: skip
        self._held = step.verb == "hold" or (self._held and step.verb != "release")
        if (
            step.loses_records()
            or (is_back and step.after.status != GroupStatus.STABLE)
            or step.verb == "unload"
            or self._held
        ):
            self._stable = None
        if not self._held and is_back and step.after.status == GroupStatus.STABLE and step.after.generation >= 0:
            self._stable = now
        return found
