"""The catalogue: every built-in invariant, in the order in which reports name them, and how to select some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.config_store.catalogue import ConfigStoreClaims
from rebalance_check.properties.connect.catalogue import ConnectWorkers
from rebalance_check.properties.features import Lacking, lacking
from rebalance_check.properties.invariants import (
    agreement,
    answering,
    assigned,
    expectations,
    fencing,
    generation,
    joining,
    kept_offsets,
    liveness,
    membership,
    new_members,
    observed,
    owning,
    persistence,
    refusals,
    request_fencing,
    skipping,
    timing,
    waiting_writes,
    wanted,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws import causes, committing, leaders, members, ownership, requests
from rebalance_check.properties.need.catalogue import NeedClaims
from rebalance_check.properties.status.catalogue import SafeStatusWrites

CATALOGUE: Final[tuple[Invariant, ...]] = (
    *ownership.LAWS,
    *members.LAWS,
    *committing.LAWS,
    *generation.CLAIMS,
    *fencing.CLAIMS,
    *agreement.CLAIMS,
    *wanted.CLAIMS,
    *membership.CLAIMS,
    *joining.CLAIMS,
    *skipping.CLAIMS,
    *persistence.CLAIMS,
    *kept_offsets.CLAIMS,
    *request_fencing.CLAIMS,
    *refusals.CLAIMS,
    *timing.CLAIMS,
    *new_members.CLAIMS,
    *observed.CLAIMS,
    *assigned.CLAIMS,
    *expectations.CLAIMS,
    *NeedClaims,
    *SafeStatusWrites,
    *ConnectWorkers,
    *ConfigStoreClaims,
    *answering.CLAIMS,
    *waiting_writes.CLAIMS,
    *owning.CLAIMS,
    *requests.LAWS,
    *leaders.LAWS,
    *causes.LAWS,
    *liveness.CLAIMS,
)
"""Every built-in invariant."""


def families() -> tuple[str, ...]:
    """The families of the catalogue, in order, each once."""
    return tuple(dict.fromkeys(invariant.family for invariant in CATALOGUE))


def select(names: Iterable[str]) -> tuple[Invariant, ...]:
    """The invariants with these names or in these families, in the order of the catalogue; none given means all.

    ``no_double_ownership`` and ``NoDoubleOwnership`` are the same name.

    Raises: RebalanceCheckError for a name that is neither an invariant nor a family; it lists what there is.
    """
    wanted = {_plain(name): name for name in names}
    known = {_plain(word) for invariant in CATALOGUE for word in (invariant.name, invariant.family)}
    unknown = [name for plain, name in wanted.items() if plain not in known]
    if unknown:
        raise RebalanceCheckError(
            f"{unknown[0]!r} names no invariant and no family: choose from {', '.join(i.name for i in CATALOGUE)} "
            f"or the families {', '.join(families())}"
        )
    return tuple(i for i in CATALOGUE if not wanted or _plain(i.name) in wanted or _plain(i.family) in wanted)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


Claims: TypeAlias = Invariant | str | Iterable[Invariant | str]
"""One invariant or several; each may be named, by its own name or by that of a family."""


def choose(wanted: Claims | None = None, *, exclude: Claims = (), without: Iterable[str] = ()) -> tuple[Invariant, ...]:
    """The invariants that ``wanted`` means (None: the whole catalogue), but for those that ``exclude`` means.

    ``without`` names features that the coordinator lacks, and events that happen and are not recorded: claims that
    rely on them are left out, too (`Invariant.may_judge`).

    Raises: RebalanceCheckError for a name that is none, and when nothing is left of what was wanted.
    """
    chosen = CATALOGUE if wanted is None else meant(wanted)
    left_out, absent = set(meant(exclude)), lacking(without)
    if not left_out and absent == Lacking():
        return chosen
    kept = tuple(i for i in chosen if i not in left_out and i.may_judge(absent))
    if chosen and not kept:
        raise RebalanceCheckError(
            f"nothing is left to judge of the {len(chosen)} invariants that were asked for: exclude less"
        )
    return kept


def meant(claims: Claims) -> tuple[Invariant, ...]:
    """The invariants that are given or named, each once, in the order given; a family in that of the catalogue.

    Raises: RebalanceCheckError for a name that is neither an invariant nor a family.
    """
    each = (claims,) if isinstance(claims, Invariant | str) else claims
    found = (select([one]) if isinstance(one, str) else (one,) for one in each)
    return tuple(dict.fromkeys(invariant for some in found for invariant in some))
