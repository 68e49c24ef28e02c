"""Data that is sent to workers and back: cells that are computed together, and their rows."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from typing import Any

from msgspec import Struct, to_builtins

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_planner.portfolio.answers import CellAnswer, CellFault
from dra_planner.portfolio.inputs import ScenarioInputs, StackInputs
from dra_planner.portfolio.schema import Questions


class Futures(Struct, frozen=True, kw_only=True):
    """Data that all stacks share: scenarios, questions, and limits."""

    scenarios: tuple[ScenarioInputs, ...]
    ask: Questions
    seconds: float
    memory_bytes: int  # memory limit of our own worker process; 0 means no limit


class CellTask(Struct, frozen=True):
    """A requested result. Its stack's inputs are identified by their digest."""

    digest: str
    inputs: str
    scenario: int  # position of the scenario
    question: str  # plan, curves or risk


class Batch(Struct, frozen=True, kw_only=True):
    """Cells that are computed together, grouped by stack. Inputs are identified by their
    digests.
    """

    futures: str
    planner: str
    cells: tuple[CellTask, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of the stacks, without duplicates."""
        return tuple(dict.fromkeys(cell.inputs for cell in self.cells))


class OtherPlanner(Exception):
    """A worker has a different planner version than the main process."""


def pack(value: StackInputs | Futures) -> bytes:
    """Return inputs in the form in which they are sent."""
    return pickle.dumps(value, protocol=5)


class Worked(Struct, frozen=True):
    """Rows in the order of the cells, and the CPU seconds that the computation took."""

    rows: list[AnswerRow]
    cpu_seconds: float


def row_of(task: CellTask, answer: Any) -> AnswerRow:
    """Return a result or a fault as a row."""
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
            stalled=answer.stalled,
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
