"""The cells of a portfolio, and the digests under which their results are stored."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dra_command.portfolio.input_collection import Collected
from dra_planner.portfolio.digests import (
    cell_digest,
    question_digest,
    question_document,
    scenario_digest,
    sources_digest,
)
from dra_planner.portfolio.schema import Questions

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
    by_scenario = [
        (at, scenario_digest(future), question, digest)
        for at, future in enumerate(collected.futures)
        for question, (digest, scenarios) in questions.items()
        if scenarios is None or future.scenario.name in scenarios
    ]
    return tuple(
        CellName(at, scenario, question, cell_digest(stack, future, digest))
        for at, stack in enumerate(stacks)
        for scenario, future, question, digest in by_scenario
    )


def _questions(part_of_portfolio: Questions) -> dict[str, tuple[str, list[str] | None]]:
    """Return the questions, keyed by the digest of everything that the result depends on, with the
    scenarios in which they are asked (None means all).
    """
    document = question_document(part_of_portfolio)
    plan = {key: document[key] for key in ("demand", "simulate")}
    questions: dict[str, tuple[str, list[str] | None]] = {
        "plan": (question_digest("plan", plan), None)
    }
    for question, part in (("curves", part_of_portfolio.curves), ("risk", part_of_portfolio.risk)):
        if part is not None:
            more = {key: value for key, value in document[question].items() if key != "scenarios"}
            questions[question] = (question_digest(question, {**plan, **more}), part.scenarios)
    return questions


def place_digest(collected: Collected, stacks: Sequence[str]) -> str:
    """Return the digest of everything that the placement depends on. `stacks` contains the digests
    of the stacks.
    """
    placed = [
        (question_document(each)["clusters"], sources_digest(texts))
        for each, texts in collected.placed
    ]
    names = [
        (inputs.name, digest, collected.labels[inputs.name])
        for inputs, digest in zip(collected.stacks, stacks, strict=True)
    ]
    ask = question_document(collected.portfolio.ask)
    settings = {
        "demand": ask["demand"],
        "simulate": ask["simulate"],
        "placed": placed,
        "clusters": names,
    }
    return question_digest(PLACE, settings)
