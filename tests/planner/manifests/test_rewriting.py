"""Older manifests rewritten as v1: the new text, the unchanged parts, and the messages."""

# a manifest reads best in one piece
from __future__ import annotations

import json
from textwrap import dedent

import pytest

from dra_planner.manifests.rewriting import Rewriting, replacement_examples, rewrite
from dra_planner.plan import check_selector, read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source


def rewritten(text: str, minor: int = 37) -> Rewriting:
    (found,) = rewrite([Source("m.yaml", text)], features_of(minor), check_selector=check_selector)
    return found


CASES = {
    "v1beta2: only the version": (
        "# why\napiVersion: resource.k8s.io/v1beta2 # old\nkind: ResourceClaim\nmetadata: {name: c} # name\nspec: {}\n",
        "# why\napiVersion: resource.k8s.io/v1 # old\nkind: ResourceClaim\nmetadata: {name: c} # name\nspec: {}\n",
    ),
    "v1beta1: flat requests move under `exactly`, with their comments": (
        """\
        # two GPUs
        apiVersion: "resource.k8s.io/v1beta1"
        kind: ResourceClaim
        metadata:
          name:   c
        spec:
          devices:
            requests:
            - name: gpu   # the only one
              # of this class
              deviceClassName: gpu.example.com
              count: 2   # both

              selectors:
              - cel:
                  expression: |
                    device.driver == "gpu.example.com" &&
                      true
            # no constraints
            constraints: []
        # the end
        """,
        """\
        # two GPUs
        apiVersion: "resource.k8s.io/v1"
        kind: ResourceClaim
        metadata:
          name:   c
        spec:
          devices:
            requests:
            - name: gpu   # the only one
              exactly:
                # of this class
                deviceClassName: gpu.example.com
                count: 2   # both

                selectors:
                - cel:
                    expression: |
                      device.driver == "gpu.example.com" &&
                        true
            # no constraints
            constraints: []
        # the end
        """,
    ),
    "v1beta1: the name moves to the front": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c}\nspec:\n  devices:\n    requests:\n"
        "    - deviceClassName: x.example\n      # which\n      name: gpu\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec:\n  devices:\n    requests:\n"
        "      # which\n    - name: gpu\n      exactly:\n        deviceClassName: x.example\n",
    ),
    "v1beta1: in braces": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.example.com, count: 2}]}}\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 2}}]}}\n",
    ),
    "v1beta1: alternatives stay": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimTemplate\nmetadata: {name: c}\n"
        "spec: {spec: {devices: {requests: [{name: g, firstAvailable: [{name: a, deviceClassName: x.example}]}]}}}\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: c}\n"
        "spec: {spec: {devices: {requests: [{name: g, firstAvailable: [{name: a, deviceClassName: x.example}]}]}}}\n",
    ),
    "v1 with flat requests": (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.example.com}]}}\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}\n",
    ),
    "v1alpha3: plain capacities, basic devices, fields that said they are not set": (
        """\
        apiVersion: resource.k8s.io/v1alpha3
        kind: ResourceSlice
        metadata: {name: s}
        spec:
          driver: d.example
          nodeName: n1
          allNodes: false
          pool: {name: n1, generation: 1, resourceSliceCount: 1}
          devices:
            - name: d0
              basic:   # the only kind
                attributes: {m: {int: 1}}
                capacity:
                  memory: 40Gi   # all of it
        """,
        """\
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: s}
        spec:
          driver: d.example
          nodeName: n1
          pool: {name: n1, generation: 1, resourceSliceCount: 1}
          devices:
            - name: d0
              # the only kind
              attributes: {m: {int: 1}}
              capacity:
                memory: {value: 40Gi}   # all of it
        """,
    ),
    "v1beta1: basic devices in braces": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d.example, nodeName: n1, "
        "pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: d0, basic: {attributes: {m: {int: 1}}}}]}\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d.example, nodeName: n1, "
        "pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: d0, attributes: {m: {int: 1}}}]}\n",
    ),
    "until 1.30: source of a pod's claims": (
        """\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: p, labels: {a: "b"}}
        spec:
          selector: {matchLabels: {a: b}}
          template:
            metadata: {labels: {a: b}}
            spec:
              containers:
              - {name: m, image: x}
              resourceClaims:
              - name: gpu
                source:
                  resourceClaimTemplateName: one   # of its own
              - source: {resourceClaimName: c}
                name: shared
        --- # next
        kind:   Other # kept
        """,
        """\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: p, labels: {a: "b"}}
        spec:
          selector: {matchLabels: {a: b}}
          template:
            metadata: {labels: {a: b}}
            spec:
              containers:
              - {name: m, image: x}
              resourceClaims:
              - name: gpu
                resourceClaimTemplateName: one   # of its own
              - resourceClaimName: c
                name: shared
        --- # next
        kind:   Other # kept
        """,
    ),
    "v1alpha2: class, claim and template": (
        """\
        apiVersion: resource.k8s.io/v1alpha2
        kind: ResourceClass
        metadata: {name: gpu}
        # who serves it
        driverName: gpu.example.com   # the driver
        structuredParameters: true
        ---
        apiVersion: resource.k8s.io/v1alpha2
        kind: ResourceClaimTemplate
        metadata: {name: t}
        spec:
          metadata: {labels: {a: b}}   # of the claims
          spec:
            resourceClassName: gpu
            allocationMode: WaitForFirstConsumer
        """,
        """\
        apiVersion: resource.k8s.io/v1
        kind: DeviceClass
        metadata: {name: gpu}
        # who serves it
        # the driver
        spec:
          selectors:
            - cel:
                expression: device.driver == "gpu.example.com"
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: t}
        spec:
          metadata: {labels: {a: b}}   # of the claims
          spec:
            devices:
              requests:
                - name: device
                  exactly:
                    deviceClassName: gpu
        """,
    ),
    "v1alpha2: NVIDIA's parameters": (
        """\
        apiVersion: gpu.resource.nvidia.com/v1alpha1
        kind: GpuClaimParameters
        metadata: {name: big}
        spec:
          count: 4
          selector:
            andExpression:
            - memory: {value: 40Gi, operator: GreaterThanOrEqualTo}
            - productName: "*A100*"
          sharing: {strategy: TimeSlicing, timeSlicingConfig: {timeSlice: Long}}
        ---
        apiVersion: resource.k8s.io/v1alpha2
        kind: ResourceClaim
        metadata: {name: c}
        spec:
          # four of them
          resourceClassName: gpu.nvidia.com
          parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: GpuClaimParameters, name: big}
        """,
        """\
        # GpuClaimParameters big is part of ResourceClaim c now
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaim
        metadata: {name: c}
        # four of them
        spec:
          devices:
            requests:
              - name: device
                exactly:
                  deviceClassName: gpu.nvidia.com
                  count: 4
                  selectors:
                    - cel:
                        expression: device.attributes["gpu.nvidia.com"].type == "gpu"
                    - cel:
                        expression: (device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0) && (device.attributes["gpu.nvidia.com"].productName.lowerAscii().matches("^.*a100.*$"))
            config:
              - opaque:
                  driver: gpu.nvidia.com
                  parameters:
                    apiVersion: resource.nvidia.com/v1beta1
                    kind: GpuConfig
                    sharing:
                      strategy: TimeSlicing
                      timeSlicingConfig:
                        interval: Long
        """,
    ),
    "v1alpha2 of 1.30: structured parameters of class and claim": (
        """\
        apiVersion: v1
        kind: List
        items:
        - apiVersion: resource.k8s.io/v1alpha2
          kind: ResourceClass
          metadata: {name: gpu}
          driverName: gpu.example.com
          parametersRef: {apiGroup: resource.k8s.io, kind: ResourceClassParameters, name: cp, namespace: default}
        - apiVersion: resource.k8s.io/v1alpha2
          kind: ResourceClassParameters
          metadata: {name: cp}
          filters:
          - driverName: gpu.example.com
            namedResources: {selector: 'attributes.bool["healthy"]'}
          vendorParameters:
          - driverName: gpu.example.com
            parameters: {apiVersion: example.com/v1, kind: Config, mode: fast}
        - apiVersion: resource.k8s.io/v1alpha2
          kind: ResourceClaimParameters
          metadata: {name: p}
          shareable: true
          driverRequests:
          - driverName: gpu.example.com
            requests:
            - namedResources: {selector: 'attributes.quantity["memory"].isGreaterThan(quantity("10Gi"))'}
              vendorParameters: {lane: 1}
            - namedResources: {selector: 'attributes.string["kind"] == "attributes.int"'}
        - apiVersion: resource.k8s.io/v1alpha2
          kind: ResourceClaim
          metadata: {name: c}
          spec:
            resourceClassName: gpu
            parametersRef: {apiGroup: resource.k8s.io, kind: ResourceClaimParameters, name: p}
        """,
        """\
        apiVersion: v1
        kind: List
        items:
        - apiVersion: resource.k8s.io/v1
          kind: DeviceClass
          metadata: {name: gpu}
          spec:
            selectors:
              - cel:
                  expression: device.driver == "gpu.example.com"
              - cel:
                  expression: device.attributes["gpu.example.com"].healthy
            config:
              - opaque:
                  driver: gpu.example.com
                  parameters:
                    apiVersion: example.com/v1
                    kind: Config
                    mode: fast
        - apiVersion: resource.k8s.io/v1
          kind: ResourceClaim
          metadata: {name: c}
          spec:
            devices:
              requests:
                - name: device-0
                  exactly:
                    deviceClassName: gpu
                    selectors:
                      - cel:
                          expression: device.driver == "gpu.example.com"
                      - cel:
                          expression: device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("10Gi"))
                - name: device-1
                  exactly:
                    deviceClassName: gpu
                    selectors:
                      - cel:
                          expression: device.driver == "gpu.example.com"
                      - cel:
                          expression: device.attributes["gpu.example.com"].kind == "attributes.int"
              config:
                - requests:
                    - device-0
                  opaque:
                    driver: gpu.example.com
                    parameters:
                      lane: 1
        """,
    ),
    "v1alpha1: a MIG device": (
        """\
        apiVersion: resource.k8s.io/v1alpha1
        kind: ResourceClaimTemplate
        metadata: {name: t}
        spec:
          spec:
            resourceClassName: gpu.nvidia.com
            parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: MigDeviceClaimParameters, name: half}
        ---
        # half a GPU
        apiVersion: gpu.resource.nvidia.com/v1alpha1
        kind: MigDeviceClaimParameters
        metadata: {name: half}
        spec: {profile: 3g.40gb}
        """,
        """\
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: t}
        spec:
          spec:
            devices:
              requests:
                - name: device
                  exactly:
                    deviceClassName: mig.nvidia.com
                    selectors:
                      - cel:
                          expression: device.attributes["gpu.nvidia.com"].type == "mig" && device.attributes["gpu.nvidia.com"].profile == "3g.40gb"
        ---
        # half a GPU
        # MigDeviceClaimParameters half is part of ResourceClaimTemplate t now
        """,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "expected"), CASES.values(), ids=CASES)
def test_older_forms_are_rewritten(old: str, expected: str) -> None:
    found = rewritten(dedent(old))
    assert found.text == dedent(expected)
    assert found.refusals == ()


@pytest.mark.parametrize("name", CASES)
def test_rewritten_text_is_final_and_valid(name: str) -> None:
    text = rewritten(dedent(CASES[name][0])).text
    assert rewritten(text).text == text
    if "Other" in text:
        return
    manifests = read_checked([Source("m.yaml", text)], features_of(36))
    assert [item for item in manifests.diagnostics if item.severity == "error"] == []


CLAIM = "apiVersion: resource.k8s.io/{0}\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec: {1}\n"
TEMPLATE = (
    "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaimTemplate\nmetadata: {name: c}\n"
    "spec: {spec: {resourceClassName: gpu.nvidia.com, parametersRef: {apiGroup: GROUP, kind: KIND, name: p}}}\n"
)


def claim_of(group: str, kind: str, spec: str) -> str:
    parameters = (
        f"---\napiVersion: {group}/v1alpha1\nkind: {kind}\nmetadata: {{name: p}}\nspec: {spec}\n"
    )
    return TEMPLATE.replace("GROUP", group).replace("KIND", kind) + parameters


NVIDIA, INTEL = "gpu.resource.nvidia.com", "gpu.resource.intel.com"
REFUSED = {
    "nodes of a class": (
        "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClass\nmetadata: {name: g}\ndriverName: d.example\n"
        "suitableNodes: {nodeSelectorTerms: []}\n", "suitableNodes", None),
    "nodes of a class of 1.31": (
        "apiVersion: resource.k8s.io/v1alpha3\nkind: DeviceClass\nmetadata: {name: g}\nspec: {suitableNodes: {}}\n",
        "spec.suitableNodes", "nodeSelector:"),
    "a class without a driver": (
        "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClass\nmetadata: {name: g}\n", "driverName "
                                                                                            "isn't "
                                                                                            "set", None),
    "a controller of 1.31": (CLAIM.format("v1alpha3", "{controller: d.example, devices: {}}"), "spec.controller", None),
    "immediate allocation": (
        CLAIM.format("v1alpha2", "{resourceClassName: g, allocationMode: Immediate}"), "Immediate", "pause"),
    "missing parameters": (
        CLAIM.format("v1alpha2", "{resourceClassName: g, parametersRef: {apiGroup: a.example, kind: K, name: big}}"),
        "parametersRef refers to K big of a.example, which isn't in these files, so the requested "
        "devices are unknown; add the file that contains these parameters, or rewrite the claim by hand", "count: 2"),
    "parameters of an unknown driver": (
        claim_of("a.example", "K", "{count: 4}"), "only the driver knows which devices K p of a.example requests", None),
    "the GPU of another claim": (
        claim_of(NVIDIA, "MigDeviceClaimParameters", "{profile: 1g.5gb, gpuClaimName: gpu}"), "another claim", "parentUUID"),
    "a compute instance": (claim_of(NVIDIA, "ComputeInstanceClaimParameters", "{profile: 1c.1g.5gb}"), "compute instance", None),
    "an index": (claim_of(NVIDIA, "GpuClaimParameters", "{selector: {index: 0}}"), "index of GpuClaimParameters p", None),
    "MIG mode": (claim_of(NVIDIA, "GpuClaimParameters", "{selector: {migEnabled: true}}"), "migEnabled", None),
    "an unknown field": (claim_of(NVIDIA, "GpuClaimParameters", "{cuont: 4}"), "has unknown fields: cuont", None),
    "a share of an Intel GPU": (claim_of(INTEL, "GpuClaimParameters", "{memory: 4096}"), "memory of a shared GPU", "capacity"),
    "a virtual function": (claim_of(INTEL, "GpuClaimParameters", "{type: vf}"), "virtual function", None),
    "PodSchedulingContext": (
        "apiVersion: resource.k8s.io/v1alpha2\nkind: PodSchedulingContext\nmetadata: {name: p}\n", "delete the object", None),
    "a driver's state": (
        "apiVersion: nas.gpu.resource.nvidia.com/v1alpha1\nkind: NodeAllocationState\nmetadata: {name: n}\n", "delete the object", None),
    "a slice of 1.30": (
        "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceSlice\nmetadata: {name: n}\n", "drivers publish their own slices; install a driver version that publishes v1", None),
    "a version that doesn't exist": (
        "apiVersion: resource.k8s.io/v1alpha4\nkind: ResourceClaim\nmetadata: {name: n}\n", "never existed", None),
    "both forms": (
        CLAIM.format("v1beta1", "{devices: {requests: [{name: a, count: 2, firstAvailable: []}]}}"),
        '" has both firstAvailable and', None),
    "counters next to devices": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceSlice\nmetadata: {name: n}\nspec: {driver: d.example, nodeName: n,"
        " pool: {name: n, generation: 1, resourceSliceCount: 1}, sharedCounters: [{name: s}], devices: [{name: d, basic: {}}]}\n",
        "both sharedCounters and devices", None),
    "an object that the server rejects": (
        CLAIM.format("v1beta1", "{devices: {requests: [{name: a, deviceClassName: g, count: -1}]}}"),
        "the API server would reject its v1 form: spec.devices.requests[0].exactly.count: "
        "Invalid value: -1", None),
    "anchors": (
        CLAIM.format("v1beta1", "{devices: {requests: [&a {name: a, deviceClassName: g}, {<<: *a, name: b}]}}"), "anchors", None),
    "comments in braces": (
        CLAIM.format("v1beta1", "{devices: {requests: [{name: a, # x\n deviceClassName: g}]}}"), (
            "its braces contain comments; change the object to block style first"
        ), None),
    "unused parameters": (
        "apiVersion: gpu.resource.nvidia.com/v1alpha1\nkind: GpuClaimParameters\nmetadata: {name: p}\nspec: {}\n",
        "these files don't refer to the object", None),
    "a list attribute of 1.30": (
        CLAIM.format("v1alpha2", "{resourceClassName: g, parametersRef: {apiGroup: resource.k8s.io, kind: ResourceClaimParameters, name: p}}")
        + "---\napiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaimParameters\nmetadata: {name: p}\ndriverRequests: [{driverName: d.example,"
        " requests: [{namedResources: {selector: '\"a\" in attributes.stringslice[\"x\"]'}}]}]\n", 'attributes.stringslice["x"]', None),
}  # fmt: skip


@pytest.mark.parametrize(("old", "reason", "example"), REFUSED.values(), ids=REFUSED)
def test_object_without_a_v1_form_is_unchanged_and_reported(
    old: str, reason: str, example: str | None
) -> None:
    found = rewritten(old)
    assert found.text == old
    assert found.changes == ()
    assert reason in found.refusals[0].reason
    assert example is None or example in found.refusals[0].example


@pytest.mark.parametrize("name", [name for name in vars(replacement_examples) if name.isupper()])
def test_manual_examples_are_valid(name: str) -> None:
    manifests = read_checked(
        [Source("m.yaml", getattr(replacement_examples, name))], features_of(37)
    )
    assert [item for item in manifests.diagnostics if item.severity == "error"] == []


def test_parameters_are_kept_while_they_have_users() -> None:
    reference = f"parametersRef: {{apiGroup: {NVIDIA}, kind: GpuClaimParameters, name: p}}"
    stays = CLAIM.format(
        "v1alpha2", f"{{resourceClassName: g, allocationMode: Immediate, {reference}}}"
    )
    found = rewritten(claim_of(NVIDIA, "GpuClaimParameters", "{}") + "---\n" + stays)
    assert {refusal.name for refusal in found.refusals} == {
        "ResourceClaim c",
        "GpuClaimParameters p",
    }
    assert "ResourceClaim c refers to this object" in found.refusals[0].reason
    assert [change.name for change in found.changes] == ["ResourceClaimTemplate c"]


def test_comments_inside_parameters_are_preserved() -> None:
    claim, parameters = claim_of(
        NVIDIA, "GpuClaimParameters", "\n  # all of a node\n  count: 4   # four"
    ).split("---\n")
    files = [Source("claim.yaml", claim), Source("parameters.yaml", parameters)]
    _, gone = rewrite(files, features_of(36), check_selector=check_selector)
    assert (
        gone.text
        == "# GpuClaimParameters p is part of ResourceClaimTemplate c now\n# all of a node\n# four\n"
    )


def test_parameters_are_found_in_all_files() -> None:
    claim, parameters = claim_of(NVIDIA, "GpuClaimParameters", "{count: 4}").split("---\n")
    files = [Source("claim.yaml", claim), Source("parameters.yaml", parameters)]
    new_claim, new_parameters = rewrite(files, features_of(36), check_selector=check_selector)
    assert "count: 4" in new_claim.text
    assert new_parameters.text == "# GpuClaimParameters p is part of ResourceClaimTemplate c now\n"


def test_taint_rule_has_a_v1_form_since_1_37() -> None:
    old = (
        "apiVersion: resource.k8s.io/v1alpha3\nkind: DeviceTaintRule\nmetadata: {name: r}\n"
        "spec: {deviceSelector: {driver: d.example}, taint: {key: a.example/b, effect: NoSchedule}}\n"
    )
    assert "1.36 doesn't have DeviceTaintRule in v1" in rewritten(old, 36).refusals[0].reason
    assert rewritten(old, 37).text == old.replace("v1alpha3", "v1")


def test_json_is_rewritten_as_json() -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "g", "count": 2}]}},
    }
    for indent in (None, 2):
        found = rewritten(json.dumps(claim, indent=indent) + "\n")
        new = json.loads(found.text)
        assert new["spec"]["devices"]["requests"] == [
            {"name": "a", "exactly": {"deviceClassName": "g", "count": 2}}
        ]
        assert new["apiVersion"] == "resource.k8s.io/v1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "kind: [\n",
        "- 1\n",
        "---\n---\napiVersion: v1\nkind: Pod # as it is\n\n---\n",
        "apiVersion: resource.k8s.io/v1\nkind:   ResourceClaim # as it is\nspec: {devices: {requests: []}}\n",
        '{"kind": "a"} {"kind": "b"}\n',
    ],
)
def test_new_or_unreadable_text_is_unchanged(text: str) -> None:
    assert rewritten(text).text == text


def test_rejected_versions_suggest_the_rewrite() -> None:
    old = CASES["v1beta1: in braces"][0]
    (finding,) = read_checked([Source("m.yaml", old)], features_of(36)).diagnostics
    assert finding.code == "version-not-served"
    assert "and Kubernetes 1.38 removes it" in finding.fix
    assert "pulumi-dra check --rewrite" in finding.fix
