"""What lockstep needs of a coordinator under test, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error

STRAY: Final = -1
"""The connection of copies that the network delivers late: nobody listens to their answers."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The group as an observer sees it; None where the coordinator under test shows nothing.

    ``generation`` and ``leader`` (a member id, empty for none) are visible only from inside a coordinator.
    ``shows_assignments`` is False where no assignment in ``described`` may mean "not shown": the Scala coordinator
    shows them in Stable only.
    """

    described: DescribedGroup
    generation: int | None = None
    leader: str | None = None
    shows_assignments: bool = True


class Transport(Protocol):
    """Carries requests to one group of a coordinator; ``connection`` is the number of a member, or `STRAY`.

    A member's client id must be ``m<number>``: member ids begin with it, or with the instance id of a static member,
    and that is how they are told apart.
    """

    def open(self, bounds: Bounds) -> None:
        """Begin with a group that does not exist, at a coordinator set up for ``bounds``."""

    def request(self, connection: int, request: GroupRequest) -> None:
        """Send a request. Whether an answer comes back is seen in `answers`."""

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:
        """The answers since the last call, each with its connection: all of them, and ``at_least`` that many unless
        the coordinator fails to give them."""
        ...

    def disconnect(self, connection: int) -> None:
        """Close a connection: what is still unanswered on it stays so."""

    def expire(self, member_id: str) -> None:
        """Let the session of this member, and of no other, run out."""

    def expire_initial_delay(self) -> None:
        """Let the initial rebalance delay pass."""

    def expire_rebalance(self) -> None:
        """Let the rebalance timeout of the join phase pass, and no other timer."""

    def expire_sync(self) -> None:
        """Let the sync timeout of the generation pass, and no other timer."""

    def delete_group(self) -> Error:
        """DeleteGroups."""
        ...

    def observe(self) -> Observation | None:
        """The group as it stands; None from a coordinator that cannot be asked."""

    def may_change(self, patience: int) -> bool:
        """Whether what was observed may not be final, because timers of 0 ms fire when they like: False, or True after
        a while. ``patience`` is how often it was asked before in this step."""
        ...

    def prefer_leader(self, seat: str) -> None:
        """Let the member whose id begins with ``seat`` lead where the coordinator has a choice.

        One that cannot be told does nothing.
        """

    def close(self) -> None:
        """Give every resource back."""


@runtime_checkable
class FailingTransport(Transport, Protocol):
    """A transport whose coordinator can be made to fail over; needed for bounds with failovers.

    ``lost`` counts the records at the end of the log that the next coordinator does not have. While there is no
    coordinator, `Transport.observe` gives None.
    """

    def hold_writes(self) -> None:
        """From now on, what is appended to the log is not committed."""

    def commit_writes(self) -> None:
        """What was held is committed, and what comes is at once."""

    def crash_coordinator(self, lost: int) -> None:
        """The coordinator dies without a word; another one begins to load."""

    def resign_coordinator(self, lost: int) -> None:
        """The coordinator stops serving, and answers what is parked."""

    def elect_coordinator(self) -> None:
        """Another one is elected after it, and begins to load."""

    def load_coordinator(self) -> None:
        """The log is read."""

    def depose_coordinator(self) -> None:
        """Another coordinator begins to load, and the present one goes on; it cannot write any more."""

    def request_zombie(self, connection: int, request: GroupRequest) -> None:
        """Send a request to the coordinator that was deposed."""

    def resign_zombie(self) -> None:
        """The coordinator that was deposed learns of it."""
