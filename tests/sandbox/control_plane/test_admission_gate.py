"""The admission gate of a plan on a real API server: which objects it admits, and which it
rejects.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile.admission_gate import admission_gate
from dra_planner.sources import read_sources
from dra_sandbox.control_plane import ApiRejection, ApiServer, Settings, control_plane

Json = dict[str, Any]
pytestmark = pytest.mark.control_plane
ROOT = Path(__file__).parents[3]
DRA = "nvidia.com/gpu.dra"


def gate() -> tuple[Json, ...]:
    """Return the gate of the development stack: three claims templates, a shared claim, nine
    pods.
    """
    settings = yaml.safe_load((ROOT / "stacks/Pulumi.eks-dev.yaml").read_text())["config"]
    sources = read_sources([ROOT / "examples/workloads"])
    return admission_gate(
        plan_file(
            make_plan(PlanRequest(sources=sources, fleet=read_fleet(settings["pulumi-dra:fleet"])))
        )
    )


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with control_plane(Settings(36, scheduling=False)) as plane:
        api = ApiServer.of(plane)
        for document in gate():
            api.create(document)
        until = time.monotonic() + 60
        while True:  # an API server reads new policies a moment later
            try:
                api.create(
                    claim(
                        f"probe-{time.monotonic_ns()}",
                        {"exactly": {"deviceClassName": "unplanned"}},
                    )
                )
            except ApiRejection:
                break
            assert time.monotonic() < until, "the policies are not active"
            time.sleep(0.3)
        yield api


def claim(name: str, *requests: Json) -> Json:
    rows = [{"name": f"r{index}", **each} for index, each in enumerate(requests)]
    spec = {"devices": {"requests": rows}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def template(name: str, *requests: Json) -> Json:
    inner = claim(name, *requests)
    return {**inner, "kind": "ResourceClaimTemplate", "spec": {"spec": inner["spec"]}}


def plugin(
    name: str,
    *,
    namespace: str = "default",
    terms: list[Json] | None = None,
    path: str = "device-plugins",
) -> Json:
    pod: Json = {
        "containers": [{"name": "main", "image": "registry.example/plugin:1"}],
        "volumes": [{"name": "plugins", "hostPath": {"path": f"/var/lib/kubelet/{path}"}}],
    }
    if terms is not None:
        required = {"nodeSelectorTerms": [{"matchExpressions": [term]} for term in terms]}
        pod["affinity"] = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
        }
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


GPU = {"exactly": {"deviceClassName": "gpu.nvidia.com"}}
LARGE = {"exactly": {"deviceClassName": "large-gpu"}}
OTHER = {"exactly": {"deviceClassName": "fpga.example.com"}}
RANKED = {
    "firstAvailable": [
        {"name": "a", "deviceClassName": "large-gpu"},
        {"name": "b", "deviceClassName": "gpu.nvidia.com"},
    ]
}
RANKED_OTHER = {
    "firstAvailable": [
        {"name": "a", "deviceClassName": "large-gpu"},
        {"name": "b", "deviceClassName": "x"},
    ]
}
ZONE = {"key": "zone", "operator": "Exists"}
NEEDS = {"key": DRA, "operator": "In", "values": ["true"]}
KEEPS_OFF = {"key": DRA, "operator": "NotIn", "values": ["true"]}
ADMITTED = {
    "a class of the plan": claim("gpu", GPU),
    "a class of the fleet": claim("large", LARGE),
    "ranked alternatives": claim("ranked", RANKED),
    "a template": template("gpu", GPU, LARGE),
    "a plugin that excludes DRA nodes": plugin("off", terms=[KEEPS_OFF]),
    "a plugin that needs the label to be missing": plugin(
        "missing", terms=[{"key": DRA, "operator": "DoesNotExist"}]
    ),
    "a plugin of the cloud": plugin("managed", namespace="kube-system"),
    "the DRA driver": plugin("driver", path="plugins"),
}
REJECTED = {
    "a class that the plan doesn't have": (
        claim("fpga", OTHER),
        "The plan doesn't have this DeviceClass. Use",
    ),
    "one request of two": (claim("both", GPU, OTHER), "The plan doesn't have this DeviceClass"),
    "one alternative of two": (
        claim("alternative", RANKED_OTHER),
        "The plan doesn't have this DeviceClass",
    ),
    "a template with such a class": (
        template("fpga", OTHER),
        "The plan doesn't have this DeviceClass",
    ),
    "a plugin on every node": (plugin("everywhere"), "This device plugin can run on DRA nodes"),
    "a plugin with one term that matches DRA nodes": (
        plugin("one", terms=[KEEPS_OFF, ZONE]),
        "This device plugin can run on DRA",
    ),
    "a plugin that needs DRA nodes": (
        plugin("needs", terms=[NEEDS]),
        "This device plugin can run on DRA",
    ),
}


@pytest.mark.parametrize("case", ADMITTED)
def test_planned_objects_are_admitted(server: ApiServer, case: str) -> None:
    assert server.create(ADMITTED[case])["metadata"]["uid"]


@pytest.mark.parametrize("case", REJECTED)
def test_unplanned_objects_are_rejected(server: ApiServer, case: str) -> None:
    document, message = REJECTED[case]
    with pytest.raises(ApiRejection, match=message):
        server.create(document)


def test_the_quota_is_the_workloads_maximum() -> None:
    (quota,) = [each for each in gate() if each["kind"] == "ResourceQuota"]
    assert quota["metadata"] == {"name": "pulumi-dra-gate-devices", "namespace": "default"}
    # two-pods 2 x 1, at-least-40-gb 2 x 1 and 1 of its rollout, two-gpus-each 4 x 2, shared-claim
    # 1, ranked 1
    assert quota["spec"]["hard"]["gpu.nvidia.com.deviceclass.resource.k8s.io/devices"] == "15"
