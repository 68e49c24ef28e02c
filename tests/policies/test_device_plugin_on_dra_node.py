"""NVIDIA's device plugin must not run on DRA nodes, so every alternative term of its affinity must
exclude them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dra_policies.rules.ownership.device_plugin_on_dra_node import RULE
from dra_policies.rules.rule import Finding
from dra_policies.stack.views import view_of_stack
from dra_policies.unknown_values import UNKNOWN

PLUGIN = "nvidia-device-plugin"
NOT_DRA = {"key": "nvidia.com/gpu.dra", "operator": "NotIn", "values": ["true"]}
PRESENT = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}
PCI = {"key": "feature.node.kubernetes.io/pci-10de.present", "operator": "In", "values": ["true"]}


def affinity(*terms: Any) -> dict[str, Any]:
    listed = [{"matchExpressions": list(term)} for term in terms]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": listed}
        }
    }


def findings(*resources: Any) -> list[Finding]:
    return list(RULE.check(view_of_stack(resources)))


def verdict(*resources: Any) -> str:
    """Return "passes", "fails", or "cannot tell" for a device plugin in a stack with one
    DRA pool.
    """
    found = findings(*resources)
    if any(finding.certain for finding in found):
        return "fails"
    return "cannot tell" if found else "passes"


TERMS = {
    "the exclusion in the only term": ([[PRESENT, NOT_DRA]], "passes"),
    "the exclusion in every term": ([[PCI, NOT_DRA], [PRESENT, NOT_DRA]], "passes"),
    "the exclusion in one term of two": ([[PCI], [PRESENT, NOT_DRA]], "fails"),
    "the exclusion as a separate term": ([[PRESENT], [NOT_DRA]], "fails"),
    "no exclusion": ([[PRESENT]], "fails"),
    "a term for other machines": (
        [[{"key": "pool", "operator": "In", "values": ["legacy"]}]],
        "passes",
    ),
    "a term for nodes without the label": (
        [[{"key": "nvidia.com/gpu.dra", "operator": "DoesNotExist"}]],
        "passes",
    ),
    "a term for one machine type": (
        [
            [
                {
                    "key": "node.kubernetes.io/instance-type",
                    "operator": "In",
                    "values": ["g4dn.xlarge"],
                }
            ]
        ],
        "passes",
    ),
    "a label only the cloud knows": (
        [[{"key": "eks.amazonaws.com/nodegroup", "operator": "In", "values": ["legacy"]}]],
        "cannot tell",
    ),
    "an unknown expression": ([[UNKNOWN]], "cannot tell"),
    "no terms": ([], "passes"),
    "an empty term": ([[]], "passes"),
}


@pytest.mark.parametrize("name", TERMS)
def test_affinity_terms_of_a_release_are_checked(declare: SimpleNamespace, name: str) -> None:
    terms, expected = TERMS[name]

    assert (
        verdict(declare.node_group(), declare.release(PLUGIN, {"affinity": affinity(*terms)}))
        == expected
    )


VALUES = {
    "the chart's defaults": ({}, "fails"),
    "null removes the default affinity": ({"affinity": None}, "fails"),
    "a preference only adds to the default": (
        {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}},
        "fails",
    ),
    "a node selector that DRA nodes lack": (
        {"nodeSelector": {"nvidia.com/gpu.dra": "false"}},
        "passes",
    ),
    "no toleration of the GPU taint": ({"tolerations": []}, "passes"),
    "the plugin is disabled": ({"devicePlugin": {"enabled": False}}, "passes"),
    "unknown values": (UNKNOWN, "cannot tell"),
    "an unknown affinity": ({"affinity": UNKNOWN}, "cannot tell"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_a_release_are_checked(declare: SimpleNamespace, name: str) -> None:
    values, expected = VALUES[name]

    assert verdict(declare.node_group(), declare.release(PLUGIN, values)) == expected


@pytest.mark.parametrize(
    "chart",
    [
        "nvdp/nvidia-device-plugin",
        "oci://registry.example/nvidia-device-plugin",
        "./nvidia-device-plugin-0.17.4.tgz",
    ],
)
def test_the_chart_is_recognized_at_any_address(declare: SimpleNamespace, chart: str) -> None:
    assert verdict(declare.node_group(), declare.release(chart)) == "fails"


def test_values_in_files_are_unknown(declare: SimpleNamespace) -> None:
    assert (
        verdict(declare.node_group(), declare.release(PLUGIN, {}, valueYamlFiles=[{}]))
        == "cannot tell"
    )


def raw(**spec: Any) -> dict[str, Any]:
    container = {
        "name": "nvidia-device-plugin-ctr",
        "image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.4",
    }
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    return {"tolerations": tolerations, "containers": [container], **spec}


def test_the_static_manifest_has_no_affinity(declare: SimpleNamespace) -> None:
    (finding,) = findings(declare.node_group(), declare.daemon_set(raw()))

    assert finding.urn == declare.urn(
        "kubernetes:apps/v1:DaemonSet", "nvidia-device-plugin-daemonset"
    )
    assert "it doesn't have a node affinity" in finding.message


def test_a_daemon_set_that_excludes_dra_nodes_passes(declare: SimpleNamespace) -> None:
    assert (
        verdict(declare.node_group(), declare.daemon_set(raw(affinity=affinity([NOT_DRA]))))
        == "passes"
    )


def test_a_patch_replaces_the_affinity_of_its_daemon_set(declare: SimpleNamespace) -> None:
    patch = declare.daemon_set({"affinity": affinity([NOT_DRA])}, kind="DaemonSetPatch")

    assert verdict(declare.node_group(), declare.daemon_set(raw()), patch) == "passes"


def test_a_patch_of_an_external_daemon_set_is_checked_by_itself(
    declare: SimpleNamespace,
) -> None:
    good = declare.daemon_set({"affinity": affinity([NOT_DRA])}, kind="DaemonSetPatch")
    bad = declare.daemon_set({"affinity": affinity([NOT_DRA], [PRESENT])}, kind="DaemonSetPatch")

    assert verdict(declare.node_group(), good) == "passes"
    assert verdict(declare.node_group(), bad) == "fails"


def test_an_unrelated_daemon_set_passes(declare: SimpleNamespace) -> None:
    spec = {
        "containers": [{"image": "example/exporter:1"}],
        "tolerations": [{"operator": "Exists"}],
    }

    assert verdict(declare.node_group(), declare.daemon_set(spec, name="exporter")) == "passes"


def test_a_device_plugin_with_only_non_dra_pools_passes(declare: SimpleNamespace) -> None:
    legacy = declare.node_group("legacy", labels={"nvidia.com/gpu.present": "true"})

    assert verdict(legacy, declare.release(PLUGIN)) == "passes"


def test_unknown_labels_cannot_be_checked(declare: SimpleNamespace) -> None:
    assert verdict(declare.node_group(labels=UNKNOWN), declare.release(PLUGIN)) == "cannot tell"


def test_the_operator_is_excluded_by_label(declare: SimpleNamespace) -> None:
    labels = {"nvidia.com/gpu.dra": "true", "pulumi-dra/pool": "l4"}
    opted_out = declare.node_group(
        labels={**labels, "nvidia.com/gpu.deploy.device-plugin": "false"}
    )
    operator = declare.release("gpu-operator")
    without = declare.release("gpu-operator", {"devicePlugin": {"enabled": False}})

    assert verdict(declare.node_group(), operator) == "fails"
    assert verdict(opted_out, operator) == "passes"
    assert verdict(declare.node_group(), without) == "passes"


def test_gke_runs_its_own_plugin_unless_a_label_disables_it(declare: SimpleNamespace) -> None:
    bare = {"nvidia.com/gpu.dra": "true", "pulumi-dra/pool": "l4"}

    assert verdict(declare.node_pool()) == "passes"
    assert verdict(declare.node_pool(config={"labels": bare})) == "fails"
    key = "gke-no-default-nvidia-gpu-device-plugin"
    assert verdict(declare.node_pool(config={"labels": {**bare, key: UNKNOWN}})) == "cannot tell"


def test_bottlerocket_runs_its_plugin_unless_settings_disable_it(
    declare: SimpleNamespace,
) -> None:
    assert verdict(declare.node_group(amiType="BOTTLEROCKET_x86_64_NVIDIA")) == "fails"
    elsewhere = {"launchTemplate": {"id": "lt-0a"}}
    assert (
        verdict(declare.node_group(amiType="BOTTLEROCKET_x86_64_NVIDIA", **elsewhere))
        == "cannot tell"
    )


def test_the_message_names_plugin_pool_and_term(declare: SimpleNamespace) -> None:
    plugin = declare.release(PLUGIN, {"affinity": affinity([PCI], [PRESENT, NOT_DRA])})

    (finding,) = findings(declare.node_group(), plugin)

    assert str(finding) == (
        'Release "nvidia-device-plugin" runs NVIDIA\'s device plugin on the nodes in node group '
        '"l4", because its required node affinity doesn\'t exclude nodes labeled nvidia.com/gpu.dra=true. '
        "A node needs to match only one of the affinity's 2 terms, and 1 of them doesn't exclude this "
        "label: feature.node.kubernetes.io/pci-10de.present In [true]; in the plugin's required node "
        'affinity, add {key: nvidia.com/gpu.dra, operator: NotIn, values: ["true"]} to the '
        "matchExpressions of every term"
    )
