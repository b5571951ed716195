"""The parts of the lockstep of workers that need no Java: our worker stands in for Kafka's."""

from __future__ import annotations

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.lockstep.worker.compare import run_random
from rebalance_check.integration.lockstep.worker.our_worker import OurWorker
from rebalance_check.integration.lockstep.worker.sequences import RandomSequence
from rebalance_check.integration.lockstep.worker.steps import Seen, Step


def taken(seed: int) -> list[Step]:
    """The steps of a seed, as our worker leads them on."""
    sequence, worker = RandomSequence(seed, 40), OurWorker()
    steps = []
    for step in sequence:
        steps.append(step)
        sequence.observe(worker.perform(step))
    return steps


def test_a_seed_decides_the_steps() -> None:
    assert taken(3) == taken(3) != taken(4)


def test_every_kind_of_step_is_drawn() -> None:
    kinds = {step["do"] for seed in range(20) for step in taken(seed)}
    assert kinds == {
        "reset", "poll", "step", "answer", "disconnect", "reachable", "configs", "rejoin", "raise", "leave",
        "wake",
    }  # fmt: skip


def test_two_workers_of_ours_do_the_same() -> None:
    assert [run_random(OurWorker(), seed, 40)[1] for seed in range(10)] == [None] * 10


class Defective(OurWorker):
    """Claims nothing of what an assignment leaves out."""

    def perform(self, step: Step) -> Seen:
        with planted("worker-keeps-tasks-while-joining"):
            return super().perform(step)


def test_a_difference_says_after_which_step_and_in_what() -> None:
    found = next(difference for seed in range(40) if (difference := run_random(Defective(), seed, 40)[1]))
    text = str(found)
    assert text.startswith(f"after {found.steps[-1]} (step {len(found.steps)}):")
    assert "calls: Kafka's" in text
