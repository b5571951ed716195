"""The process protocol: lines are answered in order, also when they fill both pipes; a refusal and an end say why."""

import sys

import pytest

from rebalance_check.integration.jvm import JavaChild
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

ECHO = "import sys\nfor line in sys.stdin: sys.stdout.write(line); sys.stdout.flush()"
REFUSES = 'import sys\nfor line in sys.stdin: print(\'{"refused":"no"}\', flush=True)'
ENDS = "import sys\nsys.stdin.readline(); sys.exit('out of order')"


def child(program: str) -> JavaChild:
    return JavaChild("a program", [sys.executable, "-c", program])


def test_answers_come_in_order__also_when_both_pipes_are_full() -> None:
    asked = [[number, "x" * 1000] for number in range(2_000)]
    with child(ECHO) as echo:
        answers = echo.answers_to(asked)
    assert answers == [f'[{number},"{text}"]'.encode() for number, text in asked]


def test_an_answer_is_received_with_its_number() -> None:
    seen: list[tuple[int, bytes]] = []
    with child(ECHO) as echo:
        first = echo.next_number
        numbers = [echo.send({"at": at}, lambda number, line: seen.append((number, line))) for at in range(2)]
        echo.wait(numbers[1])
    assert numbers == [first, first + 1]
    assert seen == [(numbers[0], b'{"at":0}'), (numbers[1], b'{"at":1}')]


def test_a_refusal_is_an_error() -> None:
    with child(REFUSES) as refusing, pytest.raises(RebalanceCheckError, match="a program refused: no"):
        refusing.answer_to({})


def test_an_end_says_what_the_process_printed_last() -> None:
    with child(ENDS) as ending, pytest.raises(RebalanceCheckError, match=r"ended with exit code 1 .*: out of order"):
        ending.answer_to({})
