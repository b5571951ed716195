"""Why a Connect group begins rounds: what asked for one, and has not been answered by rounds yet."""

from __future__ import annotations

from typing import ClassVar, Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConnectAssignmentReceived,
    CoordinatorLost,
    Event,
    IncarnationStarted,
    MemberAdded,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    RequestParked,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.clients import Clients
from rebalance_check.properties.views.config_readers import kind_and_name
from rebalance_check.properties.views.holdings import Round, Rounds
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.worker import NO_ERROR

OF_MEMBERS: Final[tuple[type[Event], ...]] = (
    CoordinatorLost, IncarnationStarted, MemberAdded, MemberCrashed, MemberLeft, MemberPaused, MemberRemoved,
    MembershipLost, MemberStarted, WorkerConfigured,
)  # fmt: skip
"""Events of members, or of their coordinator, after which members join again."""

ANSWERS: Final = 2
"""So many rounds a record explains: one that it began, and one that a worker asks for which acts on it later."""

ANSWERS_OF_MEMBERS: Final = 3
"""So many rounds a change of the members explains: a worker that starts reads what others have acted on before."""

NOWHERE: Final = -1
"""The offset of a cause that stands in no topic."""


class RoundCauses(Memory):
    """Causes that may still begin a round.

    ``is_new_round`` says that the assignment at hand is the first of its generation, ``last`` is the first one of the
    generation before, and ``has_cause`` says that something asked for a round before. ``end`` is the offset behind the
    last record of the config topic that was seen.
    """

    uses: ClassVar = (Rounds, Clients)

    def __init__(self, rounds: Rounds, clients: Clients) -> None:
        self.rounds, self.clients = rounds, clients
        self.is_new_round = False
        self.has_cause = False
        self.end = 0
        self.last: ConnectAssignmentReceived | None = None
        self._latest: ConnectAssignmentReceived | None = None
        self._names: set[str] = set()
        self._pending: list[tuple[int, int]] = []
        self._undecided: set[str] = set()
        self._workers: set[str] = set()
        self._behind: set[str] = set()
        self._are_accepts_recorded = False
        self._rounds: Recent[Round, None] = Recent(GENERATIONS)
        handlers: dict[type[Event], Handler] = dict.fromkeys(OF_MEMBERS, self._changed)
        super().__init__({
            **handlers, ConfigAppended: self._appended, ConnectAssignmentReceived: self._received,
            AssignmentAccepted: self._accepted, RequestParked: self._parked,
        })  # fmt: skip

    def _changed(self, event: Event) -> None:
        self._note(NOWHERE, ANSWERS_OF_MEMBERS)
        if isinstance(event, MemberCrashed | MemberLeft | MemberStarted):
            self._workers.discard(event.member)
            self._behind.discard(event.member)

    def _note(self, offset: int, answers: int = ANSWERS) -> None:
        if (answers, offset) not in self._pending:
            self._pending.append((answers, offset))

    def _appended(self, event: ConfigAppended) -> None:
        """Another set of connectors, or committed task configs, need a round; no other record does.

        A worker that reads it, or any other, before it accepts its assignment has read further, and joins again.
        """
        self.end = event.offset + 1
        if self._undecided:
            self._note(NOWHERE)
        kind, name = kind_and_name(event.key)
        is_removed = event.value is None
        if kind == "commit-" or (kind == "connector-" and is_removed == (name in self._names)):
            self._note(event.offset)
        if kind == "connector-":
            (self._names.discard if is_removed else self._names.add)(name)

    def _parked(self, event: RequestParked) -> None:
        """A JoinGroup that comes twice begins a round, though its worker waits for none."""
        self.clients.up_to_date()
        client = self.clients.with_id(event.member_id)
        if event.api == Api.JOIN_GROUP and client is not None and client.joining is None:
            self._note(NOWHERE)

    def _accepted(self, event: AssignmentAccepted) -> None:
        self._undecided.discard(event.member)
        self._behind.discard(event.member)
        self._are_accepts_recorded = True

    def _received(self, event: ConnectAssignmentReceived) -> None:
        number = self.rounds.round_of(event)
        self.is_new_round = number not in self._rounds
        self._rounds[number] = None
        if self.is_new_round:
            self.last, self._latest = self._latest, event
            self.has_cause = bool(self._pending)
            self._undecided.clear()
            self._answer(event)
        self._undecided.add(event.member)
        self._workers.add(event.member)
        is_outdated = self.end > event.config_offset  # a worker that has read further joins again
        if event.revoked or event.delay_ms or event.error != NO_ERROR or is_outdated:
            self._note(NOWHERE)

    def _answer(self, event: ConnectAssignmentReceived) -> None:
        """A round answers a record that its workers have read by then, once each has accepted the round before it: one
        that never came to that acts on what it read when it does."""
        may_act_later = self._are_accepts_recorded and self._behind
        self._behind = set(self._workers)
        read_up_to = 0 if may_act_later else event.config_offset
        answered = ((left - 1 if offset < read_up_to else left, offset) for left, offset in self._pending)
        self._pending = [pending for pending in answered if pending[0]]
