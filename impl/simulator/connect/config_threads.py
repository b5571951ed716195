"""The threads between a worker's config store and the config topic: a reader that lags, producers that fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rebalance_check.impl.connect.config.channel import ConfigChannel, Sending
from rebalance_check.impl.runtime.faults import NO_FAULTS
from rebalance_check.impl.simulator.connect.disturbances import READ_AGAIN_MS, Disturbances
from rebalance_check.impl.simulator.connect.process_threads import ProcessThreads


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A read of the topic that was begun; ``is_held_back`` where the end of an outage lets it go on at once."""

    is_held_back: bool


class ConfigThreads:
    """Lets the channel of one store go on; ``appended`` is called after each append, for all readers of the topic."""

    def __init__(
        self,
        channel: ConfigChannel,
        threads: ProcessThreads,
        disturbances: Disturbances,
        appended: Callable[[], None],
    ) -> None:
        self.channel = channel
        self._threads = threads
        self._disturbances = disturbances
        self._appended = appended
        self._awaited: _Read | None = None
        self._claiming = False
        self._sending: set[int] = set()

    def pump(self) -> None:
        """Let the reader and the producers go on where there is something to do."""
        channel, disturbances = self.channel, self._disturbances
        if self._awaited is None and (channel.ends or channel.behind):
            self._begin_read(disturbances.reading_ms())
        if not self._claiming and channel.claims:
            self._claiming = True
            self._threads.after(disturbances.delay_ms(), self._claim)
        for sending in channel.sending:
            if sending.number not in self._sending:
                self._sending.add(sending.number)
                self._threads.after(disturbances.delay_ms(), partial(self._send, sending))

    def end_outage(self) -> None:
        """The topic can be read again: the reader's records come as soon as any do.

        A long outage (``config_outage``) lasts for as long as it was drawn to last, as the run was asked for.
        """
        if self._awaited is not None and self._awaited.is_held_back:
            self._begin_read(self._disturbances.delay_ms())

    def _begin_read(self, delay_ms: int) -> None:
        """The reader waits for records; a read that was begun before is overtaken."""
        if delay_ms >= READ_AGAIN_MS:
            self._disturbances.note_outage(delay_ms)
        is_held_back = delay_ms > NO_FAULTS.delay_ms and not self._disturbances.plan.config_outage
        self._awaited = _Read(is_held_back)
        self._threads.after(delay_ms, partial(self._read, self._awaited))

    def _read(self, begun: _Read) -> None:
        """The reader polls some records; a read to the end that was reached is over."""
        if begun is not self._awaited:
            return
        self._awaited = None
        if self.channel.closed:
            return
        if self._disturbances.read_fails():
            self._begin_read(READ_AGAIN_MS)
            return
        self.channel.poll(self._disturbances.random.randint(1, 4))
        self.channel.serve_end()
        self.pump()
        self._threads.wake_herder()

    def _claim(self) -> None:
        self._claiming = False
        if self.channel.claims:
            self.channel.claim()
            self.pump()
            self._threads.wake_herder()

    def _send(self, sending: Sending) -> None:
        """The next record of a send is appended, or the send fails, or all is appended and it is answered."""
        channel, disturbances = self.channel, self._disturbances
        if sending not in channel.sending:
            return
        if disturbances.loses() or (sending.send.transaction and channel.fenced):
            channel.fail(sending)
        elif sending.complete:
            channel.answer(sending)
        else:
            channel.append(sending)
            self._appended()
            self._threads.after(disturbances.delay_ms(), partial(self._send, sending))
            return
        self.pump()
        self._threads.wake_herder()
