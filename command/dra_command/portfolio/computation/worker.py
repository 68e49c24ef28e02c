"""The code that runs in a worker: cells of one stack → rows. Inputs are identified by digest, and
are unpacked once.
"""

from __future__ import annotations

import pickle
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.computation.batches import (
    Batch,
    CellTask,
    Futures,
    OtherPlanner,
    Worked,
    row_of,
)
from dra_command.portfolio.computation.deadlines import TooLong, deadline
from dra_planner.portfolio.answers import CellFault
from dra_planner.portfolio.cells import StackCells
from dra_planner.portfolio.digests import planner_digest
from dra_planner.portfolio.inputs import ScenarioInputs

_MOST_UNPACKED = 8
_unpacked: OrderedDict[str, Any] = OrderedDict()


def run_batch(batch: Batch, futures: bytes, *inputs: bytes) -> Worked:
    """Return a row for each cell, from the inputs that the batch names, in order. Raises
    OtherPlanner.
    """
    began = time.thread_time()
    if planner_digest() != batch.planner:
        raise OtherPlanner
    common: Futures = _unpack(batch.futures, futures)
    if common.memory_bytes:
        _limit_memory(common.memory_bytes)
    packed = dict(zip(batch.inputs, inputs, strict=True))
    stacks = (
        (task, _stack(task.inputs + batch.futures, packed[task.inputs], common))
        for task in batch.cells
    )
    rows = [_run(stack, common, task) for task, stack in stacks]
    return Worked(rows, time.thread_time() - began)


def _stack(digest: str, packed: bytes, common: Futures) -> StackCells:
    found: StackCells = _unpack(digest, packed, lambda inputs: StackCells(inputs, common.ask))
    return found


def _run(stack: StackCells, common: Futures, task: CellTask) -> AnswerRow:
    future = common.scenarios[task.scenario]
    try:
        with deadline(common.seconds):
            answer = _ASK[task.question](stack, future)
    except TooLong:
        answer = CellFault(
            kind="time",
            message=f"the cell takes longer than {common.seconds:g} s",
            fix="raise `limits.seconds` in the portfolio",
        )
    except MemoryError:
        answer = CellFault(
            kind="memory",
            message="the cell needs more memory than a worker has",
            fix="raise `limits.memoryGib` in the portfolio",
        )
    except Exception as error:
        answer = CellFault(
            kind="internal", message=f"internal error: {type(error).__name__}: {error}"
        )
    return row_of(task, answer)


_ASK: dict[str, Callable[[StackCells, ScenarioInputs], Any]] = {
    "plan": StackCells.answer,
    "curves": StackCells.curves,
    "risk": StackCells.risk,
}


def _unpack(digest: str, data: bytes, make: Callable[[Any], Any] = lambda each: each) -> Any:
    """Return the unpacked bytes with a digest. The most recently used values are cached."""
    if digest not in _unpacked:
        _unpacked[digest] = make(pickle.loads(data))
        while len(_unpacked) > _MOST_UNPACKED:
            _unpacked.popitem(last=False)
    _unpacked.move_to_end(digest)
    return _unpacked[digest]


def _limit_memory(most: int) -> None:
    """Limit the memory of this process, so that it fails with MemoryError, if the system supports
    this.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most <= hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
