"""The campaigns of ``rebalance-check fuzz`` that leave no histories: frames, requests, and scenarios on a broker."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._claim_options import ClaimOptions
from rebalance_check.commands._console import Console
from rebalance_check.commands._fuzz_campaign import BROKER_SUBJECT, GROUPS_SUBJECT
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.scenario_runs import KEPT


def fuzz_without_histories(
    console: Console,
    *,
    ci: CiOptions,
    broker: str | None,
    seeds: range,
    claims: ClaimOptions,
    sizes: Mapping[str, Any],
    shrinking: bool,
) -> int:
    """Run what the options name, and return the exit code; ``sizes`` are the options with a number or a choice.

    Raises: RebalanceCheckError when the broker, or a claim, does not serve.
    """
    if sizes["wire"]:
        from rebalance_check.commands._fuzz_wire import WireOptions, fuzz_wire  # noqa: PLC0415 - needs the extra 'brokers'

        return fuzz_wire(console, WireOptions(broker, seeds, chosen_size("frames", sizes), shrinking), ci)
    if broker is not None:
        from rebalance_check.commands._fuzz_broker import Wanted, fuzz_broker  # noqa: PLC0415 - needs the extra 'brokers'

        steps = chosen_size("steps", sizes)
        wanted = Wanted(seeds, steps, names_for_broker(claims), sizes["variants"], sizes["minutes"])
        return fuzz_broker(console, broker, wanted, ci)
    from rebalance_check.commands._fuzz_frames import fuzz_frames  # noqa: PLC0415 - needs the extra 'brokers'

    return fuzz_frames(console, seeds, sizes["frames"], sizes["over"], ci)


def chosen_size(name: str, sizes: Mapping[str, Any]) -> int | None:
    """What was chosen for an option; None where it has its default."""
    chosen_by = click.get_current_context().get_parameter_source(name)
    return None if chosen_by is ParameterSource.DEFAULT else sizes[name]


def require_runs(html: Path | None, subject: str, broker: str | None) -> None:
    """Refuse a page of what has no histories: frames, and scenarios on a broker.

    Raises: RebalanceCheckError.
    """
    if html is not None and not has_histories(subject, broker):
        raise RebalanceCheckError(
            "--html shows the histories of runs, and frames or scenarios on a broker leave none: leave it out, or use "
            "another subject"
        )


def has_histories(subject: str, broker: str | None) -> bool:
    """Whether the runs of a campaign have histories: frames have none, nor have scenarios on a broker."""
    return subject != BROKER_SUBJECT and (broker is None or subject == GROUPS_SUBJECT)


def names_for_broker(claims: ClaimOptions) -> tuple[str, ...]:
    """The invariants to judge a broker by: those that are named, or all that suit its events, but for the excluded.

    Raises: RebalanceCheckError for --require-tested, which campaigns on a broker do not know.
    """
    if claims.require_tested:
        raise RebalanceCheckError("--require-tested is for runs of the simulator: leave it out with --broker")
    if not (claims.exclude or claims.without):
        return claims.names
    return tuple(invariant.name for invariant in claims.invariants(KEPT))
