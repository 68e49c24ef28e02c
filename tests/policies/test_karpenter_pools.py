"""How the pack counts nodes of Karpenter NodePools: static NodePools have a known number of nodes,
and for all others it is unknown.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_policies.stack.karpenter_pools import karpenter_pool
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, Properties

TYPE = "kubernetes:karpenter.sh/v1:NodePool"


def pool(**spec: Any) -> Any:
    template = {
        "metadata": {"labels": {"nvidia.com/gpu.dra": "true", "pulumi-dra/pool": "l4"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "l4"},
            "requirements": [
                {
                    "key": "node.kubernetes.io/instance-type",
                    "operator": "In",
                    "values": ["g6.2xlarge"],
                }
            ],
        },
    }
    props = Properties({"metadata": {"name": "l4"}, "spec": {"template": template, **spec}})
    return karpenter_pool(Resource(urn="urn:l4", type=TYPE, name="l4", props=props))


# NodePool spec → minimum, desired, and maximum nodes, and whether an autoscaler changes the desired
# count.
COUNTS: dict[str, tuple[dict[str, Any], tuple[int | None, int | None, int | None, bool]]] = {
    "static": ({"replicas": 2, "limits": {"nodes": 3}}, (2, 2, 3, False)),
    "static, the limit as text": ({"replicas": 2, "limits": {"nodes": "3"}}, (2, 2, 3, False)),
    "static and empty": ({"replicas": 0, "limits": {"nodes": 3}}, (0, 0, 3, False)),
    "static without a limit": ({"replicas": 2}, (2, 2, None, False)),
    "static, not known yet": (
        {"replicas": UNKNOWN, "limits": {"nodes": 3}},
        (None, None, 3, False),
    ),
    "dynamic": ({}, (0, None, None, True)),
    "dynamic with a limit of nodes": ({"limits": {"nodes": 3}}, (0, None, 3, True)),
    "dynamic with a limit of CPUs": ({"limits": {"cpu": "190"}}, (0, None, 23, True)),
    "dynamic with the smaller of two limits": (
        {"limits": {"cpu": "192", "nvidia.com/gpu": "2"}},
        (0, None, 2, True),
    ),
    "dynamic with a limit of memory": ({"limits": {"memory": "1Ti"}}, (0, None, None, True)),
    "dynamic with a limit that isn't known yet": (
        {"limits": {"cpu": UNKNOWN}},
        (0, None, None, True),
    ),
}


@pytest.mark.parametrize(("spec", "counts"), COUNTS.values(), ids=COUNTS)
def test_counts_are_read_from_karpenter_pools(
    spec: dict[str, Any], counts: tuple[int | None, int | None, int | None, bool]
) -> None:
    found = pool(**spec)
    assert (found.count_min, found.count_desired, found.count_max, found.leaves_desired) == counts
    assert (found.name, found.machine) == ("l4", "g6.2xlarge")
