"""What an engine does: take batches, give rows back as they come, and name what was lost."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.computation.batches import Batch, row_of
from dra_planner.portfolio.answers import CellFault

ATTEMPTS = 4
"""How often a batch is tried whose workers end: any worker may be taken away, a cell that ends four
has a fault.
"""


class Done(Struct, frozen=True):
    """The rows of a batch, and the CPU seconds that they took."""

    batch: Batch
    rows: list[AnswerRow]
    cpu_seconds: float = 0.0


class CellEngine(Protocol):
    """Runs batches; `workers` is how many at the same time, `is_ours` whether these are processes
    started for it.
    """

    @property
    def is_ours(self) -> bool: ...

    @property
    def workers(self) -> int: ...

    @property
    def name(self) -> str: ...

    def run(self, batches: Iterable[Batch], inputs: Mapping[str, bytes]) -> Iterator[Done]:
        """Yield every batch once, whole or as several of its cells each, in any order."""
        ...

    def close(self) -> None:
        """End what was started; what is under way is dropped."""
        ...


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Start processes in here: Ctrl-C, which a terminal sends to all of them, reaches this one
    alone, and afterwards.

    A process inherits which signals its parent holds back. Does nothing where the system has no
    such masks.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def single_cells(batch: Batch) -> list[Batch]:
    """Return a batch for each cell of a batch."""
    return [replace(batch, cells=(cell,)) for cell in batch.cells]


def lost(batch: Batch, why: str) -> Done:
    """Return what is said of a batch of one cell that no worker finishes."""
    fix = "raise `limits.memoryGib`, or the memory of the workers"
    fault = CellFault(kind="worker", message=f"{why}, {ATTEMPTS} times", fix=fix)
    return Done(batch, [row_of(cell, fault) for cell in batch.cells])
