"""Hypothesis strategies for groups of the classic protocol: their bounds, and schedules that the model allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from rebalance_check.impl.conformance.predictions import Predictions
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.schedule import Schedule

MANY_GENERATIONS: Final = 100
"""More than a run reaches: nothing is cut off."""

MOST_ACTIONS: Final = 60


def group_bounds(**fixed: Any) -> st.SearchStrategy[Bounds]:
    """Bounds of up to three members and partitions, with up to three disturbances of each kind.

    ``fixed`` replaces what is drawn for a field of `Bounds`, by a value or by another strategy: a coordinator that
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
