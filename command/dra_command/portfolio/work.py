"""What runs in a worker: cells of one stack → rows. Inputs come by digest and are unpacked once."""

from __future__ import annotations

import json
import pickle
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from dra_command.portfolio.deadlines import TooLong, deadline
from dra_command.portfolio.rows import Row
from dra_planner.portfolio.answers import CellAnswer, CellFault
from dra_planner.portfolio.cells import ScenarioInputs, StackCells, StackInputs
from dra_planner.portfolio.digests import planner_digest
from dra_planner.portfolio.schema import Ask

_MOST_UNPACKED = 8
_unpacked: OrderedDict[str, Any] = OrderedDict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Futures:
    """What all stacks have in common: scenarios, questions and limits."""

    scenarios: tuple[ScenarioInputs, ...]
    ask: Ask
    seconds: float
    memory_bytes: int  # of a process that is ours; 0: not limited here


@dataclass(frozen=True, slots=True)
class CellTask:
    """One answer that is wanted; the inputs of its stack are named by digest."""

    digest: str
    inputs: str
    scenario: int  # its position
    question: str  # plan, curves or risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Cells that are computed together, those of one stack after those of another; inputs are named by digest."""

    futures: str
    planner: str
    cells: tuple[CellTask, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of the stacks, each once."""
        return tuple(dict.fromkeys(cell.inputs for cell in self.cells))


class OtherPlanner(Exception):
    """A worker has another version of the planner than the one that wants answers."""


def pack(value: StackInputs | Futures) -> bytes:
    """Return inputs as they travel."""
    return pickle.dumps(value, protocol=5)


@dataclass(frozen=True, slots=True)
class Worked:
    """Rows in the order of the cells, and the CPU seconds that they took."""

    rows: list[Row]
    cpu_seconds: float


def run_batch(batch: Batch, futures: bytes, *inputs: bytes) -> Worked:
    """Return a row for each cell, from the inputs that the batch names in their order; raises OtherPlanner."""
    began = time.thread_time()
    if planner_digest() != batch.planner:
        raise OtherPlanner
    common: Futures = _unpack(batch.futures, futures)
    if common.memory_bytes:
        _limit_memory(common.memory_bytes)
    packed = dict(zip(batch.inputs, inputs, strict=True))
    stacks = ((task, _stack(task.inputs + batch.futures, packed[task.inputs], common)) for task in batch.cells)
    rows = [_run(stack, common, task) for task, stack in stacks]
    return Worked(rows, time.thread_time() - began)


def _stack(digest: str, packed: bytes, common: Futures) -> StackCells:
    found: StackCells = _unpack(digest, packed, lambda inputs: StackCells(inputs, common.ask))
    return found


def _run(stack: StackCells, common: Futures, task: CellTask) -> Row:
    future = common.scenarios[task.scenario]
    try:
        with deadline(common.seconds):
            answer = _ASK[task.question](stack, future)
    except TooLong:
        answer = CellFault(kind="time", message=f"takes longer than {common.seconds:g} s", fix="raise `limits.seconds`")
    except MemoryError:
        answer = CellFault(kind="memory", message="takes more memory than a worker has", fix="raise `limits.memoryGib`")
    except Exception as error:
        answer = CellFault(kind="internal", message=f"internal error: {type(error).__name__}: {error}")
    return row_of(task, answer)


_ASK: dict[str, Callable[[StackCells, ScenarioInputs], Any]] = {
    "plan": StackCells.answer,
    "curves": StackCells.curves,
    "risk": StackCells.risk,
}


def row_of(task: CellTask, answer: Any) -> Row:
    """Return an answer or a fault as a row."""
    details = json.dumps(asdict(answer), default=_plain, sort_keys=True, ensure_ascii=False)
    if isinstance(answer, CellFault):
        return Row(task.digest, task.question, f"failed:{answer.kind}", why=str(answer), details=details)
    if isinstance(answer, CellAnswer):
        return Row(
            task.digest,
            task.question,
            answer.verdict,
            kubernetes=answer.kubernetes,
            nodes_bound=answer.nodes_bound,
            nodes_packing=answer.nodes_packing,
            nodes_simulated=answer.nodes_simulated,
            nodes=answer.nodes,
            placed=answer.placed,
            pending=answer.pending,
            hourly_usd=_number(answer.hourly_usd),
            bound_usd=_number(answer.bound_usd),
            why=answer.reasons[0] if answer.reasons else "",
            details=details,
        )
    verdict = getattr(getattr(answer, "placement", None), "verdict", "answered")
    return Row(task.digest, task.question, verdict, details=details)


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)


def _unpack(digest: str, data: bytes, make: Callable[[Any], Any] = lambda each: each) -> Any:
    """Return what the bytes of a digest hold; the last ones used are remembered."""
    if digest not in _unpacked:
        _unpacked[digest] = make(pickle.loads(data))
        while len(_unpacked) > _MOST_UNPACKED:
            _unpacked.popitem(last=False)
    _unpacked.move_to_end(digest)
    return _unpacked[digest]


def _limit_memory(most: int) -> None:
    """Let this process fail with MemoryError beyond so many bytes, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most <= hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
