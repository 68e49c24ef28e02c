"""A word on what is being done while it takes long: on a terminal only, and gone when it is
done.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def doing(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show a spinner with these words on standard error when that is a terminal; print nothing
    elsewhere.
    """
    if quiet or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(f"{what} …"):
        yield
