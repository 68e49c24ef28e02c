"""A pool of processes on this machine.

Inputs are in a temporary folder by digest, and each process reads them once. If a process crashes,
the whole pool breaks, and a new pool continues the batches in progress. If a batch was in progress
during several crashes, its cells run one by one without other batches, to identify the cell that
causes the crash.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import os
import shutil
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from dra_command.portfolio.computation.batches import Batch, Worked
from dra_command.portfolio.computation.engines.protocol import (
    ATTEMPTS,
    Done,
    interrupts_held_back,
    lost,
    single_cells,
)
from dra_command.portfolio.computation.worker import run_batch
from dra_planner.portfolio.cells import StackCells

# number of attempts together with other batches; after that, the batch runs separately
_IN_COMMON = 2
_SECONDS_BETWEEN_CHECKS = 1.0


class _UnderWay(NamedTuple):
    """A submitted batch, and the pool that runs it."""

    batch: Batch
    pool: ProcessPoolExecutor | None


class Processes:
    """The engine that doesn't need other packages."""

    name = "a pool of processes"
    is_ours = True

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._folder = Path(tempfile.mkdtemp(prefix="pulumi-dra-portfolio-"))
        self._pool: ProcessPoolExecutor | None = None

    def run(self, batches: Iterable[Batch], inputs: Mapping[str, bytes]) -> Iterator[Done]:
        """Yield batches as they are completed."""
        coming = iter(batches)
        again: deque[Batch] = deque()
        ended: dict[Batch, int] = {}
        under_way: dict[Future[Worked], _UnderWay] = {}
        alone: deque[Batch] = deque()
        while True:
            while len(under_way) < 2 * self.workers and (
                batch := again.popleft() if again else next(coming, None)
            ):
                self._lay_out(batch, inputs)
                future = self._submit(batch, self.workers)
                under_way[future] = _UnderWay(batch, self._pool)
            if not under_way:
                break
            broken = False
            for future in self._wait(under_way):
                batch = under_way.pop(future).batch
                try:
                    worked = _result(future)
                    yield Done(batch, worked.rows, worked.cpu_seconds)
                except BrokenProcessPool:
                    broken = True
                    ended[batch] = ended.get(batch, 0) + 1
                    (again if ended[batch] < _IN_COMMON else alone).append(batch)
            if broken:
                self._end_pool()
        for batch in alone:
            for cell in single_cells(batch):
                yield self._run_alone(cell)

    def _run_alone(self, batch: Batch) -> Done:
        for _ in range(ATTEMPTS):
            try:
                future = self._submit(batch, 1)
                self._wait({future: _UnderWay(batch, self._pool)})
                worked = _result(future)
                return Done(batch, worked.rows, worked.cpu_seconds)
            except BrokenProcessPool:
                self._end_pool()
        return lost(batch, "the process that computed this cell exited")

    def _submit(self, batch: Batch, workers: int) -> Future[Worked]:
        for _ in range(ATTEMPTS):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    workers, mp_context=_context(), initializer=_follow_parent
                )
            try:
                with interrupts_held_back():
                    return self._pool.submit(_run, batch, str(self._folder))
            except BrokenProcessPool:
                self._end_pool()
        failed: Future[Worked] = Future()
        failed.set_exception(BrokenProcessPool("worker processes keep crashing"))
        return failed

    def _wait(self, under_way: Mapping[Future[Worked], _UnderWay]) -> list[Future[Worked]]:
        """Wait, and return the completed futures, and any futures that a broken pool lost.

        A future that is submitted while its pool breaks may never complete. Source:
        python/cpython:Lib/concurrent/futures/process.py@v3.11.7 (terminate_broken doesn't take the
        lock of submit).
        """
        while True:
            lost = [future for future, each in under_way.items() if self._is_broken(each.pool)]
            done = wait(under_way, _SECONDS_BETWEEN_CHECKS, FIRST_COMPLETED).done
            if done or lost:
                return [*done, *(each for each in lost if each not in done)]

    def _is_broken(self, pool: ProcessPoolExecutor | None) -> bool:
        return pool is None or pool is not self._pool or bool(pool._broken)

    def _lay_out(self, batch: Batch, inputs: Mapping[str, bytes]) -> None:
        for digest in (batch.futures, *batch.inputs):
            path = self._folder / digest
            if not path.exists():
                path.write_bytes(inputs[digest])

    def _end_pool(self) -> None:
        """Discard the pool and end its processes. A process that was started while the pool broke
        would otherwise wait forever.
        """
        if self._pool is not None:
            started = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in started:
                process.kill()
            for process in started:
                process.join(timeout=5)
            self._pool = None

    def close(self) -> None:
        """End the processes and remove the folder."""
        self._end_pool()
        shutil.rmtree(self._folder, ignore_errors=True)


def _context() -> multiprocessing.context.BaseContext:
    """Return how to start processes: if the system supports it, from a process that has already
    loaded the planner.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():  # Windows
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_run.__module__, StackCells.__module__])
    return context


def _follow_parent() -> None:
    """Ignore Ctrl-C, because the parent process handles it, and end when the parent process has
    ended for any reason.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _result(future: Future[Worked]) -> Worked:
    if not future.done():
        raise BrokenProcessPool("the process pool ended before this batch finished")
    return future.result()


def _run(batch: Batch, folder: str) -> Worked:
    return run_batch(batch, *(_read(folder, each) for each in (batch.futures, *batch.inputs)))


@lru_cache(maxsize=8)
def _read(folder: str, digest: str) -> bytes:
    return (Path(folder) / digest).read_bytes()
