"""Which seeds ``rebalance-check fuzz`` runs: those that are named, or as many as are wanted, chosen by what they may
reach."""

from __future__ import annotations

from typing import Final

import click
from click.core import ParameterSource

from rebalance_check.commands._fuzz_campaign import GROUPS_SUBJECT, AskedSeeds
from rebalance_check.commands._fuzz_limits import endless_seeds
from rebalance_check.commands._fuzz_options import search_seeds
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import EVERY_SEED, Pool, parse_seeds

DEFAULT_RUNS: Final = 100
CHOOSING: Final = ("simulator", GROUPS_SUBJECT)
"""The subjects of which the seed draws protocol and faults, so that what a run may reach is known before it."""


def asked_seeds(seeds: str, runs: int | None, minutes: float, subject: str, options: SimulationOptions) -> AskedSeeds:
    """What ``--seeds``, ``--runs`` and ``--minutes`` ask for.

    Seeds that are named run, all of them and in order; with ``--runs`` so many of them do, chosen. Without ``--seeds``
    they are chosen from all there are, where the seed says what a run is like: not for scenarios, for a subject of the
    user's own, or where actions or choices stand in the place of what is drawn.

    Raises: RebalanceCheckError for seeds that are no range, and where ``--runs`` asks for a choice that cannot be made.
    """
    drawn = subject in CHOOSING and options.actions is None and options.choices is None and not options.omit
    if not drawn:
        refuse_runs(runs)
    is_default = click.get_current_context().get_parameter_source("seeds") is ParameterSource.DEFAULT
    named = search_seeds(seeds, options.mutant)
    if named == seeds and is_default:
        if drawn:
            count = DEFAULT_RUNS if runs is None and not minutes else runs
            return AskedSeeds(Pool(EVERY_SEED, count), "" if count is None else f"--runs {count}")
        named = endless_seeds(seeds, minutes)
    every = parse_seeds(named)
    if runs is None:
        return AskedSeeds(every, f"--seeds {named}")
    return AskedSeeds(Pool(every, runs), f"--seeds {named} --runs {runs}")


def refuse_runs(runs: int | None) -> None:
    """Refuse ``--runs`` where seeds draw nothing to choose them by.

    Raises: RebalanceCheckError when it is named.
    """
    if runs is not None:
        raise RebalanceCheckError(
            f"--runs {runs} chooses seeds by the protocol and the faults that they draw, and here they draw none: name "
            "--seeds FIRST:LAST instead"
        )
