"""What the workers of a generation agree on: error, leader, config offset and delay."""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    GenerationStarted,
    IncarnationStarted,
    WorkerClaimed,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.holdings import EAGER, Round
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.worker import NO_ERROR, listed

VERSIONS: Final = {EAGER: 0, "compatible": 1, "sessioned": 2}
"""The version that each subprotocol writes into its headers."""

Shared: TypeAlias = ConnectAssignmentComputed | ConnectAssignmentReceived
"""An assignment as it is sent, or as it arrives."""


class ConnectAssignmentIsAgreedViolated(Violation):
    """Two workers of one generation received different errors, leaders, config offsets or delays."""


class LeaderUrlIsTheLeadersViolated(Violation):
    """An assignment names a leader with the URL of another worker."""


class VersionFitsProtocolViolated(Violation):
    """The bytes of an assignment carry the version of another subprotocol."""


class ConfigMismatchAssignsNothingViolated(Violation):
    """A round that failed with CONFIG_MISMATCH assigned, revoked or delayed something, or names a wrong offset."""


class ConfigOffsetCoversMembersViolated(Violation):
    """An assignment was computed from configs that are older than what a worker had read."""


class _Agreed(WorkerFold):
    needs = ((ConnectAssignmentReceived,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant, {ConnectAssignmentReceived: self.on_received, ConnectAssignmentComputed: self.on_computed}
        )
        self._first: Recent[Round, ConnectAssignmentReceived] = Recent(GENERATIONS)
        self._computed: Recent[Round, ConnectAssignmentComputed] = Recent(GENERATIONS)

    bookkeeping = frozenset({ConnectAssignmentComputed})

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """What the leader sends to all."""
        self._computed[self.memory.rounds.round_of(event)] = event

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """Every worker receives the same."""
        number = self.memory.rounds.round_of(event)
        first = self._first.get(number)
        if first is None:
            self._first[number] = event
        for other in (self._computed.get(number), first):
            if other is not None and _shared(other) != _shared(event):
                self._report(other, event)
                return

    def _report(
        self, other: ConnectAssignmentComputed | ConnectAssignmentReceived, event: ConnectAssignmentReceived
    ) -> None:
        names = ("protocol", "error", "leader", "leader URL", "config offset", "delay")
        name, one, two = next(
            (name, a, b) for name, a, b in zip(names, _shared(other), _shared(event), strict=True) if a != b
        )
        did = "computed" if isinstance(other, ConnectAssignmentComputed) else "received"
        self.contradiction(
            f"{name} of generation {event.generation} is {one} for {other.member} and {two} for {event.member}",
            (f"{other.member} {did} {name} {one} at {STEP}.", other),
            (f"{event.member} received {name} {two} for the same generation at {STEP}: contradiction.", event),
        )


def _shared(event: Shared) -> tuple[object, ...]:
    """What all members of a generation receive alike."""
    return (event.protocol, event.error, event.leader, event.leader_url, event.config_offset, event.delay_ms)


class _LeaderUrl(WorkerFold):
    needs = ((ConnectAssignmentReceived,), (WorkerClaimed,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentReceived: self.on_received})

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """The leader advertised this URL when it joined."""
        leader = self.memory.with_id(event.leader)
        if leader is None or leader.claimed is None or leader.claimed.url == event.leader_url:
            return
        self.contradiction(
            f"{event.member} takes {event.leader_url} for the leader's URL, which is {leader.claimed.url}",
            (f"{leader.name}, the leader {event.leader}, advertised {leader.claimed.url} at {STEP}.", leader.claimed),
            (f"{event.member} received {event.leader_url} at {STEP}: contradiction.", event),
        )


class _Version(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentReceived: self.on_received})

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """Names and versions go together."""
        wanted = VERSIONS.get(event.protocol)
        if event.version >= 0 and wanted is not None and event.version != wanted:
            self.contradiction(
                f"the assignment of {event.member} is of version {event.version} under {event.protocol}",
                (f"{event.protocol} writes version {wanted}; version {event.version} came at {STEP}: contradiction.",
                 event),
            )  # fmt: skip


class _Mismatch(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant, {ConnectAssignmentComputed: self.on_computed, ConnectAssignmentReceived: self.on_received}
        )

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """The error names the offset that all must reach, which the leader has not."""
        if event.error == NO_ERROR:
            return
        offsets = dict(event.offsets)
        furthest = max(offsets.values(), default=event.config_offset)
        given = {work for _, some in (*event.assigned, *event.revoked) for work in some}
        self._judge(event, given)
        if event.config_offset != furthest:
            self.contradiction(
                f"the failed round of generation {event.generation} names offset {event.config_offset}, not {furthest}",
                (f"{event.member} computed it at {STEP}, and a worker had read to {furthest}: contradiction.", event),
            )

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """Nothing comes with an error."""
        if event.error != NO_ERROR:
            self._judge(event, {*event.assigned, *event.revoked})

    def _judge(self, event: Shared, given: set[str]) -> None:
        if given or event.delay_ms:
            what = listed(given) if given else f"a delay of {event.delay_ms} ms"
            self.contradiction(
                f"generation {event.generation} failed with {event.error} and gives {what}",
                (f"{event.error} came with {what} at {STEP}: contradiction.", event),
            )


class _Covers(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """A leader that is behind fails the round instead."""
        ahead = {member: offset for member, offset in event.offsets if offset > event.config_offset}
        if event.error == NO_ERROR and ahead:
            member = min(ahead)
            self.contradiction(
                f"generation {event.generation} was assigned at config offset {event.config_offset}, "
                f"and {member} is at {ahead[member]}",
                (f"{event.member} computed the assignment at {STEP} although {member} had read further: "
                 "contradiction.", event),
            )  # fmt: skip


ConnectAssignmentIsAgreed: Final = Invariant(
    name="connect_assignment_is_agreed",
    family="connect_rounds",
    claim="all workers of a generation receive the same protocol, error, leader, leader URL, config offset and delay",
    source="EagerAssignor, IncrementalCooperativeAssignor.fillAssignmentsAndSerialize",
    premises=("generations are distinguished by the coordinator's incarnation; without its events there was but one",),
    exempted_by=(GenerationStarted, IncarnationStarted),
    violation=ConnectAssignmentIsAgreedViolated,
    fold=_Agreed,
)
"""The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                              config_offset=2)
    ConnectAssignmentReceived(member="w1", generation=1, protocol="default", leader="a", leader_url="u",
                              config_offset=3)
"""

LeaderUrlIsTheLeaders: Final = Invariant(
    name="leader_url_is_the_leaders",
    family="connect_rounds",
    claim="the leader URL of an assignment is the one that its leader advertised when it joined",
    source="WorkerCoordinator.metadata, LeaderState; DistributedHerder.leaderUrl",
    violation=LeaderUrlIsTheLeadersViolated,
    fold=_LeaderUrl,
)
"""Requests that only the leader serves are forwarded there. The smallest history that breaks it::

    WorkerClaimed(member="w0", generation=-1, member_id="a", url="http://w0/", config_offset=2, claim=None)
    ConnectAssignmentReceived(member="w1", generation=1, protocol="default", leader="a", leader_url="http://w1/",
                              config_offset=2)
"""

VersionFitsProtocol: Final = Invariant(
    name="version_fits_protocol",
    family="connect_rounds",
    claim="an assignment is of version 0 under default, 1 under compatible and 2 under sessioned",
    source="KIP-415, KIP-507; ConnectProtocolCompatibility",
    violation=VersionFitsProtocolViolated,
    fold=_Version,
)
"""The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=1, protocol="sessioned", version=1, leader="a", leader_url="u",
                              config_offset=2)
"""

ConfigMismatchAssignsNothing: Final = Invariant(
    name="config_mismatch_assigns_nothing",
    family="connect_rounds",
    claim="a round that fails with CONFIG_MISMATCH assigns, revokes and delays nothing, and names the offset of the "
    "worker that has read furthest",
    source="EagerAssignor.ensureLeaderConfig, IncrementalCooperativeAssignor.performAssignment",
    violation=ConfigMismatchAssignsNothingViolated,
    fold=_Mismatch,
)
"""The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, error="CONFIG_MISMATCH", assigned=("c",))
"""

ConfigOffsetCoversMembers: Final = Invariant(
    name="config_offset_covers_members",
    family="connect_rounds",
    claim="the config offset of an assignment is at least that of each of its workers",
    source="EagerAssignor.ensureLeaderConfig, IncrementalCooperativeAssignor.ensureLeaderConfig",
    violation=ConfigOffsetCoversMembersViolated,
    fold=_Covers,
)
"""The smallest history that breaks it::

    ConnectAssignmentComputed(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                              config_offset=2, offsets=(("a", 2), ("b", 3)))
"""

CLAIMS: Final = (
    ConnectAssignmentIsAgreed,
    LeaderUrlIsTheLeaders,
    VersionFitsProtocol,
    ConfigMismatchAssignsNothing,
    ConfigOffsetCoversMembers,
)
"""In the order in which reports name them."""
