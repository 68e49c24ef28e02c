"""Computes batches one after another in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dra_command.portfolio.computation.batches import Batch
from dra_command.portfolio.computation.engines.protocol import Done
from dra_command.portfolio.computation.worker import run_batch


class Here:
    """The engine that doesn't use other processes."""

    workers = 1
    is_ours = False
    name = "this process"

    def run(self, batches: Iterable[Batch], inputs: Mapping[str, bytes]) -> Iterator[Done]:
        """Yield batches in order."""
        for batch in batches:
            worked = run_batch(
                batch, inputs[batch.futures], *(inputs[each] for each in batch.inputs)
            )
            yield Done(batch, worked.rows, worked.cpu_seconds)

    def close(self) -> None:
        """Nothing was started."""
