"""Digests of an answer's inputs: equal digests mean equal answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import dra_planner
from dra_planner.portfolio.inputs import ScenarioInputs, StackInputs
from dra_planner.portfolio.schema import AS_IS, PortfolioPart
from dra_planner.sources import Source

_CODE = (".py", ".csv", ".json", ".txt")


@cache
def planner_digest() -> str:
    """Return the digest of this planner, which covers its code and its tables."""
    root = Path(dra_planner.__file__).parent
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in _CODE:
            found.update(path.relative_to(root).as_posix().encode() + b"\0")
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def sources_digest(sources: Iterable[Source]) -> str:
    """Return the digest of texts and of their names, because answers can contain the names."""
    found = hashlib.sha256()
    for source in sorted(sources):
        for text in (source.name, source.text):
            data = text.encode("utf-8", "surrogatepass")
            found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


def stack_digest(inputs: StackInputs) -> str:
    """Return the digest of a stack's inputs, independent of its name."""
    fault = "" if inputs.fault is None else str(inputs.fault)
    return _digest(
        sources_digest([inputs.settings]),
        inputs.is_fleet,
        sources_digest(inputs.sources),
        [sources_digest([each]) for each in inputs.catalog],  # the catalogs, in their order
        fault,
    )


def scenario_digest(future: ScenarioInputs) -> str:
    """Return the digest of a scenario's edits, independent of its name."""
    edits = {} if future.scenario.name == AS_IS else _document(future.scenario)
    edits.pop("name", None)
    return _digest(edits, sources_digest(future.added))


def question_digest(question: str, settings: object) -> str:
    """Return the digest of a question with all its settings, and of the planner."""
    return _digest(planner_digest(), question, settings)


def cell_digest(stack: str, scenario: str, question: str) -> str:
    """Return the digest of one answer, from the digests of stack, scenario, and question."""
    return hashlib.sha256(f"{stack} {scenario} {question}".encode()).hexdigest()


def question_document(part: PortfolioPart) -> dict[str, Any]:
    """Return the questions of a portfolio as plain data."""
    return _document(part)


def _document(part: PortfolioPart) -> dict[str, Any]:
    return part.model_dump(mode="json", by_alias=True)


def _digest(*parts: object) -> str:
    return hashlib.sha256(
        json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()
