"""Convert plain data to a validated `Portfolio`, with the line and field of every error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from dra_planner.documents.tree import Location, line_at, path_text
from dra_planner.documents.validation import kind_of, sentences
from dra_planner.errors import Place, PlannerError
from dra_planner.portfolio.schema import AS_IS, Portfolio


class PortfolioError(PlannerError):
    """An invalid portfolio."""


def read_portfolio(data: object, *, file: str = "") -> Portfolio:
    """Return the portfolio in plain data.

    Raises PortfolioError with every error. `file` is the file name for places in the error, with
    the lines of data from `read_document`.
    """
    if not isinstance(data, Mapping):
        raise PortfolioError(
            f"the portfolio must be a mapping, not {kind_of(data)}",
            place=Place(file, line_at(data, ())),
            fix="start with the key `stacks:` (docs/portfolio.md)",
        )
    try:
        portfolio = Portfolio.model_validate(data)
    except ValidationError as error:
        problems = list(sentences(error, data, document="the portfolio", keys=_known_keys()))
    else:
        problems = list(_faults(portfolio))
        if not problems:
            return portfolio
    first, *others = [
        PortfolioError(problem, place=Place(file, line_at(data, at), path_text(at)))
        for at, problem in problems
    ]
    raise PortfolioError(first.message, place=first.place, fix=first.fix, others=tuple(others))


def _faults(portfolio: Portfolio) -> Iterator[tuple[Location, str]]:
    """Yield the errors that involve several parts of the document."""
    names = [scenario.name for scenario in portfolio.scenarios]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield ("scenarios", at, "name"), f'an earlier scenario already has the name "{name}"'
    for key, part in (("curves", portfolio.ask.curves), ("risk", portfolio.ask.risk)):
        for at, name in enumerate(part.scenarios if part is not None else ()):
            if name not in (AS_IS, *names):
                known = ", ".join((AS_IS, *names))
                yield (
                    ("ask", key, "scenarios", at),
                    f'scenario "{name}" isn\'t in the portfolio; use one of {known}',
                )


def _known_keys() -> set[str]:
    keys: set[str] = set()
    waiting = [Portfolio.model_json_schema()]
    waiting += waiting[0].get("$defs", {}).values()
    for part in waiting:
        keys.update(part.get("properties", {}))
    return keys
