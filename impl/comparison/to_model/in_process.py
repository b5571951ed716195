"""The reference coordinator as the coordinator under test: in this process, in virtual time, one group."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, Final

from rebalance_check.impl.comparison.to_model.steered_transport import SteeredTransport
from rebalance_check.impl.comparison.to_model.subject import ConformanceSubject
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import GroupRequest
from rebalance_check.impl.steered.coordinator import Answers
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import Event

NEVER_MS: Final = 10**12
"""Longer than any run: members go when the schedule says so, not when virtual time does."""

CONFIG: Final = GroupConfig(max_session_timeout_ms=NEVER_MS, new_member_join_timeout_ms=NEVER_MS)


class Ids:
    """Makes member ids, counted for each prefix; a copy goes on by itself."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[str, int] = {}

    def __call__(self, prefix: str) -> str:
        """``m0-1``, ``m0-2``, ..."""
        self._made[prefix] = self._made.get(prefix, 0) + 1
        return f"{prefix}-{self._made[prefix]}"


class CopyableInProcess(InProcess):
    """`InProcess` that `copy.deepcopy` can copy at any time.

    An outcome that waits for a write cannot be copied. So a copy from before writes were held is kept, and the steps
    since then are done again on a copy of that.
    """

    _held: tuple[CopyableInProcess, list[tuple[str, tuple[Any, ...]]]] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> CopyableInProcess:
        """An independent copy."""
        if self._held is not None:
            before, calls = self._held
            copied = memo[id(self)] = deepcopy(before, memo)
            copied.hold()
            for method, arguments in calls:
                getattr(copied, method)(*arguments)
            return copied
        copied = memo[id(self)] = copy(self)
        copied.__dict__.update({name: deepcopy(value, memo) for name, value in self.__dict__.items()})
        return copied

    def _note(self, method: str, *arguments: Any) -> None:
        """Remember the calls made while writes are held."""
        if self._held is not None:
            self._held[1].append((method, arguments))

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request."""
        self._note("handle", token, request, now_ms)
        return super().handle(token, request, now_ms)

    def handle_at_zombie(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request at the coordinator that was deposed."""
        self._note("handle_at_zombie", token, request, now_ms)
        return super().handle_at_zombie(token, request, now_ms)

    def resign_zombie(self) -> None:
        """The coordinator that was deposed is gone."""
        self._note("resign_zombie")
        super().resign_zombie()

    def prefer_leader(self, prefix: str) -> None:
        """The member whose id begins with ``prefix`` leads where it may."""
        self._note("prefer_leader", prefix)
        super().prefer_leader(prefix)

    def hold(self) -> None:
        """The high watermark stops."""
        self._held = (deepcopy(self), [])
        super().hold()

    def release(self, now_ms: int) -> Answers:
        """The high watermark catches up."""
        self._held = None
        return super().release(now_ms)

    def unload(self, now_ms: int) -> Answers:
        """Stop serving: nothing waits for a write any more."""
        self._held = None
        return super().unload(now_ms)

    def elect(self, lost: int) -> None:
        """The next coordinator begins to read its part of the log: nothing waits for a write any more."""
        self._held = None
        super().elect(lost)


class ReferenceTransport(SteeredTransport[CopyableInProcess]):
    """A `SteeredTransport` to a reference coordinator of its own, which `copy.deepcopy` copies along.

    ``listener`` receives the coordinator's events.
    """

    def __init__(self, listener: Callable[[Event], None] | None = None) -> None:
        super().__init__(lambda bounds: _coordinator(bounds, listener))


def _coordinator(bounds: Bounds, listener: Callable[[Event], None] | None) -> CopyableInProcess:
    delay_ms = CONFIG.initial_rebalance_delay_ms if bounds.initial_delay else 0
    config = replace(CONFIG, initial_rebalance_delay_ms=delay_ms)
    return CopyableInProcess(config, new_member_id=Ids(), listener=listener)


class ReferenceSubject(ConformanceSubject):
    """The reference coordinator as a subject: the model's clients drive it, and it is held to the model's answers."""

    def __init__(self) -> None:
        events: list[Event] = []
        super().__init__("reference", ReferenceTransport(events.append), events)
