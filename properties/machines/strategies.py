"""Hypothesis strategies for groups of the classic protocol: their bounds, and schedules that the model allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from rebalance_check.impl.comparison.to_model.predictions import Predictions
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, keeps_names, path_number, path_numbered

MANY_GENERATIONS: Final = 100
"""More than a run reaches: nothing is cut off."""

MOST_ACTIONS: Final = 60


def group_bounds(**fixed: Any) -> st.SearchStrategy[Bounds]:
    """Bounds of up to three members and partitions, with up to three disturbances of each kind.

    ``fixed`` replaces the strategy for a field of `Bounds`, by a value or by another strategy: a coordinator that
    answers the first JoinGroup at once is given ``group_bounds(initial_delay=False)``.
    """
    budget = st.integers(0, 3)
    drawn: dict[str, st.SearchStrategy[Any]] = {
        "protocol": st.sampled_from([RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE]),
        "members": st.integers(1, 3),
        "partitions": st.integers(1, 3),
        "generations": st.just(MANY_GENERATIONS),
        **dict.fromkeys(("crashes", "leaves", "expiries", "duplicates", "deletions", "losses"), budget),
        "initial_delay": st.booleans(),
        "member_id_required": st.booleans(),
    }
    given = {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in fixed.items()}
    return st.builds(Bounds, **(drawn | given))


CONCERNS: Final = ("members", "static", "shared", "failover", "zombie", "upgrade")
"""Concerns that the model does not combine: who joins and beats how, static members, those that share an id,
failovers, zombie coordinators, upgrades."""

HARMLESS: Final = [path_number(path.name) for path in PATHS if keeps_names(path)]
"""The upgrade paths on which no sound coordinator gives a partition two owners: no other code takes an old name."""

OF_FAILOVER: Final = frozenset({"failover", "zombie"})

SELDOM: Final = st.sampled_from((0, 0, 1, 2))
"""A budget that leaves a group in peace half of the time, so that it comes to where rare steps are possible."""


@st.composite
def bounds_of_all_concerns(
    draw: st.DrawFn, /, *, concerns: Sequence[str] = CONCERNS, fails_over: bool = True, **fixed: Any
) -> Bounds:
    """Bounds as of `group_bounds` that switch on every concern of the model, those that exclude each other by turns.

    ``concerns`` are those that take turns; ``fails_over``: the coordinator can be made to fail over. ``fixed`` replaces
    strategies, as for `group_bounds`.
    """
    concern = draw(st.sampled_from([name for name in concerns if fails_over or name not in OF_FAILOVER]))
    drawn: dict[str, Any] = {
        "timeouts": st.booleans(),
        **dict.fromkeys(("crashes", "leaves", "expiries", "duplicates", "deletions", "losses"), SELDOM),
        "commits": st.integers(1, 3),
        "members": st.integers(2, 3),
        **_of_concern(concern),
    }
    if concern == "upgrade" and "upgrade" not in fixed:
        number = drawn["upgrade"] = draw(drawn["upgrade"])
        cooperative = path_numbered(number).cooperative
        drawn["protocol"] = RebalanceProtocol.COOPERATIVE if cooperative else RebalanceProtocol.EAGER
    return draw(group_bounds(**(drawn | fixed)))


def _of_concern(concern: str) -> dict[str, Any]:
    """The bounds that the model allows together with one of `CONCERNS`."""
    few = st.integers(1, 2)
    match concern:
        case "static":
            return {"static_members": few, "shared_instances": st.just(0)}
        case "shared":
            return {"static_members": st.just(2), "shared_instances": st.just(1)}
        case "failover":
            return {"failovers": few, "duplicates": st.just(0), "deletions": st.just(0)}
        case "zombie":
            return {"failovers": st.just(2), "zombie_coordinators": few, "duplicates": st.just(0)}
        case "upgrade":
            return {"upgrade": st.sampled_from(HARMLESS), "rolling_restarts": st.integers(1, 4)}
        case _:
            return {"new_members": st.booleans(), "heartbeats_during_sync": few, "member_id_required": st.just(True)}


@st.composite
def schedules(
    draw: st.DrawFn, bounds: st.SearchStrategy[Bounds] | None = None, *, most_actions: int = MOST_ACTIONS
) -> Schedule:
    """Schedules of the model: each action may happen where it stands. ``bounds`` default to `group_bounds`."""
    limits = draw(group_bounds() if bounds is None else bounds)
    predictions = Predictions(limits)
    state, actions = predictions.initial(), list[Action]()
    for _ in range(draw(st.integers(0, most_actions))):
        if not (enabled := predictions.enabled(state)):
            break
        actions.append(chosen(enabled, draw(KIND), draw(WHICH)))
        state = predictions.after(state, actions[-1])
    return Schedule(limits, tuple(actions))


KIND: Final = st.integers(0, len(ActionKind))
WHICH: Final = st.integers(0, 30)


def chosen(enabled: Sequence[Action], kind: int, which: int) -> Action:
    """One of the actions that may happen: first a kind, so that rare ones are taken as often, then one of that kind."""
    by_kind: dict[ActionKind, list[Action]] = {}
    for action in enabled:
        by_kind.setdefault(action.kind, []).append(action)
    alike = list(by_kind.values())[kind % len(by_kind)]
    return alike[which % len(alike)]
