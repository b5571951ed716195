"""The explorer: every state of a model within its bounds, breadth first, so that a counterexample is a shortest one.

Call ``explore(model, bounds)``. The compiled backend (extra ``explore``) handles millions of states in seconds; the
interpreted one needs the standard library alone and is the reference for it. Goals of runs are checked by
`model.checker.liveness`.

The algorithm is that of TLC (Yu, Manolios, Lamport, "Model checking TLA+ specifications"): breadth-first search over
distinct states, level by level, with

- *symmetry reduction*: of all states that differ only in how members are named, one canonical state is kept (Ip and
  Dill, "Better verification through symmetry"). Members are sorted by a signature first, so that few of the n!
  permutations are tried (`kernel.canonicalise`);
- *fingerprints*: the compiled backend keeps 64 bits of each state, not the state, and one link to its parent, from
  which it recovers a path (`workers`);
- *a concrete path*: a path under symmetry leads through representatives, so `explore.concrete` finds the real one.

Read `search` first: it is the whole algorithm in a page of Python. `workers` and `kernel` are the same for arrays,
`compiled` makes a model's functions callable from there, and `path` is the form of a counterexample.
"""

from __future__ import annotations

from rebalance_check.model.checker.safety.explore import explore
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.safety.result import Exploration

__all__ = ["Exploration", "Path", "explore"]
