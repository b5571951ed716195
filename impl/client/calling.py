"""A coordinator's calls of the code that uses it, recorded from begin to end."""

from __future__ import annotations

from typing import Self

from rebalance_check.impl.client.failures import NotFinished
from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.protocol.digest import assignment_digest
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import FINISHED, RAISED, UNFINISHED, CallbackEnded, CallbackStarted


class Calling:
    """Surrounds one call of ``callback`` with its two events; ``of`` is the membership that it is called with.

    ``finished`` is set to False by who made the call, where that is to be made again.
    """

    __slots__ = ("_callback", "_member", "_recorder", "finished")

    def __init__(
        self, recorder: Recorder, member: str, callback: str, of: Generation, assignment: bytes | None = None
    ) -> None:
        self.finished = True
        self._recorder = recorder
        self._member = member
        self._callback = callback
        recorder.emit(
            CallbackStarted(
                member=member,
                generation=of.generation_id,
                member_id=of.member_id,
                callback=callback,
                protocol=of.protocol or "",
                assignment="" if assignment is None else assignment_digest(assignment),
            )
        )

    def __enter__(self) -> Self:
        """It began when this was made."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Record how the call came back; its exception goes on."""
        outcome = FINISHED if self.finished else UNFINISHED
        if kind is not None:
            outcome = UNFINISHED if issubclass(kind, NotFinished) else RAISED
        self._recorder.emit(CallbackEnded(member=self._member, callback=self._callback, outcome=outcome))
