"""Who watches a scenario for the promises of a coordinator: what was sent is noted, and each step is judged."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupRequest
from rebalance_check.impl.scenarios.invariants import Promise
from rebalance_check.impl.scenarios.runner import Stage
from rebalance_check.impl.scenarios.step import Sent, Step
from rebalance_check.impl.steered.coordinator import SteeredCoordinator


class WatchedStage(Stage):
    """A stage that notes what is sent; ``requests`` collects it until somebody clears it."""

    def __init__(self, coordinator: SteeredCoordinator) -> None:
        super().__init__(coordinator)
        self.requests: list[Sent] = []

    def send(self, name: str, request: GroupRequest) -> str:
        """Send a request, and note it."""
        self.requests.append(Sent(self._sent + 1, name, request))
        return super().send(name, request)

    def asked(self) -> dict[int, GroupRequest]:
        """The requests without an answer."""
        return {token: self._asked[token] for token in self.waiting}


class Watching:
    """The watches of one scenario; ``before`` is the group at its beginning, ``config`` the broker's settings."""

    def __init__(self, promises: Sequence[Promise], before: DescribedGroup, config: GroupConfig) -> None:
        self._watches = [(promise.name, promise.watch()) for promise in promises]
        self._before = before
        self._config = config

    def see(
        self,
        line: str,
        stage: WatchedStage,
        after: DescribedGroup,
        generation: int | None,
        pending_ids: frozenset[str],
    ) -> tuple[str, str] | None:
        """The first promise that a line broke on ``stage``, with how; what the rest knows is as in `Step`."""
        if not self._watches:
            return None
        step = Step(
            line, stage.requests, stage.observed, self._before, after, generation, pending_ids, stage.asked(), stage.now,
            self._config,
        )  # fmt: skip
        self._before = after
        findings = [(name, watch(step)) for name, watch in self._watches]
        return next((each for each in findings if each[1]), None)
