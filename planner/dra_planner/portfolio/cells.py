"""One stack in many scenarios.

Common parts of the scenarios are read, predicted, and compiled once. A cell is the result of
`make_plan` for the stack, with the scenario's edits if there are any.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from dra_planner.errors import PlannerError
from dra_planner.fleet import (
    Fleet,
    LearnedMachine,
    parse_catalog,
    read_document,
    read_fleet,
    read_settings,
)
from dra_planner.manifests import Manifests
from dra_planner.offers import Offer, predict_offers
from dra_planner.plan import Plan, read_checked
from dra_planner.plan.model import STEPS_PER_SECOND
from dra_planner.plan.planning import plan_manifests
from dra_planner.planfile.digest import canonical
from dra_planner.portfolio.answers import CellAnswer, CellFault, answer_of
from dra_planner.portfolio.curves import Curve, capacity_curve
from dra_planner.portfolio.demand_edits import edit_manifests, is_named
from dra_planner.portfolio.fleet_edits import edit_fleet
from dra_planner.portfolio.inputs import ScenarioInputs, StackInputs
from dra_planner.portfolio.risk import RiskAnswer, simulate_risk
from dra_planner.portfolio.schema import Questions
from dra_planner.releases import Features
from dra_planner.sources import Source


class Curves(Struct, frozen=True, kw_only=True):
    """The capacity curves of one stack in one scenario."""

    curves: tuple[Curve, ...]


class StackCells:
    """Plans one stack in one scenario after another, and caches their common parts."""

    def __init__(self, inputs: StackInputs, ask: Questions) -> None:
        self.inputs = inputs
        self.ask = ask
        self._fleet: Fleet | None = None
        self._manifests: dict[tuple[tuple[Source, ...], Features], Manifests] = {}
        self._offers: dict[tuple[str, int], tuple[Offer, ...]] = {}

    @property
    def steps(self) -> int:
        """Maximum simulation steps of one plan."""
        return 0 if self.ask.simulate == "off" else round(self.ask.simulate * STEPS_PER_SECOND)

    def answer(self, future: ScenarioInputs) -> CellAnswer | CellFault:
        """Return the answer for the stack in a scenario. Never raises for any input."""
        if self.inputs.fault is not None:
            return self.inputs.fault
        try:
            plan, assumptions = self.plan(future)
        except PlannerError as error:
            return CellFault.of(error)
        return answer_of(plan, assumptions)

    def curves(self, future: ScenarioInputs) -> Curves | CellFault:
        """Return the capacity curve of each requested workload in a scenario."""
        curves = self.ask.curves
        if self.inputs.fault is not None or curves is None:
            return self.inputs.fault or Curves(curves=())
        try:
            fleet, _ = edit_fleet(self.fleet, future.scenario, read_catalog(self.inputs.catalog))
            manifests = self.edited(future, fleet)
            found = [
                capacity_curve(
                    manifests,
                    workload,
                    lambda grown, steps: self.planned(grown, fleet, steps),
                    level=self.ask.demand,
                    most=curves.most,
                    steps=self.steps,
                )
                for workload in manifests.workloads
                if is_named(workload.ref, curves.workloads)
            ]
        except PlannerError as error:
            return CellFault.of(error)
        return Curves(curves=tuple(curve for curve in found if curve is not None))

    def risk(self, future: ScenarioInputs) -> RiskAnswer | CellFault:
        """Return how often pods of a scenario's plan stay pending."""
        if self.inputs.fault is not None:
            return self.inputs.fault
        try:
            plan, _ = self.plan(future)
        except PlannerError as error:
            return CellFault.of(error)
        if plan.fleet is None or self.ask.risk is None:
            raise ValueError("the portfolio doesn't ask a question")
        return simulate_risk(plan, plan.fleet, self.ask.risk)

    def plan(self, future: ScenarioInputs) -> tuple[Plan, tuple[str, ...]]:
        """Return the plan of the stack in a scenario, and the assumptions of its edits. Raises
        PlannerError.
        """
        fleet, assumptions = edit_fleet(
            self.fleet, future.scenario, read_catalog(self.inputs.catalog)
        )
        return self.planned(self.edited(future, fleet), fleet, self.steps), assumptions

    def edited(self, future: ScenarioInputs, fleet: Fleet) -> Manifests:
        """Return a scenario's manifests, as its Kubernetes version reads them."""
        return edit_manifests(
            self.manifests((*self.inputs.sources, *future.added), fleet.features), future.scenario
        )

    def planned(self, manifests: Manifests, fleet: Fleet, steps: int) -> Plan:
        """Return the plan for manifests on a fleet."""
        features = fleet.features
        return plan_manifests(
            manifests,
            fleet,
            features,
            level=self.ask.demand,
            steps=steps,
            offers=self.offers(fleet),
        )

    @property
    def fleet(self) -> Fleet:
        """The fleet of the stack without edits. Raises FleetError."""
        if self._fleet is None:
            self._fleet = read_stack_fleet(self.inputs)
        return self._fleet

    def manifests(self, sources: tuple[Source, ...], features: Features) -> Manifests:
        """Return the manifests for a Kubernetes version, read once."""
        key = (sources, features)
        if key not in self._manifests:
            self._manifests[key] = read_checked(sources, features)
        return self._manifests[key]

    def offers(self, fleet: Fleet) -> tuple[Offer, ...]:
        """Return the offers of a fleet's pools, predicted once for equal fleets."""
        key = (canonical(fleet.document()), fleet.minor)
        if key not in self._offers:
            self._offers[key] = predict_offers(fleet, fleet.features)
        return self._offers[key]


def read_stack_fleet(inputs: StackInputs) -> Fleet:
    """Return the fleet of a stack's settings or of a fleet file. Raises FleetError."""
    file = inputs.settings.name
    data = read_document(inputs.settings.text, file)
    catalog = read_catalog(inputs.catalog)
    if inputs.is_fleet:
        return read_fleet(data, file=file, catalog=catalog)
    config = data.get("config") if isinstance(data, Mapping) else None
    settings = config if isinstance(config, Mapping) else {}
    return read_settings(settings, file=file, catalog=catalog).fleet


@cache
def read_catalog(files: tuple[Source, ...]) -> tuple[LearnedMachine, ...]:
    """Return the learned machine types of catalog files, in order. Raises FleetError."""
    return tuple(
        row
        for each in files
        for row in parse_catalog(read_document(each.text, each.name), file=each.name)
    )
