"""Searches in the background: one at a time, watched while it goes on, and stopped by the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Final

from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.checker.safety.limits import NO_LIMITS, Coverage, Ended, Limits
from rebalance_check.model.checker.safety.witness import found_witness
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.in_thread import InThread
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.verdict import Outcome as Verdict
from rebalance_check.report.paths import heading_of

ENDS_WITHIN_S: Final = 5.0
"""How long the next search waits for one to stop: it looks at its limits often, but the compiler cannot be stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How searches run: ``limits`` hold for each, ``compiled`` needs llvmlite."""

    limits: Limits = NO_LIMITS
    threads: int = 2
    symmetry: bool = True
    compiled: bool = find_spec("llvmlite") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is searched: a claim that breaks, or, with ``goal``, a reachable state or step of that name; with
    ``liveness`` the liveness properties, too."""

    model: Model
    bounds: Bounds
    goal: str = ""
    liveness: bool = False

    def document(self) -> dict[str, Any]:
        """As the page is given it."""
        return {"bounds": self.bounds.address(), "mutant": self.model.mutant, "goal": self.goal}


class Search:
    """One search in a thread of its own; `document` may be asked for at any time."""

    def __init__(self, wanted: Wanted, options: SearchOptions) -> None:
        self._wanted = wanted
        self._options = replace(options, limits=replace(options.limits, stop=self._is_stopped))
        self._stopped = threading.Event()
        self._progress: dict[str, Any] = {"state": "begins"}
        self._result: dict[str, Any] | None = None
        self._thread = InThread(self._run, "rebalance-check-search")

    def stop(self) -> None:
        """End the search soon."""
        self._stopped.set()

    def ends_within(self, seconds: float) -> bool:
        """Wait for at most so long; whether it has ended."""
        return self._thread.ends_within(seconds)

    def document(self) -> dict[str, Any]:
        """How far the search is, or what it found."""
        if self._result is not None:
            return {**self._wanted.document(), "state": "ended", **self._result}
        return {**self._wanted.document(), **self._progress}

    def compiling(self, seconds: float) -> None:
        """The model is compiled."""
        self._progress = {"state": "compiles", "seconds": round(seconds, 1)}

    def searching(self, coverage: Coverage) -> None:
        """The search goes on."""
        self._progress = {
            "state": "searches",
            "depth": coverage.depth,
            "states": coverage.states,
            "frontier": coverage.frontier,
            "seconds": round(coverage.seconds, 1),
            "seconds_left": coverage.seconds_left,
        }

    def _is_stopped(self) -> bool:
        return self._stopped.is_set()

    def _run(self) -> None:
        try:
            self._result = self._found()
        except RebalanceCheckError as fault:
            self._result = {"error": str(fault)}
        except ModuleNotFoundError as fault:
            self._result = {"error": f"this needs {fault.name}: pip install 'rebalance-check[explore]'"}
        except Exception as fault:
            self._result = {"error": f"this is a fault of rebalance-check ({type(fault).__name__}: {fault})"}
            raise

    def _found(self) -> dict[str, Any]:
        if self._wanted.goal:
            return self._witness()
        options = self._options
        found = explore(
            self._wanted.model, self._wanted.bounds, symmetry=options.symmetry, threads=options.threads,
            compiled=options.compiled, progress=self, limits=options.limits,
        )  # fmt: skip
        document = exploration_document(self._wanted.model, found)
        return document | self._liveness(found) if self._wanted.liveness else document

    def _witness(self) -> dict[str, Any]:
        path, outcome = found_witness(self._wanted.model, self._wanted.bounds, self._wanted.goal, self._options.limits)
        return {
            "witness": path.address() if path else None,
            "states": outcome.distinct,
            "ended": _ended(outcome.ended),
        }

    def _liveness(self, found: Exploration) -> dict[str, Any]:
        """The liveness properties, undecided where not every state was explored; a lasso for each that is violated."""
        verdicts, lassos = self._liveness_verdicts() if found.complete else ({}, {})
        return {
            "liveness": [
                {
                    "name": one.name,
                    "sentence": heading_of(one.holds),
                    "verdict": verdicts.get(one.name, Verdict.UNDECIDED.value),
                    "address": lassos.get(one.name),
                }
                for one in self._wanted.model.liveness
            ]
        }

    def _liveness_verdicts(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The verdict on each property, and the address of a lasso for each that is violated."""
        from rebalance_check.model.checker.liveness import check_liveness  # noqa: PLC0415 - needs an extra

        judged = check_liveness(
            self._wanted.model, self._wanted.bounds, compiled=self._options.compiled, limits=self._options.limits,
            progress=self,
        )  # fmt: skip
        return judged.verdicts, {name: path.address() for name, path in judged.counterexamples.items()}


def exploration_document(model: Model, found: Exploration) -> dict[str, Any]:
    """What an exploration found: figures, verdicts, coverage of rules and of what must be reached, a counterexample."""
    headings: dict[str, Callable[..., Any]] = {
        each.__name__: each
        for each in (*model.invariants, *model.step_invariants, *model.reachable_states, *model.reachable_steps)
    }
    return {
        "states": found.distinct,
        "transitions": found.generated,
        "depth": found.depth,
        "seconds": round(found.seconds, 2),
        "complete": found.complete,
        "ended": _ended(found.ended),
        "violated": found.violated,
        "counterexample": found.counterexample.address() if found.counterexample else None,
        "verdicts": [
            {"name": name, "sentence": heading_of(headings[name]), "verdict": verdict}
            for name, verdict in found.verdicts.items()
        ],
        "rules": [
            {"name": str(rule.kind), "heading": heading_of(rule.step), "count": found.actions[rule.kind]}
            for rule in model.rules
        ],
        "reachable": [
            {"name": name, "sentence": heading_of(headings[name]), "met": met}
            for name, met in found.reachable_states.items()
        ],
    }


def _ended(ended: Ended | None) -> str:
    """Why a search ended early; empty where it did not."""
    return "" if ended is None else str(ended)


class Searches:
    """The search that goes on, or the last one."""

    def __init__(self, options: SearchOptions) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._search: Search | None = None

    def begin(self, wanted: Wanted) -> dict[str, Any]:
        """Stop the search that goes on, and begin this one."""
        with self._lock:
            self._end()
            self._search = Search(wanted, self._options)
            return self._search.document()

    def stop(self) -> dict[str, Any]:
        """Stop the search that goes on; what it found until then stays."""
        with self._lock:
            self._end()
        return self.document()

    def document(self) -> dict[str, Any]:
        """The last search; ``state`` is "none" where there was none."""
        return {"state": "none"} if self._search is None else self._search.document()

    def _end(self) -> None:
        if self._search is not None:
            self._search.stop()
            self._search.ends_within(ENDS_WITHIN_S)
