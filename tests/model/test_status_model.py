"""The status model as a subject: the claims that judge real stores judge it, too."""

from dataclasses import replace
from random import Random

from rebalance_check.model.connect.status.subject import StatusModelSubject
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.laws.status import LAWS


def test_paths_of_the_model_hold_safe_status_writes() -> None:
    """The claims that judge real stores also judge the model, on the events of its random paths."""
    for seed in range(15):
        random, subject, judge = Random(seed), StatusModelSubject(), Judge(LAWS)
        bounds = Bounds.from_address(
            f"status?members={2 + seed % 2}&partitions={1 + seed % 3}&generations=2&crashes=0&writes=6"
        )
        bounds = replace(bounds, failures=3)
        events = list(subject.open(bounds, seed))
        for _ in range(40):
            action = random.choice(list(subject.machine.enabled(subject.state)) or [None])
            events += subject.perform(action) if action is not None else []
        events += subject.close()
        for event in events:
            judge.observe(event)
        if not events[-1].pending:  # type: ignore[attr-defined]  # a RunEnded
            judge.judgement().check(allow_undecided=True)
        assert judge.judgement().counterexamples == ()
