"""The reference coordinator as the subject under test: in this process, in virtual time, one group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, Final

from rebalance_check.impl.conformance.answers import member_of
from rebalance_check.impl.conformance.requests import GROUP_ID
from rebalance_check.impl.conformance.subject import ConformanceSubject
from rebalance_check.impl.conformance.transport import Observation
from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator, GroupStatus
from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.coordinator.logs import SteeredLog
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event

NEVER_MS: Final = 10**12
"""Longer than any run: members go when the schedule says so, not when virtual time does."""

CONFIG: Final = GroupConfig(max_session_timeout_ms=NEVER_MS, new_member_join_timeout_ms=NEVER_MS)


class SteeredChoices(Choices):
    """Leads where it is told to, if it may; else as `Choices`."""

    __slots__ = ("preferred",)

    def __init__(self) -> None:
        self.preferred = ""

    def leader(self, candidates: Sequence[str]) -> str:
        """The preferred member's id if it is a candidate."""
        wanted = [member_id for member_id in candidates if member_of(member_id) == self.preferred]
        return wanted[0] if wanted else super().leader(candidates)


class Ids:
    """Makes member ids, counted for each prefix; a copy goes on by itself."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[str, int] = {}

    def __call__(self, prefix: str) -> str:
        """``m0-1``, ``m0-2``, ..."""
        self._made[prefix] = self._made.get(prefix, 0) + 1
        return f"{prefix}-{self._made[prefix]}"


class InProcess:
    """A `FailingTransport` to a `GroupCoordinator` of its own. ``listener`` hears what the coordinator tells;
    ``defects`` are planted bugs (`rebalance_check.impl.mutants`)."""

    def __init__(self, defects: frozenset[str] = frozenset(), listener: Callable[[Event], None] | None = None) -> None:
        self._defects = defects
        self._listener = listener
        self.open(Bounds())

    def open(self, bounds: Bounds) -> None:
        """A fresh coordinator at time 0."""
        delay = CONFIG.initial_rebalance_delay_ms if bounds.initial_delay else 0
        self.now_ms = 0
        self._log = SteeredLog()
        self._requests = 0
        self._serving = True
        self._lost = 0
        self._zombie: GroupCoordinator | None = None
        self._held: tuple[InProcess, list[tuple[str, tuple[Any, ...]]]] | None = None
        self._choices = SteeredChoices()
        self._connections: dict[int, int] = {}
        self._arrived: list[tuple[int, GroupReply]] = []
        self.coordinator = GroupCoordinator(
            replace(CONFIG, initial_rebalance_delay_ms=delay),
            new_member_id=Ids(),
            recorder_for=None if self._listener is None else self._recorder,
            log=self._log,
            choices=self._choices,
            defects=self._defects,
        )

    def _recorder(self, group_id: str) -> Recorder:
        return Recorder(group_id, "coordinator", lambda: self.now_ms, self._listener)

    def request(self, connection: int, request: GroupRequest) -> None:
        """Hand the request to the coordinator."""
        self._note("request", connection, request)
        self._requests += 1
        token = (connection, self._connections.setdefault(connection, 0), self._requests)
        self._take(self.coordinator.handle(token, request, self.now_ms))

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:
        """What the coordinator has answered since the last call."""
        self._note("answers", at_least)
        arrived, self._arrived = self._arrived, []
        return arrived

    def disconnect(self, connection: int) -> None:
        """Answers to what was sent so far are dropped."""
        self._note("disconnect", connection)
        self._connections[connection] = self._connections.get(connection, 0) + 1

    def expire(self, member_id: str) -> None:
        """The session of this member ends now."""
        self._take(self.coordinator.expire_session(GROUP_ID, member_id, self.now_ms))

    def expire_initial_delay(self) -> None:
        """Let time pass until the join phase is over: newcomers prolong the delay."""
        while self.coordinator.describe(GROUP_ID).state == GroupStatus.PREPARING_REBALANCE:
            deadline = self.coordinator.next_deadline()
            if deadline is None:
                return
            self.now_ms = deadline
            self._take(self.coordinator.advance(deadline))

    def expire_rebalance(self) -> None:
        """The rebalance timeout of the join phase is over now."""
        self._take(self.coordinator.expire_join(GROUP_ID, self.now_ms))

    def expire_sync(self) -> None:
        """The sync timeout of the generation is over now."""
        self._take(self.coordinator.expire_sync(GROUP_ID, self.now_ms))

    def delete_group(self) -> Error:
        """DeleteGroups."""
        return self.coordinator.delete(GROUP_ID)

    def observe(self) -> Observation | None:
        """The group, with what only an insider sees; None while no coordinator serves."""
        if not self._serving:
            return None
        inside = self.coordinator.inspect(GROUP_ID)
        described = self.coordinator.describe(GROUP_ID)
        return Observation(described, *((inside.generation, inside.leader) if inside else (None, None)))

    def may_change(self, patience: int) -> bool:  # noqa: ARG002 - nothing is ever under way here
        """What was observed is final."""
        return False

    def prefer_leader(self, seat: str) -> None:
        """Where the coordinator has a choice, the member whose id begins with ``seat`` leads."""
        self._note("prefer_leader", seat)
        self._choices.preferred = seat

    def close(self) -> None:
        """Nothing is held."""

    # ------------------------------------------------------------------------------------------ failover

    def hold_writes(self) -> None:
        """The high watermark stops."""
        self._held = (deepcopy(self), [])
        self._log.hold = True

    def commit_writes(self) -> None:
        """The high watermark catches up."""
        self._held = None
        self._log.release()
        self._take(self.coordinator.advance(self.now_ms))

    def crash_coordinator(self, lost: int) -> None:
        """Memory and connections are gone; the log stays, but for the last ``lost`` records."""
        self._held = None
        self._log.lose(lost)
        self._connections = {connection: number + 1 for connection, number in self._connections.items()}
        self.coordinator.start_loading()
        self._serving = False

    def resign_coordinator(self, lost: int) -> None:
        """Whatever is parked or not committed is refused."""
        self._take(self.coordinator.unload(self.now_ms))
        self._log.lose(0)
        self._held, self._lost, self._serving = None, lost, False

    def elect_coordinator(self) -> None:
        """The next one begins to load what it has of the log."""
        self._log.lose(self._lost)
        self.coordinator.start_loading()

    def load_coordinator(self) -> None:
        """The log is read."""
        self._serving = True
        self._take(self.coordinator.load(tuple(self._log.records), self.now_ms))

    def depose_coordinator(self) -> None:
        """The present one goes on beside the next, which has the log."""
        self._zombie = deepcopy(self.coordinator)
        self.coordinator.start_loading()
        self._serving = False

    def request_zombie(self, connection: int, request: GroupRequest) -> None:
        """Hand the request to the coordinator that was deposed."""
        if self._zombie is None:
            raise RebalanceCheckError("no coordinator was deposed: depose one before it is asked")
        self._note("request_zombie", connection, request)
        self._requests += 1
        token = (connection, self._connections.setdefault(connection, 0), self._requests)
        self._take(self._zombie.handle(token, request, self.now_ms))

    def resign_zombie(self) -> None:
        """It is gone; nothing was parked there."""
        self._note("resign_zombie")
        self._zombie = None

    def _note(self, call: str, *arguments: Any) -> None:
        """Remember what is done while writes are held."""
        if self._held is not None:
            self._held[1].append((call, arguments))

    def __deepcopy__(self, memo: dict[int, Any]) -> InProcess:
        """An independent copy. What waits for a write cannot be copied: it is done again on a copy from before."""
        if self._held is not None:
            before, calls = self._held
            twin = deepcopy(before, memo)
            twin.hold_writes()
            for call, arguments in calls:
                getattr(twin, call)(*arguments)
            return twin
        twin = copy(self)
        memo[id(self)] = twin
        twin.__dict__.update({name: deepcopy(value, memo) for name, value in self.__dict__.items()})
        return twin

    def _take(self, answers: Sequence[tuple[object, GroupReply]]) -> None:
        for token, reply in answers:
            if isinstance(token, tuple) and self._connections.get(token[0]) == token[1]:
                self._arrived.append((token[0], reply))


class ReferenceSubject(ConformanceSubject):
    """The reference coordinator as a subject: the model's clients drive it, and it is held to the model's answers."""

    def __init__(self, defects: frozenset[str] = frozenset()) -> None:
        heard: list[Event] = []
        super().__init__("reference", InProcess(defects, heard.append), heard)
