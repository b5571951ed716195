"""``rebalance-check compare model ours``: every transition within bounds, executed on a coordinator and compared."""

from __future__ import annotations

import time
from typing import Final

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._compare_report import finish, say_compared, with_commands
from rebalance_check.commands._console import Console
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.to_model.exhaustive import every_transition
from rebalance_check.impl.comparison.to_model.in_process import ReferenceTransport
from rebalance_check.impl.comparison.to_model.outcome import Disagreement
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.impl.comparison.to_model.touring import is_complete, tour_of_transitions
from rebalance_check.integration.brokers import BrokerSpec, open_broker
from rebalance_check.integration.comparison.to_model.kafka import virtual_coordinator
from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.bounds import GROUP_PROTOCOLS, Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.report.claim_results import REPLIES_AS_PREDICTED
from rebalance_check.report.terminal import suggested

STOP_AFTER: Final = 10
"""After so many differences that nothing explains, the rest is not executed."""

OURS: Final = "ours"


def compare_transitions(console: Console, spec: str, bounds: Bounds, ci: CiOptions) -> int:
    """Execute every transition within ``bounds`` on ``ours`` or a virtual Kafka, and print the findings.

    Raises:
        RebalanceCheckError: the protocol has no group.
    """
    if bounds.protocol not in GROUP_PROTOCOLS:
        raise RebalanceCheckError("a status log has no group coordinator: choose --protocol eager or cooperative")
    console.say(f"compare {bounds.address()} and {spec}, every transition")
    started = time.monotonic()
    with console.progress() as progress:
        compared = _on_ours(bounds, progress) if spec == OURS else _on_virtual_kafka(spec, bounds, progress)
    compared.seconds = time.monotonic() - started
    compared = with_commands(compared, lambda found: _again(found, spec))
    say_compared(console, [compared])
    if compared.counts["never taken"]:
        console.say("never taken: the coordinator chose otherwise, or a difference is before")
    return finish(
        console, [compared], ci, claims=(REPLIES_AS_PREDICTED,), named=_claim, is_complete=is_complete(compared)
    )


def _claim(_found: Difference) -> str:
    return REPLIES_AS_PREDICTED


def _on_ours(bounds: Bounds, progress: ProgressListener) -> Compared:
    return every_transition(ConformanceRun(ReferenceTransport(), bounds, name=OURS), STOP_AFTER, progress)


def _on_virtual_kafka(spec: str, bounds: Bounds, progress: ProgressListener) -> Compared:
    with open_broker(spec, or_virtual=True) as broker:
        assert broker.virtual is not None
        coordinator = virtual_coordinator(broker.virtual)
        return tour_of_transitions(coordinator, bounds, stop_after=STOP_AFTER, progress=progress)


def _again(found: Difference, spec: str) -> str:
    """The command that shows a difference: on our broker in the place of our coordinator, which is the same."""
    start: Disagreement = found.start
    return suggested(
        "compare", "model", BrokerSpec.EMBEDDED if spec == OURS else spec, path_of(start.schedule).address()
    )
