"""The three timers behind a member's heartbeats (``org.apache.kafka.clients.consumer.internals.Heartbeat``)."""

from __future__ import annotations

from random import Random

from rebalance_check.impl.client.backoff import ExponentialBackoff
from rebalance_check.impl.client.config import ClientConfig


class HeartbeatTimers:
    """When the next heartbeat, the end of the session and the end of the poll interval are due, in ms.

    The session timer knows only what the client received; its expiry means "find the coordinator again" and nothing
    else.
    """

    __slots__ = ("_backoff", "_config", "heartbeat_ms", "poll_ms", "session_ms")

    def __init__(self, config: ClientConfig, random: Random | None = None) -> None:
        self._config = config
        self._backoff = ExponentialBackoff(config.retry_backoff_ms, config.retry_backoff_max_ms, random)
        self.heartbeat_ms = self.session_ms = self.poll_ms = 0

    def arm(self, now_ms: int) -> None:
        """Start all three: a JoinGroup succeeded."""
        self.sent(now_ms)
        self.session_alive(now_ms)
        self.polled(now_ms)

    def sent(self, now_ms: int) -> None:
        """A heartbeat was sent."""
        self.heartbeat_ms = now_ms + self._config.heartbeat_interval_ms

    def answered(self, now_ms: int) -> None:
        """The coordinator answered in a way that proves the session alive."""
        self._backoff.reset()
        self.session_alive(now_ms)

    def session_alive(self, now_ms: int) -> None:
        """The session starts anew: a heartbeat was answered or the coordinator was found."""
        self.session_ms = now_ms + self._config.session_timeout_ms

    def failed(self, now_ms: int) -> None:
        """A heartbeat failed: the next one comes after an exponential backoff."""
        self.heartbeat_ms = now_ms + self._backoff.next_ms()

    def polled(self, now_ms: int) -> None:
        """The application polled."""
        self.poll_ms = now_ms + self._config.rebalance_timeout_ms

    @property
    def next_ms(self) -> int:
        """When the earliest of the three is due."""
        return min(self.heartbeat_ms, self.session_ms, self.poll_ms)
