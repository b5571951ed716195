"""One slot of a simulated Connect cluster: a worker process of its name runs, is paused, stops, or is down."""

from __future__ import annotations

from rebalance_check.impl.simulator.connect.application import WorkerApplication
from rebalance_check.impl.simulator.process import MemberProcess
from rebalance_check.model.vocabulary.events import WorkerStopRequested


class ConnectProcess(MemberProcess):
    """A member process whose herder may wait for other things than replies, and stops in several steps."""

    incarnations = 0
    _stopping = False

    @property
    def worker(self) -> WorkerApplication | None:
        """The process that runs, or None."""
        return self.application if isinstance(self.application, WorkerApplication) else None

    @property
    def listens(self) -> bool:
        """Whether there is a process, and it is neither paused nor stopping."""
        return self.worker is not None and not self._paused and not self._stopping

    def wake(self) -> None:
        """The herder's thread may go on, if it is inside its poll."""
        if self._in_poll and not self._paused:
            self._poll()

    def pump(self) -> None:
        """Let the threads of the stores go on."""
        if self.worker is not None:
            self.worker.pump()

    def stop(self) -> None:
        """End in an orderly way: work stops, statuses are written, then the worker leaves its group."""
        if self.worker is not None and not self._stopping:
            self._stopping = True
            self._recorder.emit(WorkerStopRequested(member=self.name))
            self.worker.herder.request_stop()

    def pause(self) -> None:
        """Stop running: no thread of the process does anything until `resume`."""
        if self.worker is not None:
            self.worker.threads.pause()
        super().pause()

    def resume(self) -> None:
        """Run again."""
        was_paused = self._paused
        super().resume()
        if was_paused and self.worker is not None:
            self.worker.threads.resume()

    def _poll(self) -> None:
        super()._poll()
        if self.worker is not None and self.worker.herder.halted:
            self._end()

    def _end(self) -> None:
        if self.worker is not None:
            self.worker.crash()
        self._stopping = False
        super()._end()
