"""The explorer: every state of a model within its bounds, breadth first, so that a counterexample is a shortest one.

Call ``explore(model, bounds)``. The compiled backend (extra ``explore``) handles millions of states in seconds; the
interpreted one needs the standard library alone and is the reference for it. What must happen rather than must hold is
`model.checker.liveness`.
"""

from __future__ import annotations

from rebalance_check.model.checker.safety.explore import explore
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.safety.result import Exploration

__all__ = ["Exploration", "Path", "explore"]
