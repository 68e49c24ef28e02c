"""Convert picks to the allocation in a claim's status.

Source of the behavior: kubernetes/dynamic-resource-allocation:structured/internal/*/allocator_*.go
(createNodeSelector) @v0.36.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.allocation.node.selectors import FIELD_NAME
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.search.devices import Candidate
from dra_planner.allocation.search.holdings import Pick
from dra_planner.model import (
    AllocatedDevice,
    ClaimAllocation,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
)
from dra_planner.quantity import Quantity

_NANO = -9


def allocation_of(picks: Sequence[Pick], template: Template) -> ClaimAllocation:
    """Return the devices and the node selector of one claim."""
    return ClaimAllocation(
        devices=tuple(_device(pick, template) for pick in picks),
        node_selector=_node_selector([template.candidates[p.index] for p in picks], template),
        has_timestamp=template.features.stamps_allocations,
    )


def _device(pick: Pick, template: Template) -> AllocatedDevice:
    driver, pool, name = template.candidates[pick.index].id
    return AllocatedDevice(
        request=pick.request,
        driver=driver,
        pool=pool,
        device=name,
        admin_access=pick.admin,
        share_id="share" if pick.share is not None else "",
        consumed_capacity={key: quantity_of(amount) for key, amount in pick.share or ()},
    )


def quantity_of(billionths: int) -> Quantity:
    """Return the quantity of an amount in billionths, as an integer if possible."""
    whole, rest = divmod(billionths, 10**9)
    return Quantity(billionths, _NANO) if rest else Quantity.from_int(whole)


def _node_selector(devices: Sequence[Candidate], template: Template) -> NodeSelector | None:
    """Return where the claim can be used: on this node if a device belongs to it, otherwise where
    every slice's selector matches.
    """
    fields: list[Requirement] = []
    labels: list[Requirement] = []
    for candidate in devices:
        device, item = candidate.device, candidate.slice
        source = device if item.per_device_node_selection else item
        if source.node_name or (device.binds_to_node and not template.behaviour.plain):
            here = Requirement(FIELD_NAME, "In", (template.node.name,))
            return NodeSelector((NodeSelectorTerm(match_fields=(here,)),))
        if source.node_selector is not None and source.node_selector.terms:
            term = source.node_selector.terms[0]
            _merge(fields, term.match_fields)
            _merge(labels, term.match_expressions)
    if not fields and not labels:
        return None
    return NodeSelector((NodeSelectorTerm(tuple(labels), tuple(fields)),))


def _merge(into: list[Requirement], more: Sequence[Requirement]) -> None:
    known = {(r.key, r.operator, frozenset(r.values)) for r in into}
    for requirement in more:
        key = (requirement.key, requirement.operator, frozenset(requirement.values))
        if key not in known:
            known.add(key)
            into.append(requirement)
