"""Claims that bind a leader: the members that take part in a generation, and their claims as the leader read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    ConnectAssignmentComputed,
    MemberJoined,
    RequestSent,
)
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.holdings import EAGER, Holder, Holdings
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS

_KINDS: Final = ("connector", "task")
"""The kinds of work of a Connect worker."""


class Claims(Memory):
    """Per member id the claim that a leader read last, and the members that have asked to join and wait."""

    def __init__(self) -> None:
        super().__init__(
            {
                AssignmentComputed: self._on_computed,
                ConnectAssignmentComputed: self._on_work_computed,
                RequestSent: self._on_sent,
                MemberJoined: self._on_joined,
            }
        )
        self._rejoining: dict[str, None] = {}
        self._claims: dict[str, tuple[int, frozenset[str]]] = {}

    def _on_sent(self, event: RequestSent) -> None:
        """A member that asked to join speaks for what it holds; one that is silent does not."""
        if event.api == Api.JOIN_GROUP:
            self._rejoining[event.member] = None

    def _on_joined(self, event: MemberJoined) -> None:
        self._rejoining.pop(event.member, None)

    def _on_computed(self, event: AssignmentComputed) -> None:
        self._note(event.generation, {member: frozenset(things) for member, things in event.owned_partitions})

    def _on_work_computed(self, event: ConnectAssignmentComputed) -> None:
        """The claims of workers, as the leader read them: a JoinGroup that comes twice, late, brings an old claim."""
        if event.protocol != EAGER:
            things = {each: {f"{kind} {one}" for one in work for kind in _KINDS} for each, work in event.claims}
            self._note(event.generation, {each: frozenset(claimed) for each, claimed in things.items()})

    def _note(self, generation: int, claims: dict[str, frozenset[str]]) -> None:
        """Those of the members that are there now; of others only recent ones."""
        self._claims.update((member, (generation, things)) for member, things in claims.items())
        if len(self._claims) > 2 * len(claims) + DEPARTED:
            self._claims = {
                member: claim for member, claim in self._claims.items() if abs(claim[0] - generation) < GENERATIONS
            }

    def who_may_take_part(self, holder: Holder, thing: str, holdings: Holdings) -> Iterator[Holder]:
        """The other holders of the thing that speak for the holder's round, or asked to join it."""
        holders = holdings.holders[thing]
        if len(holders) < 2 or holder.round is None:
            return
        for other in holdings.in_round.get((holder.round, thing), {}).values():
            if other is not holder:
                yield other
        fewer: dict[str, Any] = holders if len(holders) < len(self._rejoining) else self._rejoining
        for name in list(fewer):
            if name in holders and name in self._rejoining and holders[name] is not holder:
                yield holders[name]

    def binds(self, other: Holder, holder: Holder, thing: str, holdings: Holdings) -> bool:
        """Whether ``other`` is in the generation at the coordinator, by a join of its own that claims ``thing``, and
        was not removed since."""
        granted, rounds = holder.round, holdings.rounds
        if granted is None or other.round is None or rounds.is_removed(granted[0], other.member_id):
            return False
        asked = other.name in self._rejoining and other.member_id in rounds.members.get(granted, ())
        return other.round == granted or (asked and self._was_read(other.member_id, granted[1], thing))

    def _was_read(self, member_id: str, generation: int, thing: str) -> bool:
        """Whether the leader saw the claim: a JoinGroup that was sent may be lost, and the coordinator then keeps a
        silent static member under its old claims. Where no event of a leader says it, a claim that was sent counts."""
        claim_generation, claimed = self._claims.get(member_id, (generation, frozenset({thing})))
        return claim_generation != generation or thing in claimed
