"""Scenario files: titled paragraphs of steps, each with its expected answer, and how answers are rewritten.

A file is read line by line. ``[title]`` begins a scenario; ``step -> answer`` or a bare ``step`` (expected answer:
none) belongs to the scenario above it; ``#`` begins a comment; empty lines separate. The format is the same for
coordinators, clients, the simulator and the model: the words of a step differ, and are declared in a `Language`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

ARROW: Final = "->"


@dataclass(frozen=True, slots=True)
class ScenarioLine:
    """A step, the answer that is expected of it, and where it stands in its file (1 is the first line)."""

    number: int
    step: str
    expected: str

    @classmethod
    def parse(cls, text: str, number: int = 0) -> ScenarioLine:
        """Read ``step -> answer``; runs of spaces in an answer count as one."""
        step, _, expected = text.partition(ARROW)
        return cls(number, step.strip(), " ".join(expected.split()))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A titled list of steps; ``file`` is the name of the file that they stand in."""

    title: str
    lines: tuple[ScenarioLine, ...]
    file: str = ""

    @classmethod
    def of(cls, lines: Sequence[str], title: str = "", file: str = "") -> Scenario:
        """A scenario of lines that stand in no file."""
        return cls(title, tuple(ScenarioLine.parse(line, at) for at, line in enumerate(lines, 1)), file)

    @contextmanager
    def located(self, line: ScenarioLine) -> Iterator[None]:
        """Put the place of a line, ``static.scenario:12``, before the text of a RebalanceCheckError."""
        try:
            yield
        except RebalanceCheckError as error:
            place = f"{self.file}:{line.number}" if self.file else f"line {line.number}"
            raise RebalanceCheckError(f"{place}: {error}") from error

    def expected(self) -> list[str]:
        """The lines as the file has them."""
        return self.answered([line.expected for line in self.lines])

    def answered(self, answers: Sequence[str]) -> list[str]:
        """The lines with these answers, one for each step."""
        return [_joined(line.step, _normal(answer)) for line, answer in zip(self.lines, answers, strict=True)]


def scenarios_in(text: str, file: str = "") -> Iterator[Scenario]:
    """Read the text of a scenario file; ``file`` is its name, for error messages.

    Raises: RebalanceCheckError where a step stands before the first title, or two scenarios have one title.
    """
    title, lines, seen = "", list[ScenarioLine](), set[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            if title:
                yield Scenario(title, tuple(lines), file)
            title, lines = line.strip()[1:].removesuffix("]"), []
            if title in seen:
                raise RebalanceCheckError(f"{file}:{number}: two scenarios have the title {title!r}: choose another")
            seen.add(title)
        elif not title:
            raise RebalanceCheckError(f"{file}:{number}: {line!r} stands before the first title: begin with [a title]")
        else:
            lines.append(ScenarioLine.parse(line, number))
    if title:
        yield Scenario(title, tuple(lines), file)


def rewritten(text: str, scenario: Scenario, answers: Sequence[str], *, aligned: bool = False) -> str:
    """The text of a scenario file in which a scenario expects these answers, one for each of its steps.

    Comments, titles, spacing, other scenarios, and lines whose answer is right stay as they are. With ``aligned`` a
    scenario that has a wrong answer gets its arrows in one column.
    """
    wrong = [line for line, answer in zip(scenario.lines, answers, strict=True) if line.expected != _normal(answer)]
    if not wrong:
        return text
    lines = text.split("\n")
    answered = [line.step for line, answer in zip(scenario.lines, answers, strict=True) if answer]
    width = max(map(len, answered), default=0) if aligned else 0
    for line, answer in zip(scenario.lines, answers, strict=True):
        if aligned or line in wrong:
            lines[line.number - 1] = _joined(line.step.ljust(width), answer)
    return "\n".join(lines)


def _normal(answer: str) -> str:
    return " ".join(answer.split())


def _joined(step: str, answer: str) -> str:
    """A step with its answer; an arrow without an answer is no line that anybody writes."""
    return f"{step} {ARROW} {answer.rstrip()}" if answer.strip() else step.rstrip()
