"""The invariants by which a command judges: the options that choose them, and the findings that are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

from rebalance_check.commands._options import FILE, option
from rebalance_check.properties.catalogue import Claims, choose
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.known import NOTHING_KNOWN, KnownFindings, read_known

INVARIANT: Final[dict[str, Any]] = {
    "multiple": True,
    "metavar": "NAME",
    "help": "Judge by this invariant or family alone (repeatable).",
}


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """The user's choice: ``names`` of invariants and families (none: all), those to ``exclude``, the features that
    the coordinator is ``without``, and whether an untested claim leaves the verdict undecided."""

    names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    require_tested: bool = False

    def invariants(self, default: Claims | None = None) -> tuple[Invariant, ...]:
        """The chosen invariants; ``default`` are those meant where none is named (None: the catalogue).

        Raises: RebalanceCheckError for a name that is none, and when nothing is left.
        """
        return choose(self.names or default, exclude=self.exclude, without=self.without)


def claim_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options, and hand them to ``command`` as ``claims``, a `ClaimOptions`."""

    @wraps(command)
    def with_claims(*, names: tuple[str, ...], exclude: tuple[str, ...], without: tuple[str, ...],
                    require_tested: bool, **others: Any) -> Any:  # fmt: skip
        return command(claims=ClaimOptions(names, exclude, without, require_tested), **others)

    wrapped: Callable[..., Any] = with_claims
    for one in (
        option("--require-tested", is_flag=True, rare=True,
               help="Exit with 12 when nothing could have broken one of the invariants."),
        option("--without", multiple=True, metavar="NAME",
               help=f"The coordinator lacks this ({', '.join(Feature)}), or does not record this event: leave "
               "out the invariants that rely on it."),
        option("--exclude", multiple=True, metavar="NAME", help="Leave an invariant or a family out."),
        option("--invariant", "names", **INVARIANT),
    ):  # fmt: skip
        wrapped = one(wrapped)
    return wrapped


def known_findings(path: Path | None) -> KnownFindings:
    """The findings of the list that ``--known`` names.

    Raises: RebalanceCheckError for a file that is no such list.
    """
    return NOTHING_KNOWN if path is None else read_known(path)


known_option: Final = option(
    "--known", type=FILE, metavar="FILE",
    help="A TOML file of known findings: they are counted apart, and are no violations (docs/campaigns.md).",
)  # fmt: skip
