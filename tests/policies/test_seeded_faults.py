"""Realistic faults, each seeded into a correct stack, with the rule that must find it and the fix
that removes the finding.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN, Properties

EKS, GKE = "aws:eks/cluster:Cluster", "gcp:container/cluster:Cluster"
AKS = "azure-native:containerservice:ManagedCluster"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
DRIVER = "nvidia-dra-driver-gpu"
LOGS = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
KEY = {"provider": {"keyArn": "arn:aws:kms:us-east-1:1:key/a"}, "resources": ["secrets"]}
TOLERATIONS = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
VALUES = {
    "gpuResourcesEnabledOverride": True,
    "resources": {"computeDomains": {"enabled": False}},
    "kubeletPlugin": {"tolerations": TOLERATIONS},
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
COS_ROOT = {"nvidiaDriverRoot": "/home/kubernetes/bin/nvidia"}
HARDENED = {
    "location": "eastus",
    "kubernetesVersion": "1.34",
    "disableLocalAccounts": True,
    "aadProfile": {"managed": True},
    "agentPoolProfiles": [
        {
            "name": "system",
            "mode": "System",
            "count": 3,
            "vmSize": "Standard_D4s_v5",
            "osSKU": "Ubuntu",
            "enableEncryptionAtHost": True,
        }
    ],
    "sku": {"tier": "Standard"},
    "apiServerAccessProfile": {"enablePrivateCluster": True},
    "autoUpgradeProfile": {"upgradeChannel": "patch"},
    "networkProfile": {"networkPolicy": "cilium", "networkDataplane": "cilium"},
    "addonProfiles": {"azurepolicy": {"enabled": True}},
}


def good(declare: SimpleNamespace, cloud: str) -> dict[str, Resource]:
    """Return a correct stack as short name → resource."""
    if cloud == "gke":
        quota = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
        spec = {"hard": {"pods": 4}, "scopeSelector": {"matchExpressions": [quota]}}
        blocks = [{"cidrBlock": "203.0.113.0/24"}]
        props = {
            "location": "us-central1",
            "masterAuthorizedNetworksConfig": {"cidrBlocks": blocks},
        }
        return {
            "plan": declare.record(manifests=declare.job(2), cloud="gke"),
            "cluster": declare.resource(
                GKE, "main", {**props, "minMasterVersion": "1.34.1-gke.100"}
            ),
            "pool": declare.node_pool(),
            "quota": declare.kubernetes(
                "ResourceQuota", "core/v1", "critical", "nvidia", spec=spec
            ),
            "driver": declare.release(DRIVER, {**VALUES, **COS_ROOT}, version="25.8.1"),
        }
    if cloud == "aks":
        return {
            "plan": declare.record(manifests=declare.job(2), cloud="aks"),
            "cluster": declare.resource(AKS, "main", HARDENED),
            "pool": declare.agent_pool(orchestratorVersion="1.34", enableEncryptionAtHost=True),
            "driver": declare.release(DRIVER, VALUES, version="25.8.1"),
        }
    closed = {
        "endpointPublicAccess": True,
        "endpointPrivateAccess": True,
        "publicAccessCidrs": ["203.0.113.0/24"],
        "subnetIds": ["a", "b"],
    }
    cluster = {
        "version": "1.34",
        "vpcConfig": closed,
        "enabledClusterLogTypes": LOGS,
        "encryptionConfig": KEY,
    }
    disks = [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true", "volumeSize": 200}}]
    boot = {"metadataOptions": {"httpTokens": "required"}, "blockDeviceMappings": disks}
    return {
        "plan": declare.record(manifests=declare.job(2)),
        "cluster": declare.resource(EKS, "main", cluster),
        "template": declare.resource(TEMPLATE, "nodes", boot),
        "pool": declare.node_group(version="1.34"),
        "driver": declare.release(DRIVER, VALUES, version="25.8.1"),
    }


def changed(resource: Resource, path: str, value: Any) -> Resource:
    """Return a copy of the resource with one property set, or removed (None)."""

    def put(here: Any, keys: list[str]) -> Any:
        if isinstance(here, list):
            return [put(here[0], keys[1:]), *here[1:]]
        first, *rest = keys
        new = put((here or {}).get(first, {}), rest) if rest else value
        return {key: item for key, item in {**(here or {}), first: new}.items() if item is not None}

    return replace(resource, props=Properties(put(resource.props.values, path.split("/"))))


def findings_of(stack: dict[str, Resource]) -> list[tuple[str, str, str, str]]:
    """Return all findings for a stack, first for each resource and then for the whole stack, as
    rule, level, object, and sentence.
    """
    judge = Judge(RULES)
    names = {each.urn: name for name, each in stack.items()}
    entries = [entry for each in stack.values() for entry in judge.of_resource(each)]
    entries += judge.of_stack(list(stack.values()))
    return [
        (entry.rule.id, entry.rule.level, names.get(entry.finding.urn, ""), str(entry.finding))
        for entry in entries
    ]


# Fault → cloud, object, property, value of the fault; rule and level; words of the finding; value
# of the fix.
Fault = tuple[str, str, str, Any, str, str, str]
BASELINE, ADVISORY, MANDATORY = "security-baseline", "advisory", "mandatory"
FAULTS: dict[str, Fault] = {
    "Kubernetes 1.33": (
        "eks",
        "cluster",
        "version",
        "1.33",
        "kubernetes-too-old",
        MANDATORY,
        "1.33",
    ),
    "Kubernetes 1.30": (
        "eks",
        "cluster",
        "version",
        "1.30",
        "kubernetes-too-old",
        MANDATORY,
        "1.30",
    ),
    "nodes of 1.33": (
        "eks",
        "pool",
        "version",
        "1.33",
        "kubernetes-too-old",
        MANDATORY,
        'node group "l4"',
    ),
    "a GKE master of 1.33": (
        "gke",
        "cluster",
        "minMasterVersion",
        "1.33.5-gke.1",
        "kubernetes-too-old",
        MANDATORY,
        "minMasterVersion",
    ),
    "GKE nodes of 1.32": (
        "gke",
        "pool",
        "version",
        "1.32.1-gke.9",
        "kubernetes-too-old",
        MANDATORY,
        "node pool",
    ),
    "an endpoint open to the world": (
        "eks",
        "cluster",
        "vpcConfig/publicAccessCidrs",
        ["0.0.0.0/0"],
        BASELINE,
        ADVISORY,
        "whole internet",
    ),
    "an endpoint open by default": (
        "eks",
        "cluster",
        "vpcConfig/publicAccessCidrs",
        None,
        BASELINE,
        ADVISORY,
        "whole internet",
    ),
    "an endpoint open to IPv6": (
        "eks",
        "cluster",
        "vpcConfig/publicAccessCidrs",
        ["10.0.0.0/8", "::/0"],
        BASELINE,
        ADVISORY,
        "whole internet",
    ),
    "no logs": (
        "eks",
        "cluster",
        "enabledClusterLogTypes",
        None,
        BASELINE,
        ADVISORY,
        "its audit log is disabled",
    ),
    "logs without audit": (
        "eks",
        "cluster",
        "enabledClusterLogTypes",
        ["api"],
        BASELINE,
        ADVISORY,
        "its audit log is disabled",
    ),
    "no encryption": (
        "eks",
        "cluster",
        "encryptionConfig",
        None,
        BASELINE,
        ADVISORY,
        "its Kubernetes Secrets aren't encrypted",
    ),
    "IMDSv1": (
        "eks",
        "template",
        "metadataOptions/httpTokens",
        "optional",
        BASELINE,
        ADVISORY,
        "IMDSv1",
    ),
    "an unencrypted disk": (
        "eks",
        "template",
        "blockDeviceMappings/0/ebs/encrypted",
        "false",
        BASELINE,
        ADVISORY,
        "disk",
    ),
    "GKE open to the world": (
        "gke",
        "cluster",
        "masterAuthorizedNetworksConfig/cidrBlocks",
        [{"cidrBlock": "0.0.0.0/0"}],
        BASELINE,
        ADVISORY,
        "whole internet",
    ),
    "GKE without logs": (
        "gke",
        "cluster",
        "loggingService",
        "none",
        BASELINE,
        ADVISORY,
        "its logs are disabled",
    ),
    "legacy authorization": (
        "gke",
        "cluster",
        "enableLegacyAbac",
        True,
        BASELINE,
        ADVISORY,
        "(ABAC)",
    ),
    "nodes without monitoring": (
        "gke",
        "pool",
        "nodeConfig/shieldedInstanceConfig",
        {"enableIntegrityMonitoring": False},
        BASELINE,
        ADVISORY,
        "boot",
    ),
    "an image without a driver": (
        "eks",
        "pool",
        "amiType",
        "AL2023_x86_64_STANDARD",
        "image-without-driver",
        MANDATORY,
        "doesn't include the NVIDIA driver",
    ),
    "the image for Neuron": (
        "eks",
        "pool",
        "amiType",
        "AL2023_x86_64_NEURON",
        "image-without-driver",
        MANDATORY,
        "AL2023_x86_64_NVIDIA",
    ),
    "Bottlerocket without a driver": (
        "eks",
        "pool",
        "amiType",
        "BOTTLEROCKET_x86_64",
        "image-without-driver",
        MANDATORY,
        "doesn't include the NVIDIA driver",
    ),
    "an unpinned driver": (
        "eks",
        "driver",
        "version",
        None,
        "driver-not-pinned",
        ADVISORY,
        '"25.8.1"',
    ),
    "no override": (
        "eks",
        "driver",
        "values/gpuResourcesEnabledOverride",
        None,
        "driver-chart-refuses",
        MANDATORY,
        "doesn't set gpu",
    ),
    "a disabled override": (
        "gke",
        "driver",
        "values/gpuResourcesEnabledOverride",
        False,
        "driver-chart-refuses",
        MANDATORY,
        "doesn't set gpu",
    ),
    "a namespace among the values": (
        "eks",
        "driver",
        "values/namespace",
        "nvidia",
        "driver-chart-refuses",
        MANDATORY,
        'remove "namespace"',
    ),
    "a removed value": (
        "eks",
        "driver",
        "values/nvidiaCtkPath",
        "/usr/bin/x",
        "driver-chart-refuses",
        MANDATORY,
        "nvidiaCtkPath",
    ),
    "the namespace default": (
        "eks",
        "driver",
        "namespace",
        "default",
        "driver-chart-refuses",
        MANDATORY,
        "dedicated namespace",
    ),
    "a driver of an old API": (
        "eks",
        "driver",
        "version",
        "25.3.1",
        "driver-cannot-be-installed",
        MANDATORY,
        "set the chart version to 25.3.2",
    ),
    "a dotted key": (
        "eks",
        "driver",
        "values/resources.gpus.enabled",
        True,
        "driver-key-ignored",
        ADVISORY,
        "resources: {gpus: {enabled: …}}",
    ),
    "a misspelled key": (
        "eks",
        "driver",
        "values/kubletPlugin",
        {},
        "driver-key-ignored",
        ADVISORY,
        'rename it to "kubeletPlugin"',
    ),
    "another misspelled key": (
        "gke",
        "driver",
        "values/featureGate",
        {},
        "driver-key-ignored",
        ADVISORY,
        'rename it to "featureGates"',
    ),
    "a misspelled key below resources": (
        "eks",
        "driver",
        "values/resources/gpu",
        {"enabled": True},
        "driver-key-ignored",
        ADVISORY,
        'rename it to "gpus"',
    ),
    "a misspelled key below gpus": (
        "eks",
        "driver",
        "values/resources/gpus",
        {"enable": True},
        "driver-key-ignored",
        ADVISORY,
        'rename it to "enabled"',
    ),
    "a misspelled key below the kubelet plugin": (
        "gke",
        "driver",
        "values/kubeletPlugin/nodeselector",
        {},
        "driver-key-ignored",
        ADVISORY,
        "nodeSelector",
    ),
    "a dotted key below the kubelet plugin": (
        "eks",
        "driver",
        "values/kubeletPlugin/affinity.nodeAffinity",
        {},
        "driver-key-ignored",
        ADVISORY,
        "with a dotted key",
    ),
    "a version that does not exist": (
        "eks",
        "driver",
        "version",
        "25.9.0",
        "driver-release-unknown",
        ADVISORY,
        "set the chart version to",
    ),
    "a version of another chart": (
        "gke",
        "driver",
        "version",
        "v0.17.4",
        "driver-release-unknown",
        ADVISORY,
        '"0.17.4"',
    ),
    "a version with a known fault": (
        "eks",
        "driver",
        "version",
        "25.8.0",
        "driver-release-faulty",
        ADVISORY,
        'set the chart version to "25.8.1"',
    ),
    "a version with a known fault on GKE": (
        "gke",
        "driver",
        "version",
        "25.8.0",
        "driver-release-faulty",
        ADVISORY,
        "which publishes both a partitioned GPU and its MIG devices, so both can be allocated",
    ),
    "another version than planned": (
        "eks",
        "driver",
        "version",
        "25.12.0",
        "driver-differs-from-plan",
        ADVISORY,
        'set the chart version to "25.8.1"',
    ),
    "a newer version with a smaller number": (
        "gke",
        "driver",
        "version",
        "0.4.1",
        "driver-differs-from-plan",
        ADVISORY,
        ", but the plan assumes 25.8.1",
    ),
    "no toleration": (
        "eks",
        "driver",
        "values/kubeletPlugin/tolerations",
        None,
        "driver-reaches-no-node",
        MANDATORY,
        "set kubeletPlugin.tolerations to [{key: nvidia.com/gpu, operator: Exists}]",
    ),
    "no toleration on GKE": (
        "gke",
        "driver",
        "values/kubeletPlugin/tolerations",
        [],
        "driver-reaches-no-node",
        MANDATORY,
        "tolerate",
    ),
    "a toleration of another key": (
        "eks",
        "driver",
        "values/kubeletPlugin/tolerations",
        [{"key": "gpu", "operator": "Exists"}],
        "driver-reaches-no-node",
        MANDATORY,
        "nvidia.com/gpu=present:NoSchedule",
    ),
    "a toleration of another value": (
        "eks",
        "driver",
        "values/kubeletPlugin/tolerations",
        [{"key": "nvidia.com/gpu", "value": "true"}],
        "driver-reaches-no-node",
        MANDATORY,
        "can't run on",
    ),
    "a toleration of another effect": (
        "gke",
        "driver",
        "values/kubeletPlugin/tolerations",
        [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}],
        "driver-reaches-no-node",
        MANDATORY,
        "can't run on",
    ),
    "nodes selected by a label that no pool has": (
        "eks",
        "driver",
        "values/kubeletPlugin/nodeSelector",
        {"role": "gpu"},
        "driver-reaches-no-node",
        MANDATORY,
        "change kubeletPlugin.nodeSelector to match the nodes' labels",
    ),
    "an affinity to a label that no pool has": (
        "gke",
        "driver",
        "values/kubeletPlugin/affinity",
        {
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "role", "operator": "In", "values": ["gpu"]}
                            ]
                        },
                    ]
                }
            }
        },
        "driver-reaches-no-node",
        MANDATORY,
        "change kubeletPlugin.affinity to match the nodes' labels",
    ),
    "an affinity that excludes the pool": (
        "eks",
        "driver",
        "values/kubeletPlugin/affinity",
        {
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {
                                    "key": "nvidia.com/gpu.dra",
                                    "operator": "NotIn",
                                    "values": ["true"],
                                }
                            ]
                        },
                    ]
                }
            }
        },
        "driver-reaches-no-node",
        MANDATORY,
        "node affinity",
    ),
    "the root of COS on EKS": (
        "eks",
        "driver",
        "values/nvidiaDriverRoot",
        "/home/kubernetes/bin/nvidia",
        "driver-root-wrong",
        MANDATORY,
        "set nvidiaDriverRoot to /",
    ),
    "the operator's root without the operator": (
        "eks",
        "driver",
        "values/nvidiaDriverRoot",
        "/run/nvidia/driver",
        "driver-root-wrong",
        MANDATORY,
        "/run/nvidia",
    ),
    "the default root on GKE": (
        "gke",
        "driver",
        "values/nvidiaDriverRoot",
        None,
        "driver-root-wrong",
        MANDATORY,
        "/home/kubernetes/bin/nvidia",
    ),
    "AKS nodes of 1.33": (
        "aks",
        "pool",
        "orchestratorVersion",
        "1.33",
        "kubernetes-too-old",
        MANDATORY,
        "agent pool",
    ),
    "an AKS cluster of 1.33": (
        "aks",
        "cluster",
        "kubernetesVersion",
        "1.33",
        "kubernetes-too-old",
        MANDATORY,
        "kubernetesVersion",
    ),
    "AKS open to the world": (
        "aks",
        "cluster",
        "apiServerAccessProfile",
        {"authorizedIPRanges": ["0.0.0.0/0"]},
        BASELINE,
        ADVISORY,
        "whole internet",
    ),
    "passwords on AKS": (
        "aks",
        "cluster",
        "disableLocalAccounts",
        False,
        BASELINE,
        ADVISORY,
        "its local accounts bypass Entra ID",
    ),
    "AKS nodes without a driver": (
        "aks",
        "pool",
        "gpuProfile/driver",
        "None",
        "image-without-driver",
        MANDATORY,
        "so its nodes don't have the NVIDIA driver",
    ),
    "no toleration on AKS": (
        "aks",
        "driver",
        "values/kubeletPlugin/tolerations",
        [],
        "driver-reaches-no-node",
        MANDATORY,
        "tolerate",
    ),
    "the operator's root on AKS": (
        "aks",
        "driver",
        "values/nvidiaDriverRoot",
        "/run/nvidia/driver",
        "driver-root-wrong",
        MANDATORY,
        "AKS nodes",
    ),
}


@pytest.mark.parametrize("cloud", ["aks", "eks", "gke"])
def test_a_valid_stack_has_no_findings(declare: SimpleNamespace, cloud: str) -> None:
    assert findings_of(good(declare, cloud)) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(declare: SimpleNamespace, name: str) -> None:
    cloud, which, path, value, rule, level, words = FAULTS[name]
    stack = good(declare, cloud)

    found = findings_of({**stack, which: changed(stack[which], path, value)})

    ((_, its_level, urn, sentence),) = [entry for entry in found if entry[0] == rule]
    assert (its_level, urn) == (level, which)
    assert words in sentence


# With and without a key; a pool with only unknown properties is not judged.
KNOWABLE = [name for name, fault in FAULTS.items() if fault[4] != "driver-key-ignored"]


@pytest.mark.parametrize("name", KNOWABLE)
def test_unknown_values_cause_no_mandatory_finding(declare: SimpleNamespace, name: str) -> None:
    cloud, which, path, _, rule, *_ = FAULTS[name]
    stack = good(declare, cloud)

    found = findings_of({**stack, which: changed(stack[which], path, UNKNOWN)})

    assert [entry for entry in found if entry[0] == rule or entry[1] == "mandatory"] == []


def test_eight_faults_are_found_at_once(declare: SimpleNamespace) -> None:
    names = (
        "Kubernetes 1.33", "an endpoint open to the world", "no logs", "no encryption", "IMDSv1",
        "an image without a driver", "an unpinned driver", "no override",
    )  # fmt: skip
    stack = good(declare, "eks")
    for name in names:
        _, which, path, value, *_ = FAULTS[name]
        stack[which] = changed(stack[which], path, value)

    sentences = [sentence for _, _, _, sentence in findings_of(stack)]

    for name in names:
        assert sum(FAULTS[name][-1] in sentence for sentence in sentences) == 1, name


def test_the_operators_own_driver_is_accepted(declare: SimpleNamespace) -> None:
    stack = good(declare, "eks")
    stack["operator"] = declare.release("gpu-operator", {"devicePlugin": {"enabled": False}})
    stack["pool"] = changed(stack["pool"], "amiType", "AL2023_x86_64_STANDARD")
    stack["driver"] = changed(stack["driver"], "values/nvidiaDriverRoot", "/run/nvidia/driver")

    assert findings_of(stack) == []


def test_an_older_driver_with_a_larger_number_is_reported_as_older(
    declare: SimpleNamespace,
) -> None:
    planned = declare.record(drivers={"nvidia": {"version": "0.4.1"}})
    stack = {**good(declare, "eks"), "plan": planned}

    ((_, level, which, sentence),) = [
        entry for entry in findings_of(stack) if entry[0] == "driver-differs-from-plan"
    ]

    assert (level, which) == (ADVISORY, "driver")
    assert ", but the plan assumes 0.4.1, which is newer although its number is smaller" in sentence


@pytest.mark.parametrize("cloud", ["aks", "eks", "gke"])
def test_a_stack_without_its_driver_is_reported(declare: SimpleNamespace, cloud: str) -> None:
    stack = good(declare, cloud)
    del stack["driver"]
    assert [rule for rule, *_ in findings_of(stack)] == []  # no charts: another tool installs them
    stack["chart"] = declare.release("prometheus", {})

    ((rule, level, which, sentence),) = findings_of(stack)

    assert (rule, level, which) == ("driver-missing", ADVISORY, "pool")
    assert "this stack doesn't install the DRA driver" in sentence


@pytest.mark.parametrize("cloud", ["aks", "eks", "gke"])
def test_a_driver_installed_twice_is_reported(declare: SimpleNamespace, cloud: str) -> None:
    stack = good(declare, cloud)
    values = stack["driver"].props.at("values")
    stack["second"] = declare.release(
        DRIVER, values, name="second", namespace="other", version="25.8.1"
    )

    found = [entry for entry in findings_of(stack) if entry[0] == "driver-installed-twice"]

    assert [(level, which) for _, level, which, _ in found] == [(MANDATORY, "second")]


def test_a_taint_that_the_driver_does_not_tolerate_is_reported(declare: SimpleNamespace) -> None:
    stack = good(declare, "eks")
    taints = [
        *stack["pool"].props.at("taints"),
        {"key": "team", "value": "ml", "effect": "NO_SCHEDULE"},
    ]
    stack["pool"] = changed(stack["pool"], "taints", taints)

    found = [entry for entry in findings_of(stack) if entry[0] == "driver-reaches-no-node"]

    assert [(level, which) for _, level, which, _ in found] == [(MANDATORY, "driver")]
    assert "{key: team, operator: Exists}" in found[0][3]


def test_driver_0_4_tolerates_by_default(declare: SimpleNamespace) -> None:
    stack = good(declare, "eks")
    stack["driver"] = changed(stack["driver"], "values/kubeletPlugin/tolerations", None)
    stack["driver"] = changed(stack["driver"], "version", "0.4.1")
    assert [rule for rule, *_ in findings_of(stack)] == ["driver-differs-from-plan"]


DOUBTS = {"labels": UNKNOWN, "taints": UNKNOWN, "instanceTypes": UNKNOWN, "scalingConfig": UNKNOWN}


@pytest.mark.parametrize("key", DOUBTS)
def test_an_unknown_property_of_a_pool_makes_shortages_uncertain(
    declare: SimpleNamespace, key: str
) -> None:
    """A claim for two GPUs on one node: nodes of the known pool have fewer, and those of the other
    pool may have two.
    """
    other = declare.node_group("other", pool="other", machine="g6.12xlarge", **{key: DOUBTS[key]})
    stack = {"plan": declare.record(), "l4": declare.node_group(), "other": other}
    stack |= {each.type: each for each in declare.job_resources(1, 8)}

    found = [
        (rule, level)
        for rule, level, _, sentence in findings_of(stack)
        if "doesn't fit any pool" in sentence and "other" in sentence
    ]

    assert found == [("stack-cannot-be-judged", "advisory")]
