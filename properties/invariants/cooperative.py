"""Revoked before reassigned: under COOPERATIVE a partition is given on only after its owner gave it up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    ConnectAssignmentComputed,
    Event,
    MemberJoined,
    RequestSent,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Because, Violation
from rebalance_check.properties.views.holdings import EAGER, EXEMPTS_A_HOLDER, GrantFold, Holder, Round
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS

_KINDS: Final = ("connector", "task")
"""The kinds of work of a Connect worker."""


class RevokedBeforeReassignedViolated(Violation):
    """A partition was given to a new owner although its owner had not given it up."""


class _Transfer(GrantFold):
    """Looks at each assignment that a leader computed, and at each grant that a member received."""

    bookkeeping = frozenset({RequestSent, ConnectAssignmentComputed})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                AssignmentComputed: self.on_computed,
                ConnectAssignmentComputed: self.on_work_computed,
                RequestSent: self.on_sent,
                MemberJoined: self.on_joined,
            },
        )
        self._rejoining: dict[str, None] = {}
        self._claims: dict[str, tuple[int, frozenset[str]]] = {}

    def on_sent(self, event: RequestSent) -> None:
        """A member that asked to join speaks for what it holds; one that is silent does not."""
        if event.api == Api.JOIN_GROUP:
            self._rejoining[event.member] = None

    def on_joined(self, event: MemberJoined) -> None:
        """The join was answered."""
        self._rejoining.pop(event.member, None)
        self.on_granted(event)

    def on_computed(self, event: AssignmentComputed) -> None:
        """What one member claims and does not keep, no other member gets, unless it claims it too."""
        claims = {member: frozenset(things) for member, things in event.owned_partitions}
        self._note_claims(event.generation, claims)
        kept = {member: frozenset(things) for member, things in event.assignments}
        given_up: dict[str, str] = {}
        for owner, claimed in claims.items():
            for thing in claimed - kept.get(owner, frozenset()):
                given_up.setdefault(thing, owner)
        for receiver, things in event.assignments:
            for thing in things:
                if thing in given_up and thing not in claims.get(receiver, ()):
                    self._report_computed(event, given_up[thing], receiver, thing)

    def on_work_computed(self, event: ConnectAssignmentComputed) -> None:
        """What the workers claim, as the leader read it: a JoinGroup that comes twice, late, brings an old claim."""
        if event.protocol != EAGER:
            things = {each: {f"{kind} {one}" for one in work for kind in _KINDS} for each, work in event.claims}
            self._note_claims(event.generation, {each: frozenset(claimed) for each, claimed in things.items()})

    def _note_claims(self, generation: int, claims: dict[str, frozenset[str]]) -> None:
        """Those of the members that are there now; of others only what is not long ago."""
        self._claims.update((member, (generation, things)) for member, things in claims.items())
        if len(self._claims) > 2 * len(claims) + DEPARTED:
            self._claims = {
                member: claim for member, claim in self._claims.items() if abs(claim[0] - generation) < GENERATIONS
            }

    def _name(self, member_id: str) -> str:
        """The process behind a member id, as far as it has shown itself."""
        return next((h.name for h in self.holdings.members.values() if h.member_id == member_id), member_id)

    def _report_computed(self, event: AssignmentComputed, owner: str, receiver: str, thing: str) -> None:
        if self.is_violated_again():
            return
        owner, receiver = self._name(owner), self._name(receiver)
        self.violated(
            f"{thing} goes from {owner} to {receiver} within generation {event.generation}",
            [
                Because(f"{owner} claimed {thing} when it joined generation {event.generation}.", event),
                Because(f"the leader {event.member} gave {thing} to {receiver} in the same round, at {STEP}, before "
                        f"{owner} could revoke it: contradiction.", event),
            ],
            [event],
        )  # fmt: skip

    def look(self, holder: Holder, things: tuple[str, ...], event: Event) -> None:
        """No other member of this generation may still hold what was granted in it."""
        if holder.round is None or self.rounds.is_removed(holder.round[0], holder.member_id):
            return
        for thing in things:
            if thing not in holder.holds or holder.holds[thing] is not event:
                continue
            if len(self.holdings.holders[thing]) > 1:
                for other in self._other_holders(holder, holder.round, thing):
                    if thing in other.unconfirmed or self._share_an_instance_id(other, holder):
                        continue
                    if holder.work_protocol == EAGER and thing in other.ignored_claims():
                        continue
                    if self._takes_part(other, holder.round, thing):
                        self._report_grant(other, holder, thing, event)
                        break

    def _other_holders(self, holder: Holder, granted: Round, thing: str) -> Iterator[Holder]:
        """Who may take part and holds the thing: who speaks for this round, and who asked to join it."""
        for other in self.holdings.in_round.get((granted, thing), {}).values():
            if other is not holder:
                yield other
        holders = self.holdings.holders[thing]
        fewer: dict[str, Any] = holders if len(holders) < len(self._rejoining) else self._rejoining
        for name in list(fewer):
            if name in holders and name in self._rejoining and holders[name] is not holder:
                yield holders[name]

    def _share_an_instance_id(self, one: Holder, other: Holder) -> bool:
        """Whether one of the two took the place of the other (static membership), and no event says which."""
        return not self.rounds.have_coordinator_events and self.holdings.instances.share_an_instance_id(
            one.name, other.name
        )

    def _takes_part(self, other: Holder, granted: tuple[int, int], thing: str) -> bool:
        """In the generation at the coordinator, by a join of its own that claims ``thing``, and not removed since."""
        if other.round is None or self.rounds.is_removed(granted[0], other.member_id):
            return False
        asked = other.name in self._rejoining and other.member_id in self.rounds.members.get(granted, ())
        return other.round == granted or (asked and self._saw_claim(other.member_id, granted[1], thing))

    def _saw_claim(self, member_id: str, generation: int, thing: str) -> bool:
        """Whether the leader saw the claim: a JoinGroup that was sent may be lost, and the coordinator then keeps a
        silent static member under its old claims. Where no event of a leader says it, what was sent counts as seen."""
        claim_generation, claimed = self._claims.get(member_id, (generation, frozenset({thing})))
        return claim_generation != generation or thing in claimed

    def _report_grant(self, owner: Holder, receiver: Holder, thing: str, event: Event) -> None:
        generation = receiver.round[1] if receiver.round else 0
        self.violated(
            f"{thing} is granted to {receiver.name} in generation {generation} while {owner.name} still holds it",
            [
                Because(f"{owner.name} holds {thing} since {STEP}, and takes part in generation {generation}.",
                        owner.holds[thing]),
                Because(f"{receiver.name} got {thing} at {STEP} before {owner.name} gave it up: contradiction.", event),
            ],
            [owner.holds[thing], event],
        )  # fmt: skip


RevokedBeforeReassigned: Final = Invariant(
    name="revoked_before_reassigned",
    family="cooperative",
    claim="what a member claims is given to another only in a later round, after the member gave it up",
    source="KIP-429; CooperativeStickyAssignor.adjustAssignment; ConsumerCoordinator.validateCooperativeAssignment",
    premises=(
        "a claim is passed over where the receiver claims the partition too (one of the claims is stale)",
        "a member takes part in a generation when its join reached the leader, and it was not removed since",
        "a worker's claim counts as its leader read it, which may be an old one where a JoinGroup came twice",
        "a member that is silent, removed, or knows that it lost its membership is a zombie and binds no other",
        "an eager round of Connect workers ignores what workers claim and run since an incremental one (KAFKA-13816)",
    ),
    exempted_by=(*EXEMPTS_A_HOLDER, ConnectAssignmentComputed),
    violation=RevokedBeforeReassignedViolated,
    fold=_Transfer,
)
"""What a member claims is given to another only in a later round, after the member gave it up.

Source: KIP-429; ``CooperativeStickyAssignor`` withholds, ``ConsumerCoordinator.validateCooperativeAssignment`` checks
custom assignors. EAGER members claim nothing and hold nothing while they join, so the claim holds for them too.

The smallest history that breaks it::

    AssignmentComputed(member="m0", generation=2, owned_partitions=(("m0", ("t-0",)), ("m1", ())),
                       assignments=(("m0", ()), ("m1", ("t-0",))))
"""

CLAIMS: Final = (RevokedBeforeReassigned,)
"""In the order in which reports name them."""
