"""Leader election on top of a group: of all members one is the primary (Schema Registry's ``LeaderElector``).

The leader of the *group* computes who is elected; it need not be the *primary*. A group excludes two primaries of one
generation, and no more: one that is stuck acts as the primary until its own poll ends that. A primary that
writes somewhere needs a fencing token of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, TypedDict

from msgspec import UNSET
from msgspec.structs import replace

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.protocol.leader_election import (
    DUPLICATE_URLS,
    NO_ERROR,
    PROTOCOL_NAME,
    PROTOCOL_TYPE,
    Election,
    Identity,
    read_election,
    read_identity,
    write_election,
    write_identity,
)
from rebalance_check.impl.protocol.messages import JoinedMember
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    TaskStarted,
    TaskStopped,
)

PRIMARY: Final = "primary"
"""The task that the primary runs: events name it, and invariants judge it, as any other task."""


class Membership(TypedDict):
    """The fields of a `GenerationEvent`, as keywords."""

    generation: int
    member_id: str


class ElectionFailed(RebalanceCheckError):  # noqa: N818 - named for what it says, like every error of this project
    """The group could not elect a primary that all members can reach."""

    def __init__(self, error: int, url: str) -> None:
        super().__init__(
            f"the election failed with error {error}: two members use one URL, perhaps one of them a process that died "
            f"and came back; this member is {url}: poll on until the group forgets the other, or change the address"
        )
        self.error = error


class LeaderElector(Coordinator):
    """One candidate. ``identity`` says where it is reached and whether it may be elected.

    ``sticky`` lets a primary keep its role while it joins again, and claims it: there is a primary during a
    rebalance. Off by default; Schema Registry can do either. Two members may both act as the primary until they have
    synced: one that the group removed, or that a coordinator forgot which lost the end of its log, acts on until then,
    and another was elected meanwhile. Until it joins again it counts as a zombie; in the generation that both of them
    join `no_double_ownership` breaks (``fuzz --seeds 328:329 --protocol election --faults all,sticky-election``).
    """

    metric_prefix = "election"

    def __init__(
        self,
        config: ClientConfig,
        recorder: Recorder,
        *,
        member: str,
        identity: Identity,
        sticky: bool = False,
        random: Random | None = None,
    ) -> None:
        super().__init__(config, recorder, member=member, random=random)
        self.identity = identity
        self.sticky = sticky
        self._election: Election | None = None
        self._acts = False

    @property
    def primary(self) -> Identity | None:
        """The primary, as far as this member knows; None while there is none, or it is being decided."""
        known = None if self._election is None else self._election.master_identity
        return None if known is None or known is UNSET else known

    @property
    def is_primary(self) -> bool:
        """Whether this member acts as the primary now."""
        return self._acts

    # ------------------------------------------------------------------------------------------------ the contract

    def protocol_type(self) -> str:
        """``sr``."""
        return PROTOCOL_TYPE

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        """The identity, with the claim to the role if this member has it."""
        return [(PROTOCOL_NAME, write_identity(replace(self.identity, leader=self._acts)))]

    def rejoin_needed_or_pending(self) -> bool:
        """Also until the first election is known."""
        return self._election is None or super().rejoin_needed_or_pending()

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:  # noqa: ARG002 - part of the contract
        """No member is the primary while it is being decided, unless elections are sticky."""
        if not self.sticky:
            self._resign()
            self._election = None
        return True

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        """Elect, and assign the same to all. Raises `MalformedBytes` when a member's identity cannot be read.

        Raises `RebalanceCheckError` when the group selected another protocol.
        """
        if protocol != PROTOCOL_NAME:
            raise RebalanceCheckError(f"the group selected {protocol!r}, but {leader_id} speaks {PROTOCOL_NAME!r} only")
        election = elect({m.member_id: read_identity(m.metadata) for m in members}, sticky=self.sticky)
        written = write_election(election)
        self._emit_election(election, members)
        return {member.member_id: written for member in members}

    def on_join_complete(
        self,
        generation_id: int,  # noqa: ARG002 - part of the contract
        member_id: str,
        protocol: str,  # noqa: ARG002 - part of the contract
        assignment: bytes,
    ) -> None:
        """Take the role, or leave it.

        Raises: `ElectionFailed`, at each poll until the group has another generation.
        """
        election = read_election(assignment)
        if election.error != NO_ERROR:
            raise ElectionFailed(election.error, self.identity.url)
        self._election = election
        if election.master == member_id:
            self._act()
        else:
            self._resign()
        self.recorder.emit(AssignmentCompleted(member=self.member, **self._membership(), owned=()))

    def on_leave_prepare(self) -> None:
        """A primary resigns before it leaves."""
        self._resign()

    def describe_assignment(self, assignment: bytes) -> tuple[str, ...]:
        """The role, where these bytes give it to this member."""
        try:
            elected = read_election(assignment).master
        except MalformedBytes:
            return ()
        return (PRIMARY,) if elected == self.member_id() else ()

    # ------------------------------------------------------------------------------------------------ the role

    def _act(self) -> None:
        if not self._acts:
            self._acts = True
            self.recorder.emit(TaskStarted(member=self.member, **self._membership(), task=PRIMARY))

    def _resign(self) -> None:
        if self._acts:
            self._acts = False
            self.recorder.emit(TaskStopped(member=self.member, **self._membership(), task=PRIMARY))

    def _membership(self) -> Membership:
        return {"generation": self._generation.generation_id, "member_id": self._generation.member_id}

    def _emit_election(self, election: Election, members: Sequence[JoinedMember]) -> None:
        given = tuple(
            (member.member_id, (PRIMARY,) if member.member_id == election.master else ()) for member in members
        )
        self.recorder.emit(
            AssignmentComputed(member=self.member, **self._membership(), protocol=PROTOCOL_NAME, assignments=given)
        )


def elect(candidates: Mapping[str, Identity], *, sticky: bool = False) -> Election:
    """The primary among the members, by member id: the eligible one with the smallest URL.

    ``sticky``: if exactly one eligible member says that it is the primary, it stays so. Members that share a URL make
    the election fail for all; the rest of the outcome is filled in nevertheless.
    """
    eligible = {member: identity for member, identity in candidates.items() if identity.master_eligibility}
    claimants = [member for member, identity in eligible.items() if identity.leader]
    master = min(eligible, key=lambda member: (eligible[member].url, member), default=None)
    if sticky and len(claimants) == 1:
        master = claimants[0]
    are_distinct = len({identity.url for identity in candidates.values()}) == len(candidates)
    return Election(
        error=NO_ERROR if are_distinct else DUPLICATE_URLS,
        master=UNSET if master is None else master,
        master_identity=UNSET if master is None else candidates[master],
    )
