"""Progress of a run: cells, rate, and remaining time, only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dra_command.portfolio.computation.execution import RunLog


@contextmanager
def shown(*, quiet: bool) -> Iterator[Callable[[RunLog], None]]:
    """Yield a function to call after every batch. It draws a progress line on standard error if
    that is a terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda log: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("cells", total=None, rate="")

        def draw(log: RunLog) -> None:
            progress.update(
                task, total=log.missing, completed=log.computed, rate=f"{log.rate:.1f} cells/s"
            )

        yield draw
