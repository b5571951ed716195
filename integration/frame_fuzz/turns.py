"""How long the turns of an event loop are: its computation between two looks at the clock of its thread."""

from __future__ import annotations

import asyncio
import time
from typing import Final

LOOK_EVERY_S: Final = 0.005


class TurnWatch:
    """Watches the loop that it runs in; the time of other threads and processes does not count, so load is no turn."""

    def __init__(self) -> None:
        self.longest_ms = 0.0

    async def run(self) -> None:
        """Watch until this task is cancelled."""
        while True:
            before = time.thread_time()
            await asyncio.sleep(LOOK_EVERY_S)
            self.longest_ms = max(self.longest_ms, (time.thread_time() - before) * 1000)
