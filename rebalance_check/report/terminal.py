"""Text for a terminal: a name of a history, a wire, a file or an argument can neither colour, move nor forge a line."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

PROGRAM: Final = "rebalance-check"


def visible(text: str) -> str:
    r"""The text on one line, with every character that a terminal would obey written as an escape (``\x1b``).

    Escaped are the control characters (C0, C1, DEL), line ends of any kind, format characters such as bidirectional
    overrides and zero-width joiners, lone surrogates (bytes of a file name that are no UTF-8), and glyphless ones:
    all that Python's ``str.isprintable`` refuses. Text without them is returned as it is.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def visible_lines(text: str) -> str:
    """The same for text of several lines: its line feeds stay, all else is escaped."""
    return "\n".join(map(visible, text.split("\n")))


def suggested(*words: object) -> str:
    """A command of this program to paste into a shell, each word quoted.

    A path that begins with a dash is written with ``./``, so that it is no option. A word with characters that a
    terminal would obey is spelled by ``printf``, which every POSIX shell has (a line end at its end is lost).
    """
    return " ".join([PROGRAM, *map(_quoted, words)])


def _quoted(word: object) -> str:
    text = f"./{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
    if text.isprintable():
        return shlex.quote(text)
    spelled = "".join(map(_spelled, text.encode("utf-8", "surrogateescape")))
    return f"\"$(printf '{spelled}')\""


def _spelled(byte: int) -> str:
    """One byte in the format of ``printf``: itself where it means nothing there, else three octal digits."""
    char = chr(byte)
    return char if char.isascii() and char.isprintable() and char not in "'\\%" else f"\\{byte:03o}"
