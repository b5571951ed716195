"""``rebalance-check fuzz --subject MODULE:FUNCTION``: a system of the user's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import click

from rebalance_check.commands._claim_options import ClaimOptions
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.pipeline.campaign import Simulate
from rebalance_check.pipeline.own_subject import own_options, own_subject

_OWN: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def subject_option(names: Sequence[str], **settings: Any) -> Callable[[Any], Any]:
    """The option ``--subject``: one of ``names``, of which the first is the default, or ``MODULE:FUNCTION``."""

    def checked(_context: click.Context, _option: click.Parameter, value: str) -> str:
        if value not in names and not is_own(value):
            raise click.BadParameter(f"{value!r} is no subject: write {', '.join(names)}, or MODULE:FUNCTION")
        return value

    metavar = f"[{'|'.join(names)}|MODULE:FUNCTION]"
    return click.option("--subject", default=names[0], show_default=True, metavar=metavar, callback=checked, **settings)


def is_own(subject: str) -> bool:
    """Whether it names a function of a module."""
    return _OWN.fullmatch(subject) is not None


def own_campaign(
    subject: str, options: SimulationOptions, claims: ClaimOptions, first_seed: int
) -> tuple[Simulate, SimulationOptions, ClaimOptions]:
    """What runs a seed, the options that suit the subject, and the claims without what it says that it lacks.

    Raises: RebalanceCheckError when there is no such function, it makes no subject, or an option does not suit it.
    """
    simulate = own_subject(subject, claims.without)
    made = simulate.make(first_seed)
    return (
        simulate,
        own_options(options, made.actions),
        replace(claims, without=made.without),
    )
