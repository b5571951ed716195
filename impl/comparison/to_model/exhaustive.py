"""Every transition of a bounded model, executed on a coordinator in this process, which can be copied, and compared."""

from __future__ import annotations

from collections import deque

from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.to_model.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.comparison.to_model.outcome import MODEL
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress


def every_transition(
    start: ConformanceRun, stop_after: int = 1, progress: ProgressListener = ignore_progress
) -> Compared:
    """Execute every transition from every state, breadth first, on a copy of the coordinator there.

    ``start`` is a new run whose transport can be copied; at most ``stop_after`` differences are collected, so the
    first one has a shortest schedule. ``compared`` are the steps in which the coordinator has a part.
    """
    pack = start.predictions.pack
    result = Compared((MODEL, start.name), start.machine.bounds.address())
    met = {pack(start.state)}
    frontier = deque([start])
    while frontier and len(result.differences) < stop_after:
        here = frontier.popleft()
        progress("transitions", result.counts["executed"], 0)
        for action in here.enabled():
            there = here.fork()
            step = there.perform(action)
            result.counts.update(transitions=1, executed=1)
            if step is None:
                continue
            result.counts["compared"] += action.kind in COORDINATOR_STEPS
            result.reached.update(f"{answer.api} {answer.error}" for answer in step.answers)
            if step.difference is not None:
                result.note(step.difference)
            elif (reached := pack(there.state)) not in met:
                met.add(reached)
                frontier.append(there)
    del result.differences[stop_after:]
    result.counts["states"] = len(met)
    return result
