"""Machine types of pools, from the tables and from the requirements of Karpenter pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_policies.unknown_values import UNKNOWN
from dra_policies.view.stack_view import DeclaredPool, StackView

CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
_SPOT: Final = "spot"
_CAPACITY_TYPES: Final = frozenset({"on-demand", _SPOT, "reserved"})


def known_machine(cloud: str, name: str | None) -> Machine | None:
    """Return the machine type with that name, or None if it's unset or not in the tables."""
    try:
        return catalog.machine(cloud, name) if name else None
    except PlannerError:
        return None


def without_image_driver(pool: DeclaredPool) -> tuple[str, str] | None:
    """Return the property and value with which a pool excludes the image's driver, if it does."""
    of_cloud = cloud(pool.cloud)
    if any(pool.own.text(path) == value for path, value in of_cloud.driver_kept):
        return None
    left_out = [each for each in of_cloud.driver_left_out if pool.own.text(each[0]) == each[1]]
    return left_out[0] if left_out else None


def requirements(pool: DeclaredPool) -> Mapping[str, tuple[str, ...]]:
    """Return the labels for which a Karpenter pool requires one of some known values."""
    found: dict[str, tuple[str, ...]] = {}
    for item in pool.own.items("spec.template.spec.requirements") or ():
        key, values = item.text("key"), item.texts("values")
        if key and item.text("operator") == "In" and values and None not in values:
            found[key] = tuple(value for value in values if value is not None)
    return found


def capacity_types(pool: DeclaredPool) -> frozenset[str] | None:
    """Return the capacity types that Karpenter's pool allows, or None if it isn't known or the pool
    doesn't set them.
    """
    for item in pool.own.items("spec.template.spec.requirements") or ():
        values = item.texts("values")
        if item.text("key") == CAPACITY_TYPE and values and None not in values:
            named = frozenset(value for value in values if value is not None)
            return {"In": named, "NotIn": _CAPACITY_TYPES - named}.get(item.text("operator") or "")
    return None


def is_spot(pool: DeclaredPool) -> bool | None:
    """Return whether all nodes of a pool are Spot nodes, or None if it isn't known or Karpenter can
    choose.
    """
    if pool.own.has("spec.template.spec") is not False:  # a pool of Karpenter
        allowed = capacity_types(pool)
        return (
            None if allowed is None or (_SPOT in allowed and len(allowed) > 1) else _SPOT in allowed
        )
    answers = [has_value(pool.own.at(path), value) for path, value in cloud(pool.cloud).spot]
    return True if True in answers else None if None in answers else False


def has_value(given: object, value: str) -> bool | None:
    """Return whether a property has a value, including one written as true, or None if it isn't
    known.
    """
    return None if given is UNKNOWN else given == value or (given is True and value == "true")


def allows_machine(pool: DeclaredPool, machine: Machine) -> bool:
    """Return True if nodes of a pool can have a machine type, by its name or its family."""
    if names := machine_names(pool):
        return machine.name in names
    families = requirements(pool).get(f"{cloud(pool.cloud).karpenter}/instance-family", ())
    return machine.family in families


def machine_names(pool: DeclaredPool) -> tuple[str, ...]:
    """Return the machine types that nodes of a pool can have. Empty if it isn't known."""
    if pool.machine:
        return (pool.machine,)
    return requirements(pool).get("node.kubernetes.io/instance-type", ())


def possible_machines(pool: DeclaredPool) -> tuple[Machine, ...]:
    """Return the machine types that nodes of a pool can have. Empty if some of them are unknown."""
    found = [known_machine(pool.cloud, name) for name in machine_names(pool)]
    return tuple(each for each in found if each is not None) if None not in found else ()


def minor_of_pool(view: StackView, pool: DeclaredPool) -> int | None:
    """Return the Kubernetes minor version of a pool, its own or its cluster's, or None if it isn't
    known.
    """
    minors = {version.urn: version.minor for version in view.versions}
    return minors.get(pool.urn) or minors.get(pool.cluster_urn)


def leaves_driver_out(pool: DeclaredPool) -> bool:
    """Return whether the cloud's own driver installation is disabled for each of a pool's GPUs."""
    listed, path, value = cloud(pool.cloud).installer_off
    items = (pool.own.items(listed) or ()) if listed else ()
    return bool(items) and all(item.text(path) == value for item in items)
