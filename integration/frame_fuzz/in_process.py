"""Random frames straight into the broker's handler, in virtual time: no socket, and a seed is a run that repeats."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from itertools import count
from typing import Any, Final

from rebalance_check.impl.coordinator import GroupCoordinator
from rebalance_check.integration.embedded.broker import WireBroker
from rebalance_check.integration.embedded.embedded import TEST_SETTINGS
from rebalance_check.integration.frame_fuzz.client import WellBehavedClient
from rebalance_check.integration.frame_fuzz.frames import FrameGenerator
from rebalance_check.integration.frame_fuzz.responses import check, decoded, encoded
from rebalance_check.integration.frame_fuzz.result import Fate, Finding, FrameRun
from rebalance_check.integration.wire.kafka_python import ApiMessage
from rebalance_check.integration.wire.malformed import MalformedFrame

TOPICS: Final = {"t": 4, "u": 2}
PEER: Final = "/127.0.0.1"
LENGTH_BYTES: Final = 4

STEP_MS: Final = (0, 0, 0, 0, 0, 0, 1, 1, 10, 1_000)
"""The virtual time between two frames is one of these."""

MAX_WAITING: Final = 100
"""So many requests may wait for an answer; of more the oldest is given up, as if its connection were closed."""

BEAT_EVERY: Final = 25
"""After so many frames the well-behaved client sends a heartbeat."""


def fuzz_in_process(seed: int, frames: int) -> FrameRun:
    """Send a new broker ``frames`` frames of ``seed``."""
    began = time.monotonic()
    run = asyncio.run(_Run(seed).send(frames))
    run.seconds = time.monotonic() - began
    return run


class _Run:
    """One seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.result = FrameRun()
        self._now_ms = 0
        self._frames = FrameGenerator(seed)
        made = count(1)
        coordinator = GroupCoordinator(TEST_SETTINGS, new_member_id=lambda prefix: f"{prefix}-{next(made):036d}")
        self._broker = WireBroker(lambda: coordinator, TOPICS, clock=lambda: self._now_ms)
        self._waiting: deque[tuple[int, bytes, asyncio.Task[bytes | None]]] = deque()
        self._client = WellBehavedClient(self._call)

    async def send(self, frames: int) -> FrameRun:
        asyncio.get_running_loop().set_exception_handler(self._on_loop_exception)
        await self._serve_client(-1, self._client.join())
        for number in range(frames):
            await self._send(number, self._frames.frame())
            if number % BEAT_EVERY == 0:
                await self._serve_client(number, self._client.heartbeat())
        await self._collect(frames)
        await self._look_around()
        return self.result

    async def _send(self, number: int, frame: bytes) -> None:
        self._now_ms += self._frames.values.draws.choice(STEP_MS)
        before = time.thread_time()
        task = asyncio.create_task(self._broker.answer(frame, PEER))
        await asyncio.sleep(0)
        self.result.longest_turn_ms = max(self.result.longest_turn_ms, (time.thread_time() - before) * 1000)
        self._waiting.append((number, frame, task))
        if not number % BEAT_EVERY:
            self._guarded(number, self._broker.coordinators.advance)
        self._take_finished()
        while len(self._waiting) > MAX_WAITING:
            await self._give_up()

    def _guarded(self, number: int, function: Any) -> None:
        try:
            function()
        except Exception as error:
            self._find(number, f"a timer raised {error!r}")

    def _take_finished(self) -> None:
        still = [each for each in self._waiting if not each[2].done()]
        for number, frame, task in self._waiting:
            if task.done():
                self._finish(number, frame, task)
        self._waiting = deque(still)

    def _finish(self, number: int, frame: bytes, task: asyncio.Task[bytes | None]) -> None:
        error = task.exception()
        if isinstance(error, MalformedFrame):
            self.result.fates[Fate.CLOSED] += 1
        elif error is not None:
            self.result.fates[Fate.FAILED] += 1
            self._find(number, f"the broker raised {error!r}", frame)
        else:
            self.result.fates[Fate.ANSWERED] += 1
            answer = task.result()
            if answer and (wrong := check(self._frames.values, frame, answer[LENGTH_BYTES:])):
                self._find(number, wrong, frame)

    async def _give_up(self) -> None:
        _, _, task = self._waiting.popleft()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.result.fates[Fate.WAITING] += 1

    async def _collect(self, frames: int) -> None:
        """Let long work finish, and give up parked requests."""
        for _ in range(MAX_WAITING):
            await asyncio.sleep(0)
        self._guarded(frames, self._broker.coordinators.advance)
        await asyncio.sleep(0)
        self._take_finished()
        while self._waiting:
            await self._give_up()
        self._broker.coordinators.stop()

    async def _call(self, request: ApiMessage, version: int) -> Any:
        frame = encoded(request, version)
        answer = await self._broker.answer(frame, PEER)
        assert answer is not None
        return decoded(frame, answer[LENGTH_BYTES:])

    async def _serve_client(self, number: int, sending: Any) -> None:
        began = time.monotonic()
        try:
            wrong = await sending
        except Exception as error:
            wrong = f"the well-behaved client met {error!r}"
        self.result.latencies_ms.append((time.monotonic() - began) * 1000)
        if wrong:
            self._find(number, wrong)

    async def _look_around(self) -> None:
        try:
            wrong = await self._client.look_around()
        except Exception as error:
            wrong = [f"the well-behaved client looked around and met {error!r}"]
        for each in wrong:
            self._find(-1, each)

    def _on_loop_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self._find(-1, f"the event loop met {context.get('exception') or context['message']!r}")

    def _find(self, number: int, what: str, sent: bytes = b"") -> None:
        self.result.findings.append(Finding(self.seed, number, what, sent))
