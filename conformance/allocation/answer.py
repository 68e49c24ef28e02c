"""Compute our result for an allocation case, in the format of the referee."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from dra_planner.allocation.behaviour import Behaviour
from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.node.template import Template, build_template
from dra_planner.allocation.search.depth_first import SearchResult, search_devices
from dra_planner.allocation.search.devices import DeviceId
from dra_planner.allocation.search.holdings import Pick
from dra_planner.allocation.search.requests import plan_claims
from dra_planner.allocation.search.results import allocation_of
from dra_planner.manifests import parse_claim, parse_device_class, parse_node, parse_slice
from dra_planner.model import ClaimSpec, NodeSelector, Requirement
from dra_planner.releases import Features, features_of

Json = dict[str, Any]

PATIENCE = 3_000_000  # upstream has a time limit, but our search has a limit on its steps
_FIELDS = {
    "AdminAccess": "admin_access",
    "PrioritizedList": "prioritized_list",
    "PartitionableDevices": "partitionable_devices",
    "DeviceTaints": "device_taints",
    "ConsumableCapacity": "consumable_capacity",
    "DeviceBindingAndStatus": "binding_conditions",
    "ListTypeAttributes": "list_attributes",
    "FractionalCapacityRange": "fractional_capacity_range",
}


def features_from(names: Json, minor: int) -> Features:
    """The planner's features that match the allocator's features."""
    gates = {field: bool(names.get(name)) for name, field in _FIELDS.items()}
    if minor == 34:
        gates["device_status"] = bool(names.get("DeviceStatus"))
        gates["binding_conditions"] = bool(names.get("DeviceBinding")) and bool(
            names.get("DeviceStatus")
        )
    return features_of(minor).with_gates(**gates)


def open_case(case: Json, minor: int) -> tuple[NodeState, list[tuple[str, ClaimSpec]]]:
    """Return the node of the case (with its allocated devices) and its claims."""
    features = features_from(case["features"], minor)
    classes = {c.name: c for c in map(parse_device_class, case["classes"])}
    slices = [parse_slice(item) for item in case["slices"]]
    template = build_template(parse_node(case["nodes"][0]), slices, classes, features)
    allocated = [parse_claim(item).allocation for item in case["allocated"]]
    bare = NodeState(template)
    state = bare.with_picks(
        bare.picks_of(device for each in allocated if each for device in each.devices)
    )
    return state, [(_name(item["metadata"]), parse_claim(item).spec) for item in case["claims"]]


def _name(metadata: Json) -> str:
    """Return the name of the claim in upstream's messages."""
    return "/".join(metadata[key] for key in ("namespace", "name") if metadata.get(key))


def search_case(
    case: Json, minor: int, behaviour: Behaviour | None = None
) -> tuple[Template, SearchResult]:
    """Return the result of our search. If `behaviour` is given, the search behaves like that patch
    version.
    """
    state, claims = open_case(case, minor)
    template = state.template
    shares = {index: dict(used) for index, used in state.shares}
    plan = plan_claims(claims, template)
    return template, search_devices(
        template, plan, behaviour or template.behaviour, state.taken, shares, budget=PATIENCE
    )


def answer(case: Json, minor: int, behaviour: Behaviour | None = None) -> Json:
    """Return our result: fit, nofit, error, or exhausted."""
    template, result = search_case(case, minor, behaviour)
    if result.outcome == "error":
        return {"verdict": "error", "error": result.message}
    if result.outcome == "exhausted":
        return {"verdict": "exhausted"}
    if result.outcome == "none":
        if minor >= 35 and any(pool.invalid for pool in template.pools):
            return {
                "verdict": "error",
                "error": "invalid resource pools were encountered",
                "nodeOnly": True,
            }
        return {"verdict": "nofit"}
    outcome: Json = {"verdict": "fit"}
    if result.picks:
        outcome["claims"] = [_claim(picks, template) for picks in result.picks]
    return outcome


def _claim(picks: tuple[Pick, ...], template: Template) -> Json:
    allocation = allocation_of(picks, template)
    claim: Json = {"devices": [_device(pick, template) for pick in picks]}
    if allocation.node_selector is not None:
        claim["nodeSelector"] = _selector(allocation.node_selector)
    return claim


def _device(pick: Pick, template: Template) -> Json:
    id_: DeviceId = template.candidates[pick.index].id
    device: Json = {
        "request": pick.request,
        "driver": id_.driver,
        "pool": id_.pool,
        "device": id_.device,
    }
    if pick.admin:
        device["admin"] = True
    if pick.share is not None:
        device["shared"] = True
        if pick.share:
            device["consumed"] = {name: decimal_text(amount) for name, amount in pick.share}
    return device


def decimal_text(billionths: int) -> str:
    """Return an amount in billionths as a decimal number."""
    return format((Decimal(billionths) / 10**9).normalize(), "f")


def _selector(selector: NodeSelector) -> Json:
    terms = []
    for term in selector.terms:
        made: Json = {}
        if term.match_expressions:
            made["matchExpressions"] = _requirements(term.match_expressions)
        if term.match_fields:
            made["matchFields"] = _requirements(term.match_fields)
        terms.append(made)
    return {"nodeSelectorTerms": terms}


def _requirements(requirements: tuple[Requirement, ...]) -> list[Json]:
    ordered = sorted(requirements, key=lambda r: (r.key, r.operator, *sorted(r.values)))
    return [{"key": r.key, "operator": r.operator, "values": sorted(r.values)} for r in ordered]
