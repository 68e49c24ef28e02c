"""Pools that the plan leaves to a device plugin, in a stack that also installs the DRA driver."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dra_policies.rules.drivers import driver_reaches_no_node
from dra_policies.rules.ownership import device_plugin_on_dra_node
from dra_policies.stack.resource import Resource
from dra_policies.stack.views import view_of_stack

DRA = "nvidia.com/gpu.dra"
PRESENT = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}
PLUGIN_NODES = {"nvidia.com/gpu.present": "true", "pulumi-dra/pool": "l4"}


def pool(declare: SimpleNamespace, cloud: str, labels: dict[str, str]) -> Resource:
    match cloud:
        case "eks":
            return declare.node_group(labels=labels)
        case "gke":
            return declare.node_pool(config={"labels": labels})
        case _:
            return declare.agent_pool(nodeLabels=labels)


def affinity(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def findings(
    declare: SimpleNamespace, cloud: str, allocation: str, labels: dict[str, str]
) -> set[str]:
    """Return the rules that report a stack with this pool, a driver for DRA nodes, and a device
    plugin for all other nodes.
    """
    fleet = declare.fleet(cloud)
    fleet["pools"][0]["allocation"] = allocation
    if cloud != "gke":
        fleet["devicePlugin"] = {"version": "0.20.0"}
    on_dra = affinity({"key": DRA, "operator": "In", "values": ["true"]})
    elsewhere = affinity(PRESENT, {"key": DRA, "operator": "NotIn", "values": ["true"]})
    view = view_of_stack(
        [
            declare.record(**{**fleet, "cloud": cloud}),
            pool(declare, cloud, labels),
            declare.release(
                "nvidia-dra-driver-gpu", {"kubeletPlugin": {"affinity": on_dra}}, version="25.8.1"
            ),
            declare.release("nvidia-device-plugin", {"affinity": elsewhere}),
        ]
    )
    rules = (device_plugin_on_dra_node.RULE, driver_reaches_no_node.RULE)
    return {rule.id for rule in rules if list(rule.check(view))}


CASES = {
    "a planned plugin pool is valid": ("device-plugin", PLUGIN_NODES, set[str]()),
    "a planned DRA pool without the label is out of the driver's reach": (
        "dra",
        PLUGIN_NODES,
        {"driver-reaches-no-node"},
    ),
}


@pytest.mark.parametrize("cloud", ["eks", "gke", "aks"])
@pytest.mark.parametrize("name", CASES)
def test_device_discovery_excludes_dra_nodes(
    declare: SimpleNamespace, cloud: str, name: str
) -> None:
    allocation, labels, expected = CASES[name]

    assert findings(declare, cloud, allocation, labels) == expected
