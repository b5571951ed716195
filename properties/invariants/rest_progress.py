"""Progress at rest: who owns a partition reads it, and what was read is committed."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import CoordinatorRested, Event, MemberRested, OffsetCommitted
from rebalance_check.properties.invariants.rest_members import FAMILY, SETTLED, RestFold
from rebalance_check.properties.kinds import Handler, Invariant, Kind
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.rest import APART_MS

COMMIT_GRACE_MS: Final = 1_000
"""How much longer than its interval a commit may take, in ms."""

NOWHERE: Final = -1
"""The position of a partition that no member read, and the offset of one that none committed."""


class OwnedPartitionsAreReadViolated(Violation):
    """A member of a settled group owned a partition and did not read it."""


class WhatIsReadIsCommittedViolated(Violation):
    """A partition of a settled group was read, and its committed offset stood still."""


class _Read(RestFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRested: self.on_member})
        self.compared = 0

    def on_member(self, event: MemberRested) -> None:
        """Each partition that was owned at both looks has been read meanwhile."""
        before = self.looks.earlier(event)
        if before is None or before.is_busy or not event.reads:
            return
        earlier, now = dict(before.positions), dict(event.positions)
        for partition in sorted(set(before.owned) & set(event.owned)):
            self.compared = (self.compared or 0) + 1
            was, is_at = earlier.get(partition, NOWHERE), now.get(partition, NOWHERE)
            if is_at <= was:
                self.contradiction(
                    f"{event.member} owns {partition} and does not read it",
                    (f"{event.member} owns {partition} and has read {_up_to(was)} at {STEP}.", before),
                    (f"it has read {_up_to(is_at)} at {STEP}, {event.time_ms - before.time_ms} ms later.", event),
                )


class _Committed(RestFold):
    bookkeeping = frozenset({OffsetCommitted})
    needs = ((MemberRested,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            OffsetCommitted: self.on_committed,
            CoordinatorRested: self.on_coordinator,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._accepted: dict[str, int] = {}

    def on_committed(self, event: OffsetCommitted) -> None:
        """The coordinator accepted it; a late commit that arrives after it may take the offset back."""
        if event.error == Error.NONE.name:
            self._accepted[event.partition] = max(event.offset, self._accepted.get(event.partition, NOWHERE))

    def on_coordinator(self, event: CoordinatorRested) -> None:
        """The offset of each partition whose owner has read and had the time to commit has advanced."""
        self._compare(event)
        self._accepted.clear()

    def _compare(self, event: CoordinatorRested) -> None:
        last = self.looks.before.coordinator
        if last is None or last.incarnation != event.incarnation:
            return
        earlier, now = dict(last.committed), dict(event.committed)
        for member in self.looks.now.members.values():
            for partition in self._read_between(member):
                self.compared = (self.compared or 0) + 1
                was, is_at = earlier.get(partition, NOWHERE), now.get(partition, NOWHERE)
                if max(is_at, self._accepted.get(partition, NOWHERE)) <= was:
                    self.contradiction(
                        f"{member.member} reads {partition}, and its committed offset stands at {is_at}",
                        (f"{partition} is committed {_up_to(was)} at {STEP}.", last),
                        (f"{member.member} has read it {_up_to(dict(member.positions)[partition])} at {STEP}.", member),
                        (f"it is committed {_up_to(is_at)} at {STEP}.", event),
                    )

    def _read_between(self, member: MemberRested) -> list[str]:
        before = self.looks.earlier(member)
        interval_ms = member.commit_interval_ms
        if before is None or before.is_busy or not interval_ms:
            return []
        if member.time_ms - before.time_ms < interval_ms + COMMIT_GRACE_MS:
            return []
        earlier, now = dict(before.positions), dict(member.positions)
        owned = set(before.owned) & set(member.owned)
        return sorted(each for each in owned if now.get(each, NOWHERE) > earlier.get(each, NOWHERE))


def _up_to(offset: int) -> str:
    return "nothing" if offset == NOWHERE else f"up to {offset}"


_RECORDS: Final = "records arrive in every partition all the time"

OwnedPartitionsAreRead: Final = Invariant(
    name="owned_partitions_are_read",
    family=FAMILY,
    claim="a member of a settled group reads every partition that it owns",
    source="Fetcher, SubscriptionState.isFetchable (KafkaConsumer.poll)",
    premises=(
        SETTLED,
        _RECORDS,
        f"the looks are {APART_MS // 1000} s or more apart, and the application polls more often than that",
        "a member that was still busy with an earlier poll at the first look is not judged",
    ),
    violation=OwnedPartitionsAreReadViolated,
    fold=_Read,
    kind=Kind.LIVENESS,
)
"""A member of a settled group reads every partition that it owns.

The smallest history that breaks it::

    MemberRested(member="m0", generation=1, owned=("t-0",), positions=(("t-0", 40),), reads=True)
    MemberRested(member="m0", generation=1, owned=("t-0",), positions=(("t-0", 40),), reads=True, time_ms=7000)
"""

WhatIsReadIsCommitted: Final = Invariant(
    name="what_is_read_is_committed",
    family=FAMILY,
    claim="in a settled group the committed offset of each partition that is read advances",
    source="ConsumerCoordinator.maybeAutoCommitOffsetsAsync (auto.commit.interval.ms), commitAsync",
    premises=(
        SETTLED,
        _RECORDS,
        "a commit that was accepted between the looks counts, also where a late one took the offset back since",
        "the member says how often it commits, and the looks are that long apart",
        "the run looks into the coordinator (CoordinatorRested)",
    ),
    exempted_by=(OffsetCommitted,),
    violation=WhatIsReadIsCommittedViolated,
    fold=_Committed,
    kind=Kind.LIVENESS,
)
"""In a settled group the committed offset of each partition that is read advances.

The smallest history that breaks it::

    MemberRested(member="m0", generation=1, owned=("t-0",), positions=(("t-0", 40),), commit_interval_ms=5000)
    CoordinatorRested(incarnation=0, generation=1, committed=(("t-0", 30),))
    MemberRested(member="m0", generation=1, owned=("t-0",), positions=(("t-0", 90),), commit_interval_ms=5000,
                 time_ms=7000)
    CoordinatorRested(incarnation=0, generation=1, committed=(("t-0", 30),))
"""

CLAIMS: Final = (OwnedPartitionsAreRead, WhatIsReadIsCommitted)
"""In the order in which reports name them."""
