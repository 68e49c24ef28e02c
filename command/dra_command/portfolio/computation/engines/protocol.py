"""The interface of an engine: it computes batches, returns rows as they arrive, and reports lost
batches.
"""

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
"""Number of attempts for a batch whose workers crash. Any worker can be lost, but if four workers
crash, the cell is the cause.
"""


class Done(Struct, frozen=True):
    """The rows of a batch, and the CPU seconds that the computation took."""

    batch: Batch
    rows: list[AnswerRow]
    cpu_seconds: float = 0.0


class CellEngine(Protocol):
    """Computes batches. `workers` is the number of batches computed at the same time, and `is_ours`
    is set if this process started the workers.
    """

    @property
    def is_ours(self) -> bool: ...

    @property
    def workers(self) -> int: ...

    @property
    def name(self) -> str: ...

    def run(self, batches: Iterable[Batch], inputs: Mapping[str, bytes]) -> Iterator[Done]:
        """Yield every batch once, in any order, either complete or split into several parts."""
        ...

    def close(self) -> None:
        """Stop the started processes. Batches in progress are dropped."""
        ...


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Start processes in this context, so that only this process receives Ctrl-C, which a terminal
    sends to all processes.

    It's received after the context ends. This works because a process inherits its parent's blocked
    signals. On systems without signal masks, this does nothing.
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
    """Return a separate batch for each cell in a batch."""
    return [replace(batch, cells=(cell,)) for cell in batch.cells]


def lost(batch: Batch, reason: str) -> Done:
    """Return the message for a batch with one cell that no worker completes."""
    fix = "raise `limits.memoryGib` in the portfolio, or give the workers more memory"
    fault = CellFault(kind="worker", message=f"{reason}, {ATTEMPTS} times", fix=fix)
    return Done(batch, [row_of(cell, fault) for cell in batch.cells])
