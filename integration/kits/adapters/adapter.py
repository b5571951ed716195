"""A ready client for conformance runs: a consumer of a library, which runs until SIGTERM."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_check.integration.kits.client.placeholders import INSTANCE, REQUIRED
from rebalance_check.integration.kits.programs.program import Program
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class Adapter:
    """A client in its own language: its ``name``, its ``program``, the rebalance ``protocols`` that it speaks
    (``eager``, ``cooperative``), and whether it has static members (KIP-345)."""

    name: str
    program: Program
    protocols: tuple[str, ...] = ("eager", "cooperative")
    static_members: bool = field(default=True, kw_only=True)

    @property
    def title(self) -> str:
        """Name and release of the client: ``kafkajs 2.2.4``."""
        return f"{self.name} {self.program.release}"

    def command(self, protocol: str = "eager", *, static: bool = False, **timings_ms: int) -> list[str]:
        """The command of a run, with placeholders in the arguments that differ from process to process.

        ``timings_ms`` are ``session_ms``, ``heartbeat_ms`` and ``rebalance_ms``, in milliseconds; the program has
        defaults. It is built if this was never done.

        Raises: `RebalanceCheckError` where the client lacks the feature, or cannot be built.
        """
        if protocol not in self.protocols:
            raise RebalanceCheckError(f"{self.name} has no {protocol} protocol: choose {' or '.join(self.protocols)}")
        if static and not self.static_members:
            raise RebalanceCheckError(f"{self.name} has no static members (KIP-345): run it without an instance")
        filled_in = (*REQUIRED, INSTANCE) if static else REQUIRED
        placeholders = {place.strip("{}"): place for place in filled_in}
        options = {"assignor": protocol, **{name.replace("_", "-"): str(each) for name, each in timings_ms.items()}}
        arguments = [part for name, value in (placeholders | options).items() for part in (f"--{name}", value)]
        return [*self.program.command(), *arguments]
