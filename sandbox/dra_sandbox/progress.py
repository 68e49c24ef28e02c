"""Report the progress of long steps: as a live line on a terminal, and as lines with times in a
pipe.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import TextIO

from msgspec import Struct, field
from rich.console import Console

_PLAIN_INTERVAL_SECONDS = 20.0


class Step(Struct):
    """One running step. The text of `news` is printed next to the elapsed time."""

    title: str
    news: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the step."""
        return time.monotonic() - self.started

    def __str__(self) -> str:
        return ", ".join(part for part in (self.title, self.news, f"{self.elapsed:.0f} s") if part)


@contextlib.contextmanager
def step(title: str, stream: TextIO | None = None) -> Generator[Step]:
    """Print `title`, report the progress of the block from time to time, and print its duration.

    A terminal shows one line that is updated. A pipe gets a line at the start, every 20 seconds,
    and at the end.
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
    """Call `action` repeatedly while the block runs."""
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
