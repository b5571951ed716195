"""Which claims a command judges: the options that choose them, and the one that asks for all to be tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from rebalance_check.commands._untested_option import untested_option
from rebalance_check.properties.catalogue import Claims, choose
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Invariant


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """What the user chose: ``names`` of invariants and families (none: all), those to ``exclude``, the features that
    the coordinator is ``without``, and whether an untested claim leaves the verdict undecided."""

    names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    require_tested: bool = False

    def invariants(self, default: Claims | None = None) -> tuple[Invariant, ...]:
        """The chosen invariants; ``default`` is what is meant where none is named (None: the catalogue).

        Raises: RebalanceCheckError for a name that is none, and when nothing is left.
        """
        return choose(self.names or default, exclude=self.exclude, without=self.without)


def claim_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options, and hand them to ``command`` as ``claims``, a `ClaimOptions`."""

    @wraps(command)
    def with_claims(*, names: tuple[str, ...], exclude: tuple[str, ...], without: tuple[str, ...],
                    require_tested: bool, **others: Any) -> Any:  # fmt: skip
        return command(claims=ClaimOptions(names, exclude, without, require_tested), **others)

    options = (
        click.option("--invariant", "names", multiple=True, metavar="NAME",
                     help="An invariant or a family; default: all."),
        click.option("--exclude", multiple=True, metavar="NAME", help="Leave an invariant or a family out."),
        click.option("--without", multiple=True, metavar="NAME",
                     help=f"The coordinator lacks this ({', '.join(Feature)}), or does not record this event: leave "
                     "out the claims that rely on it."),
        require_tested_option,
        untested_option,
    )  # fmt: skip
    wrapped: Callable[..., Any] = with_claims
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def require_tested_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that makes an untested claim count as undecided."""
    return click.option(
        "--require-tested", is_flag=True, help="Exit with 12 when a claim is untested: nothing could have broken it."
    )(command)
