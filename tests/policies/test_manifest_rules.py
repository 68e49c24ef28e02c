"""Rules that need only manifests: their findings don't depend on the pools."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from dra_planner.cel.evaluation import calls
from dra_planner.cel.libraries import table
from dra_planner.errors import Diagnostic
from dra_planner.fleet import read_fleet
from dra_planner.model import Taint
from dra_planner.plan import PlanRequest, make_plan, read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of
from dra_policies.view.stack_view import DeclaredPool

CLAIM = """
apiVersion: resource.k8s.io/v1
kind: {kind}
metadata: {{name: gpu, namespace: team}}
spec: {spec}
"""
REQUEST = "{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com, {more}}}}}"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: team}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      tolerations: [{tolerations}]
      containers: [{{name: main, image: i, resources: {{claims: [{used}]}}}}]
      resourceClaims: [{{name: gpu, {claim}}}]
"""
NAMESPACE = "{{apiVersion: v1, kind: Namespace, metadata: {{name: team, labels: {labels}}}}}"
QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {{name: gpus, namespace: team}}
spec: {{hard: {{gpu.nvidia.com.deviceclass.resource.k8s.io/devices: {most}}}}}
"""
CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: mine}}
spec: {{selectors: [{{cel: {{expression: "{expression}"}}}}]}}
"""
SELECTOR = 'selectors: [{{cel: {{expression: "{expression}"}}}}]'
MEMORY = (
    SELECTOR.format(
        expression="device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{amount}')) >= 0"
    )
    .replace("{cel", "{{cel")
    .replace("{expression", "{{expression")
    .replace("}}]", "}}}}]")
)
TOLERATION = "{key: nvidia.com/gpu, operator: Exists}"


def claim(kind: str = "ResourceClaim", **more: str) -> str:
    requests = ", ".join(REQUEST.format(more=each) for each in (more or {"plain": ""}).values())
    devices = f"{{devices: {{requests: [{requests}]}}}}"
    return CLAIM.format(
        kind=kind, spec=devices if kind == "ResourceClaim" else f"{{spec: {devices}}}"
    )


def constrained(attribute: str) -> str:
    request = "{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}"
    devices = f"{{requests: [{request}], constraints: [{{matchAttribute: {attribute}}}]}}"
    return CLAIM.format(kind="ResourceClaim", spec=f"{{devices: {devices}}}")


def several(counts: list[int]) -> str:
    requests = ", ".join(
        f"{{name: r{number}, exactly: {{deviceClassName: gpu.nvidia.com, count: {count}}}}}"
        for number, count in enumerate(counts)
    )
    return CLAIM.format(kind="ResourceClaim", spec=f"{{devices: {{requests: [{requests}]}}}}")


def ranked(*counts: int) -> str:
    ways = ", ".join(
        f"{{name: w{number}, deviceClassName: gpu.nvidia.com, count: {count}}}"
        for number, count in enumerate(counts)
    )
    request = f"{{name: gpu, firstAvailable: [{ways}]}}"
    return CLAIM.format(kind="ResourceClaim", spec=f"{{devices: {{requests: [{request}]}}}}")


def deployment(
    replicas: int = 1, named: bool = False, tolerations: str = TOLERATION, used: str = "{name: gpu}"
) -> str:
    entry = "resourceClaimName: gpu" if named else "resourceClaimTemplateName: gpu"
    return DEPLOYMENT.format(replicas=replicas, tolerations=tolerations, used=used, claim=entry)


def findings_of(*documents: str, minor: int = 34) -> list[Diagnostic]:
    features = features_of(minor)
    manifests = read_checked([Source("all.yaml", "\n---\n".join(documents))], features)
    return list(check_all(view_of(manifests, features)))


TEMPLATE = claim("ResourceClaimTemplate")
WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: run, namespace: team}
spec:
  entrypoint: main
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
  templates:
  - {name: main, steps: [[{name: a, template: a}, {name: b, template: b}]]}
  - {name: a, container: {image: i, resources: {claims: [{name: gpu}]}}}
  - name: b
    nodeSelector: {kubernetes.io/arch: "{{inputs.parameters.arch}}"}
    resourceClaims: [{name: own, resourceClaimTemplateName: gpu}]
    container: {image: i, resources: {claims: [{name: own}]}}
"""

# Manifests → (severity, rule) of all findings, and no others.
CASES: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "a template and its pods": ([TEMPLATE, deployment(3)], []),
    "one pod with a named claim": ([claim(), deployment(1, named=True)], []),
    "replicas that share one claim": (
        [claim(), deployment(4, named=True)],
        [("warning", "claim-shared-by-replicas")],
    ),
    "pods that name their template as a claim": (
        [TEMPLATE, deployment(4, named=True)],
        [("note", "claim-misspelt")],
    ),
    "pods that name a claim as a template": (
        [claim(), deployment(1)],
        [("note", "claim-misspelt")],
    ),
    "a misspelled template name": (
        [TEMPLATE, deployment(1).replace("TemplateName: gpu", "TemplateName: gpus")],
        [("note", "claim-misspelt")],
    ),
    "a template of another chart": (
        [TEMPLATE, deployment(1).replace("TemplateName: gpu", "TemplateName: other")],
        [("note", "claim-not-found")],
    ),
    "a template of another namespace": (
        [TEMPLATE.replace("namespace: team", "namespace: other"), deployment(1)],
        [("note", "claim-not-found")],
    ),
    "a template of another namespace than the created one": (
        [
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n",
            TEMPLATE.replace("namespace: team", "namespace: other"),
            deployment(1),
        ],
        [("error", "claim-not-found")],
    ),
    "a claim that may be in the cluster": (
        [deployment(1, named=True)],
        [("note", "claim-not-found")],
    ),
    "no toleration, and unknown taints": (
        [TEMPLATE, deployment(tolerations="")],
        [],
    ),
    "a claim that no container uses": (
        [TEMPLATE, deployment(used="")],
        [("warning", "claim-without-container")],
    ),
    "a claim of an unknown class that no container uses": (
        [TEMPLATE.replace("gpu.nvidia.com", "fast-networks"), deployment(used="")],
        [("note", "claim-without-container"), ("note", "class-misspelt")],
    ),
    "an interface, which belongs to the pod and not to a container": (
        [TEMPLATE.replace("gpu.nvidia.com", "efa.networking.k8s.aws"), deployment(used="")],
        [],
    ),
    "claims of a workflow, and others of one of its templates": (
        [TEMPLATE, WORKFLOW],
        [],
    ),
    "a claim within the quota of its namespace": ([claim(), QUOTA.format(most=1)], []),
    "a claim above the quota of its namespace": (
        [claim(two="count: 2"), QUOTA.format(most=1)],
        [("error", "claim-exceeds-quota")],
    ),
    "a constraint on an attribute that is published": (
        [constrained("gpu.nvidia.com/parentUUID")],
        [],
    ),
    "a constraint on an attribute of another driver": ([constrained("nic.example.com/rail")], []),
    "a constraint on a misspelled attribute": (
        [constrained("gpu.nvidia.com/parentUuid")],
        [("warning", "constraint-names-no-attribute")],
    ),
    "32 devices": ([several([16, 16])], []),
    "33 devices": ([several([16, 17])], [("error", "claim-asks-for-too-many-devices")]),
    "the smallest alternative counts": ([ranked(64, 8)], []),
    "no alternative is small enough": (
        [ranked(64, 48)],
        [("error", "claim-asks-for-too-many-devices")],
    ),
    "admin access where it is allowed": (
        [
            claim(admin="adminAccess: true"),
            NAMESPACE.format(labels='{resource.kubernetes.io/admin-access: "true"}'),
        ],
        [],
    ),
    "admin access where it is not": (
        [claim(admin="adminAccess: true"), NAMESPACE.format(labels="{}")],
        [("error", "admin-access-namespace")],  # by the reader, as by the API server
    ),
    "admin access in a template": (
        [claim("ResourceClaimTemplate", admin="adminAccess: true")],
        [("note", "admin-access-unknown")],
    ),
    "admin access in a missing namespace": (
        [claim(admin="adminAccess: true")],
        [("note", "admin-access-unknown")],
    ),
    "a class of one driver": ([CLASS.format(expression="device.driver == 'gpu.nvidia.com'")], []),
    "a class of any driver": (
        [CLASS.format(expression="true")],
        [("warning", "class-of-any-driver")],
    ),
    "a bound that a GPU narrowly misses": (
        [claim(selector=MEMORY.format(amount="80Gi"))],
        [("warning", "selector-just-misses-a-gpu")],
    ),
    "a bound below what is published": ([claim(selector=MEMORY.format(amount="78Gi"))], []),
    "an attribute that is a capacity": (
        [
            claim(
                selector=SELECTOR.format(
                    expression="device.attributes['gpu.nvidia.com'].memory == 1"
                )
            )
        ],
        [("warning", "selector-reads-what-no-device-has")],
    ),
    "a misspelled attribute": (
        [
            claim(
                selector=SELECTOR.format(
                    expression="device.attributes['gpu.nvidia.com'].architectur == 'Ada'"
                )
            )
        ],
        [("warning", "selector-reads-what-no-device-has")],
    ),
    "a quantity in gigabytes": (
        [claim(selector=MEMORY.format(amount="20GB"))],
        [("warning", "selector-reads-what-no-device-has")],
    ),
    "an attribute of another driver": (
        [claim(selector=SELECTOR.format(expression="device.attributes['dra.net'].rdma"))],
        [],
    ),
    "an attribute of some driver versions": (
        [
            claim(
                selector=SELECTOR.format(
                    expression="device.attributes['gpu.nvidia.com'].pcieBusID == 'x'"
                )
            )
        ],
        [],
    ),
    "a selector that does not compile": (
        [CLASS.format(expression="device.driver == 1")],
        [("error", "invalid-value")],
    ),
    "a quantity compared with an operator": (
        [
            claim(
                selector="selectors: [{cel: {expression: "
                "\"device.capacity['gpu.nvidia.com'].memory "
                ">= quantity('40Gi')\"}}]"
            )
        ],
        [("error", "invalid-value")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_manifests_have_the_expected_findings(name: str) -> None:
    documents, expected = CASES[name]

    assert [(each.severity, each.code) for each in findings_of(*documents)] == expected


SENTENCES = {
    MEMORY.format(amount="80Gi"): (
        "selector `device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= "
        "0` excludes NVIDIA H100 80GB HBM3 (81559Mi), whose memory falls short of the required memory by less than 7%"
    ),
    SELECTOR.format(expression="device.attributes['gpu.nvidia.com'].memory == 1"): (
        'the selector reads device.attributes["gpu.nvidia.com"].memory, which no version of '
        "the NVIDIA DRA driver publishes (use "
        'device.capacity["gpu.nvidia.com"].memory, because memory is a capacity)'
    ),
    SELECTOR.format(expression="device.attributes['gpu.nvidia.com'].architectur == 'Ada'"): (
        'publishes (did you mean "architecture"?)'
    ),
    MEMORY.format(amount="20GB"): (
        'the selector contains quantity("20GB"), which isn\'t a valid quantity, so the selector '
        'fails on every device (use quantity("20G"))'
    ),
    MEMORY.format(amount="lots"): 'use a number with a unit, for example quantity("20Gi")',
}


@pytest.mark.parametrize("selector", SENTENCES)
def test_a_selector_finding_has_the_expected_message(selector: str) -> None:
    (finding,) = findings_of(claim(selector=selector))

    assert SENTENCES[selector] in str(finding)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("mem", 'did you mean "memory"?'),
        ("Memory", 'did you mean "memory"?'),
        ("share", 'did you mean "shares"?'),
        ("gpu.nvidia.com/memroy", 'did you mean "memory"?'),
        ("bandwidth", "use one of these names: "),
    ],
)
def test_a_requested_capacity_that_no_version_publishes_is_reported(name: str, fix: str) -> None:
    (finding,) = findings_of(claim(more=f"capacity: {{requests: {{{name}: 8}}}}"), minor=36)

    assert (
        f"requests the capacity {name}, which no version of the NVIDIA DRA driver publishes"
        in str(finding)
    )
    assert fix in str(finding)


@pytest.mark.parametrize("name", ["memory", "shares", "gpu.nvidia.com/memory", "dra.net/bandwidth"])
def test_a_requested_capacity_that_some_version_publishes_is_accepted(name: str) -> None:
    assert not findings_of(claim(more=f"capacity: {{requests: {{{name}: 8}}}}"), minor=36)


def test_memory_of_gpus_outside_the_fleet_is_not_suggested(declare: SimpleNamespace) -> None:
    def missed(amount: str) -> list[str]:
        sources = (Source("claim.yaml", claim(selector=MEMORY.format(amount=amount))),)
        plan = make_plan(PlanRequest(sources=sources, fleet=read_fleet(declare.fleet())))
        assert plan.manifests is not None
        return [each.message for each in check_all(view_of(plan.manifests, features_of(34), plan))]

    assert missed("80Gi") == []  # an H100, and the fleet has none
    assert "excludes NVIDIA L4 (23034Mi)" in missed("24Gi")[0]


DEVICE_PLUGIN = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: nvidia-device-plugin-daemonset, namespace: kube-system}}
spec:
  selector: {{matchLabels: {{name: plugin}}}}
  template:
    metadata: {{labels: {{name: plugin}}}}
    spec:
      tolerations: [{{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}}]
      affinity: {affinity}
      containers: [{{name: nvidia-device-plugin-ctr, image: nvcr.io/nvidia/k8s-device-plugin:v0.17.4}}]
"""
OFF_DRA_NODES = """{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchExpressions: [{key: nvidia.com/gpu.dra, operator: NotIn, values: ["true"]}]}]}}}"""


@pytest.mark.parametrize(
    ("affinity", "expected"), [("{}", ["device-plugin-on-dra-node"]), (OFF_DRA_NODES, [])]
)
def test_a_device_plugin_in_the_manifests_of_a_fleet_is_checked(
    declare: SimpleNamespace, affinity: str, expected: list[str]
) -> None:
    sources = (Source("plugin.yaml", DEVICE_PLUGIN.format(affinity=affinity)),)
    plan = make_plan(PlanRequest(sources=sources, fleet=read_fleet(declare.fleet())))
    assert plan.manifests is not None
    view = view_of(plan.manifests, features_of(34), plan)

    assert [each.code for each in check_all(view) if each.severity == "error"] == expected


SNAPSHOT = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "10"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {type: {string: gpu}}}]
"""


@pytest.mark.parametrize(
    ("pods", "devices", "words"),
    [
        (1, 1, ""),
        (2, 1, "pool-maximum-too-small: claim default/train-gpu"),
        (1, 2, 'doesn\'t fit any node: node "n1" has 1 device per node, but each pod needs 2'),
    ],
)
def test_the_nodes_of_a_snapshot_are_checked(
    declare: SimpleNamespace, pods: int, devices: int, words: str
) -> None:
    request = PlanRequest(
        sources=(Source("job.yaml", declare.job(pods, devices)),),
        observed=(Source("snapshot.yaml", SNAPSHOT),),
        kubernetes="1.34",
    )
    plan = make_plan(request)
    assert plan.manifests is not None

    errors = [
        each
        for each in check_all(view_of(plan.manifests, features_of(34), plan))
        if each.severity == "error"
    ]

    assert len(errors) == bool(words)
    assert all(words in str(each) for each in errors)


F34 = features_of(34)
TAINTED = Taint("nvidia.com/gpu", "present", "NoSchedule")
OTHER = Taint("team", "ml", "NoSchedule")


def declared_pool(*taints: Taint) -> DeclaredPool:
    return DeclaredPool(
        urn="urn",
        title='node group "l4"',
        cloud="eks",
        name="l4",
        machine="g6.2xlarge",
        count_min=0,
        count_desired=0,
        count_max=1,
        labels={"nvidia.com/gpu.dra": "true"},
        taints=taints,
        has_gpus=True,
    )


# Taints of each pool → toleration of the pods → whether the missing toleration is reported.
TOLERATIONS: dict[str, tuple[list[tuple[Taint, ...]], str, bool]] = {
    "none": ([(TAINTED,)], "", True),
    "another effect": (
        [(TAINTED,)],
        "{key: nvidia.com/gpu, operator: Exists, effect: NoExecute}",
        True,
    ),
    "the value": ([(TAINTED,)], "{key: nvidia.com/gpu, value: present, effect: NoSchedule}", False),
    "another value": (
        [(TAINTED,)],
        '{key: nvidia.com/gpu, value: "true", effect: NoSchedule}',
        True,
    ),
    "none, with a pool without the taint": ([(TAINTED,), (OTHER,)], "", False),
    "none, without pools": ([], "", False),
}


def tainted(pools: list[tuple[Taint, ...]], tolerations: str) -> list[Diagnostic]:
    manifests = read_checked(
        [Source("all.yaml", "\n---\n".join([TEMPLATE, deployment(tolerations=tolerations)]))], F34
    )
    view = replace(view_of(manifests, F34), pools=tuple(declared_pool(*taints) for taints in pools))
    return [each for each in check_all(view) if each.code == "gpu-taint-not-tolerated"]


@pytest.mark.parametrize("name", TOLERATIONS)
def test_the_toleration_is_required_only_if_every_pool_is_tainted(name: str) -> None:
    pools, tolerations, is_reported = TOLERATIONS[name]
    assert len(tainted(pools, tolerations)) == is_reported


def test_a_finding_prints_its_place_problem_and_fix() -> None:
    (finding,) = tainted([(TAINTED,)], "")

    assert str(finding) == (
        "all.yaml:15 spec.template: warning gpu-taint-not-tolerated: Deployment team/web: its "
        "pods don't tolerate nvidia.com/gpu=present:NoSchedule, the taint on every GPU pool "
        "(add the toleration {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule})"
    )


def test_the_fix_for_a_misspelled_constraint_attribute_works() -> None:
    (finding,) = findings_of(constrained("gpu.nvidia.com/parentUuid"))
    assert finding.fix == 'use "gpu.nvidia.com/parentUUID"'
    assert findings_of(constrained("gpu.nvidia.com/parentUUID")) == []


def test_a_selector_with_an_unsupported_function_cannot_be_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Our CEL has all functions of the current releases; the rule is for new functions of later
    ones.
    """
    all_there = table.implementation_of

    def one_missing(overload: str, library: table.CelLibrary) -> Callable[..., Any] | None:
        return None if "lower" in overload else all_there(overload, library)

    monkeypatch.setattr(calls, "implementation_of", one_missing)
    written = claim(
        selector=SELECTOR.format(expression="device.driver.lowerAscii() == 'never-seen-before'")
    )

    found = [each for each in findings_of(written) if each.code == "selector-cannot-be-checked"]

    assert [each.severity for each in found] == ["note"]
    assert "the function lowerAscii is not supported" in found[0].message
