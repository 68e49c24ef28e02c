"""The cells of a portfolio, and the digests under which their results are stored."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dra_command.portfolio.input_collection import Collected
from dra_planner.portfolio.digests import (
    asked_document,
    cell_digest,
    question_digest,
    scenario_digest,
    sources_digest,
)
from dra_planner.portfolio.schema import Ask

PLACE = "place"


class CellName(Struct, frozen=True):
    """A question about one stack in one scenario: their positions in the portfolio, and the digest
    of the result.
    """

    stack: int
    scenario: int
    question: str
    digest: str


def name_cells(collected: Collected, stacks: Sequence[str]) -> tuple[CellName, ...]:
    """Return every cell of the portfolio in order: stacks (identified by digest), scenarios, and
    questions.
    """
    questions = _questions(collected.portfolio.ask)
    asked = [
        (at, scenario_digest(future), question, digest)
        for at, future in enumerate(collected.futures)
        for question, (digest, scenarios) in questions.items()
        if scenarios is None or future.scenario.name in scenarios
    ]
    return tuple(
        CellName(at, scenario, question, cell_digest(stack, future, digest))
        for at, stack in enumerate(stacks)
        for scenario, future, question, digest in asked
    )


def _questions(ask: Ask) -> dict[str, tuple[str, list[str] | None]]:
    """Return the questions, keyed by the digest of everything that the result depends on, with the
    scenarios in which they are asked (None means all).
    """
    document = asked_document(ask)
    plan = {key: document[key] for key in ("demand", "simulate")}
    asked: dict[str, tuple[str, list[str] | None]] = {"plan": (question_digest("plan", plan), None)}
    for question, part in (("curves", ask.curves), ("risk", ask.risk)):
        if part is not None:
            more = {key: value for key, value in document[question].items() if key != "scenarios"}
            asked[question] = (question_digest(question, {**plan, **more}), part.scenarios)
    return asked


def place_digest(collected: Collected, stacks: Sequence[str]) -> str:
    """Return the digest of everything that the placement depends on. `stacks` contains the digests
    of the stacks.
    """
    placed = [
        (asked_document(each)["clusters"], sources_digest(texts))
        for each, texts in collected.placed
    ]
    names = [
        (inputs.name, digest, collected.labels[inputs.name])
        for inputs, digest in zip(collected.stacks, stacks, strict=True)
    ]
    ask = asked_document(collected.portfolio.ask)
    asked = {
        "demand": ask["demand"],
        "simulate": ask["simulate"],
        "placed": placed,
        "clusters": names,
    }
    return question_digest(PLACE, asked)
