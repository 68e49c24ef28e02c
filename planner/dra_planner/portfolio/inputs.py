"""The inputs of a portfolio's cells: stacks and scenarios as texts."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.portfolio.answers import CellFault
from dra_planner.portfolio.schema import Scenario
from dra_planner.sources import Source


class StackInputs(Struct, frozen=True, kw_only=True):
    """The inputs for a stack's plan.

    `settings` is a stack's settings file or, with `is_fleet`, a fleet document. `catalog` contains
    the project's files with learned machine types, lowest precedence first. `fault` is the reason
    why the inputs couldn't be read, or None.
    """

    name: str
    settings: Source
    is_fleet: bool
    sources: tuple[Source, ...]
    catalog: tuple[Source, ...] = ()
    fault: CellFault | None = None


class ScenarioInputs(Struct, frozen=True, kw_only=True):
    """A scenario and the manifests that it adds."""

    scenario: Scenario
    added: tuple[Source, ...] = ()
