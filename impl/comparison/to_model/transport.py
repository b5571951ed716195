"""The coordinator under test as a conformance run drives it, wherever it runs."""

from __future__ import annotations

from typing import Final, Protocol

from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error

SIDE_CONNECTION: Final = -1
"""The connection of all other requests: delayed duplicates, commits and heartbeats of other threads."""


class Transport(Protocol):
    """Carries requests to one group of a coordinator; ``connection`` is the number of a member, or `SIDE_CONNECTION`.

    A member's client id must be ``m<number>``: member ids begin with it, or with the instance id of a static member,
    and that is how the harness knows them.
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
        """Close a connection: requests still unanswered on it stay so."""

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
        """Whether the observation may not be final, because timers of 0 ms fire when they like: False, or True after
        a while. ``patience`` is how often it was asked before in this step."""
        ...

    def prefer_leader(self, prefix: str) -> None:
        """Let the member whose id begins with ``prefix`` lead where the coordinator has a choice.

        A transport whose coordinator takes no such wish does nothing.
        """

    def close(self) -> None:
        """Give every resource back."""
