"""The edits of the mutants of what workers do with fencing, configs and statuses."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CONNECT: Final = "rebalance_check.impl.connect"

_OF_FENCING: Final = {
    "fencing-leaves-the-epoch": (
        Edit(
            f"{_CONNECT}.herder.producers:SharedProducers.fence",
            "self.epochs[name] = epoch + 1",
            "self.epochs[name] = epoch",
        ),
    ),
}

_OF_STATUSES: Final = {
    "cached-status-is-not-written-again": (
        Edit(
            f"{_CONNECT}.status.writing:StatusWriting.put",
            "    self.hand_over(",
            "    cached = self.cache.entry(key).value\n"
            "    if cached is not None and cached.status == value.status:\n"
            "        return\n"
            "    self.hand_over(",
        ),
    ),
}

WORKER_DUTY_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    **_OF_FENCING,
    **_OF_STATUSES,
}
"""By the name of the mutant."""
