"""Fencing of zombie producers before the tasks of an exactly-once source start (KIP-618)."""

from __future__ import annotations

from rebalance_check.impl.connect.config.errors import PrivilegedWriteError
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.connect.herder.peers import Answer, OnAnswer
from rebalance_check.impl.connect.herder.restarting import Restarting
from rebalance_check.impl.connect.herder.waits import Steps


class Fencing(Restarting):
    """The leader's part of a round of fencing, and what all its writes share."""

    def _written(self, call: ConfigCall) -> Steps[bool]:
        """Wait for a leader's write; whether it succeeded. A failed transaction shows that another leads (fenced)."""
        error = yield from self._await(call)
        if isinstance(error, PrivilegedWriteError):
            self._fenced = True
        return error is None

    def _fence_zombies(self, _connector: str, answer: OnAnswer) -> Steps[None]:
        answer(Answer.OK)
        yield from ()
