"""Each action and each claim of the models can be read alone: a heading, a source, what an action leaves unchanged."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.model.checker.specification import Model, assemble
from rebalance_check.model.classic.model import MODEL as CLASSIC
from rebalance_check.model.connect.config.model import MODEL as CONFIG
from rebalance_check.model.connect.status.model import MODEL as STATUS
from rebalance_check.model.connect.workers.model import MODEL as WORKERS

MODELS = (CLASSIC, STATUS, WORKERS, CONFIG)
HEADING = re.compile(r"[A-Z`][^\n]*\.")
SOURCE = re.compile(r"^Source: [^\n]*(KIP-\d+|KAFKA-\d+|``[A-Z]\w+)", re.MULTILINE)
UNCHANGED = re.compile(r"^Leaves unchanged: [\w`]", re.MULTILINE)


def spoken(model: Model) -> list[Callable[..., Any]]:
    """The step functions of a model's rules, and all its claims."""
    claims = (*model.invariants, *model.step_invariants, *model.reachable_states, *model.reachable_steps)
    return [*(rule.step for rule in model.rules), *claims, *(each.holds for each in model.liveness)]


def must_be_met(model: Model) -> set[str]:
    """The claims that name what happens, and so need not say what stays as it is."""
    reachable = (*model.reachable_states, *model.reachable_steps)
    return {claim.__name__ for claim in (*reachable, *(each.holds for each in model.liveness))}


def lacking(function: Callable[..., Any], *, is_met: bool = False) -> list[str]:
    """The parts that the docstring of an action or claim lacks."""
    text = inspect.getdoc(function) or ""
    heading, _, rest = text.partition("\n")
    parts = {
        "heading": HEADING.fullmatch(heading) is not None and rest.startswith("\n"),
        "source": SOURCE.search(text) is not None,
        "leaves unchanged": is_met or UNCHANGED.search(text) is not None,
    }
    return [part for part, there in parts.items() if not there]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_action_and_claim_has_its_heading_its_source_and_what_it_leaves_unchanged(model: Model) -> None:
    functions, met = spoken(model), must_be_met(model)
    assert len(functions) > 20
    assert {f.__name__: wrong for f in functions if (wrong := lacking(f, is_met=f.__name__ in met))} == {}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_no_two_actions_or_claims_have_the_same_name_or_heading(model: Model) -> None:
    for words in ([f.__name__ for f in spoken(model)], [(f.__doc__ or "").partition("\n")[0] for f in spoken(model)]):
        assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_no_two_modules_of_a_model_define_the_same_name(model: Model) -> None:
    space = assemble(model)
    assert [f.__name__ for f in spoken(model) if inspect.getdoc(space[f.__name__]) != inspect.getdoc(f)] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("A claim.\n\nSource: KIP-345.\nLeaves unchanged: the log.", []),
        ("No full stop\n\nSource: ``ClassicGroup.add``.\nLeaves unchanged: the log.", ["heading"]),
        ("A claim.\nThat goes on.\nSource: KIP-345.\nLeaves unchanged: the log.", ["heading"]),
        ("A claim.\n\nSource: the code.\nLeaves unchanged: the log.", ["source"]),
        ("A claim.\n\nSource: KIP-345.\nLeaves unchanged:", ["leaves unchanged"]),
        ("A claim.", ["heading", "source", "leaves unchanged"]),
        ("", ["heading", "source", "leaves unchanged"]),
    ],
)
def test_a_docstring_without_one_of_the_parts_is_noticed(text: str, wrong: list[str]) -> None:
    def claim() -> bool:
        return True

    claim.__doc__ = text
    assert lacking(claim) == wrong
