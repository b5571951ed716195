"""Faults of a coordinator that frames cannot bring about: a broker that is driven from inside carries them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Control(Protocol):
    """A broker, or a proxy in front of it. ``effects`` are those of `faults.OF_THE_COORDINATOR` that it has.

    Each method returns when it is done, and may be called from any thread.
    """

    @property
    def effects(self) -> frozenset[Effect]:
        """The effects that the methods below carry out; the others are never called."""
        ...

    @property
    def node_ids(self) -> Sequence[int]:
        """The nodes that a coordinator can be moved to."""
        ...

    def move_coordinator(self, group: str, node: int) -> None:
        """Let ``node`` coordinate the group from here on.

        Raises: RebalanceCheckError where there is no such node.
        """

    def end_session(self, group: str, member_id: str) -> None:
        """Let the session of a member expire now; nothing happens where none runs."""

    def jump_clock(self, jump_ms: int) -> None:
        """Let the coordinator's clock jump so many ms ahead."""


def check_faults(faults: Iterable[Fault], control: Control, broker: str, otherwise: str) -> None:
    """Refuse faults that cannot be carried out; ``broker`` names the one that refuses, ``otherwise`` says the remedy.

    Raises: RebalanceCheckError naming the first of them.
    """
    for fault in faults:
        if fault.needs_control and fault.effect not in control.effects:
            raise RebalanceCheckError(
                f"{broker} cannot do {fault.effect} (at {fault.api}): leave this fault out, or {otherwise}"
            )
        if fault.effect is Effect.MOVE_COORDINATOR and fault.node not in control.node_ids:
            known = ", ".join(map(str, control.node_ids))
            raise RebalanceCheckError(f"{broker} has no node {fault.node} for a fault at {fault.api}: it has {known}")
