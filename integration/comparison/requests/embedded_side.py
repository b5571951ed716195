"""The embedded broker without its sockets, in a time that passes as it is said to."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.hash_order import JavaChoices
from rebalance_check.integration.comparison.requests.sides import Answers
from rebalance_check.integration.embedded.broker import WireBroker
from rebalance_check.integration.wire.malformed import MalformedFrame

PEER: Final = "/127.0.0.1"
LENGTH_BYTES: Final = 4


class EmbeddedSide:
    """A new embedded broker, which chooses leaders as Java's hash maps do.

    ``config`` are its settings, ``new_member_id`` makes a member id of a prefix where none was given. ``verifies`` says
    whether it commits offsets in transactions that are open only.
    """

    def __init__(
        self,
        config: GroupConfig,
        topics: Mapping[str, int],
        new_member_id: Callable[[str], str],
        *,
        verifies: bool = True,
    ) -> None:
        self._now_ms = 0
        self._loop = asyncio.new_event_loop()
        self._waiting: dict[int, asyncio.Task[bytes | None]] = {}
        self._given: deque[str] = deque()
        self._made = new_member_id
        coordinator = GroupCoordinator(config, new_member_id=self._new_member_id, choices=JavaChoices())
        self._broker = WireBroker(lambda: coordinator, topics, clock=lambda: self._now_ms)
        self._broker.transactions.verifies = verifies
        self._groups = self._broker.coordinators.of("")

    def _new_member_id(self, prefix: str) -> str:
        return self._given.popleft() if self._given else self._made(prefix)

    def give_id(self, member_id: str) -> None:
        """The next member id is this one."""
        self._given.append(member_id)

    def made_id(self, number: int, frame: bytes) -> str:  # noqa: ARG002 - of the protocol
        """None that the other side would not make."""
        return ""

    def send(self, number: int, frame: bytes, pass_ms: int = 0) -> None:
        """Let time pass, and send a request."""
        self._now_ms += pass_ms
        self._loop.run_until_complete(self._send(number, frame))

    async def _send(self, number: int, frame: bytes) -> None:
        self._broker.coordinators.advance()
        await self._quiet()
        self._waiting[number] = asyncio.ensure_future(self._broker.answer(frame, PEER))
        await self._quiet()

    async def _quiet(self) -> None:
        """Until each request is answered, or waits for another one or for time to pass."""
        while True:
            await asyncio.sleep(0)
            unfinished = sum(not task.done() for task in self._waiting.values())
            if unfinished == self._groups.parked:
                return

    def answers(self, due: Collection[int] = ()) -> Answers:  # noqa: ARG002 - of the protocol
        """The answers since the last call."""
        done = {number: task for number, task in self._waiting.items() if task.done()}
        for number in done:
            del self._waiting[number]
        return {number: _answer(task) for number, task in done.items()}

    def close(self) -> None:
        """No further answer is waited for."""
        self._loop.run_until_complete(self._give_up())
        self._broker.coordinators.stop()
        self._loop.close()

    async def _give_up(self) -> None:
        for task in self._waiting.values():
            task.cancel()
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)


def _answer(task: asyncio.Task[bytes | None]) -> bytes | None:
    try:
        answer = task.result()
    except MalformedFrame:
        return None
    return None if answer is None else bytes(answer[LENGTH_BYTES:])
