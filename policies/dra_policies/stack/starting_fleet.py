"""A stack of another Pulumi program → a fleet file with the same pools, as a starting point."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from dra_planner.clouds import DRA, Cloud, NodeOrigin, cloud
from dra_planner.drivers import nvidia
from dra_planner.errors import Place, PlannerError, located
from dra_policies.stack.declared_fleet import declared_fleet
from dra_policies.stack.exported_state import resources_of_state
from dra_policies.stack.views import view_of_stack
from dra_policies.view.stack_view import DeclaredPool, StackView


def fleet_of_state(
    text: str, name: str, *, region: str = "", kubernetes: str = ""
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fleet in an exported state, as plain data without defaults, and its unknown facts.

    If no pool is a DRA pool yet, every GPU pool is planned as one. `region` and `kubernetes` apply
    if the stack doesn't state them. Without an installed driver, the newest one is used. Raises
    PlannerError if the text isn't a state, or if the stack has no GPU pools.
    """
    resources = resources_of_state(text, name)
    view, notes = _with_claims(view_of_stack(resources))
    driver = {"nvidia": {"version": nvidia.newest_driver_release().version}}
    try:
        found = declared_fleet(
            view, resources, {"region": region, "kubernetes": kubernetes, "drivers": driver}
        )
    except PlannerError as error:
        fix = error.fix or (
            "make sure that the stack declares a GPU pool, and pass --region REGION or --kubernetes "
            "VERSION if the stack doesn't set them"
        )
        raise PlannerError(
            located(error.place, error.message), place=Place(name), fix=fix
        ) from None
    document: dict[str, Any] = found.fleet.model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )
    of_cloud = cloud(found.fleet.cloud)
    declared = {pool.offer_name: pool for pool in view.pools}
    document["pools"] = [
        {**row, "count": {"min": 0, **row["count"]}, **_own(declared[row["name"]], of_cloud)}
        for row in document["pools"]
    ]
    return document, (*notes, *found.unknowns)


def _with_claims(view: StackView) -> tuple[StackView, tuple[str, ...]]:
    """Return the stack with DRA enabled for its GPUs, and the changes that this requires."""
    if any(pool.is_dra for pool in view.pools):
        return view, ()
    pools = tuple(
        replace(pool, labels={**pool.labels, DRA: "true"})
        if pool.has_gpus and pool.labels is not None
        else pool
        for pool in view.pools
    )
    notes = tuple(
        f"{pool.title} isn't a DRA pool yet, but the plan treats it as a DRA pool"
        for pool in pools
        if pool.is_dra
    )
    return replace(view, pools=pools), notes


def _own(pool: DeclaredPool, of_cloud: Cloud) -> dict[str, Any]:
    """Return the labels and taints that a fleet must list. Labels and taints from the drivers and
    the cloud are excluded.
    """
    labels = {
        key: value
        for key, value in sorted((pool.labels or {}).items())
        if value is not None and not of_cloud.label_fault(key, value)
    }
    ours = {
        *of_cloud.taints(NodeOrigin(name=pool.name or "", machine=None)),
        *of_cloud.possible_taints,
    }
    taints = [
        {"key": taint.key, "value": taint.value, "effect": taint.effect}
        for taint in pool.taints or ()
        if taint not in ours
    ]
    return {**({"labels": labels} if labels else {}), **({"taints": taints} if taints else {})}
