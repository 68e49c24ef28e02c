"""The objects that custom rules can read: their fields, types, and meanings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import Struct

from dra_planner.cel import types
from dra_planner.cel.types import CelType, list_of, map_of
from dra_planner.cel.variable_types import VariableTypes

Subject = Literal["plan", "pool", "workload", "claim"]
SUBJECTS: Final[tuple[Subject, ...]] = ("plan", "pool", "workload", "claim")

PLAN: Final = CelType("object", "Plan")
POOL: Final = CelType("object", "Pool")
WORKLOAD: Final = CelType("object", "Workload")
CLAIM: Final = CelType("object", "Claim")
REQUEST: Final = CelType("object", "Request")
COST: Final = CelType("object", "Cost")
_STRINGS: Final = list_of(types.STRING)
_LABELS: Final = map_of(types.STRING, types.STRING)


class Field(Struct, frozen=True):
    """One field. `needs_pools`: its value is unknown without a fleet, a stack, or a snapshot.
    `needs_manifests`: its value is unknown if only a plan file describes the object.
    """

    type: CelType
    meaning: str
    needs_pools: bool = False
    needs_manifests: bool = False


def _of_pools(fields: Mapping[str, tuple[CelType, str]]) -> dict[str, Field]:
    return {
        name: Field(kind, meaning, needs_pools=True) for name, (kind, meaning) in fields.items()
    }


OBJECT_TYPES: Final[Mapping[str, Mapping[str, Field]]] = {
    "Plan": {
        **_of_pools(
            {
                "verdict": (types.STRING, "`fits`, `does-not-fit`, or `cannot-tell`"),
                "cloud": (types.STRING, "Value of `cloud` in the fleet"),
                "region": (types.STRING, "Region of the fleet"),
                "autoscaler": (types.STRING, "Autoscaler of the fleet, or `none`"),
                "nodes": (types.INT, "Nodes in all pools"),
                "pools": (list_of(POOL), "Pools, in fleet order"),
            }
        ),
        "stack": Field(types.STRING, "Name of the Pulumi stack, or empty if there is no stack"),
        "kubernetes": Field(types.STRING, 'Kubernetes version, for example `"1.36"`'),
        "workloads": Field(list_of(WORKLOAD), "Workloads, sorted by kind, namespace, and name"),
        "claims": Field(list_of(CLAIM), "Claims and claim templates, sorted by namespace and name"),
    },
    "Pool": _of_pools(
        {
            "name": (types.STRING, "Name"),
            "machine": (types.STRING, "Machine type"),
            "gpu": (
                types.STRING,
                "Product name that the driver publishes for the GPU, or empty without GPUs",
            ),
            "gpusPerNode": (types.INT, "GPUs in each node"),
            "capacity": (types.STRING, "`on-demand`, `spot`, `reservation`, or `capacity-block`"),
            "zones": (
                _STRINGS,
                "Zones that the pool uses. Unknown if the fleet sets only the number of zones",
            ),
            "zoneCount": (types.INT, "Number of these zones"),
            "mig": (types.STRING, "MIG configuration, or `none`"),
            "labels": (_LABELS, "Labels of the nodes"),
            "taints": (
                _STRINGS,
                "Node taints, for example `nvidia.com/gpu=present:NoSchedule`",
            ),
            "nodes": (types.INT, "Number of nodes that Pulumi creates"),
            "minNodes": (
                types.INT,
                "Minimum number of nodes to create; without an autoscaler, the planned number",
            ),
            "maxNodes": (types.INT, "Maximum number of nodes"),
            "devices": (types.INT, "Number of devices on the nodes that Pulumi creates"),
            "usedDevices": (types.INT, "Number of devices on these nodes that claims use"),
            "nodeHourlyCost": (types.DOUBLE, "Price of one node in USD per hour"),
            "hourlyCost": (types.DOUBLE, "Price of the planned nodes in USD per hour"),
            "monthlyCost": (
                types.DOUBLE,
                "Price of the planned nodes in USD per month (730 hours)",
            ),
            "maxMonthlyCost": (
                types.DOUBLE,
                "Price of the maximum number of nodes in USD per month",
            ),
        }
    ),
    "Workload": {
        "kind": Field(types.STRING, "Kind, for example `Deployment`"),
        "namespace": Field(types.STRING, "Namespace"),
        "name": Field(types.STRING, "Name"),
        "labels": Field(_LABELS, "Labels of the pods", needs_manifests=True),
        "replicas": Field(types.INT, "Declared number of pods"),
        "priorityClass": Field(
            types.STRING, "Priority class of the pods, or empty if they have none"
        ),
        "claims": Field(list_of(CLAIM), "Claims of one pod"),
        "devicesPerPod": Field(types.INT, "Number of devices that one pod's claims request"),
        **_of_pools(
            {
                "verdict": (types.STRING, "`fits`, `does-not-fit`, or `cannot-tell`"),
                "placed": (types.INT, "Pods that fit"),
                "pending": (types.INT, "Pods that stay pending"),
                "pools": (
                    _STRINGS,
                    "Names of the pools where its pods run in at least one simulated pod arrival "
                    "order",
                ),
                "zones": (
                    _STRINGS,
                    "Zones of these pools. Unknown if the fleet sets only the number of zones",
                ),
                "zoneCount": (types.INT, "Number of these zones"),
                "hourlyCost": (
                    types.DOUBLE,
                    "Share of the node prices in proportion to the devices, in USD per hour",
                ),
                "monthlyCost": (
                    types.DOUBLE,
                    ("Share of the node prices in USD per month (730 hours)"),
                ),
            }
        ),
    },
    "Claim": {
        "kind": Field(
            types.STRING,
            "`ResourceClaim`, `ResourceClaimTemplate`, or empty for extended resources",
        ),
        "namespace": Field(types.STRING, "Namespace"),
        "name": Field(
            types.STRING,
            "Name of the object, or the claim's name in the pod if only the plan file contains the "
            "claim",
        ),
        "labels": Field(_LABELS, "Labels of the object", needs_manifests=True),
        "requests": Field(
            list_of(REQUEST), "Requests, with one entry for each `firstAvailable` alternative"
        ),
    },
    "Request": {
        "name": Field(types.STRING, "Name of the request"),
        "alternative": Field(
            types.STRING, "Name of the alternative, or empty without `firstAvailable`"
        ),
        "deviceClass": Field(types.STRING, "Name of the DeviceClass"),
        "count": Field(types.INT, "Number of devices, or 0 for all matching devices on a node"),
        "adminAccess": Field(types.BOOL, "Requests administrative access"),
        "selectors": Field(_STRINGS, "CEL selectors of the request"),
        "reads": Field(
            _STRINGS,
            "Attributes and capacities that the request's selectors and `capacity` use, for "
            "example `capacity/DRIVER/memory`",
        ),
    },
    "Cost": _of_pools(
        {
            "hourly": (types.DOUBLE, "Price of the planned nodes in USD per hour"),
            "monthly": (types.DOUBLE, "Price of the planned nodes in USD per month (730 hours)"),
            "maxMonthly": (types.DOUBLE, "Price in USD per month if every pool is at its maximum"),
            "monthlyByNamespace": (
                map_of(types.STRING, types.DOUBLE),
                "Price in USD per month for each namespace: the sum of its workloads' shares",
            ),
        }
    ),
}
"""The fields of each type. Versions add fields, but don't remove or change them."""

VARIABLES: Final[Mapping[str, CelType]] = {
    "plan": PLAN,
    "pool": POOL,
    "workload": WORKLOAD,
    "claim": CLAIM,
    "cost": COST,
}


def declarations(subject: Subject) -> VariableTypes:
    """Return the variables of a rule for these objects: the object, the plan, and the cost."""
    names = dict.fromkeys(("plan", "cost", subject))
    fields = {
        name: {key: each.type for key, each in of.items()} for name, of in OBJECT_TYPES.items()
    }
    return VariableTypes({name: VARIABLES[name] for name in names}, fields)


def needs_pools(selections: Iterable[tuple[str, str]]) -> bool:
    """Return whether one of these fields, as pairs of type and name, is unknown without pools."""
    return any(
        field.needs_pools
        for kind, name in selections
        if (field := OBJECT_TYPES.get(kind, {}).get(name)) is not None
    )
