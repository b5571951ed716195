"""The texts with which a worker's REST interface refuses: those of Java's worker."""

from __future__ import annotations

import base64
from typing import Final

from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.peers import Answer, InternalRequest, Signature
from rebalance_check.impl.connect.herder.serving import VERIFICATION_ALGORITHMS
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.connect.workers.rest import is_signed
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

CONFLICT: Final = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
NO_LEADER: Final = (
    "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."
)
STARTING: Final = (
    "This worker is still starting up and has not been able to read a session key from the config topic yet"
)
FAILED_WRITE: Final = (
    "Failed to write to config topic; this may be due to a transient error and the request can be safely retried"
)
UNSIGNED: Final = "Internal request missing required signature"


class SignatureError(RebalanceCheckError):
    """A signature that cannot be looked at: the request is refused before the herder sees it."""


def signature_of(herder: Herder, body: bytes, authorization: str | None, algorithm: str | None) -> Signature | None:
    """The signature by a request's headers: with the key of the session, or another one; None where nothing is signed.

    Raises:
        SignatureError: there is no such algorithm, or the signature is no Base64.
    """
    if authorization is None or algorithm is None:
        return None
    try:
        base64.b64decode(authorization, validate=True)
        key = herder.session_key
        known = b"" if key is None else key.key
        fits = is_signed(known, algorithm, body, authorization) and key is not None
    except ValueError as error:  # binascii.Error is one, and other characters than ASCII raise another
        raise SignatureError(f"the signature {authorization!r} is no Base64 ({error}): send its bytes so") from error
    except RebalanceCheckError as error:
        raise SignatureError(f"Algorithm {algorithm} not available") from error
    return Signature(known if fits else b"", algorithm)


def refusal(herder: Herder, answer: Answer, connector: str) -> str:
    """Why the herder refused a request of another worker, or of an operator, about a connector."""
    match answer:
        case Answer.NOT_FOUND:
            return f"Connector {connector} not found"
        case Answer.CONFLICT if not herder.leader_url:
            return NO_LEADER
        case Answer.CONFLICT:
            return CONFLICT
        case _:
            return FAILED_WRITE


def internal_refusal(herder: Herder, answer: Answer, request: InternalRequest, signature: Signature | None) -> str:
    """Why the herder refused another worker's request."""
    if answer is Answer.FORBIDDEN:
        return "Internal request contained invalid signature."
    if answer is Answer.UNAVAILABLE:
        return STARTING
    if answer is not Answer.BAD_REQUEST:
        return refusal(herder, answer, request.connector)
    checked = herder.coordinator.mode is ConnectMode.SESSIONED
    if checked and signature is None:
        return UNSIGNED
    if checked and signature is not None and signature.algorithm not in VERIFICATION_ALGORITHMS:
        return (
            f"This worker does not support the '{signature.algorithm}' key signing algorithm used by other workers. "
            f"This worker is currently configured to use: {', '.join(VERIFICATION_ALGORITHMS)}."
        )
    return f"Cannot submit non-empty set of task configs for stopped connector {request.connector}"
