"""Kafka's own Connect assignors of a release, in a Java process."""

from __future__ import annotations

from typing import Final

import msgspec

from rebalance_check.integration.comparison.assignors.release import DEFAULT_VERSION, connect_assignors_command
from rebalance_check.integration.comparison.connect_assignors.request import RoundAnswer, RoundRequest
from rebalance_check.integration.jvm.child import JavaChild

_decode: Final = msgspec.json.Decoder(RoundAnswer).decode


class JavaConnectAssignors(JavaChild):
    """The assignors of one release of connect-runtime, as a context manager: the process is gone outside.

    ``version`` is a release since 2.4.0. `RebalanceCheckError` when there is no Java, or no jars can be had. Rounds
    can be posted and collected together, which spares the way to the process and back for each.
    """

    def __init__(self, version: str = DEFAULT_VERSION) -> None:
        self.version = version
        self._noted: list[object] = []
        super().__init__(f"the Connect assignors of {self.name}", connect_assignors_command(version))

    @property
    def name(self) -> str:
        """``connect-runtime 4.3.1``."""
        return f"connect-runtime {self.version}"

    def begin(self, max_delay_ms: int) -> None:
        """Forget all workers."""
        self._noted.append({"open": {"max_delay_ms": max_delay_ms}})

    def restart(self, worker: str) -> None:
        """Forget one worker."""
        self._noted.append({"restart": worker})

    def ask(self, request: RoundRequest) -> RoundAnswer:
        """Compute a round."""
        self.post(request)
        return self.collect()[-1]

    def post(self, request: RoundRequest) -> None:
        """Note a round; `collect` has it computed."""
        self._noted.append(request)

    def collect(self) -> list[RoundAnswer]:
        """Have the noted rounds computed, and return the answers in order.

        Raises: `RebalanceCheckError` when the process has ended.
        """
        noted, self._noted = self._noted, []
        lines = self.answers_to(noted)
        return [_decode(line) for asked, line in zip(noted, lines, strict=True) if isinstance(asked, RoundRequest)]
