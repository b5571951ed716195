"""Member ids in the coordinator's log, by their numbers; the model knows slots only.

A coordinator that takes over knows the ids that its predecessor had committed, not those that it had handed out since.
The model keeps the slots of a record (``State.log``) and marks those whose process has another id by now as stale. The
observer must also name these ids, so it notes which number each slot had when a record was appended.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.classic.state import GroupStatus, State, has
from rebalance_check.model.vocabulary.actions import Action, ActionKind


@dataclass(slots=True)
class LoggedIds:
    """Of each slot the number of its id in the last record (``ids``), and in the one that is being appended."""

    ids: list[int]
    """By slot: the number of the member id in the last committed record; 0 where it never stood in one."""
    appended: list[int]
    """By slot: the numbers that the coordinator knew when it made the append that is not committed yet."""

    def note(self, action: Action, before: State, after: State, known: list[int]) -> None:
        """A step has happened; ``known`` are the ids at the coordinator, which may have changed since an append."""
        if not after.log:
            return  # without failovers nothing reads the log, and the state has none
        if after.append.kind > before.append.kind:
            self.appended = [*known]
        elif before.append.kind > after.append.kind and action.choice == 0:
            self._keep(after, self.appended)
        elif action.kind is ActionKind.JOIN_GROUP and after.status == GroupStatus.STABLE:
            self._keep(after, known)  # a static member may have come back under another id

    def _keep(self, after: State, ids: list[int]) -> None:
        for m, number in enumerate(ids):
            if has(after.log.members, m):
                self.ids[m] = number
