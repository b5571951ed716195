"""Requests between workers are signed (KIP-507): the key and the algorithm decide which ones a worker takes."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import InternalRequestChecked
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Violation

SESSIONED: Final = "sessioned"
ALGORITHMS: Final = frozenset({"HmacSHA256"})
"""``inter.worker.verification.algorithms``, by default."""


class OnlySignedRequestsAreTakenViolated(Violation):
    """A worker took a request with a wrong signature, or refused a right one."""


def refusal_of(event: InternalRequestChecked) -> int:
    """The HTTP status with which the request must be refused; 0 where it must be taken."""
    if event.mode != SESSIONED:
        return 0
    if event.algorithm not in ALGORITHMS:
        return 400
    if not event.known_key:
        return 503
    return 0 if event.key == event.known_key else 403


class _Signed(Fold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {InternalRequestChecked: self.on_checked})

    def on_checked(self, event: InternalRequestChecked) -> None:
        """Nothing but mode, algorithm and keys counts."""
        due = refusal_of(event)
        if event.refusal == due:
            return
        did = f"refused it with {event.refusal}" if event.refusal else "took it"
        must = f"is refused with {due}" if due else "is taken"
        self.contradiction(
            f"{event.member} was sent a request that {must}, and {did}",
            (f"under {event.mode}, a request signed with {event.algorithm or 'nothing'} and the key "
             f"{event.key or 'none'} {must} by a worker whose key is {event.known_key or 'not known'};", None),
            (f"{event.member} {did} at {STEP}: contradiction.", event),
        )  # fmt: skip


OnlySignedRequestsAreTaken: Final = Invariant(
    name="only_signed_requests_are_taken",
    family="connect_duties",
    claim="under sessioned a worker passes a request of another worker on to its herder exactly when it is signed with "
    "the session key that the worker knows, by an allowed algorithm; under the other protocols it passes all on",
    source="KIP-507; InternalRequestSignature, DistributedHerder.validateRequestSignature",
    premises=("HmacSHA256 is the only algorithm that workers verify (inter.worker.verification.algorithms)",),
    violation=OnlySignedRequestsAreTakenViolated,
    fold=_Signed,
)
"""The smallest history that breaks it::

    InternalRequestChecked(member="w0", mode="sessioned", algorithm="HmacSHA256", key="a", known_key="b")
"""

CLAIMS: Final = (OnlySignedRequestsAreTaken,)
"""In the order in which reports name them."""
