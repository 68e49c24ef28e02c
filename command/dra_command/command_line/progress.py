"""A progress message during long work. It appears only on a terminal, and disappears afterward."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def doing(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show a spinner with this text on standard error if it's a terminal. Otherwise, print
    nothing.
    """
    if quiet or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(f"{what} …"):
        yield
