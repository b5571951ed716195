"""The command of a client under test: what is filled in, and what is refused before anything starts."""

from __future__ import annotations

import sys

import pytest

from rebalance_check.integration.kits.client.placeholders import ClientCommand, without_instance
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

NEEDED = ("{bootstrap}", "{group}", "{topic}")
VALUES = {"bootstrap": "h:1", "group": "g", "topic": "t", "member": "p0"}


def test_each_placeholder_is_replaced_wherever_it_stands() -> None:
    command = ClientCommand((sys.executable, "-b={bootstrap}", "{group}/{topic}", "{member}{member}", "{other}{"))
    assert command.filled(**VALUES, instance="") == [sys.executable, "-b=h:1", "g/t", "p0p0", "{other}{"]


@pytest.mark.parametrize(
    ("words", "dynamic"),
    [
        (["--instance", "{instance}", "x"], ["x"]),
        (["-X", "group.instance.id={instance}", "x"], ["x"]),
        (["-v", "--instance={instance}", "x"], ["-v", "x"]),
        (["g", "{instance}", "x"], ["g", "x"]),
        (["{instance}"], []),
        (["g"], ["g"]),
    ],
)
def test_a_dynamic_member_has_no_argument_with_the_instance_and_no_option_for_it(
    words: list[str], dynamic: list[str]
) -> None:
    command = ClientCommand((sys.executable, *NEEDED, *words))
    assert command.filled(**VALUES, instance="")[4:] == dynamic == without_instance(words)
    assert command.filled(**VALUES, instance="i-7")[4:] == [word.replace("{instance}", "i-7") for word in words]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "no command is given"),
        (
            (sys.executable, "{bootstrap}", "{topic}"),
            r"has no \{group\}: write it where the program takes the group.id",
        ),
        (("no-such-program-here", *NEEDED), "there is no program 'no-such-program-here'"),
    ],
)
def test_a_command_that_cannot_work_is_refused(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(RebalanceCheckError, match=says):
        ClientCommand(words)
