"""A scenario up to the step at hand: ids that replies assigned, times, offsets, and joins that wait."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import GroupDescribed, RequestIssued
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.steps import (
    FORMED,
    MEMBER_ID_REQUIRED,
    TAKEOVERS,
    Reply,
    Step,
    Steps,
    is_rebalancing,
    members_of,
    pending_after,
)

PREMISES: Final = (
    "the history holds the steps of a scenario (StepStarted, RequestIssued, ReplyReceived, GroupDescribed)",
)

LOSES_OFFSETS: Final = frozenset({"unload", "fail", "hold", "offset-delete", "txn-commit", "end-txn"})
"""Steps after which the offset that a fetch should return is not certain."""


class StepMemory(Memory, ABC):
    """A memory that takes note of whole steps.

    At the end of a step it has noted the steps before it, and this one, too, if it ``is_prompt``.
    """

    is_prompt = False

    uses: ClassVar = (Steps,)

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._ended: Step | None = None
        super().__init__({GroupDescribed: self._on_described})

    def _on_described(self, _event: GroupDescribed) -> None:
        before, self._ended = self._ended, self._steps.step
        step = self._ended if self.is_prompt else before
        if step is not None:
            self.note(step)

    @abstractmethod
    def note(self, step: Step) -> None:
        """Take a step into account."""
        ...


class KnownIds(StepMemory):
    """The member ids that a scenario has shown.

    ``replied`` were in a reply to JoinGroup, ``assigned`` in one that assigns an id, ``fenced`` in one that says
    FENCED_INSTANCE_ID; ``seen`` were in a request, a reply or the group. ``instances`` maps each to its instance id.
    """

    def __init__(self, steps: Steps) -> None:
        super().__init__(steps)
        self.replied: set[str] = set()
        self.assigned: set[str] = set()
        self.fenced: set[str] = set()
        self.seen: set[str] = set()
        self.instances: dict[str, str] = {}

    def note(self, step: Step) -> None:
        """Take a step into account."""
        self.seen |= {sent.member_id for sent in step.sent} | members_of(step.after)
        self.instances.update(step.before.members)
        for reply in step.replies_to(Api.JOIN_GROUP):
            member_id = reply.event.assigned_member_id
            self.replied.add(member_id)
            self.seen.add(member_id)
            if assigns(reply):
                self.assigned.add(member_id)
            if reply.error == "FENCED_INSTANCE_ID":
                self.fenced.add(member_id)


def assigns(reply: Reply) -> bool:
    """Whether a reply to JoinGroup assigns a member id."""
    return reply.error in {ACCEPTED, MEMBER_ID_REQUIRED} and reply.event.assigned_member_id != ""


class Joins(StepMemory):
    """The JoinGroups of a scenario after the step; those that waited at a coordinator that is replaced are lost.

    ``answered`` is the number of each member's last one with a reply, by member id.
    ``pending`` are the ids that were handed out and not used. ``is_initial``: no generation since the group was Empty.
    """

    is_prompt = True

    def __init__(self, steps: Steps) -> None:
        super().__init__(steps)
        self.answered: dict[str, int] = {}
        self.pending: dict[str, int] = {}
        self.is_initial = True
        self._lost = -1

    def note(self, step: Step) -> None:
        """Take a step into account."""
        if step.after.status != GroupStatus.PREPARING_REBALANCE:
            self.is_initial = step.after.status not in FORMED
        self.pending = pending_after(self.pending, step)
        if step.verb in TAKEOVERS:
            self._lost = max([self._lost, *step.waiting])
        for reply in step.replies_to(Api.JOIN_GROUP):
            if reply.request.member_id:
                self.answered[reply.request.member_id] = reply.request.request

    def waiting(self, step: Step) -> list[RequestIssued]:
        """The JoinGroups that count: of two under one id only one is answered, the earlier one is given up."""
        joins = (sent for sent in step.waiting.values() if sent.api == Api.JOIN_GROUP)
        return [sent for sent in joins if sent.request > max(self._lost, self.answered.get(sent.member_id, 0))]


class Disturbed(StepMemory):
    """Faults that last after the step: ``is_loading`` the log, ``failing`` with an error."""

    is_prompt = True

    def __init__(self, steps: Steps) -> None:
        super().__init__(steps)
        self.is_loading = False
        self.failing = ""

    def note(self, step: Step) -> None:
        """Take a step into account."""
        words = step.started.step.split()
        if step.verb == "failover":
            self.is_loading = "loading" in words
        if step.verb in {"load", "unload"}:
            self.is_loading = False
        if step.verb == "fail":
            self.failing = words[1] if len(words) > 1 else ""


class Kept(NamedTuple):
    """A committed offset, and from when on it is old, in ms on the coordinator's clock."""

    offset: int
    old_ms: int


class CommittedOffsets(StepMemory):
    """The offset of each partition that was certainly committed last."""

    def __init__(self, steps: Steps) -> None:
        super().__init__(steps)
        self._last: dict[str, Kept] = {}

    def at(self, step: Step) -> dict[str, Kept]:
        """Those that a fetch in this step returns: not deleted, nor old in a group whose old offsets may go."""
        if step.loses_records() or step.verb in LOSES_OFFSETS:
            return {}
        if is_rebalancing(step.before) and is_rebalancing(step.after):
            return dict(self._last)
        return {partition: kept for partition, kept in self._last.items() if step.now_ms < kept.old_ms}

    def note(self, step: Step) -> None:
        """The accepted commits; those without a reply may count already, or not yet."""
        last = self._last = self.at(step)
        for sent in step.sent:
            for partition, _ in sent.offsets if sent.api == Api.OFFSET_COMMIT else ():
                last.pop(partition, None)
        in_doubt = any(sent.api == Api.OFFSET_COMMIT for sent in step.waiting.values())
        for reply in step.replies_to(Api.OFFSET_COMMIT):
            offsets, own_ms = dict(reply.request.offsets), reply.request.retention_ms
            old_ms = step.now_ms + (own_ms if own_ms >= 0 else step.offsets_retention_ms)
            for partition, error in reply.event.partition_errors:
                if error == ACCEPTED and not in_doubt and partition in offsets:
                    last[partition] = Kept(offsets[partition], old_ms)
                else:
                    last.pop(partition, None)


class OffsetsToKeep(StepMemory):
    """Until when the group has offsets that are not old (``until_ms``), and the ``producers`` of open transactions."""

    is_prompt = True

    def __init__(self, steps: Steps) -> None:
        super().__init__(steps)
        self.until_ms = 0
        self.producers: set[int] = set()

    def note(self, step: Step) -> None:
        """A deletion, and a log that loses records, lose offsets, too."""
        words = step.started.step.split()
        if step.verb in {"delete", "offset-delete", "failover"}:
            self.until_ms = 0
            self.producers.clear()
        if step.verb == "end-txn":
            self.producers -= {int(w.partition("=")[2]) for w in words if w.startswith("producer=")}
        for reply in step.replies:
            if not reply.event.partition_errors or any(error != ACCEPTED for _, error in reply.event.partition_errors):
                continue
            if reply.api == Api.TXN_OFFSET_COMMIT:
                self.producers.add(reply.request.producer_id)
            elif reply.api == Api.OFFSET_COMMIT:
                self.until_ms = step.now_ms + step.offsets_retention_ms


class LastStable(StepMemory):
    """The generation and the members of the last Stable group whose record the log certainly holds (``known``)."""

    def __init__(self, steps: Steps) -> None:
        super().__init__(steps)
        self.known: tuple[int, frozenset[str]] | None = None
        self._held = False

    def is_read_again(self, step: Step) -> bool:
        """Whether a coordinator has read the log in this step, which lost nothing."""
        return step.after.error == ACCEPTED and step.verb in {"load", "failover"} and not step.loses_records()

    def note(self, step: Step) -> None:
        """While the log acknowledges nothing, its content is not certain: a record that timed out is read later."""
        is_back, is_stable = step.after.error == ACCEPTED, step.after.status == GroupStatus.STABLE
        self._held = step.verb == "hold" or (self._held and step.verb != "release")
        lost = step.loses_records() or step.verb == "unload" or self._held or self.is_read_again(step)
        if lost or (is_back and not is_stable):
            self.known = None
        if not self._held and is_back and is_stable and step.after.generation >= 0:
            self.known = step.after.generation, members_of(step.after)
