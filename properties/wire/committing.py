"""What a consumer commits: positions of partitions that it was assigned in the generation that it names."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import RequestObserved
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import Client
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, FAMILY, ONE_MEMBER, RequestFold


class CommitsWhatItOwnsViolated(Violation):
    """A consumer committed a partition that it did not own in the generation of the commit."""


class _Commits(RequestFold):
    apis = frozenset({Api.OFFSET_COMMIT})

    def look(self, client: Client, event: RequestObserved) -> None:
        """What it claimed when it joined may be committed too: it is revoked after the assignment has arrived."""
        round_ = client.rounds.get(event.request_generation)
        if round_ is None or round_.synced is None or event.member_id != round_.joined.assigned_member_id:
            return
        owned = round_.assignment.union(round_.join.owned)
        others = sorted(partition for partition, _ in event.offsets if partition not in owned)
        self.test(
            f"{client.name} commits {others[0]}, which it does not own" if others else "",
            (f"{client.name} was assigned {', '.join(sorted(round_.assignment)) or 'nothing'} in generation "
             f"{round_.generation} at {STEP};", round_.synced),
            at=event,
        )  # fmt: skip


CommitsWhatItOwns: Final = Invariant(
    name="wire_commits_what_it_owns",
    family=FAMILY,
    claim="a member commits, for a generation whose assignment it received, only partitions that it was assigned in "
    "it, or that it claimed when it joined it",
    source="ConsumerCoordinator.sendOffsetCommitRequest; KIP-429",
    premises=(ONE_MEMBER, "the application commits no partitions that its consumer is not assigned"),
    exempted_by=DISTURBANCES,
    violation=CommitsWhatItOwnsViolated,
    fold=_Commits,
)
"""A member commits only partitions that it was assigned, or claimed and was about to revoke.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1)
    ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup", assignment=("t-0",))
    RequestObserved(connection=1, process="p0", request=3, api="OffsetCommit", version=9, member_id="m",
                    request_generation=1, offsets=(("t-1", 5),))
"""

CLAIMS: Final = (CommitsWhatItOwns,)
"""In the order in which reports name them."""
