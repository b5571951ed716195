"""The exceptions of a client to its application, and its reaction to each failed attempt to join."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError


class GroupError(RebalanceCheckError):
    """The coordinator refused, and trying again by itself would not help; ``error`` is its answer.

    The application decides: it may poll again (the client then joins again at once) or close.
    """

    def __init__(self, api: str, error: Error, meaning: str = "") -> None:
        super().__init__(
            f"{api} failed with {error.name}{meaning and f' ({meaning})'}: close the member, or poll again"
        )
        self.api = api
        self.error = error


class NotFinished(Exception):  # noqa: N818 - no error
    """A callback has not finished its work: call it again with the same arguments at the next poll."""


class Retry(Enum):
    """The consequence of a failed attempt to join."""

    AT_ONCE = "the next attempt follows without a pause"
    AFTER_BACKOFF = "the next attempt follows after the retry backoff"
    NEVER = "the application learns of it"


@dataclass(frozen=True, slots=True)
class JoinFailure:
    """Why an attempt to join failed and how it goes on; ``cause`` is raised to the application when it does not."""

    retry: Retry
    cause: Exception | None = None


@dataclass(slots=True)
class JoinAttempt:
    """The one outstanding chain of JoinGroup and SyncGroup (Java's ``joinFuture``)."""

    failure: JoinFailure | None = None
    assignment: bytes | None = None

    @property
    def done(self) -> bool:
        """It succeeded or failed."""
        return self.failure is not None or self.assignment is not None
