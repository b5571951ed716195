"""Progress: what must happen once faults cease, checked on the state graph under weak fairness.

Call ``check_liveness(model, bounds)``. What a held claim means: take any run of the model whose faults all happen
within the bounds (members, budgets, and generations up to the bound), and that goes on for ever without another one, in
*any* number of generations, putting off no fair action for ever (`Rule.fair`). Then what the claim wants comes true
again and again, or for good where its `LivenessProperty` stabilises. A run that stops counts as one: where no fair action is enabled,
it may stay for ever.

How: `quotient` makes the states of all generations finitely many, without changing what can happen; `steps` and `graph`
build the graph of fault-free steps from every state that the exploration reaches; `components` finds where a fair run can
stay for ever; a state there that lacks what a claim wants gives a `lasso`: a path, and a part of it that repeats.

Symmetry: the exploration keeps one of all states that differ only in how members are named, and the graph begins there;
but its own states distinguish members, because fairness is owed to each. Nothing is missed: rename the members of
a fault-free run from any reachable state so that it begins in the state that was kept, and it is a fault-free run again, as fair as
before, and lacks for the renamed member what it lacked for the other.
"""

from __future__ import annotations

from rebalance_check.model.checker.liveness.check import LivenessCheck, check_liveness
from rebalance_check.model.checker.liveness.compiled_properties import Instance
from rebalance_check.model.checker.liveness.evidence import broken_liveness_properties

__all__ = ["Instance", "LivenessCheck", "broken_liveness_properties", "check_liveness"]
