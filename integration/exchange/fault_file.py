"""Files of faults, in the language of scenarios: a fault on each line, `docs/broker.md` shows some.

# The first JoinGroup of the client a is late; then its coordinator moves.
delay JoinGroup 500 client=a
move Heartbeat 2 client=a nth=3
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from rebalance_check.impl.scenarios.document import Scenario, ScenarioLine
from rebalance_check.impl.scenarios.verbs import Language, Options
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.wire.messages import KEY_OF
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

SELECTION: Final = "nth# times# client instance process member"
"""At which requests a fault strikes."""

FAULT_LANGUAGE: Final[Language[FaultPlan]] = Language("faults", {"API": KEY_OF.__contains__, "NODE": str.isdecimal})


def read_faults(path: Path) -> FaultPlan:
    """The faults in a file.

    Raises: RebalanceCheckError for a file that cannot be read, and for a line that is no fault: file, line, what was
    wrong, and what to write.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RebalanceCheckError(f"cannot read faults from {path}: {error}; name a text file") from None
    return faults_in(text, path.name)


def faults_in(text: str, file: str) -> FaultPlan:
    """The faults in a text; ``file`` is the name that its errors begin with.

    Raises: RebalanceCheckError as `read_faults`.
    """
    plan = FaultPlan()
    for number, line in enumerate(text.splitlines(), 1):
        step = ScenarioLine.parse(line.partition("#")[0], number)
        if step.step:
            with Scenario("", (step,), file).located(step):
                FAULT_LANGUAGE.perform(plan, step.step)
    return plan


def line_of(fault: Fault) -> str:
    """The line that stands for a fault which was read from a file."""
    verb, details = _WRITTEN[fault.effect](fault)
    named = {
        "nth": str(fault.nth) if fault.nth > 1 else "",
        "times": str(fault.times) if fault.times > 1 else "",
        "client": fault.client_id,
        "instance": fault.instance_id,
        "process": fault.process,
        "member": fault.member_id,
    }
    options = [shlex.quote(f"{name}={value}") for name, value in named.items() if value]
    return " ".join([verb, fault.api, *details, *options])


_WRITTEN: Final[Mapping[Effect, Callable[[Fault], tuple[str, list[str]]]]] = {
    Effect.DELAY: lambda fault: ("delay", [str(round(fault.delay_s * 1000))]),
    Effect.DROP_REPLY: lambda _: ("drop", []),
    Effect.CLOSE_BEFORE: lambda _: ("close-before", []),
    Effect.CLOSE_AFTER: lambda _: ("close-after", []),
    Effect.ANSWER: lambda fault: ("answer", [fault.error.name]),
    Effect.MOVE_COORDINATOR: lambda fault: ("move", [str(fault.node)]),
    Effect.END_SESSION: lambda _: ("end-session", []),
    Effect.JUMP_CLOCK: lambda fault: ("jump-clock", [str(fault.jump_ms)]),
}


def _add(plan: FaultPlan, api: str, effect: Effect, options: Options, **more: Any) -> str:
    plan.add(
        Fault(
            api,
            effect,
            nth=int(options.get("nth", "1")),
            times=int(options.get("times", "1")),
            client_id=options.get("client", ""),
            instance_id=options.get("instance", ""),
            process=options.get("process", ""),
            member_id=options.get("member", ""),
            **more,
        )
    )
    return ""


@FAULT_LANGUAGE.verb("delay", "API MS", SELECTION)
def delay(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The request is handled so many ms later; what its client sends behind it on the connection waits, too."""
    return _add(plan, words[0], Effect.DELAY, options, delay_s=int(words[1]) / 1000)


@FAULT_LANGUAGE.verb("drop", "API", SELECTION)
def drop(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The request is handled and its reply thrown away; the connection stays open."""
    return _add(plan, words[0], Effect.DROP_REPLY, options)


@FAULT_LANGUAGE.verb("close-before", "API", SELECTION)
def close_before(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The connection is closed, and the request is not handled."""
    return _add(plan, words[0], Effect.CLOSE_BEFORE, options)


@FAULT_LANGUAGE.verb("close-after", "API", SELECTION)
def close_after(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The request is handled, and the connection closed instead of a reply."""
    return _add(plan, words[0], Effect.CLOSE_AFTER, options)


@FAULT_LANGUAGE.verb("answer", "API ERROR", SELECTION)
def answer(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The request is not handled; the reply has this error."""
    return _add(plan, words[0], Effect.ANSWER, options, error=Error[words[1]])


@FAULT_LANGUAGE.verb("move", "API NODE", SELECTION)
def move(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The coordinator of the request's group moves to this node; only then is the request handled."""
    return _add(plan, words[0], Effect.MOVE_COORDINATOR, options, node=int(words[1]))


@FAULT_LANGUAGE.verb("end-session", "API", SELECTION)
def end_session(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The coordinator lets the session of the sender expire; only then is the request handled."""
    return _add(plan, words[0], Effect.END_SESSION, options)


@FAULT_LANGUAGE.verb("jump-clock", "API MS", SELECTION)
def jump_clock(plan: FaultPlan, words: list[str], options: Options) -> str:
    """The coordinator's clock jumps so many ms ahead; only then is the request handled."""
    return _add(plan, words[0], Effect.JUMP_CLOCK, options, jump_ms=int(words[1]))
