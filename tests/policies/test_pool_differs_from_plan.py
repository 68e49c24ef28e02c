"""Before Pulumi creates a node group or node pool, the pack compares it with its row in the
plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from dra_policies.rules.record.pool_differs_from_plan import RULE
from dra_policies.rules.rule import Finding
from dra_policies.stack.engine_session import SeenResources
from dra_policies.stack.views import view_of_resource, view_of_stack
from dra_policies.unknown_values import UNKNOWN


def findings(record: Any, pool: Any) -> list[Finding]:
    view = view_of_resource(pool, SeenResources([record, pool]))
    assert view is not None
    return list(RULE.check(view))


LABELS = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.dra": "true", "pulumi-dra/pool": "l4"}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}

# Properties of the node group → words of the finding; "" passes, "?" cannot tell.
GROUPS: dict[str, tuple[dict[str, Any], str]] = {
    "as planned": ({}, ""),
    "another machine": (
        {"machine": "g6.4xlarge"},
        "is g6.4xlarge, but the plan expects g6.2xlarge",
    ),
    "a smaller maximum": (
        {"counts": (2, 2, 3)},
        "is 3, but the plan expects 4",
    ),
    "another minimum": ({"counts": (1, 2, 4)}, "is 1, but the plan expects 2"),
    "another desired count": (
        {"counts": (2, 3, 4)},
        "is 3, but the plan expects 2",
    ),
    "a desired count managed by an autoscaler": (
        {"counts": (2, 3, 4), "ignore_changes": ("scalingConfig.desiredSize",)},
        "",
    ),
    "all of the scaling ignored": ({"counts": (2, 3, 4), "ignore_changes": ("scalingConfig",)}, ""),
    "no DRA label": (
        {"labels": {**LABELS, "nvidia.com/gpu.dra": "false"}},
        ("have the label nvidia.com/gpu.dra=false, but the plan expects nvidia.com/gpu.dra=true"),
    ),
    "no taint": ({"taints": []}, "don't have the taint nvidia.com/gpu=present:NoSchedule"),
    "a taint that only prefers": (
        {"taints": [{**TAINT, "effect": "PREFER_NO_SCHEDULE"}]},
        "don't have the taint nvidia.com/gpu=present:NoSchedule",
    ),
    "one additional taint": (
        {"taints": [TAINT, {"key": "team", "value": "a", "effect": "NO_EXECUTE"}]},
        "have the taint team=a:NoExecute, which isn't in the plan",
    ),
    "a pool that the plan lacks": ({"pool": "h100"}, "but the plan doesn't contain this pool"),
    "no pool label": (
        {"labels": {"nvidia.com/gpu.dra": "true"}},
        "doesn't have the label pulumi-dra/pool",
    ),
    "the nodes for controllers": (
        {"labels": {"pulumi-dra/pool": "system"}, "machine": "m7i.large", "taints": []},
        "",
    ),
    "a group for something else": ({"labels": {}, "machine": "m7i.large"}, ""),
    "an unknown machine type": ({"instanceTypes": UNKNOWN}, "?"),
    "several machines": ({"instanceTypes": ["g6.2xlarge", "g6.4xlarge"]}, "?"),
    "unknown counts": ({"scalingConfig": UNKNOWN}, "?"),
    "unknown labels": ({"labels": UNKNOWN}, "?"),
    "an unknown label": ({"labels": {**LABELS, "nvidia.com/gpu.present": UNKNOWN}}, "?"),
    "unknown taints": ({"taints": UNKNOWN}, "?"),
}


def hold(found: Sequence[Finding], expected: str) -> None:
    """Expect no finding for "", only uncertain findings for "?", else one finding with
    these words.
    """
    if expected == "":
        assert found == []
    elif expected == "?":
        assert found
        assert not any(finding.certain for finding in found)
    else:
        (finding,) = found
        assert finding.certain
        assert expected in finding.message


@pytest.mark.parametrize("name", GROUPS)
def test_a_node_group_is_compared_with_the_plan(declare: SimpleNamespace, name: str) -> None:
    props, expected = GROUPS[name]

    found = findings(declare.record(), declare.node_group(**props))

    hold(found, expected)


OWN = {
    "labels": {"team": "ml"},
    "taints": [{"key": "team", "value": "ml", "effect": "NoExecute"}],
}
TEAM_TAINT = {"key": "team", "value": "ml", "effect": "NO_EXECUTE"}

# Properties of the node group when the fleet gives the pool its own label and taint → words of the
# finding.
OWN_GROUPS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "both": ({"labels": {**LABELS, "team": "ml"}, "taints": [TAINT, TEAM_TAINT]}, []),
    "another value": (
        {"labels": {**LABELS, "team": "web"}, "taints": [TAINT, TEAM_TAINT]},
        ["have the label team=web, but the plan expects team=ml"],
    ),
    "neither": (
        {},
        [
            "don't have the label team, but the plan expects team=ml",
            " don't have the taint team=ml:NoExecute, which the plan expects",
        ],
    ),
}


@pytest.mark.parametrize("name", OWN_GROUPS)
def test_labels_and_taints_of_the_fleet_are_compared(declare: SimpleNamespace, name: str) -> None:
    props, expected = OWN_GROUPS[name]
    pools = [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 2, "max": 4}, **OWN}]

    found = findings(declare.record(pools=pools), declare.node_group(**props))

    assert len(found) == len(expected)
    assert all(text in finding.message for text, finding in zip(expected, found, strict=True))


def karpenter_pool(declare: SimpleNamespace, *allowed: str) -> Any:
    """Return the NodePool of the pool l4, with these capacity types."""
    requirements = {
        "node.kubernetes.io/instance-type": ["g6.2xlarge"],
        "karpenter.sh/capacity-type": list(allowed),
    }
    spec = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "l4"},
        "requirements": [
            {"key": key, "operator": "In", "values": each} for key, each in requirements.items()
        ],
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
    }
    template = {"metadata": {"labels": LABELS}, "spec": spec}
    props = {"spec": {"replicas": 2, "limits": {"nodes": "4"}, "template": template}}
    return declare.resource("kubernetes:karpenter.sh/v1:NodePool", "l4", props)


ON_DEMAND, SPOT = (
    "doesn't use Spot nodes, but the plan expects Spot nodes",
    "uses Spot nodes, but the plan expects",
)
CAPACITY: dict[str, tuple[str, dict[str, Any] | list[str], str]] = {
    "Spot as planned": ("spot", {"capacityType": "SPOT"}, ""),
    "on-demand by default": ("spot", {}, ON_DEMAND),
    "explicit on-demand": ("spot", {"capacityType": "ON_DEMAND"}, ON_DEMAND),
    "Spot instead of on-demand": ("on-demand", {"capacityType": "SPOT"}, SPOT),
    "an unknown capacity type": (
        "spot",
        {"capacityType": UNKNOWN},
        "capacity type isn't known",
    ),
    "Karpenter's Spot as planned": ("spot", ["spot"], ""),
    "Karpenter's on-demand as planned": ("on-demand", ["on-demand"], ""),
    "Karpenter's on-demand": ("spot", ["on-demand"], ON_DEMAND),
    "Karpenter's Spot": ("on-demand", ["spot"], SPOT),
    "Karpenter chooses": ("on-demand", ["on-demand", "spot"], "capacity type isn't known"),
}


@pytest.mark.parametrize(("planned", "declared", "expected"), CAPACITY.values(), ids=CAPACITY)
def test_spot_capacity_is_compared(
    declare: SimpleNamespace, planned: str, declared: dict[str, Any] | list[str], expected: str
) -> None:
    pools = [
        {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 2, "max": 4}, "capacity": planned}
    ]
    pool = (
        karpenter_pool(declare, *declared)
        if isinstance(declared, list)
        else declare.node_group(**declared)
    )
    view = view_of_stack([declare.record(pools=pools), pool])

    messages = [
        each.message
        for each in RULE.check(view)
        if "Spot" in each.message or "capacity type" in each.message
    ]

    assert [expected in each for each in messages] == [True] * bool(expected)


SCHEDULE = {"hours": {"start": "08:00", "end": "18:00"}}
SCHEDULED: dict[str, tuple[tuple[int, int, int], str]] = {
    "in its hours": ((0, 0, 4), ""),
    "outside its hours": ((0, 3, 4), ""),
    "another minimum": ((1, 1, 4), "is 1, but the plan expects 0"),
    "another maximum": ((0, 0, 5), "is 5, but the plan expects 4"),
}


@pytest.mark.parametrize(("counts", "expected"), SCHEDULED.values(), ids=SCHEDULED)
def test_a_scheduled_pool_is_compared_by_its_limits(
    declare: SimpleNamespace, counts: tuple[int, int, int], expected: str
) -> None:
    pools = [
        {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 4}, "schedule": SCHEDULE}
    ]
    found = findings(declare.record(pools=pools), declare.node_group(counts=counts))
    assert [expected in each.message for each in found] == [True] * bool(expected)


POOLS: dict[str, tuple[dict[str, Any], str]] = {
    "total limits": ({}, ""),
    "limits per zone, one zone": ({"autoscaling": {"minNodeCount": 2, "maxNodeCount": 4}}, ""),
    "limits per zone, two zones": (
        {
            "autoscaling": {"minNodeCount": 1, "maxNodeCount": 4},
            "nodeLocations": ["us-central1-a", "us-central1-b"],
            "ignore_changes": ("initialNodeCount",),
        },
        "is 8, but the plan expects 4",
    ),
    "a fixed count": ({"autoscaling": None, "nodeCount": 2, "initialNodeCount": None}, ""),
    "another fixed count": (
        {"autoscaling": None, "nodeCount": 3},
        "is 3, but the plan expects 2",
    ),
    "a zonal pool": (
        {"nodeLocations": None, "location": "us-central1-a", "autoscaling": None, "nodeCount": 2},
        "",
    ),
    "a regional pool without zones": (
        {"nodeLocations": None, "autoscaling": None, "nodeCount": 2},
        "?",
    ),
    "a previous initial count": (
        {"initialNodeCount": 1, "ignore_changes": ("initialNodeCount",)},
        "",
    ),
    "another machine": (
        {"config": {"machineType": "g2-standard-4"}},
        "is g2-standard-4, but the plan expects g2-standard-8",
    ),
    "attached GPUs are part of the machine": (
        {
            "config": {
                "machineType": "n1-standard-8",
                "guestAccelerators": [{"type": "nvidia-tesla-v100", "count": 2}],
            }
        },
        "is n1-standard-8+nvidia-tesla-v100:2, but the plan expects g2-standard-8",
    ),
}


@pytest.mark.parametrize("name", POOLS)
def test_a_node_pool_is_compared_with_the_plan(declare: SimpleNamespace, name: str) -> None:
    props, expected = POOLS[name]

    found = findings(declare.record(cloud="gke"), declare.node_pool(**props))

    hold(found, expected)


AUTOSCALED = {"enableAutoScaling": True, "minCount": 2, "maxCount": 4}
AGENT_POOLS: dict[str, tuple[dict[str, Any], str]] = {
    "a fixed count": ({}, ""),
    "an explicit fixed count": ({"enableAutoScaling": False}, ""),
    "disabled limits": ({**AUTOSCALED, "enableAutoScaling": False, "maxCount": 9}, ""),
    "another fixed count": ({"count": 3}, "is 3, but the plan expects 2"),
    "limits": (AUTOSCALED, ""),
    "other limits": (
        {**AUTOSCALED, "maxCount": 3},
        "is 3, but the plan expects 4",
    ),
    "unknown scaling": ({**AUTOSCALED, "enableAutoScaling": UNKNOWN}, "?"),
    "another machine": (
        {"machine": "Standard_NC8as_T4_v3"},
        "is Standard_NC8as_T4_v3, but the plan expects Standard_NC4as_T4_v3",
    ),
    "no taint": ({"nodeTaints": []}, "don't have the taint nvidia.com/gpu=present:NoSchedule"),
    "one additional taint": (
        {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule", "team=a:NoExecute"]},
        "have the taint team=a:NoExecute, which isn't in the plan",
    ),
    "a taint without a value": (
        {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule", "team:NoExecute"]},
        "have the taint team:NoExecute, which isn't in the plan",
    ),
    "an invalid taint": ({"nodeTaints": ["nvidia.com/gpu=present:NoSchedule", "team"]}, "?"),
    "unknown taints": ({"nodeTaints": UNKNOWN}, "?"),
    "one unknown taint": (
        {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule", UNKNOWN]},
        "?",
    ),
    "no DRA label": (
        {"nodeLabels": {"nvidia.com/gpu.present": "true", "pulumi-dra/pool": "l4"}},
        ("don't have the label nvidia.com/gpu.dra, but the plan expects nvidia.com/gpu.dra=true"),
    ),
}


@pytest.mark.parametrize("name", AGENT_POOLS)
def test_an_agent_pool_is_compared_with_the_plan(declare: SimpleNamespace, name: str) -> None:
    props, expected = AGENT_POOLS[name]

    found = findings(declare.record(cloud="aks"), declare.agent_pool(**props))

    hold(found, expected)


def test_the_machine_type_may_be_set_in_the_launch_template(declare: SimpleNamespace) -> None:
    template = declare.resource(
        "aws:ec2/launchTemplate:LaunchTemplate", "lt", {"instanceType": "g6.4xlarge"}
    )
    other = declare.resource(
        "aws:ec2/launchTemplate:LaunchTemplate", "other", {"instanceType": "g6.2xlarge"}
    )
    group = declare.node_group(
        instanceTypes=None,
        launchTemplate={"id": UNKNOWN},
        sources={"launchTemplate": (template.urn,)},
    )

    found = list(RULE.check(view_of_stack([other, group, declare.record(), template])))

    assert [finding.message for finding in found] == [
        'the machine type of node group "l4" is g6.4xlarge, but the plan expects g6.2xlarge'
    ]


def test_a_planned_pool_missing_from_the_stack_is_reported(declare: SimpleNamespace) -> None:
    record = declare.record()

    assert [finding.message for finding in RULE.check(view_of_stack([record]))] == [
        'the plan has a pool "l4" (g6.2xlarge, at most 4 nodes), but no node group or node '
        'pool in this stack is labeled pulumi-dra/pool="l4"'
    ]
    assert list(RULE.check(view_of_stack([record, declare.node_group()]))) == []
    view = view_of_resource(record, SeenResources([record]))
    assert view is not None
    assert list(RULE.check(view)) == []  # the pools come later


def test_without_a_plan_nothing_is_compared(declare: SimpleNamespace) -> None:
    group = declare.node_group(machine="g6.4xlarge")
    broken = declare.record("{}")

    assert list(RULE.check(view_of_stack([group]))) == []
    assert list(RULE.check(view_of_stack([group, broken]))) == []


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({}, "don't have the label cloud.google.com/gke-networking-dra-driver"),
        ({"cloud.google.com/gke-networking-dra-driver": "true"}, ""),
    ],
    ids=["without DRANET's label", "with it"],
)
def test_network_devices_that_the_plan_needs_must_be_enabled(
    declare: SimpleNamespace, labels: dict[str, str], message: str
) -> None:
    pools = [{"name": "h200", "machine": "a3-ultragpu-8g", "count": {"min": 2, "max": 4}}]
    drivers = {"nvidia": {"version": "25.8.1"}, "dranet": True}
    network = {"zones": ["us-central1-a"]}
    planned = declare.record(
        cloud="gke", drivers=drivers, pools=pools, autoscaler="gke", network=network
    )
    carried = {**LABELS, **declare.GKE_LABELS, "pulumi-dra/pool": "h200", **labels}
    pool = declare.node_pool(machine="a3-ultragpu-8g", config={"labels": carried})
    found = [each.message for each in findings(planned, pool)]
    assert [each for each in found if "label" in each] == found
    assert len(found) == bool(message)
    assert all(message in each for each in found)


@pytest.mark.parametrize(("autoscaler", "count"), [("none", 1), ("cluster-autoscaler", 0)])
def test_nodes_added_by_an_autoscaler_are_accepted(
    declare: SimpleNamespace, autoscaler: str, count: int
) -> None:
    record, group = declare.record(autoscaler=autoscaler), declare.node_group(counts=(2, 3, 4))
    assert len(findings(record, group)) == count
