"""What travels to workers and back: cells that are computed together, and their rows."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from typing import Any

from msgspec import Struct, to_builtins

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_planner.portfolio.answers import CellAnswer, CellFault
from dra_planner.portfolio.inputs import ScenarioInputs, StackInputs
from dra_planner.portfolio.schema import Ask


class Futures(Struct, frozen=True, kw_only=True):
    """What all stacks have in common: scenarios, questions and limits."""

    scenarios: tuple[ScenarioInputs, ...]
    ask: Ask
    seconds: float
    memory_bytes: int  # of a process that is ours; 0: not limited here


class CellTask(Struct, frozen=True):
    """One answer that is wanted; the inputs of its stack are named by digest."""

    digest: str
    inputs: str
    scenario: int  # its position
    question: str  # plan, curves or risk


class Batch(Struct, frozen=True, kw_only=True):
    """Cells that are computed together, those of one stack after those of another; inputs are named
    by digest.
    """

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


class Worked(Struct, frozen=True):
    """Rows in the order of the cells, and the CPU seconds that they took."""

    rows: list[AnswerRow]
    cpu_seconds: float


def row_of(task: CellTask, answer: Any) -> AnswerRow:
    """Return an answer or a fault as a row."""
    details = json.dumps(
        to_builtins(answer, builtin_types=(Decimal,)),
        default=_plain,
        sort_keys=True,
        ensure_ascii=False,
    )
    if isinstance(answer, CellFault):
        return AnswerRow(
            task.digest, task.question, f"failed:{answer.kind}", why=str(answer), details=details
        )
    if isinstance(answer, CellAnswer):
        return AnswerRow(
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
    return AnswerRow(task.digest, task.question, verdict, details=details)


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)
