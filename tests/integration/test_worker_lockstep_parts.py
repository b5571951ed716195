"""The parts of the lockstep of workers that need no Java: our worker stands in for Kafka's."""

from __future__ import annotations

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.comparison.workers.compare import compare_worker
from rebalance_check.integration.comparison.workers.our_worker import OurWorker
from rebalance_check.integration.comparison.workers.sequences import RandomSequence
from rebalance_check.integration.comparison.workers.steps import Seen, Step


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
    assert [compare_worker(OurWorker(), seed, 40).differences for seed in range(10)] == [[]] * 10


class Defective(OurWorker):
    """Claims nothing of what an assignment leaves out."""

    name = "another"

    def perform(self, step: Step) -> Seen:
        with planted("worker-keeps-tasks-while-joining"):
            return super().perform(step)


def test_a_difference_is_a_sentence__and_as_few_steps_as_show_it() -> None:
    found = next(found for seed in range(40) for found in compare_worker(Defective(), seed, 40).differences)

    assert len(found.steps) <= 12
    first, *lines = str(found).splitlines()
    assert (
        first
        == f"ours and another differ in {', '.join(each.name for each in found.fields)} after step {len(found.steps)}"
    )
    assert lines[: len(found.steps)] == [f"  {number:>3}  {step}" for number, step in enumerate(found.steps, 1)]
    assert "    another  " in str(found)
