"""A scenario language: its verbs with their arguments, how a line is checked, and the table that documents them.

A line is a verb, words, and options (``name=value``, in any order). A verb is a function that is registered with
`Language.verb`: the words it takes, its options, and its docstring serve the checks and the printed table.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Generic, TypeVar

from rebalance_check.impl.scenarios.document import Scenario
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

Runner = TypeVar("Runner")
Options = dict[str, str]

NUMBER: Final = "#"
"""Behind the name of an option whose value is a whole number."""


def _is_number(word: str) -> bool:
    return word.removeprefix("-").isdecimal()


WORD_CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "GENERATION": lambda word: word == "last" or _is_number(word),
    "MS": _is_number,
    "ERROR": lambda word: word in Error.__members__,
    "TOPIC-PARTITION": lambda word: _is_number(word.rpartition("-")[2]),
}
"""The form of a word of this kind; a kind that is missing here takes any word."""


@dataclass(frozen=True)
class Verb(Generic[Runner]):
    """The first word of a line: the kinds of its words and how each is checked, its options, the runner's action."""

    name: str
    words: tuple[str, ...]
    options: tuple[str, ...]
    run: Callable[[Runner, list[str], Options], str]
    checks: Mapping[str, Callable[[str], bool]]

    @property
    def purpose(self) -> str:
        """Its purpose, in a sentence: the function's docstring."""
        return " ".join((self.run.__doc__ or "").split())

    @property
    def usage(self) -> str:
        """``sync MEMBER GENERATION [give= version=]``."""
        options = f"[{' '.join(f'{option.removesuffix(NUMBER)}=' for option in self.options)}]" if self.options else ""
        return " ".join(part for part in (self.name, *self.words, options) if part)

    def complaint(self, words: list[str], options: Options) -> str:
        """The mistake in these words and options; empty when there is none."""
        least = sum(not kind.startswith("[") for kind in self.words)
        most = 1_000 if any(kind.endswith("...") for kind in self.words) else len(self.words)
        if not least <= len(words) <= most:
            return f"it has {len(words)} words behind the verb"
        kinds = {option.removesuffix(NUMBER): option.endswith(NUMBER) for option in self.options}
        for name, value in options.items():
            if name not in kinds:
                return f"{name}= is no option of this verb"
            if kinds[name] and not _is_number(value):
                return f"{name}= takes a whole number, and not {value!r}"
        kind_at = [self.words[min(at, len(self.words) - 1)] for at in range(len(words))]
        wrong = [(word, kind) for word, kind in zip(words, kind_at, strict=True) if not self._fits(word, kind)]
        return f"{wrong[0][0]!r} is no {wrong[0][1].strip('[].')}" if wrong else ""

    def _fits(self, word: str, kind: str) -> bool:
        """Whether a word is of its kind; of literal words in brackets, any may stand there."""
        bare = kind.strip("[].")
        if bare.islower():
            return any(word in other.strip("[].").split("|") for other in self.words)
        return self.checks.get(bare, bool)(word)


class Language(Generic[Runner]):
    """The verbs that the lines of one kind of scenario file may use; ``name`` says of which kind.

    ``checks`` are more kinds of words, as in `WORD_CHECKS`.
    """

    def __init__(self, name: str, checks: Mapping[str, Callable[[str], bool]] = WORD_CHECKS) -> None:
        self.name = name
        self._checks = {**WORD_CHECKS, **checks}
        self.verbs: dict[str, Verb[Runner]] = {}
        # Campaigns send the same line to several coordinators.
        self._parsed = lru_cache(maxsize=1 << 12)(self._parse)

    def verb(
        self, name: str, words: str = "", options: str = ""
    ) -> Callable[[Callable[[Runner, list[str], Options], str]], Callable[[Runner, list[str], Options], str]]:
        """Register a function as a verb.

        ``words`` names the kinds of its words in order: ``MEMBER``, ``MEMBER...`` for one or more, ``[all]`` for one
        that may be left out, ``commit|abort`` for a choice. ``options`` names its options; those that take a whole
        number end in ``#``.
        """

        def register(run: Callable[[Runner, list[str], Options], str]) -> Callable[[Runner, list[str], Options], str]:
            self.verbs[name] = Verb(name, tuple(words.split()), tuple(options.split()), run, self._checks)
            return run

        return register

    def perform(self, runner: Runner, line: str) -> str:
        """Perform a line; the answer.

        Raises: RebalanceCheckError for a verb that is unknown, and for words and options that it does not take.
        """
        verb, words, options = self._parsed(line)
        return verb.run(runner, [*words], {**options})

    def answers(self, runner: Runner, scenario: Scenario) -> list[str]:
        """The answer to each line of a scenario; to that of a line with several steps (``a, b``) the last one's.

        Raises: RebalanceCheckError for a line that is malformed or cannot be done, with its file and number.
        """
        answers: list[str] = []
        for line in scenario.lines:
            with scenario.located(line):
                answers.append([self.perform(runner, step) for step in line.step.split(", ")][-1])
        return answers

    def table(self) -> str:
        """The verbs with their usage and purpose, as a Markdown table."""
        rows = [f"| `{verb.usage.replace('|', chr(92) + '|')}` | {verb.purpose} |" for verb in self.verbs.values()]
        return "\n".join(["| line | meaning |", "|---|---|", *rows])

    def _parse(self, line: str) -> tuple[Verb[Runner], tuple[str, ...], Options]:
        """The verb of a line, its words and its options."""
        name, *rest = _words_of(line)
        verb = self.verbs.get(name)
        if verb is None:
            known = ", ".join(sorted(self.verbs))
            raise RebalanceCheckError(f"{name!r} in {line!r} is no verb of {self.name}: use one of {known}")
        words = [word for word in rest if not is_option(word)]
        options = dict(word.split("=", 1) for word in rest if is_option(word))
        complaint = verb.complaint(words, options)
        if complaint:
            raise RebalanceCheckError(f"{line!r} is malformed: {complaint}; write {verb.usage}")
        return verb, tuple(words), options


def _words_of(line: str) -> list[str]:
    try:
        return shlex.split(line) if set(line) & set("\"'\\#") else line.split()
    except ValueError as error:
        raise RebalanceCheckError(f"{line!r} is malformed: {error}; write quotation marks in pairs") from None


def is_option(word: str) -> bool:
    """Whether a word is ``name=value``; ``=name`` is not, and neither are bounds, ``eager?members=2``."""
    return "=" in word[1:].partition("?")[0]
