"""What depends on the version of a request: who needs a member id before it is a member, and what claims are of."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import DEPARTED, Recent
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold
from rebalance_check.properties.views.steps import MEMBER_ID_REQUIRED, MEMBER_ID_REQUIRED_SINCE


class MemberIdsAreRequiredByVersionViolated(Violation):
    """A JoinGroup was asked for a member id that its version cannot know of, or was admitted without one."""


class ClaimsNameTheirGenerationViolated(Violation):
    """A JoinGroup said another generation of what its member owns than the one that the member was in."""


class _Required(SimulatedFold):
    """Per process: its last JoinGroup, and how it is configured."""

    bookkeeping = frozenset({RequestSent, *PROCESS})
    needs = ((RequestSent,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._static: Recent[str, bool] = Recent(DEPARTED)
        self._sent: dict[str, RequestSent] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process."""
        self._sent.pop(event.member, None)
        self._static[event.member] = bool(event.group_instance_id) if isinstance(event, MemberStarted) else True

    def on_sent(self, event: RequestSent) -> None:
        """It says its version."""
        if event.api == Api.JOIN_GROUP:
            self._sent[event.member] = event

    def on_answered(self, event: RequestAnswered) -> None:
        """A static member needs no id, nor does one of an old version."""
        sent = self._sent.get(event.member)
        if sent is None or sent.request != event.request or sent.version < 0 or not self.run.is_simulated:
            return
        is_old = sent.version < MEMBER_ID_REQUIRED_SINCE or self._static.get(event.member, True)
        is_wrong = event.error == MEMBER_ID_REQUIRED if is_old else event.error == "NONE" and not sent.member_id
        self.compared = (self.compared or 0) + 1
        if is_wrong:
            who = "a static member, or one of such a version, needs no" if is_old else "such a member needs a"
            self.contradiction(
                f"a JoinGroup of version {sent.version} is answered {event.error}",
                (f"{event.member} sent a JoinGroup of version {sent.version} as {sent.member_id or 'a new member'} at "
                 f"{STEP};", sent),
                (f"it was answered {event.error} at {STEP}, and {who} member id to join: contradiction.", event),
            )  # fmt: skip


class _Claims(SimulatedFold):
    """Per process: the generation that it is in."""

    bookkeeping = frozenset({MemberJoined, MembershipLost, *PROCESS})
    needs = ((RequestSent,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            MemberJoined: self.on_joined,
            MembershipLost: self.on_process,
            RequestSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._joined: dict[str, MemberJoined] = {}

    def on_process(self, event: MemberEvent) -> None:
        """It is in none."""
        self._joined.pop(event.member, None)

    def on_joined(self, event: MemberJoined) -> None:
        """It is in this one."""
        self._joined[event.member] = event

    def on_sent(self, event: RequestSent) -> None:
        """What it claims is of the generation that it is in."""
        if event.claimed_generation is None or not self.run.is_simulated:
            return
        self.compared = (self.compared or 0) + 1
        joined = self._joined.get(event.member)
        expected = NO_GENERATION if joined is None else joined.generation
        if event.claimed_generation != expected:
            self.contradiction(
                f"{event.member} claims for generation {event.claimed_generation} and is in {expected}",
                *([(f"{event.member} joined generation {expected} at {STEP};", joined)] if joined is not None else []),
                (f"its JoinGroup says at {STEP} that what it claims is of generation {event.claimed_generation}: "
                 "contradiction.", event),
            )  # fmt: skip


MemberIdsAreRequiredByVersion: Final = Invariant(
    name="member_ids_are_required_by_version",
    family=FAMILY,
    claim="a dynamic member is admitted under a member id that it was given before if its JoinGroup is of version 4 or "
    "later; no other member is answered MEMBER_ID_REQUIRED",
    source="KIP-394; GroupMetadataManager.classicGroupJoinNewMember",
    premises=(SIMULATED, "the history holds the versions of requests"),
    exempted_by=(MemberStarted, RequestSent),
    violation=MemberIdsAreRequiredByVersionViolated,
    fold=_Required,
)
"""An old client has no rule for MEMBER_ID_REQUIRED, and ends.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    RequestSent(member="m0", api="JoinGroup", request=1, version=3)
    RequestAnswered(member="m0", api="JoinGroup", request=1, error="MEMBER_ID_REQUIRED")
"""

ClaimsNameTheirGeneration: Final = Invariant(
    name="claims_name_their_generation",
    family=FAMILY,
    claim="the metadata of a JoinGroup says of what its member owns the generation that the member is in, and none "
    "where it is in none",
    source="KIP-792; ConsumerProtocolSubscription.json (GenerationId)",
    premises=(SIMULATED, "metadata of a version below 2 has no place for it"),
    exempted_by=(MemberJoined, MembershipLost, MemberStarted),
    violation=ClaimsNameTheirGenerationViolated,
    fold=_Claims,
)
"""Of two members that claim one partition the sticky assignors believe the one whose generation is higher.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberJoined(member="m0", generation=2, member_id="a")
    RequestSent(member="m0", api="JoinGroup", request=1, owned=("t-0",), claimed_generation=-1)
"""

CLAIMS: Final = (MemberIdsAreRequiredByVersion, ClaimsNameTheirGeneration)
"""In the order in which reports name them."""
