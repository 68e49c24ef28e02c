"""Fixes in findings about stacks: the fault that causes each one, and the change that follows it.

Both are steps that change a stack of `test_seeded_faults.good`, made by the functions below.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from test_seeded_faults import COS_ROOT, DRIVER, TOLERATIONS, VALUES, changed

from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN

Stack = dict[str, Resource]
Step = Callable[[SimpleNamespace, Stack], None]
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
PRESENT = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}
NOT_DRA = {"key": "nvidia.com/gpu.dra", "operator": "NotIn", "values": ["true"]}
PLAN_LABELS = {
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.dra": "true",
    "pulumi-dra/pool": "l4",
}


class StackFix(Struct, frozen=True):
    """`fix` is the text as written in the code; `thresholds` are the ones that the project sets."""

    fix: str
    fault: Step
    follow: Step
    cloud: str = "eks"
    thresholds: Mapping[str, float] = {}


def is_filled_from(fix: str, text: str) -> bool:
    """Return whether a fix is a text of the code with its placeholders filled in."""
    begin, *rest = text.split("{}")
    at = len(begin)
    for part in rest:
        at = fix.find(part, at) + len(part)
        if at < len(part):
            return False
    return fix.startswith(begin) and (fix.endswith(rest[-1]) if rest else fix == begin)


def put(which: str, path: str, value: Any) -> Step:
    """Set one property, or remove it (None)."""

    def step(_: SimpleNamespace, stack: Stack) -> None:
        stack[which] = changed(stack[which], path, value)

    return step


def add(which: str, make: Callable[[SimpleNamespace], Resource]) -> Step:
    def step(declare: SimpleNamespace, stack: Stack) -> None:
        stack[which] = make(declare)

    return step


def remove(which: str) -> Step:
    return lambda _, stack: stack.__delitem__(which)


def both(*steps: Step) -> Step:
    def step(declare: SimpleNamespace, stack: Stack) -> None:
        for each in steps:
            each(declare, stack)

    return step


def plugin(*expressions: Any) -> Step:
    """Install the device plugin, with one node-selector term."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return add(
        "plugin", lambda declare: declare.release("nvidia-device-plugin", {"affinity": affinity})
    )


def critical_quota(pods: int) -> Step:
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
    spec = {"hard": {"pods": pods}, "scopeSelector": {"matchExpressions": [scope]}}
    return add(
        "quota",
        lambda declare: declare.kubernetes(
            "ResourceQuota", "core/v1", "critical", "nvidia", spec=spec
        ),
    )


def plan(**changes: Any) -> Step:
    return add("plan", lambda declare: declare.record(manifests=declare.job(2), **changes))


def edited_plan(declare: SimpleNamespace) -> Resource:
    document = json.loads(declare.plan_text(declare.job(2)))
    document["pools"][0]["nodes"]["max"] = 40
    return declare.record(json.dumps(document))  # type: ignore[no-any-return]


def pool(**settings: Any) -> dict[str, Any]:
    return {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 2, "max": 4}, **settings}


def two_clusters(declare: SimpleNamespace, stack: Stack) -> None:
    """Declare a second cluster, and a release that could belong to either cluster."""
    first = stack["cluster"]
    second = replace(first, urn=f"{first.urn}-two", name="two")
    stack["cluster-two"] = second
    for name in ("in-one", "in-two"):
        cluster = first if name == "in-one" else second
        sources = {"kubeconfig": (cluster.urn,)}
        stack[name] = declare.resource("pulumi:providers:kubernetes", name, {}, sources=sources)


def in_first_cluster(_: SimpleNamespace, stack: Stack) -> None:
    stack["driver"] = replace(stack["driver"], provider=stack["in-one"].urn)


def job_without_toleration(declare: SimpleNamespace, stack: Stack) -> None:
    _declare_job(declare, stack, tolerates=False)


def job_with_toleration(declare: SimpleNamespace, stack: Stack) -> None:
    _declare_job(declare, stack, tolerates=True)


def _declare_job(declare: SimpleNamespace, stack: Stack, *, tolerates: bool) -> None:
    """Declare jobs in a stack whose pools have too few known properties to be judged."""
    stack.pop("plan", None)
    stack["pool"] = changed(stack["pool"], "instanceTypes", UNKNOWN)
    for each in declare.job_resources(2, tolerates=tolerates):
        stack[each.name] = each


def own_class(declare: SimpleNamespace, stack: Stack) -> None:
    """Declare the DeviceClass of the plan with another selector."""
    _declare_class(declare, stack, ["device.driver == 'gpu.nvidia.com'"])


def planned_class(declare: SimpleNamespace, stack: Stack) -> None:
    classes = json.loads(declare.plan_text(declare.job(2)))["classes"]
    (row,) = (each for each in classes if each["metadata"]["name"] == GPU_CLASS)
    _declare_class(declare, stack, [each["cel"]["expression"] for each in row["spec"]["selectors"]])


def served_class(declare: SimpleNamespace, stack: Stack) -> None:
    """Declare the DeviceClass of the plan with an extended resource."""
    both(put("cluster", "version", "1.36"), plan(kubernetes="1.36"))(declare, stack)
    planned_class(declare, stack)
    stack["class"] = changed(stack["class"], "spec/extendedResourceName", "example.com/gpu")


def _declare_class(declare: SimpleNamespace, stack: Stack, selectors: list[str]) -> None:
    spec = {"selectors": [{"cel": {"expression": each}} for each in selectors]}
    stack["class"] = declare.kubernetes("DeviceClass", "resource.k8s.io/v1", GPU_CLASS, spec=spec)


def at_most(nodes: int) -> Step:
    """Lower the maximum of the pool in both the fleet and the stack."""
    return both(
        plan(pools=[pool(count={"min": 2, "max": nodes})]),
        put("pool", "scalingConfig/maxSize", nodes),
    )


GPU_CLASS = "gpu.nvidia.com"
STACK_FIXES = [
    StackFix(
        'lower the maximum of pool "{}", or raise the threshold of {}',
        at_most(4),
        at_most(2),
        thresholds={"cost-above-ceiling": 2000},
    ),
    StackFix(
        "lower its maximum to {}, or raise the threshold of {}",
        at_most(4),
        at_most(2),
        thresholds={"pool-cost-above-ceiling": 2000},
    ),
    StackFix(
        "set pricePerHour for these pools in {}",
        both(plan(pools=[pool(capacity="spot")]), put("pool", "capacityType", "SPOT")),
        plan(pools=[pool(capacity="spot", pricePerHour=0.5)]),
        thresholds={"cost-above-ceiling": 2000},
    ),
    StackFix(
        "set the {} to {}, or run `pulumi-dra plan --stack STACK --write` to plan with the current DeviceClass",
        own_class,
        planned_class,
    ),
    StackFix(
        "remove the {}, or run `pulumi-dra plan --stack STACK --write` to plan with the current DeviceClass",
        served_class,
        planned_class,
    ),
    StackFix(
        "add the toleration {key: {}, operator: Exists, effect: {}}",
        job_without_toleration,
        job_with_toleration,
    ),
    StackFix(
        "in the plugin's required node affinity, add {} to the matchExpressions of every term",
        plugin(PRESENT),
        plugin(PRESENT, NOT_DRA),
    ),
    StackFix(
        'add the label {}="false" to the nodes, or set devicePlugin.enabled to false in the '
        "operator's values",
        add("operator", lambda declare: declare.release("gpu-operator", {})),
        put("operator", "values", {"devicePlugin": {"enabled": False}}),
    ),
    StackFix(
        'add the label {}="false" to the nodes, or set migManager.enabled to false',
        both(
            plan(pools=[pool(machine="p4d.24xlarge", mig="all-3g.20gb")]),
            put("pool", "instanceTypes", ["p4d.24xlarge"]),
            add(
                "operator",
                lambda declare: declare.release(
                    "gpu-operator", {"devicePlugin": {"enabled": False}}
                ),
            ),
        ),
        put("operator", "values/migManager", {"enabled": False}),
    ),
    StackFix(
        "disable the device plugin in the node settings, or use an image without a device plugin ({})",
        put("pool", "amiType", "BOTTLEROCKET_x86_64_NVIDIA"),
        put("pool", "amiType", "AL2023_x86_64_NVIDIA"),
    ),
    StackFix(
        "create the pool with the node label {}=true",
        put("pool", "nodeConfig/labels/gke-no-default-nvidia-gpu-device-plugin", None),
        put("pool", "nodeConfig/labels/gke-no-default-nvidia-gpu-device-plugin", "true"),
        "gke",
    ),
    StackFix(
        "set the chart version to {}",
        put("driver", "version", "25.3.1"),
        put("driver", "version", "25.3.2"),
    ),
    StackFix(
        "set {} to true in the release's values",
        put("driver", "values/gpuResourcesEnabledOverride", None),
        put("driver", "values/gpuResourcesEnabledOverride", True),
    ),
    StackFix(
        'install the driver in a dedicated namespace, for example "nvidia-dra-driver"',
        put("driver", "namespace", "default"),
        put("driver", "namespace", "nvidia-dra-driver"),
    ),
    StackFix(
        'remove "{}" from the release\'s values',
        put("driver", "values/nvidiaCtkPath", "/usr/bin/x"),
        put("driver", "values/nvidiaCtkPath", None),
    ),
    StackFix(
        'set the chart version to the planned version, "{}"',
        put("driver", "version", None),
        put("driver", "version", "25.8.1"),
    ),
    StackFix(
        'set the chart version (for example, to "{}")',
        both(remove("plan"), put("driver", "version", None)),
        put("driver", "version", "0.5.0"),
    ),
    StackFix(
        'in namespace "{}", declare a ResourceQuota that allows at least {} with PriorityClass "{}"',
        remove("quota"),
        critical_quota(4),
        "gke",
    ),
    StackFix("set the quota's spec.hard.pods to {}", critical_quota(3), critical_quota(4), "gke"),
    StackFix(
        "set nvidiaDriverRoot to {} in the driver's chart values",
        put("driver", "values/nvidiaDriverRoot", None),
        put("driver", "values/nvidiaDriverRoot", COS_ROOT["nvidiaDriverRoot"]),
        "gke",
    ),
    StackFix(
        "use an image that includes the driver, for example {}",
        put("pool", "amiType", "AL2023_x86_64_STANDARD"),
        put("pool", "amiType", "AL2023_x86_64_NVIDIA"),
    ),
    StackFix(
        "remove {}, or install the GPU Operator with driver.enabled set to true",
        put("pool", "gpuProfile/driver", "None"),
        put("pool", "gpuProfile", None),
        "aks",
    ),
    StackFix(
        "set driver.enabled to false in the GPU Operator's values. To keep the operator's driver "
        "instead, create the pool with {} set to {}, and set the DRA driver's nvidiaDriverRoot to {}",
        add(
            "operator",
            lambda declare: declare.release("gpu-operator", {"devicePlugin": {"enabled": False}}),
        ),
        put("operator", "values/driver", {"enabled": False}),
        "aks",
    ),
    StackFix(
        'set {} to "1.{}" or later',
        put("cluster", "version", "1.33"),
        put("cluster", "version", "1.34"),
    ),
    StackFix(
        "pass the content as a string, not as a resource output",
        put("plan", "document", UNKNOWN),
        plan(),
    ),
    StackFix(
        "set the {} to {}. To keep the current value, set it in {}, and {}",
        put("pool", "instanceTypes", ["g6.4xlarge"]),
        plan(pools=[pool(machine="g6.4xlarge")]),
    ),
    StackFix(
        "add the taint to the pool. Otherwise, other pods can use the CPU and memory that the "
        "plan reserves for pods with claims",
        put("pool", "taints", []),
        put("pool", "taints", [TAINT]),
    ),
    StackFix(
        "remove the taint from the pool, or add the taint to the pool in {} and {}",
        put("pool", "taints", [TAINT, {"key": "team", "value": "a", "effect": "NO_EXECUTE"}]),
        plan(pools=[pool(taints=[{"key": "team", "value": "a", "effect": "NoExecute"}])]),
    ),
    StackFix(
        "declare the pool, or remove it from {} and {}",
        plan(pools=[pool(), pool(name="more")]),
        plan(),
    ),
    StackFix(
        "add the label {}=NAME to its nodes, where NAME is a pool in the plan: {}",
        put("pool", "labels", {"nvidia.com/gpu.dra": "true"}),
        put("pool", "labels", PLAN_LABELS),
    ),
    StackFix(
        "set the node label {}={}. Otherwise, {}",
        both(
            plan(pools=[pool(labels={"team": "ml"})]),
            put("pool", "labels", {**PLAN_LABELS, "team": "web"}),
        ),
        put("pool", "labels", {**PLAN_LABELS, "team": "ml"}),
    ),
    StackFix(
        "add the pool to {} and {}, or label the nodes with the name of a planned pool: {}",
        put("pool", "labels", {**PLAN_LABELS, "pulumi-dra/pool": "more"}),
        plan(pools=[pool(name="more")]),
    ),
    StackFix(
        "use a provider with the cluster's kubeconfig for this object",
        two_clusters,
        in_first_cluster,
    ),
    StackFix(
        'set the chart version to "{}", or set `drivers.nvidia.version` to {} in {} and {}',
        put("driver", "version", "25.12.0"),
        plan(drivers={"nvidia": {"version": "25.12.0"}}),
    ),
    StackFix(
        "remove either {} or {}",
        add(
            "second",
            lambda declare: declare.release(
                DRIVER, VALUES, name="second", namespace="other", version="25.8.1"
            ),
        ),
        remove("second"),
    ),
    StackFix(
        "install the dra-driver-nvidia-gpu chart in this stack, or make sure that another tool installs the driver",
        both(remove("driver"), add("chart", lambda declare: declare.release("prometheus", {}))),
        add(
            "driver",
            lambda declare: declare.release("dra-driver-nvidia-gpu", VALUES, version="0.4.1"),
        ),
    ),
    StackFix(
        "set kubeletPlugin.tolerations to [{}]",
        put("driver", "values/kubeletPlugin/tolerations", None),
        put("driver", "values/kubeletPlugin/tolerations", TOLERATIONS),
    ),
    StackFix(
        'set the chart version to "{}"',
        put("driver", "version", "25.8.0"),
        put("driver", "version", "25.8.1"),
    ),
]
