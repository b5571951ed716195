"""``rebalance-check explore --broker``: every transition within bounds, executed on a coordinator and compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.impl.conformance import ConformanceRun, DivergentSchedule, ExhaustiveResult, every_transition
from rebalance_check.impl.conformance.in_process import ReferenceTransport
from rebalance_check.integration.brokers import BrokerSpec, open_broker
from rebalance_check.integration.conformance.exhaustive import conform
from rebalance_check.integration.conformance.known_divergences import KnownDivergence, known
from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.bounds import GROUP_PROTOCOLS, Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import REPLIES_AS_PREDICTED, ClaimResult
from rebalance_check.report.terminal import suggested

STOP_AFTER: Final = 10
"""After so many divergences that are not listed, the rest is not executed."""

SHOWN: Final = 5


class Compared(NamedTuple):
    """A result, and its divergences: those listed for this coordinator, each with its entry, and all others."""

    result: ExhaustiveResult
    listed: tuple[tuple[DivergentSchedule, KnownDivergence], ...]
    unlisted: tuple[DivergentSchedule, ...]

    @property
    def outcome(self) -> Outcome:
        """Violated with a divergence that is not listed; undecided when transitions are left; else held."""
        if self.unlisted:
            return Outcome.VIOLATED
        return Outcome.HELD if self.result.complete else Outcome.UNDECIDED


def explore_on_broker(console: Console, bounds: Bounds, spec: str, refused: dict[str, Any], ci: CiOptions) -> ExitCode:
    """Execute every transition within ``bounds`` on the coordinator ``spec``, and print what was seen.

    ``refused`` has the options that only the model serves; each must be empty.

    Raises:
        RebalanceCheckError: the coordinator cannot execute every transition, or an option does not apply.
    """
    if given := [name for name, value in refused.items() if value]:
        raise RebalanceCheckError(f"{', '.join(given)} applies to the model alone: leave it out, or leave out --broker")
    if bounds.protocol not in GROUP_PROTOCOLS:
        raise RebalanceCheckError("a status log has no group coordinator: choose --protocol eager or cooperative")
    execute = _executor(spec)
    console.say(f"explore {bounds.address()} on {spec}, every transition")
    with console.progress() as progress:
        compared = execute(bounds, progress)
    code = exit_code_of(compared.outcome)
    ci.write(console, "explore", lambda: _results(compared, spec), code)
    _tell(console, compared)
    return console.finish(_document(compared), code)


def _results(compared: Compared, spec: str) -> list[ClaimResult]:
    """Each divergence, or the bound as a whole, for CI systems."""
    subject, claim = f"{compared.result.bounds.address()} on {spec}", REPLIES_AS_PREDICTED
    found = [
        ClaimResult(
            subject=subject, claim=claim, outcome=Outcome.VIOLATED, text=str(each.divergence),
            command=suggested("replay", "--broker", spec, _address(each)),
        )
        for each in compared.unlisted
    ]  # fmt: skip
    left = f"{compared.result.executed:,} of {compared.result.transitions:,} transitions were executed"
    return found or [ClaimResult(subject=subject, claim=claim, outcome=compared.outcome, text=left)]


def _executor(spec: str) -> Callable[[Bounds, ProgressListener], Compared]:
    if spec == BrokerSpec.EMBEDDED:
        return _on_ours
    if spec.partition(":")[0] == BrokerSpec.VIRTUAL:
        return lambda bounds, progress: _on_virtual_kafka(spec, bounds, progress)
    raise RebalanceCheckError(
        f"explore cannot execute every transition on {spec!r}: write embedded or virtual, or send it walks by replay"
    )


def _on_ours(bounds: Bounds, progress: ProgressListener) -> Compared:
    run = ConformanceRun(ReferenceTransport(), bounds)
    started = time.monotonic()
    result = every_transition(run, bounds, STOP_AFTER, progress)
    result = replace(result, seconds=time.monotonic() - started)
    return Compared(result, (), result.divergences)


def _on_virtual_kafka(spec: str, bounds: Bounds, progress: ProgressListener) -> Compared:
    with open_broker(spec, or_virtual=True) as broker:
        assert broker.virtual is not None
        result = conform(broker.virtual, bounds, stop_after=STOP_AFTER, progress=progress)
        entries = [(each, known(broker.virtual.release, each.divergence)) for each in result.divergences]
    listed = tuple((each, entry) for each, entry in entries if entry is not None)
    return Compared(result, listed, tuple(each for each, entry in entries if entry is None))


def _tell(console: Console, compared: Compared) -> None:
    """Divergences first, then the figures."""
    result = compared.result
    for each in compared.unlisted[:SHOWN]:
        console.say(f"\ndivergence on {result.coordinator}: {each.divergence}\n  replay    {_address(each)}")
    console.say(
        f"{result.executed:,} of {result.transitions:,} transitions of {result.states:,} states executed, "
        f"{result.compared:,} steps compared"
    )
    if result.never_taken:
        console.say(f"{result.never_taken:,} never taken: the coordinator chose otherwise, or a divergence is before")
    for name, count in _counts(compared).items():
        console.say(f"  listed, {count:,} times: {name}")
    apart = " but the listed ones" if compared.listed else ""
    console.say(f"{len(compared.unlisted) or 'no'} divergence{'s' * (len(compared.unlisted) > 1)}{apart}")
    about = f"{result.executed:,} of {result.transitions:,} transitions executed"
    console.say(verdict_line(compared.outcome, ["divergence"] if compared.unlisted else [], about))


def _counts(compared: Compared) -> dict[str, int]:
    """How often each listed divergence was met, by name."""
    names = [entry.name for _, entry in compared.listed]
    return {name: names.count(name) for name in sorted(set(names))}


def _address(each: DivergentSchedule) -> str:
    return path_of(each.schedule).address()


def _document(compared: Compared) -> dict[str, Any]:
    """The JSON form of a comparison."""
    result = compared.result
    return {
        "bounds": result.bounds.address(),
        "broker": result.coordinator,
        "states": result.states,
        "transitions": result.transitions,
        "executed": result.executed,
        "never_taken": result.never_taken,
        "compared": result.compared,
        "requests": result.requests,
        "seconds": round(result.seconds, 3),
        "answers": sorted(f"{api} {error}" for api, error in result.answers),
        "verdict": compared.outcome.value,
        "listed": _counts(compared),
        "divergences": [
            {
                "address": _address(each),
                "seed": each.schedule.seed,
                "action": str(each.divergence.action),
                "predicted": [str(outcome) for outcome in each.divergence.predicted],
                "observed": str(each.divergence.observed),
            }
            for each in compared.unlisted
        ],
    }
