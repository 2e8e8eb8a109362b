"""Whether somebody asked the process to end. The first signal asks, a second one ends it at once."""

from __future__ import annotations

import signal
from typing import TextIO


class _Asked(BaseException):
    """Leaves a wait for input; never seen outside of this module."""


class Stop:
    def __init__(self) -> None:
        self._asked = False
        self._waiting = False

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def ask(self) -> None:
        self._asked = True

    def asked(self) -> bool:
        return self._asked

    def read_line(self, source: TextIO) -> str | None:
        """The next line with its line break; '' at the end of the input; None when asked to end."""
        try:
            self._waiting = True
            line = None if self._asked else source.readline()
            self._waiting = False
        except _Asked:
            return None
        return None if self._asked else line

    def _on_signal(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        self._asked = True
        if self._waiting:
            self._waiting = False
            raise _Asked
