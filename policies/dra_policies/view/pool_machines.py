"""Which machines pools have: of the tables, and by what Karpenter's pools require of nodes."""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.errors import PlannerError
from dra_policies.view.stack_view import DeclaredPool


def known_machine(cloud: str, name: str | None) -> Machine | None:
    """Return the machine of that name, None where none is named or no table has it."""
    try:
        return catalog.machine(cloud, name) if name else None
    except PlannerError:
        return None


def requirements(pool: DeclaredPool) -> Mapping[str, tuple[str, ...]]:
    """Return the labels that nodes of Karpenter's pool have one of some values of; those of which all is known."""
    found: dict[str, tuple[str, ...]] = {}
    for item in pool.own.items("spec.template.spec.requirements") or ():
        key, values = item.text("key"), item.texts("values")
        if key and item.text("operator") == "In" and values and None not in values:
            found[key] = tuple(value for value in values if value is not None)
    return found
