"""The last events of a group, kept so that a run that comes to no rest can be explained when it ends."""

from __future__ import annotations

from collections import deque
from typing import Final

from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event, RunStarted
from rebalance_check.properties.kinds import Handler, Memory

KEPT: Final = 8_192
"""So many events are kept: more than the healed phase of a simulated run may have."""


class Tail(Memory):
    """The last `KEPT` events of the group, oldest first.

    ``is_punctual`` says that the clocks of all sources agree. Taking an event costs one call of the deque itself; all
    thinking is left to the end of a run that fails.
    """

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=KEPT)
        self.is_punctual = False
        keep: Handler = self.events.append
        super().__init__({**dict.fromkeys(EVENT_TYPES.values(), keep), RunStarted: self.on_started})

    def on_started(self, event: RunStarted) -> None:
        """The run says whether its time is virtual."""
        self.is_punctual = event.punctual
        self.events.append(event)
