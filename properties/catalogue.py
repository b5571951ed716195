"""The catalogue: every built-in invariant, in the order in which reports name them, and how to select some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.features import Lacking, lacking
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws import (
    admission,
    assignment,
    causes,
    client_causes,
    committing,
    config,
    connect,
    coordinator,
    deadlines,
    generation,
    generation_members,
    leaders,
    members,
    ownership,
    persistence,
    progress,
    refusals,
    requests,
    status,
)

CATALOGUE: Final[tuple[Invariant, ...]] = (
    *ownership.LAWS,
    *members.LAWS,
    *generation.LAWS,
    *generation_members.LAWS,
    *assignment.LAWS,
    *coordinator.LAWS,
    *refusals.LAWS,
    *admission.LAWS,
    *persistence.LAWS,
    *causes.LAWS,
    *committing.LAWS,
    *status.LAWS,
    *config.LAWS,
    *connect.LAWS,
    *requests.LAWS,
    *leaders.LAWS,
    *client_causes.LAWS,
    *deadlines.LAWS,
    *progress.LAWS,
)
"""Every built-in invariant."""

KAFKA_BREAKS: Final[tuple[Invariant, ...]] = (
    generation_members.MembersAreKnown, generation_members.GroupFitsMaxSize,
    generation_members.GenerationsHaveMembers, refusals.NoServerError, admission.FencedStaysFenced,
    admission.LeaveWithoutMembersChangesNothing, coordinator.RefusedJoinLeavesNoTrace, coordinator.ParkedMemberStays,
    persistence.KeptOffsetsKeepTheirGroup, deadlines.JoinPhaseEnds,
)  # fmt: skip
"""A client may expect these of a coordinator, and some coordinator of Kafka breaks each: TRACK_RECORD.md has the
scenario and the versions. Our coordinator follows Kafka's, defects included, so that a campaign on it asks for them by
name alone, and no mutant stands for them."""


def families() -> tuple[str, ...]:
    """The families of the catalogue, in order, each once."""
    return tuple(dict.fromkeys(invariant.family for invariant in CATALOGUE))


def select(names: Iterable[str]) -> tuple[Invariant, ...]:
    """The invariants with these names or in these families, in the order of the catalogue; none given means all.

    ``no_double_ownership`` and ``NoDoubleOwnership`` are the same name.

    Raises: RebalanceCheckError for a name that is neither an invariant nor a family; it lists the names.
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

    Raises: RebalanceCheckError for a name that is none, and when none of the chosen invariants is left.
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
