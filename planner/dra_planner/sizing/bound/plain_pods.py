"""Pods that fit a node if and only if its rows have enough free capacity.

These pods have no rules between pods, and use devices of one kind.
"""

from __future__ import annotations

from dra_planner.allocation.node.ports import host_ports
from dra_planner.model import PodSpec
from dra_planner.sizing.device_needs import DeviceNeeds
from dra_planner.sizing.items import Item


def is_plain(item: Item, needs: DeviceNeeds) -> bool:
    """Return whether only a node's rows decide if the item's pods fit, whatever else runs there.

    `needs` are the item's device needs on the node.
    """
    (part, *others) = item.parts
    has_plain_claims = all(
        each.shared is None
        and not each.spec.constraints
        and all(request.exactly is not None for request in each.spec.requests)
        for each in part.shape.claims
    )
    return (
        not others
        and part.pods == 1
        and has_plain_claims
        and _is_free_of_rules(part.shape.pod)
        and needs.is_steady
        and len(needs.exclusive) <= 1
        and not (needs.counters or needs.draws or needs.shares)
    )


def _is_free_of_rules(pod: PodSpec) -> bool:
    """Return whether no other pod, port, or volume affects which nodes take the pod."""
    return not (
        pod.pod_affinity
        or pod.pod_anti_affinity
        or pod.pod_group
        or pod.zonal_volumes
        or any(each.when_unsatisfiable == "DoNotSchedule" for each in pod.topology_spread)
        or host_ports(pod)
    )
