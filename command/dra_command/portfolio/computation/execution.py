"""One run of a portfolio: find the stored answers, compute the missing ones, and store them."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.computation.answer_store import Store
from dra_command.portfolio.computation.batches import Batch, CellTask, Futures, pack
from dra_command.portfolio.computation.cell_names import CellName, name_cells, place_digest
from dra_command.portfolio.computation.engines.dask_cluster import OnDask
from dra_command.portfolio.computation.engines.in_process import Here
from dra_command.portfolio.computation.engines.process_pool import Processes
from dra_command.portfolio.computation.interrupts import Interrupts
from dra_command.portfolio.computation.placement import place_row
from dra_command.portfolio.input_collection import Collected
from dra_planner.portfolio.digests import planner_digest, stack_digest
from dra_planner.records import equality

if TYPE_CHECKING:
    from dra_command.portfolio.computation.engines.protocol import CellEngine

CELLS_PER_BATCH = 50
# minimum, if there are enough stacks, so that all workers finish at about the same time
_BATCHES_PER_WORKER = 4
FEW_CELLS = 48
"""Maximum number of cells for which no other process is started, because starting a process would
take longer than computing them.
"""
_BYTES_PER_GIB = 2**30


class RunOptions(Struct, frozen=True, kw_only=True):
    """Settings of a portfolio run: the engine, the number of workers (0: one per core), and the
    share of its stacks.
    """

    results: Path
    scheduler: str = ""
    workers: int = 0
    engine: str = ""
    sample: float = 1.0


class RunLog(Struct, kw_only=True):
    """How a run went."""

    cells: int
    known: int
    missing: int = 0
    computed: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # computation time, without startup
    workers: int = 1
    engine: str = ""
    interrupted: bool = False

    @property
    def rate(self) -> float:
        """Cells per second."""
        return self.computed / self.seconds if self.seconds else 0.0


@equality(unhashed=("rows", "store"))
class PortfolioAnswers(Struct, frozen=True, kw_only=True):
    """Every cell with its row, or None if the cell isn't computed yet."""

    collected: Collected
    cells: tuple[CellName, ...]
    sampled: bool  # only some stacks were computed
    rows: dict[str, AnswerRow]  # rows without the JSON of plans
    log: RunLog
    store: Store
    placement: AnswerRow | None = None  # set if the portfolio asks for a placement

    def row(self, cell: CellName) -> AnswerRow | None:
        return self.rows.get(cell.digest)

    def whole(self, digests: Container[str]) -> dict[str, AnswerRow]:
        """Return the stored rows with these digests, including the JSON of plans."""
        return self.store.read(digests, whole=True)


def default_workers() -> int:
    """Return the number of cores that this process can use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_engine(collected: Collected, cells: int, options: RunOptions) -> CellEngine:
    """Return the engine for this number of cells. Raises PlannerError.

    By default, the engine uses `workers` processes on this machine, or only this process for a few
    cells. If the options name a Dask scheduler, the engine uses the scheduler. A Dask cluster on
    this machine is used only on request.
    """
    memory = int(collected.portfolio.limits.memory_gib * _BYTES_PER_GIB)
    wanted = options.workers or default_workers()
    if options.scheduler or options.engine == "dask":  # regardless of the number of cells
        return OnDask(address=options.scheduler, workers=wanted, memory_bytes=memory)
    is_small = wanted == 1 or (not options.workers and cells <= FEW_CELLS)
    if options.engine == "here" or (not options.engine and is_small):
        return Here()
    return Processes(wanted)


def run_portfolio(
    collected: Collected, options: RunOptions, progress: Callable[[RunLog], None] = lambda log: None
) -> PortfolioAnswers:
    """Return the results. Missing results are computed and stored.

    Ctrl-C ends the run. All results up to then are stored and returned. Raises PlannerError.
    """
    stacks = [stack_digest(each) for each in collected.stacks]
    cells = name_cells(collected, stacks)
    store = Store(options.results)
    wanted = {cell.digest for cell in cells}
    placing = place_digest(collected, stacks) if collected.placed else ""
    rows = store.read(wanted | {placing})
    chosen = _sampled(stacks, options.sample)
    missing = {
        cell.digest: cell for cell in cells if cell.digest not in rows and cell.stack in chosen
    }
    log = RunLog(cells=len(cells), known=sum(cell.digest in rows for cell in cells))
    if missing:
        _compute(collected, options, stacks, list(missing.values()), store, rows, log, progress)
    sampled = len(chosen) < len(stacks)
    if placing and placing not in rows and not (log.interrupted or sampled):
        _place(collected, placing, store, rows, log)
    return PortfolioAnswers(
        collected=collected,
        cells=cells,
        sampled=sampled,
        rows=rows,
        log=log,
        store=store,
        placement=rows.get(placing),
    )


def _place(
    collected: Collected, digest: str, store: Store, rows: dict[str, AnswerRow], log: RunLog
) -> None:
    """Compute and store the placement across clusters."""
    try:
        with closing(store):
            store.begin()
            rows[digest] = place_row(collected, digest)
            store.add([rows[digest]])
    except KeyboardInterrupt:
        log.interrupted = True


def _compute(
    collected: Collected,
    options: RunOptions,
    stacks: Sequence[str],
    missing: Sequence[CellName],
    store: Store,
    rows: dict[str, AnswerRow],
    log: RunLog,
    progress: Callable[[RunLog], None],
) -> None:
    """Compute cells, store and collect their rows, and return a summary of the run."""
    began = time.monotonic()
    log.missing = len(missing)
    store.begin()
    try:
        with (
            Interrupts() as interrupts,
            closing(store),
            closing(choose_engine(collected, len(missing), options)) as engine,
        ):
            log.engine, log.workers = engine.name, engine.workers
            inputs = _Packed(collected, stacks, ours=engine.is_ours)
            progress(log)
            for done in engine.run(
                _batches(missing, stacks, inputs.futures_digest, engine.workers), inputs
            ):
                with interrupts.held():
                    store.add(done.rows)
                    rows.update((row.digest, row.briefly) for row in done.rows)
                    log.computed += len(done.rows)
                    log.cpu_seconds += done.cpu_seconds
                    log.seconds = time.monotonic() - began
                progress(log)
    except KeyboardInterrupt:
        log.interrupted = True
    log.seconds = time.monotonic() - began
    _keep_log(options.results, log)


def _sampled(stacks: Sequence[str], share: float) -> frozenset[int]:
    """Return the positions of a share of the stacks (at least one): the stacks with the smallest
    digests.
    """
    count = max(1, round(len(stacks) * share))
    return frozenset(sorted(range(len(stacks)), key=lambda at: stacks[at])[:count])


def _batches(
    missing: Sequence[CellName], stacks: Sequence[str], futures: str, workers: int
) -> Iterator[Batch]:
    """Yield batches with about this number of cells. Small stacks are combined, and only large
    stacks are split.
    """
    most = min(CELLS_PER_BATCH, max(1, len(missing) // (_BATCHES_PER_WORKER * workers)))
    waiting: list[CellTask] = []
    for at, cells in groupby(missing, key=lambda cell: cell.stack):
        tasks = [CellTask(cell.digest, stacks[at], cell.scenario, cell.question) for cell in cells]
        for first in range(0, len(tasks), CELLS_PER_BATCH):
            waiting += tasks[first : first + CELLS_PER_BATCH]
            if len(waiting) >= most:
                yield Batch(futures=futures, planner=planner_digest(), cells=tuple(waiting))
                waiting = []
    if waiting:
        yield Batch(futures=futures, planner=planner_digest(), cells=tuple(waiting))


class _Packed(Mapping[str, bytes]):
    """The inputs by digest, serialized on demand."""

    def __init__(self, collected: Collected, stacks: Sequence[str], *, ours: bool) -> None:
        limits = collected.portfolio.limits
        futures = Futures(
            scenarios=collected.futures,
            ask=collected.portfolio.ask,
            seconds=limits.seconds,
            memory_bytes=int(limits.memory_gib * _BYTES_PER_GIB) if ours else 0,
        )
        self._futures = pack(futures)
        self.futures_digest = hashlib.sha256(self._futures).hexdigest()
        self._stacks = dict(zip(stacks, collected.stacks, strict=True))

    def __getitem__(self, digest: str) -> bytes:
        return self._futures if digest == self.futures_digest else pack(self._stacks[digest])

    def __iter__(self) -> Iterator[str]:
        yield self.futures_digest
        yield from self._stacks

    def __len__(self) -> int:
        return 1 + len(self._stacks)


def _keep_log(folder: Path, log: RunLog) -> None:
    """Add a line to the log of runs in this folder, from which the duration of other runs is
    estimated.
    """
    if log.computed:
        folder.mkdir(parents=True, exist_ok=True)
        entry = {
            "cells": log.computed,
            "cpu_seconds": log.cpu_seconds,
            "seconds": log.seconds,
            "workers": log.workers,
        }
        with (folder / "runs.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({**entry, "engine": log.engine}) + "\n")
