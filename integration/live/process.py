"""A member process as its operator sees it: start, ask to leave, kill, stop, continue."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import msgspec

from rebalance_check.integration.live.settings import GAVE_UP, SHOW_STACKS, ClientName, MemberOrder
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

START_TIMEOUT_S: Final = 60.0
LEAVE_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.01

PROGRAM: Final = ("-m", "rebalance_check.integration.live.member")
"""The arguments with which Python runs as a member."""

STACKS_S: Final = 0.5
"""How long a member that hangs has to print where its threads are, in seconds."""


class MemberFailedError(RebalanceCheckError):
    """The process of a member failed: the run cannot go on, and its events up to there are judged."""


class ClientFailedError(MemberFailedError):
    """The process of a member failed for a reason that lies in its ``client``."""

    def __init__(self, text: str, client: ClientName) -> None:
        super().__init__(text)
        self.client = client


class ClientHungError(ClientFailedError):
    """The client did not let its process end when it was asked to leave; the text says where it is."""


class ClientCrashedError(ClientFailedError):
    """The process ended by itself; the text has its last output."""


class MemberProcess:
    """One process of one member, from its start to its end. Its error output goes to a file next to its recording."""

    def __init__(self, order: MemberOrder) -> None:
        self.order = order
        self.paused = False
        self._killed = False
        log = Path(order.recording).with_suffix(".log")
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, *PROGRAM, msgspec.json.encode(order).decode()],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
            )
        self._log = log

    def await_started(self) -> None:
        """Return when its first event is recorded.

        Raises:
            ClientCrashedError: the process ends before that.
            RebalanceCheckError: it takes longer than `START_TIMEOUT_S`.
        """
        recording = Path(self.order.recording)
        otherwise = f"member {self.order.member} has recorded nothing"

        def probe() -> NotYet | bool:
            if recording.exists() and recording.stat().st_size:
                return True
            if not self.alive:
                raise ClientCrashedError(
                    f"{otherwise}, and its process has ended; {self._last_words()}", self.order.choice.client
                )
            return NotYet(self._last_words())

        await_until(probe, timeout_s=START_TIMEOUT_S, pause_s=POLL_S, otherwise=otherwise)

    @property
    def alive(self) -> bool:
        """Whether the process runs, or is paused."""
        return self._process.poll() is None

    @property
    def leaving(self) -> bool:
        """Whether it was asked to leave."""
        return self._process.stdin is not None and self._process.stdin.closed

    def ask_to_leave(self) -> None:
        """Close its standard input; it leaves on its own time. A paused one must run to obey."""
        self.resume()
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    def await_end(self) -> None:
        """Return when the process has ended.

        Raises:
            ClientHungError: it does not end within `LEAVE_TIMEOUT_S`; it is killed, having printed where it is.
            ClientCrashedError: it failed.
        """
        try:
            self._process.wait(LEAVE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            where = self._stacks()
            self.kill()
            client = self.order.choice.client
            raise ClientHungError(
                f"member {self.order.member} ({client}) did not leave within {LEAVE_TIMEOUT_S:g} s and was killed; "
                f"{where}",
                client,
            ) from None
        self.require_no_crash()

    def require_no_crash(self) -> None:
        """Return if the process runs, or ended as it was to end: asked to leave, killed, or because its client gave up.

        Raises:
            ClientCrashedError: it ended by itself.
        """
        code = self._process.poll()
        if code in (None, GAVE_UP) or self._killed or (code == 0 and self.leaving):
            return
        client = self.order.choice.client
        raise ClientCrashedError(
            f"member {self.order.member} ({client}) crashed with exit code {code}; {self._last_words()}", client
        )

    @property
    def gave_up(self) -> str:
        """Why its client gave up and ended the process; empty when it did not."""
        return self._last_words() if self._process.poll() == GAVE_UP else ""

    def kill(self) -> None:
        """End it without a word, and return when it is gone."""
        self._killed = self._killed or self.alive
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def pause(self) -> None:
        """Stop the whole process, its heartbeats included."""
        self._process.send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        """Let it run again."""
        self._process.send_signal(signal.SIGCONT)
        self.paused = False

    def _stacks(self) -> str:
        """All that a member that hangs has printed, with the stacks of its threads as the last."""
        self._process.send_signal(SHOW_STACKS)
        time.sleep(STACKS_S)
        return f"it printed:\n{self._log.read_text(errors='replace').strip() or 'nothing'}"

    def _last_words(self) -> str:
        lines = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return "its last lines: " + " | ".join(lines[-3:]) if lines else "it printed nothing"
