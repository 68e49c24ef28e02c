"""Says what a long step is doing: a live line on a terminal, plain lines with times in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TextIO

_QUIET_SECONDS = 20.0


@dataclass
class Step:
    """One running step; `update` may be called as often as there is news."""

    title: str
    stream: TextIO
    started: float = field(default_factory=time.monotonic)
    _printed: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the step began."""
        return time.monotonic() - self.started

    def update(self, news: str) -> None:
        """Tell how far the step is; a pipe sees at most one line every 20 seconds."""
        if time.monotonic() - self._printed >= _QUIET_SECONDS:
            self._printed = time.monotonic()
            print(f"  … {self.title}: {news} ({self.elapsed:.0f} s)", file=self.stream, flush=True)


@dataclass
class _LiveStep(Step):
    """A step drawn as one live line by rich."""

    status: object = None

    def update(self, news: str) -> None:
        from rich.status import Status

        assert isinstance(self.status, Status)
        self.status.update(f"{self.title}: {news} ({self.elapsed:.0f} s)")


@contextlib.contextmanager
def step(title: str, stream: TextIO | None = None) -> Generator[Step]:
    """Announce `title`, let the body report on the step, and say how long it took.

    On a terminal the line is live; in a pipe, or without rich, there is a line at the start and one at the end.
    """
    out = stream if stream is not None else sys.stderr
    running: Step
    with contextlib.ExitStack() as stack:
        if out.isatty():
            from rich.console import Console

            status = stack.enter_context(Console(file=out).status(title))
            running = _LiveStep(title, out, status=status)
        else:
            print(f"{title} …", file=out, flush=True)
            running = Step(title, out)
        try:
            yield running
        except BaseException:
            stack.close()
            print(f"{title}: stopped after {running.elapsed:.0f} s", file=out, flush=True)
            raise
    print(f"{title}: done in {running.elapsed:.0f} s", file=out, flush=True)
