#!/usr/bin/env python3
"""Records a command's output on a terminal, with its times, as asciicast v2: record.py FILE SHOWN COMMAND...

SHOWN is the line that the recording shows as typed; COMMAND is run. `asciinema play FILE` plays the recording.
Exits with the exit code of the command.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios
import time
from pathlib import Path

COLUMNS, ROWS = 120, 30
FRAME_S = 1
"""Output that comes within so many seconds is one frame: progress bars write far more often than anyone can see."""
ERASE = "\r\x1b[2K"
"""Removes a line. At the end of a frame it is left to the next one, or the line would never be seen."""
LONGEST_PAUSE_S = 2
"""A player shortens longer pauses to this."""


def spawn(command: list[str]) -> tuple[int, int]:
    """Start the command on a terminal of its own; its process id, and the other end of the terminal."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(sys.stdout.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    return child, terminal


def chunks(terminal: int) -> list[tuple[float, bytes]]:
    """The output of the terminal until it is closed, each chunk with the seconds since the start."""
    started = time.monotonic()
    seen: list[tuple[float, bytes]] = []
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal's last process so
            return seen
        if not data:
            return seen
        at = time.monotonic() - started
        if seen and at - seen[-1][0] < FRAME_S:
            seen[-1] = (seen[-1][0], seen[-1][1] + data)
        else:
            seen.append((at, data))
        os.write(sys.stdout.fileno(), data)


def last_state_of_lines(text: str) -> str:
    """A frame without the text that it overwrites itself: of a line or character written several times, the last."""
    lines = re.sub(r"[^\n\x08]\x08", "", text).split("\n")
    return "\n".join(line if line.count("\r") < 2 else "\r" + line.rstrip("\r").rpartition("\r")[2] + (
        "\r" if line.endswith("\r") else "") for line in lines)  # fmt: skip


def asciicast(shown: str, seen: list[tuple[float, bytes]]) -> str:
    """The recording, one JSON value a line: the header, then [seconds, "o", text]."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "idle_time_limit": LONGEST_PAUSE_S, "title": shown}
    frames: list[list[object]] = [[0.0, "o", f"$ {shown}\r\n"]]
    erase = ""
    for at, data in seen:
        text = erase + decode(data)
        erase = ERASE if text.endswith(ERASE) else ""
        frames.append([round(at, 2), "o", last_state_of_lines(text.removesuffix(erase))])
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in [header, *frames])


def main() -> None:
    """Record one command."""
    file, shown, *command = sys.argv[1:]
    child, terminal = spawn(command)
    seen = chunks(terminal)
    _, status = os.waitpid(child, 0)
    Path(file).write_text(asciicast(shown, seen), encoding="utf-8")
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
