"""The commits that members send between the notice of a rebalance and their JoinGroup."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ConnectionBroken,
    ListenerCalled,
    MemberClosing,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.errors import NONE, REBALANCE_IN_PROGRESS
from rebalance_check.properties.views.members import EAGER


@dataclass(slots=True)
class LastCommits:
    """One member that commits by itself.

    ``notice`` is the reply that says that its group rebalances, until it joins. Of the commits since then, ``sent`` is
    the last one while it is open, ``before`` the one that was open when it was sent, and ``committed`` has what the
    accepted one says of each partition.
    """

    is_eager: bool
    notice: RequestAnswered | None = None
    sent: RequestSent | None = None
    before: RequestSent | None = None
    answered: RequestSent | None = None
    committed: dict[str, OffsetCommitted] = field(default_factory=dict)

    def forget(self) -> None:
        """The rebalance begins, or is over before it began."""
        self.notice = self.sent = self.before = self.answered = None
        self.committed.clear()


class Commits(Memory):
    """``of`` has the members that commit by themselves."""

    def __init__(self) -> None:
        super().__init__(
            {
                MemberStarted: self._on_started,
                MemberCrashed: self._on_ended,
                MemberLeft: self._on_ended,
                ConnectionBroken: self._on_broken,
                MemberClosing: self._on_broken,
                ListenerCalled: self._on_listener,
                RequestSent: self._on_sent,
                RequestAnswered: self._on_answered,
                OffsetCommitted: self._on_committed,
            }
        )
        self.of: dict[str, LastCommits] = {}

    def _on_started(self, event: MemberStarted) -> None:
        self.of.pop(event.member, None)
        if event.auto_commit_interval_ms:
            self.of[event.member] = LastCommits(event.protocol.lower() == EAGER)

    def _on_ended(self, event: MemberCrashed | MemberLeft) -> None:
        self.of.pop(event.member, None)

    def _on_broken(self, event: ConnectionBroken | MemberClosing) -> None:
        """It may not reach its coordinator, or it is closed: then it may commit otherwise, or not at all."""
        if (one := self.of.get(event.member)) is not None:
            one.forget()

    def _on_listener(self, event: ListenerCalled) -> None:
        """The member has committed, or given up to; its application may commit from here on."""
        if (one := self.of.get(event.member)) is not None:
            one.notice = None

    def _on_sent(self, event: RequestSent) -> None:
        one = self.of.get(event.member)
        if one is None:
            return
        if event.api == Api.OFFSET_COMMIT:
            one.before, one.sent = one.sent, event
            one.committed.clear()
        elif event.api in {Api.JOIN_GROUP, Api.LEAVE_GROUP}:
            one.forget()
        if one.notice is None:
            one.sent = one.before = None

    def _on_answered(self, event: RequestAnswered) -> None:
        one = self.of.get(event.member)
        if one is None:
            return
        if event.api == Api.OFFSET_COMMIT:
            is_last = one.sent is not None and one.sent.request == event.request
            one.answered = one.sent if is_last and event.error == NONE else None
            if is_last:
                one.sent = None
        elif event.api == Api.SYNC_GROUP and event.error == NONE:
            one.forget()
        elif event.error == REBALANCE_IN_PROGRESS and one.notice is None:
            one.forget()
            one.notice = event

    def _on_committed(self, event: OffsetCommitted) -> None:
        one = self.of.get(event.member)
        if one is not None and one.answered is not None and event.error == NONE:
            one.committed[event.partition] = event
