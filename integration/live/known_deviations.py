"""Claims that named releases of client libraries are known to break: a run holds them to everything else.

A deviation excuses the behaviour of its release, where that shows itself, and nothing else. Its findings are kept apart
(`KnownFinding`): no violations of the run. Findings explained by the user's own list (`properties.known`) are kept
apart in the same way. `rebalance-check judge` on the same history excuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.integration.live.settings import ClientName
from rebalance_check.integration.live.stuck_leaders import stuck_leaders
from rebalance_check.integration.live.withheld_partitions import are_withheld
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    HealEnded,
    MemberCrashed,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
    RunEnded,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.known import NOTHING_KNOWN, KnownEntry, KnownFindings
from rebalance_check.properties.verdict import Counterexample, Held, Verdict, Violated

SHOWS_OWNED = PartitionsAssigned | PartitionsRevoked | PartitionsLost | AssignmentCompleted
GONE = MemberStarted | MemberCrashed | MemberLeft

Excuse = Callable[[Sequence[Event], frozenset[str]], Iterable[Event]]
"""The history as if excused events had not been seen; the names are those of the members that may be excused."""


@dataclass(frozen=True, slots=True)
class KnownDeviation:
    """A claim that members of one client break, in these releases and no other, how, and the events that show it.
    TRACK_RECORD.md has the command."""

    client: ClientName
    claim: str
    releases: frozenset[str]
    reason: str
    excuse: Excuse

    @property
    def of(self) -> str:
        """Client and releases: ``kafka-python 3.0.12``."""
        return f"{self.client} {' or '.join(sorted(self.releases))}"

    def concerns(self, events: Sequence[Event]) -> frozenset[str]:
        """The members that were of this client, in a release that is named, whenever they were started. A release that
        is not known is not excused."""
        started = [event for event in events if isinstance(event, MemberStarted)]
        others = {each.member for each in started if each.client != self.client or each.release not in self.releases}
        return frozenset(each.member for each in started) - others


def without_members(events: Sequence[Event], members: frozenset[str]) -> Iterator[Event]:
    """The history as if these members had not been seen at all: for claims that compare a member with itself."""
    for event in events:
        if isinstance(event, RunEnded):
            yield replace(event, last=tuple(each for each in event.last if each[1] not in members))
        elif event.source not in members:
            yield event


def without_stuck_leaders(events: Sequence[Event], members: frozenset[str]) -> Iterator[Event]:
    """The history as if no heal had missed a leader that stays in its join, where that was all that a heal missed."""
    forgiven: set[str] = set()
    for at, event in enumerate(events):
        if isinstance(event, HealEnded) and event.missing and len(event.pending) == len(event.missing):
            stuck = stuck_leaders(events, at) & members
            forgiven |= set(event.pending) if stuck.issuperset(event.missing) else set()
    return _less_pending(events, forgiven)


def without_withheld_partitions(events: Sequence[Event], members: frozenset[str]) -> Iterator[Event]:
    """The history as if no heal had found partitions without an owner, where these members had lost all of them."""
    forgiven: set[str] = set()
    for at, event in enumerate(events):
        if isinstance(event, HealEnded) and not event.missing and are_withheld(events, at, members):
            forgiven |= set(event.pending)
    return _less_pending(events, forgiven)


def without_syncs_after_leaving(events: Sequence[Event], members: frozenset[str]) -> Iterator[Event]:
    """The history without each SyncGroup of these members for a join that was under way when they left."""
    joins: dict[str, RequestSent] = {}
    left: set[str] = set()
    for event in events:
        if isinstance(event, RequestSent) and event.member in members:
            if event.api == Api.SYNC_GROUP and event.member in left:
                continue
            if event.api == Api.JOIN_GROUP:
                joins[event.member] = event
                left.discard(event.member)
            elif event.api == Api.LEAVE_GROUP and event.member in joins:
                left.add(event.member)
        elif isinstance(event, RequestAnswered) and event.api == Api.JOIN_GROUP:
            joins.pop(event.member, None)
        yield event


def without_losses_during_a_join(events: Sequence[Event], members: frozenset[str]) -> Iterator[Event]:
    """The history as if these members had notified their application of a loss where they rather went on with the join
    that was under way: the next that they show of their partitions belongs to a later generation."""
    for at, event in enumerate(events):
        if isinstance(event, MembershipLost) and event.member in members and _rejoined(events[at + 1 :], event):
            yield PartitionsLost(
                group=event.group, source=event.source, seq=event.seq, time_ms=event.time_ms, member=event.member,
                generation=event.generation, member_id=event.member_id, partitions=(),
            )  # fmt: skip
        else:
            yield event


def _rejoined(later: Sequence[Event], lost: MembershipLost) -> bool:
    shown = (e for e in later if isinstance(e, SHOWS_OWNED | GONE) and e.member == lost.member)
    following = next(shown, None)
    return isinstance(following, SHOWS_OWNED) and following.generation > lost.generation


def _less_pending(events: Iterable[Event], forgiven: set[str]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, RunEnded) and event.pending is not None:
            yield replace(event, pending=tuple(what for what in event.pending if what not in forgiven))
        else:
            yield event


KNOWN: Final = (
    KnownDeviation(
        ClientName.KAFKA_PYTHON,
        "callbacks_alternate",
        frozenset({"3.0.12"}),
        "on_partitions_revoked is called a second time for what was revoked already, when the join in between failed",
        without_members,
    ),
    KnownDeviation(
        ClientName.KAFKA_PYTHON,
        "reset_member_loses_everything",
        frozenset({"3.0.12"}),
        "a member whose JoinGroup or SyncGroup is answered UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION prepares no second "
        "time for the join: without on_partitions_lost it keeps what it owned, and claims it, until a join completes",
        without_losses_during_a_join,
    ),
    KnownDeviation(
        ClientName.AIOKAFKA,
        "reset_member_loses_everything",
        frozenset({"0.14.0"}),
        "it has no callback for what is lost: a zombie learns that its partitions are revoked",
        without_members,
    ),
    KnownDeviation(
        ClientName.AIOKAFKA,
        "revoked_is_not_committed",
        frozenset({"0.14.0"}),
        "from the callback that revokes until the join completes, `assignment` shows the revoked partitions, and a "
        "commit of them names the new generation",
        without_members,
    ),
    KnownDeviation(
        ClientName.KAFKA_PYTHON,
        "rebalance_completes",
        frozenset({"3.0.12"}),
        "a leader that joins because its metadata changed, and whose poll ends between JoinGroup and SyncGroup, stays "
        "in its join for ever: having computed the assignment, it no longer finds that it needs to join, so no later "
        "poll takes up the result",
        without_stuck_leaders,
    ),
    KnownDeviation(
        ClientName.KAFKA_PYTHON,
        "rebalance_completes",
        frozenset({"3.0.12"}),
        "a cooperative member claims the partitions that it has lost: the leader withholds them until it revokes them, "
        "which it never does, and they have no owner",
        without_withheld_partitions,
    ),
    KnownDeviation(
        ClientName.KAFKA_PYTHON,
        "wire_lost_membership_is_not_used",
        frozenset({"3.0.12"}),
        "a member that is closed while its JoinGroup is under way sends LeaveGroup, and then SyncGroup for the "
        "generation that the JoinGroup is answered with",
        without_syncs_after_leaving,
    ),
    *(
        KnownDeviation(ClientName.KAFKA_PYTHON, claim, frozenset({"3.0.12"}), reason, without_members)
        for claim, reason in (
            (
                "wire_lost_partitions_are_not_claimed",
                "a cooperative member that receives UNKNOWN_MEMBER_ID claims the partitions that it lost",
            ),
            (
                "wire_no_needless_join",
                "a join that completes between two polls is thrown away, and the next poll sends JoinGroup again",
            ),
            (
                "wire_claims_are_the_assignment",
                "an assignment that is thrown away with its join is not claimed; what was owned before is",
            ),
        )
    ),
)


@dataclass(frozen=True, slots=True)
class KnownFinding:
    """A violation that a known deviation, or an entry of the user's list, accounts for."""

    deviation: KnownDeviation | KnownEntry
    counterexample: Counterexample

    def __str__(self) -> str:
        of = f" of {self.deviation.of}" if self.deviation.of else ""
        return f"known{of}: {self.deviation.claim}: {self.counterexample.headline}"


@dataclass(frozen=True, slots=True)
class LiveJudgement:
    """The verdicts on a history of clients, and the violations that are left out of them because they are known."""

    judgement: Judgement
    known: tuple[KnownFinding, ...] = ()


def judge_clients(
    history: Iterable[Event],
    invariants: Sequence[Invariant] | None = None,
    *,
    require_tested: bool = False,
    listed: KnownFindings = NOTHING_KNOWN,
) -> LiveJudgement:
    """Judge a history of clients; a violated claim is judged again without the events that a known deviation explains.

    A remaining finding in the user's list (``listed``) is no violation either. ``invariants`` (default: the
    catalogue) and ``require_tested`` as of `judge`.
    """
    events = list(history)
    judgement = judge(events, invariants, require_tested=require_tested)
    verdicts, known = dict(judgement.verdicts), list[KnownFinding]()
    for invariant, verdict in judgement.verdicts.items():
        if isinstance(verdict, Violated):
            after, found = _excused(events, invariant, verdict)
            verdicts[invariant], more = _unless_listed(invariant, after, listed)
            known += [*found, *more]
    return LiveJudgement(replace(judgement, verdicts=verdicts), tuple(known))


def _unless_listed(invariant: Invariant, verdict: Verdict, listed: KnownFindings) -> tuple[Verdict, list[KnownFinding]]:
    """The verdict, and the findings that the user's list accounts for: then the claim counts as one that held."""
    if not isinstance(verdict, Violated):
        return verdict, []
    entry = listed.entry_for(invariant.name, verdict.counterexample.headline)
    return (verdict, []) if entry is None else (Held(), [KnownFinding(entry, verdict.counterexample)])


def _excused(events: Sequence[Event], invariant: Invariant, verdict: Verdict) -> tuple[Verdict, list[KnownFinding]]:
    """The verdict on the history that the known deviations leave, and the findings of each of them."""
    known: list[KnownFinding] = []
    for deviation in KNOWN:
        members = deviation.concerns(events)
        if not isinstance(verdict, Violated) or deviation.claim != invariant.name or not members:
            continue
        events = list(deviation.excuse(events, members))
        after = judge(events, [invariant]).verdicts[invariant]
        if after != verdict:
            known.append(KnownFinding(deviation, verdict.counterexample))
        verdict = after
    return verdict, known
