"""What an operator asks a herder for by its REST interface: it is answered, and what is accepted is written."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    Event,
    HerderAnswered,
    HerderAsked,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RunEnded,
    RunSettled,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent

DONE: Final = 204
"""The HTTP status of what was done."""
CONFLICT: Final = 409
"""The HTTP status with which a worker refuses what only the leader does, or what it was not assigned."""

Written = tuple[str, str]
"""What a record must be: the beginning of its key, before the connector's name, and a part of its value ("" for a
tombstone)."""

WRITES: Final[dict[str, tuple[Written, ...]]] = {
    "configure": (("connector-", "properties"),),
    "delete": (("connector-", ""),),
    "pause": (("target-state-", "PAUSED"),),
    "resume": (("target-state-", "STARTED"),),
    "stop": (("commit-", "0"), ("target-state-", "STOPPED")),
    "restart": (("restart-connector-", "include-tasks"),),
}
"""What each operation has the worker append to the config topic."""


class HerderRequestsAreAnsweredViolated(Violation):
    """A worker that did not end never answered a request of an operator."""


class AcceptedRequestsAreWrittenViolated(Violation):
    """A worker answered that it had done something, and had not written it to the config topic."""


class RefusedRequestsAreNotWrittenViolated(Violation):
    """A worker answered that it does not lead, and had written what it was asked for."""


class _Asked(Fold):
    """The requests that are open, by their number."""

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler]) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        ends = dict.fromkeys(gone, self.on_gone)
        super().__init__(invariant, {**ends, HerderAsked: self.on_asked, HerderAnswered: self.on_answered, **handlers})
        self.open: Recent[int, HerderAsked] = Recent(WAITING)

    def on_gone(self, event: MemberEvent) -> None:
        """A process takes the requests with it that it has not answered."""
        for number in [number for number, asked in self.open.items() if asked.member == event.member]:
            del self.open[number]

    def on_asked(self, event: HerderAsked) -> None:
        """From here on an answer is due."""
        self.open[event.request] = event

    def on_answered(self, event: HerderAnswered) -> None:
        """It came."""
        self.open.pop(event.request, None)


class _Answered(_Asked):
    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft, HerderAsked, HerderAnswered})
    needs = ((HerderAsked,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RunSettled: self.on_end, RunEnded: self.on_end})

    def on_end(self, event: RunSettled | RunEnded) -> None:
        """Nothing is under way any more."""
        for asked in list(self.open.values()):
            self.contradiction(
                f"{asked.member} never answers the request to {asked.operation} {asked.work}",
                (f"{asked.member} was asked to {asked.operation} {asked.work} at {STEP}.", asked),
                (f"it did not end, and had not answered by {STEP}: contradiction.", event),
            )
        self.open.clear()


class _Accepted(_Asked):
    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft, HerderAsked, ConfigAppended})
    needs = ((HerderAsked,), (ConfigAppended,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigAppended: self.on_appended})
        self.compared = 0
        self._offset = -1
        self._offset_when_asked: Recent[int, int] = Recent(WAITING)
        self._last: Recent[tuple[str, str], ConfigAppended] = Recent(WAITING)

    def on_appended(self, event: ConfigAppended) -> None:
        """The last record of each key that a worker wrote."""
        self._offset = event.offset
        self._last[event.writer, event.key] = event

    def on_asked(self, event: HerderAsked) -> None:
        """What was written before does not count."""
        super().on_asked(event)
        self._offset_when_asked[event.request] = self._offset

    def on_answered(self, event: HerderAnswered) -> None:
        """The records of what was done stand in the topic."""
        asked = self.open.get(event.request)
        super().on_answered(event)
        since = self._offset_when_asked.pop(event.request, -1)
        if asked is None or event.answer != DONE or self._offset < 0:
            return
        for begin, part in WRITES.get(asked.operation, ()):
            self.compared = (self.compared or 0) + 1
            record = self._last.get((asked.member, f"{begin}{asked.work}"))
            if record is None or record.offset <= since or not _says(record, part):
                self._report(asked, event, f"{begin}{asked.work}")

    def _report(self, asked: HerderAsked, event: HerderAnswered, key: str) -> None:
        self.contradiction(
            f"{asked.member} answers that it did {asked.operation} {asked.work}, and did not write it",
            (f"{asked.member} was asked to {asked.operation} {asked.work} at {STEP};", asked),
            (f"it answered {event.answer} at {STEP}, and had appended no such record of {key} since: contradiction.",
             event),
        )  # fmt: skip


class _Refused(_Accepted):
    """With what failed: a write that seemed to may come late, and stand there when the next request is refused."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._failed: set[tuple[str, str]] = set()
        self._joined: Recent[int, bool] = Recent(WAITING)

    def on_asked(self, event: HerderAsked) -> None:
        """One that is open together with another about the same work may see what that one writes."""
        for number, one in self.open.items():
            if (one.member, one.work) == (event.member, event.work):
                self._joined[number] = self._joined[event.request] = True
        super().on_asked(event)

    def on_answered(self, event: HerderAnswered) -> None:
        """Nothing of what a worker refuses because it does not lead stands in the topic."""
        asked = self.open.pop(event.request, None)
        since = self._offset_when_asked.pop(event.request, -1)
        if asked is None:
            return
        if event.answer not in {DONE, CONFLICT}:
            self._failed.add((asked.member, asked.work))
        is_alone = not self._joined.pop(event.request, False)
        if event.answer != CONFLICT or not is_alone or (asked.member, asked.work) in self._failed:
            return
        for begin, part in WRITES.get(asked.operation, ()):
            self.compared = (self.compared or 0) + 1
            record = self._last.get((asked.member, f"{begin}{asked.work}"))
            if record is not None and record.offset > since and _says(record, part):
                self.contradiction(
                    f"{asked.member} refuses to {asked.operation} {asked.work}, and has written it",
                    (f"{asked.member} was asked to {asked.operation} {asked.work} at {STEP};", asked),
                    (f"it appended {record.key} at {STEP};", record),
                    (
                        f"yet it answered {event.answer} at {STEP}, as a worker that does not lead: contradiction.",
                        event,
                    ),
                )


def _says(record: ConfigAppended, part: str) -> bool:
    return part in record.value if part and record.value is not None else not part and record.value is None


_PREMISE: Final = "the history holds what operators ask for, and every answer"

HerderRequestsAreAnswered: Final = Invariant(
    name="herder_requests_are_answered",
    family="connect_duties",
    claim="a worker answers every request of an operator, unless it ends before",
    source="DistributedHerder.addRequest; ConnectorsResource (the request would time out)",
    premises=(_PREMISE,),
    needs_end=True,
    exempted_by=(HerderAnswered, MemberCrashed, MemberLeft, MemberStarted),
    violation=HerderRequestsAreAnsweredViolated,
    fold=_Answered,
)
"""The smallest history that breaks it::

    HerderAsked(member="w0", request=0, operation="stop", work="c")
    RunEnded()
"""

AcceptedRequestsAreWritten: Final = Invariant(
    name="accepted_requests_are_written",
    family="connect_duties",
    claim="before a worker answers that it configured, deleted, paused, resumed, stopped or restarted a connector, the "
    "record that says so is appended to the config topic",
    source="DistributedHerder.putConnectorConfig, deleteConnectorConfig, pauseConnector, stopConnector, "
    "restartConnectorAndTasks; KIP-745, KIP-875",
    premises=(_PREMISE, "the config topic's log is recorded"),
    exempted_by=(ConfigAppended,),
    violation=AcceptedRequestsAreWrittenViolated,
    fold=_Accepted,
)
"""The smallest history that breaks it::

    ConfigAppended(writer="w0", offset=0, key="connector-c", value='{"properties":{}}')
    HerderAsked(member="w0", request=0, operation="pause", work="c")
    HerderAnswered(member="w0", request=0, answer=204)
"""

RefusedRequestsAreNotWritten: Final = Invariant(
    name="refused_requests_are_not_written",
    family="connect_duties",
    claim="a worker that answers 409, because it does not lead, has written nothing of what it was asked for",
    source="DistributedHerder.restartConnectorAndTasks, stopConnector (NotLeaderException); ConnectExceptionMapper",
    premises=(
        _PREMISE,
        "the config topic's log is recorded",
        "the worker was asked nothing else about the connector meanwhile, and no write for it has failed before",
    ),
    exempted_by=(HerderAnswered, HerderAsked, MemberCrashed, MemberLeft, MemberStarted),
    violation=RefusedRequestsAreNotWrittenViolated,
    fold=_Refused,
)
"""An operator whose request is refused asks another worker: what was written all the same happens twice.

The smallest history that breaks it::

    HerderAsked(member="w0", request=0, operation="pause", work="c")
    ConfigAppended(writer="w0", offset=0, key="target-state-c", value='{"state":"PAUSED"}')
    HerderAnswered(member="w0", request=0, answer=409)
"""

CLAIMS: Final = (HerderRequestsAreAnswered, AcceptedRequestsAreWritten, RefusedRequestsAreNotWritten)
"""In the order in which reports name them."""
