"""The steps that workers and their groups get, and the observations to compare after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Step: TypeAlias = dict[str, Any]
"""A step as JSON: its action (``do``) and how.

``reset`` (mode, offset, counts, maxDelay, owners): a new worker. ``poll``: its herder polls, and stays inside for as
long as that blocks. ``step``: 100 ms pass ``times`` times; after each the heartbeat thread has its turn, then the
herder if it is inside a poll. ``answer`` (api, error, ...): the oldest request of this API gets this answer.
``disconnect``: the connection breaks. ``reachable`` (value): whether the coordinator can be found. ``configs`` (offset,
counts): the config topic's content from now on. ``rejoin``: the herder requests a rejoin. ``raise``: the next call of
the listener raises. ``leave``: the herder leaves the group. ``wake``: the herder is woken up inside a poll.
``reply`` (correlation, frame): the bytes of a response came. A step may name its ``worker`` and a ``run``; both
together are one worker, which without a name is called ``w``. ``reset`` may say when (``now``).
"""

Seen: TypeAlias = dict[str, Any]
"""Observations since the step before: requests, calls of the listener, errors of poll, and the worker's state."""

STEP_MS: Final = 100
START_MS: Final = 1_000_000
GROUP: Final = "g"

FRAMES: Final = "frames"
"""The requests as bytes: they are carried, and compared field by field as ``requests``."""


@dataclass(frozen=True, slots=True)
class GroupAction:
    """One thing that is done to a group: ``do`` and, where it concerns one process, ``worker``.

    ``start`` and ``kill``: a process begins (``step`` are the options of ``reset``), or is gone without a word.
    ``perform``: its ``step``. ``disconnect``: its connection breaks, and replies to it are lost. ``hold`` and
    ``release``: the network keeps its requests and replies, or delivers them. ``resign`` and ``elect``: the coordinator
    gives the group up, and another node takes it over. ``pass`` and ``wait``: so many ``ticks`` go by, and after them
    what was sent is carried, or was carried before them.
    """

    do: str
    worker: str = ""
    step: Step = field(default_factory=dict)
    ticks: int = 0

    def __str__(self) -> str:
        """The action in one line."""
        return " ".join(str(part) for part in (self.do, self.worker, self.step or "", self.ticks or "") if part)
