"""What goes on between a worker's config store and the config topic: a reader that lags, producers that fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rebalance_check.impl.connect.config.channel import ConfigChannel, Sending
from rebalance_check.impl.simulator.connect.disturbances import UNREADABLE_MS, Disturbances
from rebalance_check.impl.simulator.connect.process_threads import ProcessThreads


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
        self._reading = False
        self._claiming = False
        self._sending: set[int] = set()

    def pump(self) -> None:
        """Let the reader and the producers go on where there is something to do."""
        channel, disturbances = self.channel, self._disturbances
        if not self._reading and (channel.ends or channel.behind):
            self._reading = True
            unreadable = disturbances.happens(disturbances.plan.drop)
            self._threads.after(UNREADABLE_MS if unreadable else disturbances.delay_ms(), self._read)
        if not self._claiming and channel.claims:
            self._claiming = True
            self._threads.after(disturbances.delay_ms(), self._claim)
        for sending in channel.sending:
            if sending.number not in self._sending:
                self._sending.add(sending.number)
                self._threads.after(disturbances.delay_ms(), partial(self._send, sending))

    def _read(self) -> None:
        """The reader polls some records; a read to the end that was reached is over."""
        self._reading = False
        if self.channel.closed:
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
        if disturbances.happens(disturbances.plan.drop) or (sending.send.transaction and channel.fenced):
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
