"""The recorders of the implementation's events: one recorder per observer, silent without a listener."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

from rebalance_check.model.vocabulary.events import Event

# Events are frozen for all but the recorder, which writes the stamp into the slots of a new one: copying each
# event with `dataclasses.replace` costs more than a whole heartbeat.
_SET_GROUP: Final[Callable[[Event, str], None]] = vars(Event)["group"].__set__
_SET_SOURCE: Final[Callable[[Event, str], None]] = vars(Event)["source"].__set__
_SET_SEQ: Final[Callable[[Event, int], None]] = vars(Event)["seq"].__set__
_SET_TIME: Final[Callable[[Event, int], None]] = vars(Event)["time_ms"].__set__


class Recorder:
    """Stamps the events of one observer and hands them on.

    ``clock`` gives milliseconds on the observer's clock, ``listener`` receives each stamped event at once, in order;
    None listens to nothing and costs nothing. ``first`` is the number of the first event: 0, or the one after the last
    one where an observer goes on with its own history.

    Raises: MalformedEvent when group or source is no text, or the clock shows no whole milliseconds.
    """

    __slots__ = ("_clock", "_listener", "_seq", "group", "source")

    def __init__(
        self,
        group: str,
        source: str,
        clock: Callable[[], int],
        listener: Callable[[Event], None] | None,
        first: int = 0,
    ) -> None:
        if listener is not None:
            Event(group=group, source=source, time_ms=clock())
        self.group = group
        self.source = source
        self._clock = clock
        self._listener = listener
        self._seq = first

    @property
    def listens(self) -> bool:
        """Whether there is a listener: without one, an event that is costly to make need not be made."""
        return self._listener is not None

    def now(self) -> int:
        """Milliseconds on the observer's clock."""
        return self._clock()

    def emit(self, event: Event) -> None:
        """Stamp ``event`` with group, source, sequence number and time, and pass it to the listener.

        The event must be new, made for this call: it is stamped in place.
        """
        if self._listener is None:
            return
        _SET_GROUP(event, self.group)
        _SET_SOURCE(event, self.source)
        _SET_SEQ(event, self._seq)
        _SET_TIME(event, self._clock())
        self._seq += 1
        self._listener(event)


class LastNumbers:
    """A listener that passes each event on, and knows the number of the last one of each source."""

    __slots__ = ("_last", "_listener")

    def __init__(self, listener: Callable[[Event], None]) -> None:
        self._listener = listener
        self._last: dict[tuple[str, str], int] = {}

    def __call__(self, event: Event) -> None:
        """Take note of the event's number, and pass it on."""
        self._last[event.group, event.source] = event.seq
        self._listener(event)

    @property
    def attested(self) -> tuple[tuple[str, str, int], ...]:
        """Group, source and last number of each source, sorted, for `RunEnded.last`."""
        return tuple(sorted((group, source, last) for (group, source), last in self._last.items()))


class SharedRecorder(Recorder):
    """A `Recorder` that the threads of a member share: the application's, and the one that sends heartbeats."""

    __slots__ = ("_lock",)

    def __init__(
        self,
        group: str,
        source: str,
        clock: Callable[[], int],
        listener: Callable[[Event], None] | None,
        first: int = 0,
    ) -> None:
        super().__init__(group, source, clock, listener, first)
        self._lock = Lock()

    def emit(self, event: Event) -> None:
        """As `Recorder.emit`, one event at a time."""
        with self._lock:
            super().emit(event)
