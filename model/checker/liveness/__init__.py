"""Liveness: what must happen once faults cease, checked on the state graph under weak fairness.

Call ``check_liveness(model, bounds)``. A held claim means: take any run of the model whose faults all happen
within the bounds (members, budgets, and generations up to the bound), and that goes on for ever without another one, in
*any* number of generations, and in which every fair action that stays enabled is eventually taken (`Rule.fair`). Then
the predicate of the claim recurs (``[]<>``), or stays true from some state on where its `LivenessProperty` stabilises
(``<>[]``). A run that stops counts as one: where no fair action is enabled, it may stay for ever.

How, and where to read on:

1. `graph_source` explores the bounds as for safety, and keeps every state found: the faults lie before it.
2. `quotient` makes the states of all generations finitely many, without changing what can happen.
3. `graph` builds the graph of fault-free steps from every state that was found.
4. `components` finds where a fair run can stay for ever: strongly connected components (Tarjan) that satisfy weak
   fairness (Lamport's WF, "The Temporal Logic of Actions").
5. `judge` looks there for states that lack a claim's goal; each gives a `lasso`: a path, and a part that repeats.
6. `evidence` runs the lasso on the interpreted model and confirms it, without any of the steps above.

This is explicit-state LTL checking for two fixed shapes of formula (compare Lichtenstein and Pnueli, "Checking that
finite state concurrent programs satisfy their linear specification"): no automaton is needed, since ``[]<>`` is broken
where a fair component lies wholly outside of the predicate, and ``<>[]`` where a fair component touches its complement.

Symmetry: the exploration keeps one of all states that differ only in how members are named, and the graph begins there;
but its own states distinguish members, because fairness is owed to each. Nothing is missed: rename the members of a
fault-free run from any reachable state so that it begins in the state that was kept, and it is a fault-free run again,
as fair as before, and lacks for the renamed member as much as it lacked for the other.
"""

from __future__ import annotations

from rebalance_check.model.checker.liveness.check import LivenessCheck, check_liveness
from rebalance_check.model.checker.liveness.compiled_properties import Instance
from rebalance_check.model.checker.liveness.evidence import broken_liveness_properties

__all__ = ["Instance", "LivenessCheck", "broken_liveness_properties", "check_liveness"]
