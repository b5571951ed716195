"""What followers leave to the leader, and a leader that comes back to the assignment that the group has."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import RequestObserved
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import Client
from rebalance_check.properties.wire.leading_fold import SyncFold
from rebalance_check.properties.wire.rounds import Round
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, FAMILY, ONE_MEMBER


class FollowersAssignNothingViolated(Violation):
    """A follower sent assignments."""


class SkippedAssignmentIsEmptyViolated(Violation):
    """A leader that must skip the assignment sent one."""


class _Followers(SyncFold):
    def compare(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """Only the leader assigns."""
        joined = round_.joined
        if joined.leader != joined.assigned_member_id:
            self.test(
                f"{client.name} sends assignments, and does not lead" if event.assignments else "",
                (f"{client.name} joined as {joined.assigned_member_id}, and {joined.leader or 'no member'} leads at "
                 f"{STEP};", joined),
                at=event,
            )  # fmt: skip


class _Skipped(SyncFold):
    def compare(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """The group is Stable, and has its assignment."""
        joined = round_.joined
        if joined.skip_assignment:
            self.test(
                f"{client.name} sends assignments, and had to skip them" if event.assignments else "",
                (f"{client.name} came back as the leader of a group that has its assignment, at {STEP};", joined),
                at=event,
            )


FollowersAssignNothing: Final = Invariant(
    name="wire_followers_assign_nothing",
    family=FAMILY,
    claim="a member that does not lead sends SyncGroup without assignments",
    source="AbstractCoordinator.onJoinFollower",
    premises=(ONE_MEMBER,),
    exempted_by=DISTURBANCES,
    violation=FollowersAssignNothingViolated,
    fold=_Followers,
)
"""A member that does not lead sends SyncGroup without assignments.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m",
                  leader="n")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1, assignments=(("m", ("t-0",)),))
"""

SkippedAssignmentIsEmpty: Final = Invariant(
    name="wire_skipped_assignment_is_empty",
    family=FAMILY,
    claim="a leader whose JoinGroup is answered with skipAssignment sends SyncGroup without assignments",
    source="KIP-814; AbstractCoordinator.onLeaderElected",
    premises=(ONE_MEMBER,),
    exempted_by=DISTURBANCES,
    violation=SkippedAssignmentIsEmptyViolated,
    fold=_Skipped,
)
"""A leader that comes back to a group that has its assignment computes none.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m",
                  leader="m", skip_assignment=True)
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1, assignments=(("m", ("t-0",)),))
"""

CLAIMS: Final = (FollowersAssignNothing, SkippedAssignmentIsEmpty)
"""In the order in which reports name them."""
