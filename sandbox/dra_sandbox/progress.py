"""Says what a long step is doing: a live line on a terminal, plain lines with times in a pipe."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console

_PLAIN_INTERVAL_SECONDS = 20.0


@dataclass
class Step:
    """One running step: set `news` whenever there is some; it is shown beside the time that has
    passed.
    """

    title: str
    news: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the step began."""
        return time.monotonic() - self.started

    def __str__(self) -> str:
        return ", ".join(part for part in (self.title, self.news, f"{self.elapsed:.0f} s") if part)


@contextlib.contextmanager
def step(title: str, stream: TextIO | None = None) -> Generator[Step]:
    """Announce `title`, show now and then how far the body is, and say how long it took.

    On a terminal one line is kept up to date; in a pipe there is a line at the start, one every 20
    seconds and one at the end.
    """
    out = stream if stream is not None else sys.stderr
    running = Step(title)
    end = "done in"
    try:
        with _live(running, out) if out.isatty() else _plain(running, out):
            yield running
    except BaseException:
        end = "stopped after"
        raise
    finally:
        print(f"{title}: {end} {running.elapsed:.0f} s", file=out, flush=True)


@contextlib.contextmanager
def _plain(running: Step, out: TextIO) -> Generator[None]:
    print(f"{running.title} …", file=out, flush=True)
    with _every(_PLAIN_INTERVAL_SECONDS, lambda: print(f"  … {running}", file=out, flush=True)):
        yield


@contextlib.contextmanager
def _live(running: Step, out: TextIO) -> Generator[None]:
    with (
        Console(file=out).status(str(running)) as status,
        _every(0.5, lambda: status.update(str(running))),
    ):
        yield


@contextlib.contextmanager
def _every(seconds: float, action: Callable[[], None]) -> Generator[None]:
    """Call `action` again and again while the body runs."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
