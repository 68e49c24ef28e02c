"""Which machines pools have: of the tables, and by what Karpenter's pools require of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_policies.view.stack_view import DeclaredPool

CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
_CAPACITY_TYPES: Final = frozenset({"on-demand", "spot", "reserved"})


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


def capacity_types(pool: DeclaredPool) -> frozenset[str] | None:
    """Return the capacity types that Karpenter's pool allows, None if it isn't known or the pool doesn't say."""
    for item in pool.own.items("spec.template.spec.requirements") or ():
        values = item.texts("values")
        if item.text("key") == CAPACITY_TYPE and values and None not in values:
            named = frozenset(value for value in values if value is not None)
            return {"In": named, "NotIn": _CAPACITY_TYPES - named}.get(item.text("operator") or "")
    return None


def allows_machine(pool: DeclaredPool, machine: Machine) -> bool:
    """Return True if nodes of a pool may have a machine type, by its name or its family."""
    if names := machine_names(pool):
        return machine.name in names
    families = requirements(pool).get(f"{cloud(pool.cloud).karpenter}/instance-family", ())
    return machine.family in families


def machine_names(pool: DeclaredPool) -> tuple[str, ...]:
    """Return the machine types that nodes of a pool may have; none if it isn't known."""
    if pool.machine:
        return (pool.machine,)
    return requirements(pool).get("node.kubernetes.io/instance-type", ())
