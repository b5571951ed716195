"""The command ``rebalance-check``: which sub-commands there are, and the look of each way of failing.

Exit codes: 0 held, 10 a safety invariant is violated, 11 a liveness invariant is, 12 undecided, 2 wrong use or bad
input, 70 a fault of our own, 130 ended by SIGINT, 143 by SIGTERM, 129 by SIGHUP. A sub-command is a module of
`rebalance_check.commands` that is imported only when it is called, so that each needs no more than its own extra.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Final

import click

from rebalance_check.commands._console import json_line
from rebalance_check.commands._extras import EXTRAS
from rebalance_check.integration.interrupts import orderly_end
from rebalance_check.model.version import __version__
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.report.terminal import visible, visible_lines

COMMANDS: Final = {
    "run": "The whole job at small bounds: explore, fuzz, compare, judge; one table, one verdict.",
    "explore": "Check the claims on every state of the model within bounds.",
    "fuzz": "Simulate groups, or a subject of yours; judge every run, explain one per broken claim.",
    "compare": "Ask two subjects the same: the model, our coordinator, Kafka's, any broker, assignors.",
    "assignors": "Judge Kafka's own assignors of any release.",
    "conform": "Try any Kafka client or broker, and report claim by claim.",
    "live": "Run real clients under churn against a broker, record and judge them.",
    "broker": "Run a broker in memory for any client, and record what happens.",
    "judge": "Judge recorded histories.",
    "diagnose": "Say why groups rebalance, from logs of brokers, clients and Connect workers.",
    "report": "Show a recorded history as text or as a page, a lane per member.",
    "mutants": "List the planted defects, what catches each, and the command that finds it.",
    "invariants": "List the invariants, with their claims, sources and premises.",
    "schema": "Print the JSON Schema of histories, or of one event.",
}
"""The sub-commands, in the order of help, each with its line."""

FORMER: Final = {"replay": "compare model BROKER [ADDRESS], or explore ADDRESS"}
"""Former names of sub-commands, and the texts to write instead."""

OURS: Final = frozenset({errno.EBADF, errno.ECHILD, errno.EFAULT, errno.ENOTSOCK, errno.ESRCH})
"""The system's refusals of a wrong use by this program; all else lies in the command or in the machine."""


class Commands(click.Group):
    """Finds sub-commands by name, and lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The sub-command, imported now; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        found = importlib.import_module(f"rebalance_check.commands.{cmd_name}").command
        return found if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The sub-command that the first word names; a wrong one is refused with the nearest name."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = FORMER.get(name) or next(iter(get_close_matches(name, COMMANDS, 1)), "")
            hint = f" Did you mean {near}?" if near else " `rebalance-check --help` lists the commands."
            raise click.UsageError(f"No such command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's own
        """The section of help that lists them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="rebalance-check")
def cli() -> None:
    """Prove, fuzz and replay Kafka group rebalancing until "exactly one owner" is a fact.

    Exit codes: 0 held, 10 safety violated, 11 liveness violated, 12 undecided, 2 wrong use or bad input, 70 our own
    fault. Every sub-command takes --json, and --help-all where it has more options than --help shows.
    """


def run(arguments: Sequence[str]) -> int:
    """Run the command with these arguments and return its exit code; nothing is raised but SystemExit by a debugger."""
    as_json = "--json" in arguments
    try:
        result = cli.main(list(arguments), prog_name="rebalance-check", standalone_mode=False)
    except click.ClickException as fault:
        return _misused(fault, as_json)
    except RebalanceCheckError as fault:
        return _fail(str(fault), ExitCode.USAGE, as_json)
    except (click.Abort, KeyboardInterrupt) as end:
        return _fail(_ended("SIGINT", end), ExitCode.INTERRUPTED, as_json)
    except SystemExit as end:  # of `orderly_end`
        code = end.code if isinstance(end.code, int) else ExitCode.OUR_FAULT
        if not code:  # of Click, which has printed a shell's completions
            return code
        if code < _SIGNALLED:  # of Click, where the reader of a pipe ended
            return _fail(
                "the output is not read to its end: have a program that does so take it", ExitCode.USAGE, False
            )
        return _fail(_ended(_signal_of(code), end), code, as_json)
    except MemoryError:
        return _fail("the memory ran out before there was a verdict: ask for less, or give it more memory",
                     ExitCode.UNDECIDED, as_json)  # fmt: skip
    except ModuleNotFoundError as fault:
        extra = EXTRAS.get((fault.name or "").split(".")[0])
        if extra is None:
            return _our_fault(fault, as_json)
        needs = f"this needs {fault.name}, which is not installed: pip install 'rebalance-check[{extra}]'"
        return _fail(needs, ExitCode.USAGE, as_json)
    except OSError as fault:
        return _refused(fault, as_json)
    except Exception as fault:  # the last line of defence: a traceback must never look like a verdict
        return _our_fault(fault, as_json)
    return result if isinstance(result, int) else 0


COMPILATION: Final = "rebalance_check.model.checker.safety.compilation"
"""The module that compiles in a thread, where that was asked for."""


def main() -> None:
    """The console script. Asked to end, it still gives back temporary folders, processes, brokers."""
    _open_standard_streams()
    with orderly_end():
        code = run(sys.argv[1:])
        if not _output_works():  # the rest of a failed write in the buffer is not tried again at the end of the process
            code = code or ExitCode.USAGE
    if COMPILATION in sys.modules:
        _leave_compiler(code)
    sys.exit(code)


_SIGNALLED: Final = 128
"""Exit codes from here on say which signal ended a command."""


def _ended(by: str, end: BaseException) -> str:
    """The sentence for a command that a signal ended: also its note for that case. Click raises its own
    exception in place of the interrupt."""
    noted = [note for each in (end, end.__cause__) for note in getattr(each, "__notes__", ())]
    return "; ".join([f"ended by {by}", *noted])


def _signal_of(code: int) -> str:
    """The name of the signal behind an exit code of 128 and more."""
    names = {128 + number: number.name for number in signal.Signals}
    return names.get(code, f"exit code {code}")


def _open_standard_streams() -> None:
    """Have all three: a closed one would lend its number to the next file, and children would print into that.

    Characters that the terminal's encoding lacks are escaped.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _misused(fault: click.ClickException, as_json: bool) -> int:
    """Report Click's refusal, with how the command is used."""
    sentence = fault.format_message()
    if not sentence.replace("\n", "").replace("\t", "").isprintable():
        sentence = visible(sentence)
        fault = click.UsageError(sentence, getattr(fault, "ctx", None))
    with suppress(OSError):
        fault.show()
    return _print_error(sentence, ExitCode.USAGE, as_json)


def _leave_compiler(code: int) -> None:
    """End the process at once where a thread still compiles: it cannot be stopped, and the interpreter would wait."""
    from rebalance_check.model.checker.safety.compilation import is_compiling  # noqa: PLC0415 - rarely needed

    if is_compiling():
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)


def _fail(sentence: str, code: int, as_json: bool) -> int:
    with suppress(OSError):  # the exit code is left where nothing can be printed
        click.echo(f"rebalance-check: {visible(sentence)}", err=True)
    return _print_error(sentence, code, as_json)


def _print_error(sentence: str, code: int, as_json: bool) -> int:
    if as_json:
        with suppress(OSError):
            click.echo(json_line({"error": sentence, "exit_code": code}))
    return code


def _refused(fault: OSError, as_json: bool) -> int:
    """A path that cannot be used, a full disk, a reader or a broker that went away; the rest is a fault of our own."""
    if not _output_works():
        lost = f"the output cannot be written ({fault.strerror}): have a program that reads to the end take it"
        return _fail(lost, ExitCode.USAGE, as_json=False)
    if isinstance(fault, ConnectionError | TimeoutError):
        return _fail(f"the connection to the broker broke ({fault}): check that it still runs", ExitCode.USAGE, as_json)
    if fault.errno is None or fault.errno in OURS:
        return _our_fault(fault, as_json)
    where = f"{str(fault.filename)!r} cannot be used" if fault.filename else "the system refuses"
    return _fail(f"{where} ({fault.strerror}): name another path, or free some space there", ExitCode.USAGE, as_json)


def _output_works() -> bool:
    """Whether standard output takes output; where it does not, the rest is thrown away."""
    if sys.stdout is None:
        return True
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _our_fault(fault: BaseException, as_json: bool) -> int:
    with suppress(OSError):
        click.echo(visible_lines("".join(traceback.format_exception(fault))), err=True)
    sentence = (
        f"this is a fault of rebalance-check, not of what it looked at ({type(fault).__name__}: {fault}): please "
        f"report the lines above together with the command"
    )
    return _fail(sentence, ExitCode.OUR_FAULT, as_json)


if __name__ == "__main__":
    main()
