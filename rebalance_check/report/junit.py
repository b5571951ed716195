"""JUnit XML, as CI systems read it: a suite per group of claims, a case per claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO

from junitparser import Error, Failure, Skipped
from junitparser.xunit2 import JUnitXml, TestCase, TestSuite

from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.terminal import visible, visible_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitCase:
    """One claim. A violated one is a failure, an undecided one an error, an untested one is skipped.

    The first line of ``text`` is the message of the result, the whole its content. ``properties`` are shown by name.
    """

    name: str
    outcome: Outcome
    text: str = ""
    seconds: float = 0.0
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitSuite:
    """Cases that belong together; the name of the suite is the class name of its cases."""

    name: str
    cases: Sequence[JUnitCase]
    properties: Mapping[str, str] = field(default_factory=dict)


_RESULTS = {Outcome.VIOLATED: Failure, Outcome.UNDECIDED: Error, Outcome.UNTESTED: Skipped}


def junit_xml(suites: Sequence[JUnitSuite]) -> bytes:
    r"""The document, without timestamps; characters that a terminal obeys, some forbidden in XML, are escaped.

    Suites have names and properties of their own: two that agree in both become one.
    """
    document = JUnitXml("rebalance-check")
    for suite in suites:
        document.add_testsuite(_suite(suite))
    document.update_statistics()  # type: ignore[no-untyped-call] # the library has no type here
    written = BytesIO()
    document.write(written, pretty=True)
    return written.getvalue()


def _suite(suite: JUnitSuite) -> TestSuite:
    element = TestSuite(visible(suite.name))  # type: ignore[no-untyped-call] # the library has no type here
    _add_properties(element, suite.properties)
    element.add_testcases([_case(case, suite.name) for case in suite.cases])
    return element


def _case(case: JUnitCase, suite: str) -> TestCase:
    element = TestCase(visible(case.name), visible(suite), case.seconds)
    _add_properties(element, case.properties)
    if case.outcome in _RESULTS:
        result = _RESULTS[case.outcome](visible(case.text.partition("\n")[0]), case.outcome.value)
        result.text = visible_lines(case.text)
        element.result = [result]
    return element


def _add_properties(element: TestSuite | TestCase, properties: Mapping[str, str]) -> None:
    for name, value in properties.items():
        element.add_property(visible(name), visible(value))
