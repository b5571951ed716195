"""Breadth-first search of a compiled model whose states are on disk: for what memory cannot hold.

It finds what `workers.ParallelSearch` finds: the same states, transitions, depth and verdicts, and a shortest path to a
violation. A run that was killed goes on from the last level that was complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.glue import LABEL_MEMBER, LABEL_RULE
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout_source import relabellings
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.shard import Shard, append
from rebalance_check.model.checker.safety.worker import Buffer, words_of
from rebalance_check.model.vocabulary.actions import Action

SHARDS: Final = 16
"""So many shares: the largest must fit into memory while it absorbs."""

MANIFEST: Final = "search.json"


class SpilledSearch:
    """A search in ``folder``; `run` gives its outcome. It goes on with what is there, if that is the same search."""

    def __init__(
        self, program: Program, machine: Machine, folder: Path, *, symmetry: bool, limits: Limits,
        identity: dict[str, Any], progress: SearchListener | None = None, shards: int = SHARDS,
    ) -> None:  # fmt: skip
        self.program, self.machine, self.folder = program, machine, folder
        self.symmetry, self.limits, self.identity = symmetry, limits, {**identity, "shards": shards}
        self.pace = Pace(progress)
        self.buffer = Buffer(machine, 1)
        self.shards = [Shard(folder, number, shards, machine) for number in range(shards)]
        self.ended: Ended | None = None
        self.depth = 0
        perms = relabellings(machine.sizes)
        self.renamings = (
            symmetry,
            np.zeros((2, words_of(machine)), np.uint64),
            np.array([perm for perm, _ in perms], np.int64),
            np.array([sets for _, sets in perms], np.int64),
            np.zeros(max(len(perms[0][0]), 1), np.int64),
        )

    @property
    def states(self) -> int:
        """How many states there are."""
        return sum(shard.size for shard in self.shards)

    def run(self) -> Outcome:
        """Search level by level until nothing is new, a claim breaks or a limit is reached.

        Raises: RebalanceCheckError when the folder holds another search, or a file of it is missing or too short.
        """
        if not self.go_on():
            self.begin()
        self.pace.begin(self.states)
        while any(shard.frontier for shard in self.shards) and not self.is_broken and not self.is_time_to_end():
            self.level()
        self.program.require_no_fault()
        return self.outcome()

    def begin(self) -> None:
        """Find the initial state."""
        row = np.zeros((1, words_of(self.machine) + 3), np.uint64)
        row[0, :-3], row[0, -3] = self.initial
        append(self.shards[self.first[0]].candidates(0), row)
        self.absorb()

    @property
    def initial(self) -> tuple[Any, int]:
        """The words of the initial state, and its fingerprint."""
        initial = self.machine.initial()
        packed = self.machine.canonical(initial) if self.symmetry else self.machine.pack(initial)
        state, fingerprint = np.zeros((1, words_of(self.machine)), np.uint64), np.zeros(1, np.uint64)
        state.view(np.uint8)[0, : len(packed)] = np.frombuffer(packed, np.uint8)
        self.program.fingerprints(state, 1, fingerprint)
        return state[0], int(fingerprint[0])

    @property
    def first(self) -> tuple[int, int]:
        """The share that keeps the initial state, and its number there."""
        return (self.initial[1] >> int(kernel.OWNER_SHIFT)) % len(self.shards), 0

    def level(self) -> None:
        """Expand the present frontier, and take what is new."""
        for shard in self.shards:
            shard.expand(self.program, self.buffer, self.shards, self.renamings)
            self.report()
        self.absorb()

    def absorb(self) -> None:
        """Take what is new, and note that the level is complete."""
        before = self.depth
        for shard in self.shards:
            shard.absorb(self.program)
            self.report()
        self.depth += 1
        self.keep()
        for shard in self.shards:
            shard.forget(before)

    @property
    def is_broken(self) -> bool:
        """Whether a claim was seen broken."""
        return any(shard.st[kernel.CLAIM] for shard in self.shards)

    def is_time_to_end(self) -> bool:
        """Whether a limit is reached, which `ended` names then."""
        self.ended = self.limits.reached(self.states, self.pace.seconds_of_this_run)
        return self.ended is not None

    def report(self) -> None:
        """Say how far the search is."""
        fired = sum(int(shard.st[kernel.FIRED :].sum()) for shard in self.shards)
        self.pace.report(self.depth, self.states, fired + 1, sum(shard.frontier for shard in self.shards), 0)

    # -------------------------------------------------------------------------------------------- going on later

    def keep(self) -> None:
        """Write down that a level is complete, in one step."""
        known = {"identity": self.identity, "depth": self.depth, "shards": [shard.state() for shard in self.shards]}
        part = self.folder / f"{MANIFEST}.part"
        part.write_text(json.dumps(known), encoding="utf-8")
        os.replace(part, self.folder / MANIFEST)

    def go_on(self) -> bool:
        """Go on from the last complete level; False where there is none."""
        path = self.folder / MANIFEST
        if not path.exists():
            return False
        known = json.loads(path.read_text(encoding="utf-8"))
        self.depth = known["depth"]
        for shard, state in zip(self.shards, known["shards"], strict=True):
            shard.restore(state)
        return True

    # -------------------------------------------------------------------------------------------- the outcome

    def outcome(self) -> Outcome:
        """What was found, with the path to a violation if there is one (labels of representatives under symmetry)."""
        model = self.machine.model
        totals = np.sum([shard.st for shard in self.shards], axis=0)
        fired = {rule.kind: int(n) for rule, n in zip(model.rules, totals[kernel.FIRED :], strict=True)}
        frontier = sum(shard.frontier for shard in self.shards)
        outcome = Outcome(
            distinct=self.states,
            generated=sum(fired.values()) + 1,
            cut=int(totals[kernel.CUT]),
            depth=self.depth if frontier else self.depth - 1,
            frontier=frontier,
            ended=self.ended,
            met=self.met(),
            seconds=self.pace.seconds,
        )
        outcome.fired.update(fired)
        bad = next((shard for shard in self.shards if shard.st[kernel.CLAIM]), None)
        if bad is not None:
            claims = (*model.invariants, *model.step_invariants)
            outcome.violated = claims[int(bad.st[kernel.CLAIM]) - 1].__name__
            last = [] if bad.st[kernel.LABEL] < 0 else [int(bad.st[kernel.LABEL])]
            outcome.path = self.path_to(int(bad.st[kernel.BAD]), bad.number, last)
        return outcome

    def met(self) -> set[str]:
        """The names of the reachable states and steps that any share has met."""
        model = self.machine.model
        found = set[str]()
        for counter, claims in ((kernel.MET, model.reachable_states), (kernel.HAPPENED, model.reachable_steps)):
            bits = int(np.bitwise_or.reduce([shard.st[counter] for shard in self.shards]))
            found |= {claim.__name__ for bit, claim in enumerate(claims) if bits >> bit & 1}
        return found

    def path_to(self, state: int, number: int, last: Iterable[int] = ()) -> list[Action]:
        """The labels from the initial state to a state of a share, and on along the labels ``last``."""
        labels, at = list(last), (number, state)
        while at != self.first:
            parent, label = self.shards[at[0]].origin(at[1])
            labels.append(label)
            at = (parent % len(self.shards), parent // len(self.shards))
        return [action_of(self.machine, label) for label in reversed(labels)]


def action_of(machine: Machine, label: int) -> Action:
    """The action of a label."""
    kind = machine.model.rules[label >> LABEL_RULE].kind
    return Action(kind, label >> LABEL_MEMBER & 0xFF, label & 0xFFFF)
