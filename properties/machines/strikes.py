"""Faults that a test lets happen one by one: the next request of a member is lost, its next reply comes late.

Everything that no strike decides is quiet: nothing is lost, everything takes the shortest time. So a run is what its
steps say, and a test library can leave out a fault as it leaves out a step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.runtime.choices import Choices, Value
from rebalance_check.impl.runtime.options import FaultKind

STRUCK: Final = 0.0
"""A draw that is below every chance: what may happen by chance happens."""


OF_APPLICATIONS: Final = frozenset({FaultKind.WAKE_UP, FaultKind.CALLBACK_COMMIT, FaultKind.SEEK})


@dataclass(frozen=True, slots=True, repr=False)
class Strike:
    """A fault of a kind in ``kinds``: it decides the next choice of a member whose address has this ``pattern``.

    ``value`` is the choice: True for a fault that strikes, ms for the way of a message, `STRUCK` for a draw.
    """

    kinds: frozenset[FaultKind]
    pattern: str
    value: Value

    def hits(self, member: str, address: str) -> bool:
        """Whether the choice at ``address`` is one of ``member`` that the strike decides."""
        return re.fullmatch(self.pattern.format(member=member), address) is not None

    def __repr__(self) -> str:
        return f"<{'/'.join(sorted(self.kinds))}: {self.pattern} {self.value}>"


STRIKES: Final = (
    Strike(frozenset({FaultKind.DROP}), r"{member}:\d+\.lost", True),
    Strike(frozenset({FaultKind.DROP}), r"{member}:\d+-reply\.lost", True),
    Strike(frozenset({FaultKind.DUPLICATE}), r"{member}:\d+\.duplicated", True),
    Strike(frozenset({FaultKind.DISCONNECT}), r"{member}:\d+\.disconnect", True),
    Strike(frozenset({FaultKind.REFUSAL, FaultKind.LOOK_UP}), r"{member}:\d+\.refused", True),
    *(
        Strike(frozenset({FaultKind.DELAY}), rf"{{member}}:\d+{message}\.way\d+", late_ms)
        for late_ms in (50, 500, 5_000)
        for message in ("", "-reply")
    ),
    Strike(OF_APPLICATIONS, r"process {member}\.random\d+", STRUCK),
)  # fmt: skip
"""The faults that may strike a member: its next request or reply, its connection, a step of its application."""


class StruckChoices(Choices):
    """The choices of a run that strikes decide; ``made`` repeats the run."""

    def __init__(self) -> None:
        self._struck: dict[str, Value] = {}
        super().__init__(given=self._struck)
        self._due: list[tuple[str, Strike]] = []

    def strike(self, member: str, strike: Strike) -> None:
        """Let the fault happen at the next opportunity."""
        self._due.append((member, strike))

    def heal(self) -> None:
        """Let no fault happen any more."""
        self._due.clear()

    def decide(self, address: str, draw: Callable[[], Value], quiet: Value) -> Value:
        """As its base class; a strike that is due decides first, once."""
        for due in self._due:
            member, strike = due
            if strike.hits(member, address):
                self._due.remove(due)
                self._struck[address] = strike.value
                break
        return super().decide(address, draw, quiet)
