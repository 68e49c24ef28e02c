"""Findings: an object that the API server would reject is excluded, and reported with line, field,
and fix.
"""

# a manifest reads best in one piece
from __future__ import annotations

import random
from typing import Any

import pytest

from dra_planner.manifests import Manifests, SelectorRefusal, read_manifests, selectors_of
from dra_planner.manifests.validation.served_versions import not_served_reason
from dra_planner.model import ObjectKey
from dra_planner.plan import check_selector
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_planner.sources import Source


def read(text: str, minor: int = 36, **options: Any) -> Manifests:
    return read_manifests(
        [Source("m.yaml", text)],
        features_of(minor),
        **{"check_selector": check_selector, **options},
    )


CLAIM = """apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: c
spec:
  devices:
    requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.example.com
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: main
      image: i
      resources: {claims: [{name: gpu}]}
  resourceClaims:
    - name: gpu
"""


@pytest.mark.parametrize(
    ("text", "code", "line", "path", "words"),
    [
        (CLAIM + "          count: -1\n", "invalid-value", 11, "spec.devices.requests[0].exactly.count", "request 1 or more"),
        (CLAIM + "          count: '2'\n", "wrong-type", 11, "spec.devices.requests[0].exactly.count", "remove the quotes"),
        (CLAIM + "          count: ${N}\n", "wrong-type", 11, "spec.devices.requests[0].exactly.count", "replace ${N} with a value"),
        (CLAIM + "          cuont: 2\n", "unknown-field", 11, "spec.devices.requests[0].exactly.cuont", "did you mean count?"),
        (CLAIM + "          Count: 2\n", "unknown-field", 11, "spec.devices.requests[0].exactly.Count", "did you mean count?"),
        (CLAIM + "        count: 2\n", "unknown-field", 11, "spec.devices.requests[0].count", "move the field under `exactly`"),
        (CLAIM.replace("  devices:", "devices:", 1), "unknown-field", 6, "devices", (
            "indent this field under spec"
        )),
        (CLAIM.replace("    requests:", "    \u00a0\u00a0requests:"), "unknown-field", 7, "spec.devices.\u00a0\u00a0requests", "non-breaking"),
        (CLAIM.replace("name: c", "name: 12"), "wrong-type", 4, "metadata.name", "put the value in quotes"),
        (CLAIM.replace("gpu.example.com", "GPU"), "invalid-value", 10, "spec.devices.requests[0].exactly.deviceClassName", ""),
        (CLAIM.replace("/v1", "/v1beta1"), "version-not-served", 1, "", "--rewrite"),
        (CLAIM.replace("ResourceClaim", "resourceclaim"), "version-not-served", 1, "", "set kind to ResourceClaim"),
        (CLAIM.replace("resource.k8s.io/v1", "v1"), "version-not-served", 1, "", (
            "set apiVersion to resource.k8s.io/v1"
        )),
        (POD, "invalid-value", 10, "spec.resourceClaims[0]", (
            "set resourceClaimName or resourceClaimTemplateName"
        )),
        (POD + "      source: {resourceClaimName: c}\n", "unknown-field", 11, "spec.resourceClaims[0].source", "Kubernetes 1.31 removed source"),
        (POD.replace("[{name: gpu}]", "[{name: nic}]") + "      resourceClaimName: c\n", "value-not-found", 8, "spec.containers[0].resources.claims[0]", "spec.resourceClaims"),
        (POD.replace("[{name: gpu}]", "[{name: gpus}]") + "      resourceClaimName: c\n", "value-not-found", 8, "spec.containers[0].resources.claims[0]", "did you mean gpu?"),
        (POD.replace("[{name: gpu}]", "[{name: gup}]") + "      resourceClaimName: c\n", "value-not-found", 8, "spec.containers[0].resources.claims[0]", "did you mean gpu?"),
        (POD.replace("  containers:", "  containers:").replace("kind: Pod", "kind: Deployment").replace("apiVersion: v1", "apiVersion: apps/v1beta1"), "version-not-served", 1, "", "apps/v1"),
    ],
)  # fmt: skip
def test_rejected_object_is_reported_with_place_and_fix(
    text: str, code: str, line: int, path: str, words: str
) -> None:
    manifests = read(text)
    (finding,) = [item for item in manifests.diagnostics if item.severity == "error"]
    assert (finding.code, finding.place.line, finding.place.path) == (code, line, path)
    assert words in finding.fix
    assert (manifests.claims, manifests.workloads) == ({}, ())
    assert len(manifests.refused) == 1


WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: c
        image: registry.example/c:1
"""


@pytest.mark.parametrize(
    ("line", "after", "level"),
    [
        ("tolerations: [{operator: Exists}]", "  selector", "spec.template.spec"),
        ("nodeSelector: {a: b}", "  selector", "spec.template.spec"),
        ("resourceClaims: [{name: g}]", "  selector", "spec.template.spec"),
        ("resourceClaims: [{name: g}]", "    metadata", "spec.template.spec"),
        ("nodeSelector: {a: b}", "        image", "spec.template.spec"),
        ("replicas: 2", "      containers", "spec"),
        ("claims: [{name: g}]", "        image", "spec.template.spec.containers[0].resources"),
    ],
)
def test_misplaced_field_gets_its_correct_level(line: str, after: str, level: str) -> None:
    indent = " " * (len(after) - len(after.lstrip()))
    (found,) = read(WORKLOAD.replace(after, f"{indent}{line}\n{after}", 1)).diagnostics
    assert (found.code, found.fix) == ("unknown-field", f"move this field under {level}")


WRONG_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


@pytest.mark.parametrize(
    ("resources", "problem", "fix"),
    [
        ("memory: 40GB", 'memory is "40GB"', 'use 40G instead of "40GB"'),
        ("memory: 40Gb", 'memory is "40Gb"', 'use 40G or 40Gi instead of "40Gb"'),
        ("memory: lots", 'memory is "lots"', "set memory to a quantity such as 40Gi"),
        ("cpu: two", 'cpu is "two"', 'set cpu to a quantity such as 500m or "2"'),
        (
            "nvidia.com/gpu: one",
            'nvidia.com/gpu is "one"',
            'set nvidia.com/gpu to a quantity such as "2"',
        ),
        ("cpu: [1]", "cpu is a list", 'set cpu to a quantity such as 500m or "2"'),
        ("cpu: {a: 1}", "cpu is a mapping", 'set cpu to a quantity such as 500m or "2"'),
    ],
)
def test_wrong_quantity_has_field_value_and_example(resources: str, problem: str, fix: str) -> None:
    text = POD.replace("claims: [{name: gpu}]}", f"limits: {{{resources}}}}}")
    (found,) = read(text).diagnostics
    assert found.code == "wrong-type"
    assert found.message == (
        f"Pod default/p: spec.containers[0].resources.limits.{problem}, which isn't a valid "
        f"quantity ({WRONG_QUANTITY})"
    )
    assert found.fix == fix


@pytest.mark.parametrize(
    ("line", "shown", "fix"),
    [
        ("count: '2'", 'count is "2"', "remove the quotes"),
        ("count: two", 'count is "two"', "use an integer"),
        ("adminAccess: 'no'", 'adminAccess is "no"', "use true or false"),
    ],
)
def test_value_with_a_wrong_type_has_field_and_value(line: str, shown: str, fix: str) -> None:
    (found,) = read(f"{CLAIM}          {line}\n").diagnostics
    begin = f"ResourceClaim default/c: spec.devices.requests[0].exactly.{shown}, which has the wrong type"
    assert found.message.startswith(f"{begin} (json: cannot unmarshal string into Go struct field ")
    assert found.fix == fix


def test_all_faults_of_an_object_are_reported() -> None:
    text = (
        CLAIM.replace("name: gpu", "name: GPU")
        + "          count: -1\n          allocationMode: some\n"
    )
    assert [item.place.line for item in read(text).diagnostics] == [8, 12]
    faults = read(
        text.replace(
            "allocationMode: some", "tolerations: [{key: 'a b', operator: Exists, value: x}]"
        )
    ).diagnostics
    assert [item.place.line for item in faults] == [8, 11, 12, 12]


def test_rejected_object_does_not_hide_another() -> None:
    manifests = read(f"{CLAIM}          count: -1\n---\n{CLAIM.replace('name: c', 'name: d')}")
    assert list(manifests.claims) == [ObjectKey("default", "d")]
    assert manifests.refused == {("ResourceClaim", ObjectKey("default", "c"))}


@pytest.mark.parametrize(
    ("field", "kept_from", "gate"),
    [
        ("capacity: {requests: {memory: 1Gi}}", 36, "DRAConsumableCapacity"),
        ("tolerations: [{key: a, operator: Exists}]", 36, "DRADeviceTaints"),
    ],
)
def test_fields_that_a_version_drops_are_reported(field: str, kept_from: int, gate: str) -> None:
    text = f"{CLAIM}          {field}\n"
    name = field.partition(":")[0]
    (finding,) = read(text, 35).diagnostics
    assert (finding.severity, finding.code, finding.place.line) == ("warning", "field-dropped", 11)
    assert (
        f"Kubernetes 1.35 drops the {name} field, because the {gate} feature gate"
        in finding.message
    )
    assert f"Kubernetes 1.{kept_from} or later" in finding.fix
    assert gate in finding.fix
    exactly = read(text, 35).claims[ObjectKey("default", "c")].spec.requests[0].exactly
    kept = read(text, 36).claims[ObjectKey("default", "c")].spec.requests[0].exactly
    assert exactly is not None
    assert kept is not None
    assert not getattr(exactly, name)
    assert getattr(kept, name)
    assert read(text, 36).diagnostics == ()


def test_version_1_34_does_not_drop_tolerations() -> None:
    assert (
        read(f"{CLAIM}          tolerations: [{{key: a, operator: Exists}}]\n", 34).diagnostics
        == ()
    )


def test_admin_access_needs_a_label_on_a_given_namespace() -> None:
    text = CLAIM.replace("name: c", "name: c\n  namespace: ops") + "          adminAccess: true\n"
    namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ops, labels: {%s}}\n"
    assert read(text).diagnostics == ()
    assert [item.code for item in read(text + namespace % "").diagnostics] == [
        "admin-access-namespace"
    ]
    assert read(text + namespace % 'resource.kubernetes.io/admin-access: "true"').diagnostics == ()


def test_pod_security_warnings_are_reported_for_templates() -> None:
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {pod-security.kubernetes.io/warn: baseline}}\n---\n"
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, "
        "template: {metadata: {labels: {a: b}}, spec: {hostNetwork: true, containers: [{name: m, image: i}]}}}\n"
    )
    (finding,) = read(namespace + deployment).diagnostics
    assert (finding.severity, finding.code) == ("warning", "pod-security")
    assert "hostNetwork=true" in finding.message
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostNetwork: true, containers: [{name: m, image: i}]}\n"
    assert read(namespace + pod).diagnostics == ()
    enforced = namespace.replace("/warn", "/enforce")
    assert read(enforced + deployment).diagnostics == ()  # but the plan blocks its pods
    assert [item.code for item in read(enforced + pod).diagnostics] == ["admission-refused"]


def test_existing_object_is_not_validated_again() -> None:
    text = CLAIM.replace("name: c", "name: c\n  uid: u-1") + "          laterField: 1\n"
    assert read(text).diagnostics == ()


def test_second_object_of_the_same_name_is_reported() -> None:
    (finding,) = read(f"{CLAIM}---\n{CLAIM}").diagnostics
    assert (finding.severity, finding.code, finding.place.line) == (
        "warning",
        "duplicate-object",
        12,
    )
    (finding,) = read(f"{CLAIM}---\n{CLAIM}          count: 2\n").diagnostics
    assert (finding.severity, finding.code) == ("error", "duplicate-object")


def test_duplicate_key_is_reported() -> None:
    (finding,) = read(CLAIM + "          count: 1\n          count: 2\n").diagnostics
    assert (finding.severity, finding.code, finding.place.line) == ("warning", "duplicate-key", 12)


def test_selectors_have_their_places() -> None:
    text = CLAIM + "          selectors:\n            - cel: {expression: 'true'}\n"
    (selector,) = selectors_of(read(text))
    assert (selector.expression, selector.place.line) == ("true", 12)
    assert selector.place.path == "spec.devices.requests[0].exactly.selectors[0].cel.expression"


@pytest.mark.parametrize(
    ("is_forbidden", "code", "message"),
    [
        (False, "invalid-value", 'Invalid value: "device.x": no'),
        (True, "forbidden-value", "Forbidden: no"),
    ],
)
def test_rejected_selector_rejects_its_claim(is_forbidden: bool, code: str, message: str) -> None:
    text = CLAIM + "          selectors:\n            - cel: {expression: device.x}\n"
    refusal = SelectorRefusal("no", fix="write another", is_forbidden=is_forbidden)
    found = read(text, check_selector=lambda text, features: refusal)
    (finding,) = found.diagnostics
    assert (finding.severity, finding.code, finding.place.line, finding.fix) == (
        "error",
        code,
        12,
        "write another",
    )
    assert finding.message.endswith(f"selectors[0].cel.expression: {message}")
    assert not found.claims


DOCUMENTS = [
    CLAIM,
    CLAIM.replace("name: c", "name: bad") + "          count: -1\n",
    POD.replace("name: p}", "name: q}") + "      resourceClaimName: c\n",
    POD,
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
    CLAIM.replace("ResourceClaim", "DeviceClass").partition("spec:")[0],
]


@pytest.mark.parametrize("seed", range(6))
def test_document_order_affects_only_the_order_of_findings(seed: int) -> None:
    expected = read("---\n".join(DOCUMENTS))
    shuffled = list(DOCUMENTS)
    random.Random(seed).shuffle(shuffled)
    found = read("---\n".join(shuffled))
    assert sorted(item.message for item in found.diagnostics) == sorted(
        item.message for item in expected.diagnostics
    )
    assert (found.claims, found.classes, found.refused, found.other_kinds) == (
        expected.claims,
        expected.classes,
        expected.refused,
        expected.other_kinds,
    )
    assert sorted(item.ref for item in found.workloads) == sorted(
        item.ref for item in expected.workloads
    )


def test_preceding_lines_shift_every_line_number() -> None:
    text = "---\n".join(DOCUMENTS)
    here, there = read(text), read("# one\n# two\n" + text)
    assert [item.place.line + 2 for item in here.diagnostics] == [
        item.place.line for item in there.diagnostics
    ]


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("nvidia.com/gpu", "requests.nvidia.com/gpu"),
        ("limits.nvidia.com/gpu", "requests.nvidia.com/gpu"),
        ("gpu.nvidia.com/devices", "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"),
        (
            "big.deviceclass.resource.kubernetes.io/devices",
            "big.deviceclass.resource.k8s.io/devices",
        ),
        ("requests.nvidia.com/gpu", None),
        ("gpu.nvidia.com.deviceclass.resource.k8s.io/devices", None),
        ("requests.deviceclass.resource.kubernetes.io/gpu.nvidia.com", None),
        ("gold.storageclass.storage.k8s.io/requests.storage", None),
        ("count/resourceclaims.resource.k8s.io", None),
        ("hugepages-2Mi", None),
        ("requests.cpu", None),
        ("pods", None),
    ],
)
def test_quota_names_without_effect_are_reported(name: str, counted: str | None) -> None:
    """The quota controller 1.36.3 doesn't set `used` in the status of the first four names, but
    does for the others.
    """
    text = f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q}}\nspec:\n  hard:\n    {name}: 4\n"
    found = [(each.code, each.place.line, each.fix) for each in read(text).diagnostics]
    assert found == ([("quota-limits-nothing", 6, f"use {counted} instead")] if counted else [])


@pytest.mark.parametrize(
    ("version", "kind", "served"),
    [
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "autoscaling/v2"),
        ("extensions/v1beta1", "Deployment", "apps/v1"),
        ("batch/v1beta1", "CronJob", "batch/v1"),
    ],
)
def test_fix_for_a_removed_version_names_its_successor(
    version: str, kind: str, served: str
) -> None:
    reason = not_served_reason(version, kind, features_of(MAXIMUM_MINOR))
    assert reason is not None
    assert reason[1] == f"set apiVersion to {served}"
