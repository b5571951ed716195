"""A steered coordinator as the `Transport` of a conformance run: requests on numbered connections, to one group."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from rebalance_check.impl.comparison.to_model.requests import GROUP_ID
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.impl.steered.coordinator import Answers, Observation, SteeredCoordinator
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

C = TypeVar("C", bound=SteeredCoordinator)

START_MS: Final = 0
"""Time passes at the coordinator alone, as its timers are let run out."""


class SteeredTransport(Generic[C]):
    """Carries requests to a coordinator that ``make`` sets up for the bounds of a run.

    Its replies on a connection that was closed since the request are dropped, as a network drops them.
    """

    def __init__(self, make: Callable[[Bounds], C]) -> None:
        self._make = make
        self._coordinator: C | None = None
        self.requests = 0
        self._begin()

    def _begin(self) -> None:
        self._incarnations: dict[int, int] = {}
        self._arrived: list[tuple[int, GroupReply]] = []
        self._sent = 0
        self._serving = True
        self._lost = 0

    @property
    def coordinator(self) -> C:
        """The coordinator of the run that is open.

        Raises:
            RebalanceCheckError: no run is open.
        """
        if self._coordinator is None:
            raise RebalanceCheckError("no run is open on this transport: open one first")
        return self._coordinator

    def open(self, bounds: Bounds) -> None:
        """Begin with a coordinator of its own, at time 0, whose log is empty."""
        self._begin()
        self._coordinator = self._make(bounds)
        self._look()

    def request(self, connection: int, request: GroupRequest) -> None:
        """Hand the request to the coordinator."""
        self._sent_to(self.coordinator.handle(self._token(connection), request, START_MS))

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:  # noqa: ARG002 - nothing is ever under way here
        """The coordinator's answers since the last call."""
        arrived, self._arrived = self._arrived, []
        return arrived

    def disconnect(self, connection: int) -> None:
        """Answers to all requests sent so far are dropped."""
        self._incarnations[connection] = self._incarnations.get(connection, 0) + 1

    def expire(self, member_id: str) -> None:
        """The session of this member runs out. Where no session runs, nothing happens, and that is seen."""
        self._sent_to(self.coordinator.expire_session(GROUP_ID, member_id))

    def expire_initial_delay(self) -> None:
        """Let the initial rebalance delay pass, however often new members prolong it."""
        self._sent_to(self.coordinator.expire_initial_delay(GROUP_ID))

    def expire_rebalance(self) -> None:
        """The rebalance timeout of the join phase is over."""
        self._sent_to(self.coordinator.expire_join(GROUP_ID))

    def expire_sync(self) -> None:
        """The sync timeout of the generation is over."""
        self._sent_to(self.coordinator.expire_sync(GROUP_ID))

    def delete_group(self) -> Error:
        """DeleteGroups."""
        error = self.coordinator.delete(GROUP_ID)
        self._look()
        return error

    def observe(self) -> Observation | None:
        """The group, with the fields that only an insider sees; None while no coordinator serves."""
        return self.coordinator.observe(GROUP_ID) if self._serving else None

    def may_change(self, patience: int) -> bool:  # noqa: ARG002 - nothing is ever under way here
        """The last observation is final: everything due at this instant has happened."""
        return False

    def prefer_leader(self, prefix: str) -> None:
        """Where the coordinator has a choice that can be steered, the member whose id begins with ``prefix`` leads."""
        self.coordinator.prefer_leader(prefix)

    def close(self) -> None:
        """End the run."""
        self._coordinator = None

    # ------------------------------------------------------------------------------------------ failover

    def hold_writes(self) -> None:
        """From now on, appends to the log are not committed."""
        self.coordinator.hold()

    def release_writes(self) -> None:
        """Held appends are committed, and later ones at once."""
        self._sent_to(self.coordinator.release(START_MS))

    def crash_coordinator(self, lost: int) -> None:
        """The coordinator dies, its connections break; another one, which lacks ``lost`` records, begins to load."""
        self._serving = False
        for connection in [*self._incarnations]:
            self.disconnect(connection)
        self.coordinator.crash(lost)
        self._look()

    def resign_coordinator(self, lost: int) -> None:
        """The coordinator stops serving, and answers parked requests; the one after it will lack ``lost`` records."""
        self._serving = False
        self._lost = lost
        self._sent_to(self.coordinator.unload(START_MS))

    def elect_coordinator(self) -> None:
        """Another one is elected after one that resigned, and begins to load."""
        self.coordinator.elect(self._lost)

    def load_coordinator(self) -> None:
        """The log is read."""
        self._serving = True
        self._sent_to(self.coordinator.load(START_MS))

    def depose_coordinator(self) -> None:
        """Another one begins to load, and the present one goes on; it cannot write any more."""
        self._serving = False
        self.coordinator.depose()
        self._look()

    def request_zombie(self, connection: int, request: GroupRequest) -> None:
        """Hand the request to the coordinator that was deposed."""
        self._sent_to(self.coordinator.handle_at_zombie(self._token(connection), request, START_MS))

    def resign_zombie(self) -> None:
        """The coordinator that was deposed learns of it."""
        self.coordinator.resign_zombie()

    # ------------------------------------------------------------------------------------------ connections

    def _token(self, connection: int) -> Hashable:
        self.requests += 1
        self._sent += 1
        return connection, self._incarnations.setdefault(connection, 0), self._sent

    def _sent_to(self, answers: Answers) -> None:
        """The coordinator was given something to do, and answered at once with these."""
        self._take(answers)
        self._look()

    def _look(self) -> None:
        """The group may have changed: a subclass asks a remote coordinator here for all that `observe` needs."""

    def _take(self, answers: Answers) -> None:
        """Keep the replies whose connections are still open."""
        for token, reply in answers:
            if isinstance(token, tuple) and self._incarnations.get(token[0]) == token[1]:
                self._arrived.append((token[0], reply))
