"""The commit that precedes a rebalance: one at a time, and nothing is read after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ConnectionBroken,
    ListenerCalled,
    MemberClosing,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.engines import CHECKED, Finding, Findings, OfApis, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.commits import Commits


def _one_at_a_time(event: RequestSent, commits: Commits) -> Findings:
    """The second of two commits that were sent after the notice, while the first is open."""
    one = commits.of.get(event.member)
    if one is None or one.notice is None:
        return None
    if one.before is None:
        return CHECKED
    return broken(
        f"{event.member} sends a second commit before it joins, and the first is not answered",
        (f"{event.member} was answered REBALANCE_IN_PROGRESS at {STEP};", one.notice),
        (f"it sent OffsetCommit {one.before.request} at {STEP}, and waits for its answer;", one.before),
        (f"it sent OffsetCommit {event.request} at {STEP}: contradiction.", event),
    )


def _where_committed(event: PartitionsRevoked, commits: Commits) -> Iterator[Finding]:
    """An EAGER member that commits by itself gives partitions up at the offsets of its last commit."""
    one = commits.of.get(event.member)
    if one is None or not one.is_eager or one.sent is not None:
        return
    for partition, position in event.positions:
        committed = one.committed.get(partition)
        if committed is None or committed.offset == position:
            yield from () if committed is None else (CHECKED,)
        else:
            yield broken(
                f"{event.member} read {partition} on after its last commit",
                (f"{event.member} committed {partition} at offset {committed.offset} before it joins, as was answered "
                 f"at {STEP};", committed),
                (f"it gives {partition} up at offset {position} at {STEP}: the records between are delivered again: "
                 "contradiction.", event),
            )  # fmt: skip


_PREMISES: Final = (
    "the consumer commits by itself (MemberStarted.auto_commit_interval_ms), and its application does not",
    "a commit that the member sends after REBALANCE_IN_PROGRESS, and before it joins, precedes the rebalance",
)
_EXEMPTED: Final = (
    ConnectionBroken, ListenerCalled, MemberClosing, MemberCrashed, MemberLeft, MemberStarted, OffsetCommitted,
    RequestAnswered, RequestSent,
)  # fmt: skip

OneCommitPrecedesAJoin: Final = Invariant(
    name="one_commit_precedes_a_join",
    family="members",
    claim="while a member waits for the answer to the commit that precedes a rebalance, it sends no other",
    source="ConsumerCoordinator.onJoinPrepare (autoCommitOffsetRequestFuture, KAFKA-13310)",
    premises=_PREMISES,
    exempted_by=tuple(one for one in _EXEMPTED if one is not OffsetCommitted),
    evidence=Evidence.CONCERNED,
    fold=form(
        {RequestSent: OfApis(_one_at_a_time, Api.OFFSET_COMMIT)},
        views=(Commits,),
        needs=((RequestAnswered,), (MemberStarted,)),
    ),
    breaks="""
        MemberStarted(member="m0", protocol="eager", auto_commit_interval_ms=5000)
        RequestAnswered(member="m0", api="Heartbeat", request=1, error="REBALANCE_IN_PROGRESS")
        RequestSent(member="m0", api="OffsetCommit", request=2, generation=1)
        RequestSent(member="m0", api="OffsetCommit", request=3, generation=1)
    """,
    holds="""
        MemberStarted(member="m0", protocol="eager", auto_commit_interval_ms=5000)
        RequestAnswered(member="m0", api="Heartbeat", request=1, error="REBALANCE_IN_PROGRESS")
        RequestSent(member="m0", api="OffsetCommit", request=2, generation=1)
    """,
)

RevokedWhereCommitted: Final = Invariant(
    name="revoked_where_committed",
    family="members",
    claim="an EAGER member gives a partition up at the offset that it committed before it joins: it reads nothing "
    "while it waits for that commit",
    source="ConsumerCoordinator.onJoinPrepare (SubscriptionState.markPendingRevocation, KAFKA-14196)",
    premises=(*_PREMISES, "the positions of revoked partitions are recorded (PartitionsRevoked.positions)"),
    exempted_by=_EXEMPTED,
    evidence=Evidence.CONCERNED,
    fold=form({PartitionsRevoked: _where_committed}, views=(Commits,), needs=((OffsetCommitted,), (MemberStarted,))),
    breaks="""
        MemberStarted(member="m0", protocol="eager", auto_commit_interval_ms=5000)
        RequestAnswered(member="m0", api="Heartbeat", request=1, error="REBALANCE_IN_PROGRESS")
        RequestSent(member="m0", api="OffsetCommit", request=2, generation=1)
        RequestAnswered(member="m0", api="OffsetCommit", request=2, error="NONE")
        OffsetCommitted(member="m0", generation=1, partition="t-0", offset=5, error="NONE")
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",), positions=(("t-0", 7),))
    """,
    holds="""
        MemberStarted(member="m0", protocol="eager", auto_commit_interval_ms=5000)
        RequestAnswered(member="m0", api="Heartbeat", request=1, error="REBALANCE_IN_PROGRESS")
        RequestSent(member="m0", api="OffsetCommit", request=2, generation=1)
        RequestAnswered(member="m0", api="OffsetCommit", request=2, error="NONE")
        OffsetCommitted(member="m0", generation=1, partition="t-0", offset=5, error="NONE")
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",), positions=(("t-0", 5),))
    """,
)

LAWS: Final = (OneCommitPrecedesAJoin, RevokedWhereCommitted)
"""In the order in which reports name them."""
