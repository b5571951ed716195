"""The options ``--assignor`` and ``--shape``, and which of them go together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from rebalance_check.commands._options import option
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.claims import CLAIMS
from rebalance_check.properties.assignment.connect_claims import CONNECT_CLAIMS
from rebalance_check.properties.assignment.connect_histories import SHAPES as CONNECT_SHAPES
from rebalance_check.properties.assignment.connect_rounds import CONNECT_ASSIGNORS
from rebalance_check.properties.assignment.problem import ASSIGNORS
from rebalance_check.properties.assignment.problems import SHAPES

CLAIM_NAMES: Final = tuple(claim.name for claim in CLAIMS)
CONNECT_CLAIM_NAMES: Final = tuple(claim.name for claim in CONNECT_CLAIMS)
EITHER_CLAIM: Final = tuple(dict.fromkeys((*CLAIM_NAMES, *CONNECT_CLAIM_NAMES)))
EITHER_SHAPE: Final = tuple(dict.fromkeys((*SHAPES, *CONNECT_SHAPES)))


def assignor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--assignor`` and ``--shape``."""
    command = option("--shape", "shapes", multiple=True, type=click.Choice(EITHER_SHAPE), metavar="NAME",
                     help=f"Only such problems (repeatable): {', '.join(EITHER_SHAPE)}.")(command)  # fmt: skip
    return option(
        "--assignor", "assignors", multiple=True, type=click.Choice((*ASSIGNORS, *CONNECT_ASSIGNORS)), metavar="NAME",
        help=f"Only this assignor (repeatable): {', '.join((*ASSIGNORS, *CONNECT_ASSIGNORS))}; those of Connect are "
        "never asked with those of consumers.",
    )(command)  # fmt: skip


def are_of_connect(names: Sequence[str], shapes: Sequence[str], claims: Sequence[str] = ()) -> bool:
    """Whether the chosen assignors are those of Connect.

    Raises: RebalanceCheckError where assignors, shapes and invariants do not go together.
    """
    connect = bool(set(names) & set(CONNECT_ASSIGNORS))
    known = (
        (names, CONNECT_ASSIGNORS if connect else ASSIGNORS),
        (shapes, CONNECT_SHAPES if connect else SHAPES),
        (claims, CONNECT_CLAIM_NAMES if connect else CLAIM_NAMES),
    )
    wrong = [one for given, fitting in known for one in given if one not in fitting]
    if wrong:
        others = "consumers" if connect else "Connect"
        raise RebalanceCheckError(
            f"{wrong[0]} belongs to {others}: choose assignors of {others} with it, {', '.join(ASSIGNORS)}"
            if connect
            else f"{wrong[0]} belongs to {others}: add --assignor {' or '.join(CONNECT_ASSIGNORS)}"
        )
    return connect
