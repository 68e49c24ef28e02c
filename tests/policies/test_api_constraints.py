"""Constraints of APIs and providers: members, types, texts, and combinations.

The rows of custom resources come from their definitions (conformance/api_constraints). Each case is
the part of an object that breaks one kind of row, the problem, and the part after its fix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from dra_planner.catalog.api_constraints import api_constraints, value_forms
from dra_policies.rules.api_constraints import _FAULTS, broken_constraints
from dra_policies.rules.api_values import rejected_values
from dra_policies.rules.constrained_parts import Part
from dra_policies.unknown_values import UNKNOWN, Properties
from dra_policies.view.stack_view import DeclaredResource, StackView

CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
POOL = "kubernetes:karpenter.sh/v1:NodePool"
AKS = "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"
GCE = "kubernetes:karpenter.k8s.gcp/v1alpha1:GCENodeClass"
FLAVOR = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
DOMAIN = "kubernetes:resource.nvidia.com/v1beta1:ComputeDomain"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:eks/nodeGroup:NodeGroup"
GKE = "gcp:container/cluster:Cluster"

Spec = dict[str, Any]
GOOD: Mapping[str, Spec] = {
    CLASS: {
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@v20260917"}],
        "subnetSelectorTerms": [{"tags": {"cluster": "dev"}}],
        "securityGroupSelectorTerms": [{"tags": {"cluster": "dev"}}],
    },
    POOL: {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"},
                "requirements": [],
            }
        }
    },
    AKS: {},
    GCE: {"imageSelectorTerms": [{"alias": "ContainerOptimizedOS@latest"}]},
    FLAVOR: {},
    QUEUE: {},
    DOMAIN: {"channel": {"resourceClaimTemplate": {"name": "channel"}}},
}


def requirement(key: str, operator: str, *values: str, **more: object) -> Spec:
    found = {"key": key, "operator": operator, "values": list(values), **more}
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"}
    return {"template": {"spec": {"nodeClassRef": reference, "requirements": [found]}}}


def labels(**given: str) -> Spec:
    spec = {
        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "a"},
        "requirements": [],
    }
    return {"template": {"metadata": {"labels": given}, "spec": spec}}


def borrowing() -> Spec:
    quota = {"name": "cpu", "nominalQuota": "9", "borrowingLimit": "1"}
    return {
        "resourceGroups": [
            {"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": [quota]}]}
        ]
    }


COUNT = "karpenter.k8s.aws/instance-gpu-count"
GPU = "karpenter.k8s.aws/instance-gpu-name"
TYPE = "node.kubernetes.io/instance-type"
PRIMARY = {"deviceIndex": 0, "networkCardIndex": 0, "interfaceType": "interface"}
EFA = {"deviceIndex": 1, "networkCardIndex": 0, "interfaceType": "efa-only"}
SSD = {"boot": True, "category": "pd-ssd"}
PORTS = {"netIPv4IPLocalPortRange": "1024 32767"}
CASES: tuple[tuple[str, Spec, str, Spec], ...] = (
    (CLASS, {"instanceStorPolicy": "RAID0"}, "doesn't have the field spec.instanceStorPolicy", {}),
    (POOL, {"consolidateAfter": "5m"}, "doesn't have the field spec.consolidateAfter", {}),
    (CLASS, {"detailedMonitoring": "yes"}, "requires a boolean", {"detailedMonitoring": True}),
    (CLASS, {"subnetSelectorTerms": None}, "subnetSelectorTerms isn't set", {}),
    (
        CLASS,
        {"instanceProfile": "nodes"},
        "spec.role and spec.instanceProfile, but the API accepts only one",
        {},
    ),
    (CLASS, {"role": None}, "doesn't set spec.role or spec.instanceProfile", {}),
    (CLASS, {"subnetSelectorTerms": [{}]}, "doesn't set spec.subnetSelectorTerms.tags", {}),
    (
        CLASS,
        {"subnetSelectorTerms": [{"id": "subnet-0a", "tags": {"a": "b"}}]},
        "both id and tags in spec.subnetSelectorTerms, but the API accepts only one",
        {"subnetSelectorTerms": [{"id": "subnet-0a"}]},
    ),
    (
        CLASS,
        {"amiSelectorTerms": [{"id": "ami-0a", "name": "nodes"}], "amiFamily": "AL2023"},
        "both id and name in spec.amiSelectorTerms, but the API accepts only one",
        {"amiSelectorTerms": [{"id": "ami-0a"}], "amiFamily": "AL2023"},
    ),
    (
        CLASS,
        {"amiSelectorTerms": [{"alias": "al2023@latest"}, {"alias": "al2@latest"}]},
        "sets alias, so the API doesn't accept other entries",
        {},
    ),
    (
        CLASS,
        {"amiFamily": "AL2", "amiSelectorTerms": [{"alias": "al2023@latest"}]},
        'spec.amiFamily is "AL2", but the API rejects this combination',
        {"amiFamily": "AL2023", "amiSelectorTerms": [{"alias": "al2023@latest"}]},
    ),
    (
        CLASS,
        {"blockDeviceMappings": [{"rootVolume": True}, {"rootVolume": True}]},
        "2 entries of spec.blockDeviceMappings have rootVolume true",
        {"blockDeviceMappings": [{"rootVolume": True}, {}]},
    ),
    (
        CLASS,
        {"blockDeviceMappings": [{"ebs": {"volumeSize": "9Gi", "volumeInitializationRate": 200}}]},
        "volumeInitializationRate without spec.blockDeviceMappings.ebs.snapshotID",
        {"blockDeviceMappings": [{"ebs": {"volumeSize": "9Gi"}}]},
    ),
    (
        CLASS,
        {"networkInterfaces": [EFA]},
        "doesn't have an entry with deviceIndex 0",
        {"networkInterfaces": [PRIMARY, EFA]},
    ),
    (
        CLASS,
        {"networkInterfaces": [PRIMARY, PRIMARY]},
        "two entries of spec.networkInterfaces have the same networkCardIndex and deviceIndex",
        {"networkInterfaces": [PRIMARY, EFA]},
    ),
    (CLASS, {"tags": {"karpenter.sh/nodepool": "a"}}, 'key "karpenter.sh/nodepool"', {"tags": {}}),
    (
        POOL,
        requirement("karpenter.k8s.aws/instance-gpu", "Exists"),
        "the reserved domain karpenter.k8s.aws",
        requirement(GPU, "Exists"),
    ),
    (
        POOL,
        requirement(COUNT, "Gt", "1", "2"),
        "values has 2 entries, but the API rejects this combination",
        requirement(COUNT, "Gt", "1"),
    ),
    (
        POOL,
        requirement(COUNT, "Gt", "-1"),
        "rejects this combination",
        requirement(COUNT, "Gt", "1"),
    ),
    (
        POOL,
        requirement(TYPE, "In", "g6.xlarge", minValues=2),
        "values has fewer entries than minValues (2)",
        requirement(TYPE, "In", "g6.xlarge", "g6.2xlarge", minValues=2),
    ),
    (POOL, labels(accelerator="nvidia"), 'contains the key "accelerator"', labels(team="a")),
    (POOL, labels(**{"kubernetes.io/hostname": "a"}), "kubernetes.io/hostname", labels()),
    (AKS, {"maxPods": "110"}, "requires an integer", {"maxPods": 110}),
    (AKS, {"vnetSubnetID": "/subnet"}, "it must be the full ID of a subnet", {}),
    (
        AKS,
        {"fipsMode": "FIPS", "imageFamily": "Ubuntu2404"},
        'spec.fipsMode is "FIPS" and spec.imageFamily is "Ubuntu2404"',
        {"fipsMode": "FIPS", "imageFamily": "AzureLinux"},
    ),
    (
        AKS,
        {"kubelet": {"imageGCHighThresholdPercent": 50, "imageGCLowThresholdPercent": 60}},
        "is 50, but it must be more than",
        {"kubelet": {"imageGCHighThresholdPercent": 70, "imageGCLowThresholdPercent": 60}},
    ),
    (AKS, {"linuxOSConfig": {"sysctls": PORTS}}, "isn't in the required format", {}),
    (
        GCE,
        {"disks": [{**SSD, "provisionedIOPS": 6000}]},
        "only if spec.disks.category is",
        {"disks": [SSD]},
    ),
    (
        GCE,
        {"kubeletConfiguration": {"evictionSoft": {"memory.available": "1Gi"}}},
        "evictionSoftGracePeriod doesn't",
        {
            "kubeletConfiguration": {
                "evictionSoft": {"memory.available": "1Gi"},
                "evictionSoftGracePeriod": {"memory.available": "1m"},
            }
        },
    ),
    (GCE, {"metadata": {"kube-env": "a"}}, 'the key "kube-env"', {}),
    (GCE, {"networkTags": ["a"] * 21}, "has 21 entries, but the API requires at most 20", {}),
    (GCE, {"subnetRangeName": "a" * 64}, "has 64 characters", {}),
    (FLAVOR, {"topologyName": "racks"}, "topologyName without spec.nodeLabels", {}),
    (QUEUE, {"resourceGroups": [{"coveredResources": ["cpu"]}]}, "flavors isn't set", {}),
    (
        QUEUE,
        borrowing(),
        "borrowingLimit is set and spec.cohortName isn't set",
        {**borrowing(), "cohortName": "all"},
    ),
    (DOMAIN, {"channel": {}}, "resourceClaimTemplate isn't set", {}),
)


@pytest.mark.parametrize(
    ("token", "spec", "problem", "fixed"), CASES, ids=[case[2] for case in CASES]
)
def test_a_broken_constraint_is_reported_until_it_is_fixed(
    token: str, spec: Spec, problem: str, fixed: Spec
) -> None:
    found = [each.problem for each in broken_constraints(token, spec_of(token, spec))]
    assert any(problem in each for each in found), found
    after = [each.problem for each in broken_constraints(token, spec_of(token, fixed))]
    assert not any(problem in each for each in after), after


ADVICE: tuple[tuple[str, Spec, str], ...] = (
    (
        CLASS,
        {"instanceStorPolicy": "RAID0"},
        "rename spec.instanceStorPolicy to instanceStorePolicy",
    ),
    (
        POOL,
        {"consolidateAfter": "5m"},
        "move spec.consolidateAfter to spec.disruption.consolidateAfter",
    ),
    (CLASS, {"detailedMonitoring": "yes"}, "write spec.detailedMonitoring as a boolean"),
    (CLASS, {"subnetSelectorTerms": None}, "set spec.subnetSelectorTerms"),
    (CLASS, {"instanceProfile": "nodes"}, "remove either spec.role or spec.instanceProfile"),
    (FLAVOR, {"topologyName": "racks"}, "set spec.nodeLabels, or remove spec.topologyName"),
    (
        AKS,
        {"kubelet": {"imageGCHighThresholdPercent": 50, "imageGCLowThresholdPercent": 60}},
        "set spec.kubelet.imageGCHighThresholdPercent to more than "
        "spec.kubelet.imageGCLowThresholdPercent",
    ),
    (
        QUEUE,
        {"flavorFungibility": {"preference": "a", "whenCanBorrow": "MayStopSearch"}},
        "remove spec.flavorFungibility.preference, or set spec.flavorFungibility.whenCanBorrow to "
        '"TryNextFlavor"',
    ),
    (
        AKS,
        {"fipsMode": "FIPS", "imageFamily": "Ubuntu2404"},
        "change spec.fipsMode or spec.imageFamily",
    ),
    (
        CLASS,
        {"networkInterfaces": [EFA]},
        "add an entry with deviceIndex 0, networkCardIndex 0, interfaceType interface to "
        "spec.networkInterfaces",
    ),
    (
        CLASS,
        {"amiSelectorTerms": [{"alias": "al2023@latest"}, {"alias": "al2@latest"}]},
        "remove the other entries of spec.amiSelectorTerms",
    ),
    (
        CLASS,
        {"blockDeviceMappings": [{"rootVolume": True}, {"rootVolume": True}]},
        "remove rootVolume true from the other entries of spec.blockDeviceMappings",
    ),
    (
        CLASS,
        {"networkInterfaces": [PRIMARY, PRIMARY]},
        "use different values of networkCardIndex and deviceIndex in spec.networkInterfaces",
    ),
    (
        GCE,
        {"kubeletConfiguration": {"evictionSoft": {"memory.available": "1Gi"}}},
        'add "memory.available" to spec.kubeletConfiguration.evictionSoftGracePeriod',
    ),
    (
        GCE,
        {"kubeletConfiguration": {"kubeReserved": {"memry": "1Gi"}}},
        'rename "memry" in spec.kubeletConfiguration.kubeReserved to "memory"',
    ),
    (
        CLASS,
        {"tags": {"karpenter.sh/nodepool": "a"}},
        'remove "karpenter.sh/nodepool" from spec.tags',
    ),
    (
        POOL,
        requirement("karpenter.k8s.aws/instance-gpu-nam", "Exists"),
        f'use "{GPU}" in spec.template.spec.requirements.key',
    ),
    (GCE, {"networkTags": ["a"] * 21}, "use at most 20 entries in spec.networkTags"),
    (
        GCE,
        {"subnetRangeName": "A"},
        'set spec.subnetRangeName to a name of 1 to 63 lowercase letters, digits, or "-" that starts '
        "with a letter and ends with a letter or digit",
    ),
)


@pytest.mark.parametrize(("token", "spec", "fix"), ADVICE, ids=[row[2] for row in ADVICE])
def test_the_fix_names_the_change(token: str, spec: Spec, fix: str) -> None:
    """The cases above make this change, and nothing is reported after it."""
    found = [each.fix for each in broken_constraints(token, spec_of(token, spec))]
    assert any(each.startswith(fix) for each in found), found


def spec_of(token: str, changes: Spec) -> Properties:
    return Properties({"metadata": {"name": "a"}, "spec": {**GOOD[token], **changes}})


@pytest.mark.parametrize("token", GOOD)
def test_valid_objects_break_no_constraint(token: str) -> None:
    assert list(broken_constraints(token, spec_of(token, {}))) == []


def test_members_of_a_newer_version_are_accepted() -> None:
    newer = spec_of(CLASS, {"hibernation": {"enabled": True}})
    assert list(broken_constraints(CLASS, newer)) == []


def test_unknown_values_break_no_constraint() -> None:
    spec = {"role": UNKNOWN, "instanceProfile": UNKNOWN, "tags": UNKNOWN}
    assert list(broken_constraints(CLASS, spec_of(CLASS, spec))) == []


PROVIDER_CASES: tuple[tuple[str, Spec, str], ...] = (
    (
        GROUP,
        {"updateConfig": {"maxUnavailable": 1, "maxUnavailablePercentage": 50}},
        "updateConfig.maxUnavailable and updateConfig.maxUnavailablePercentage",
    ),
    (GROUP, {"launchTemplate": {"id": "lt-1"}}, "launchTemplate.version isn't set"),
    (TEMPLATE, {"name": "a", "namePrefix": "b"}, "name and namePrefix"),
    (
        GKE,
        {"ipAllocationPolicy": {"clusterIpv4CidrBlock": "/14", "clusterSecondaryRangeName": "a"}},
        "clusterIpv4CidrBlock and ipAllocationPolicy.clusterSecondaryRangeName",
    ),
)


@pytest.mark.parametrize(("token", "inputs", "problem"), PROVIDER_CASES)
def test_provider_schemas_apply_only_to_values_that_the_program_sets(
    token: str, inputs: Spec, problem: str
) -> None:
    found = [each.problem for each in broken_constraints(token, Properties(inputs))]
    assert any(problem in each for each in found), found
    of_cloud = broken_constraints(token, Properties(inputs), frozenset(inputs))
    assert list(of_cloud) == []


@pytest.mark.parametrize(
    ("chart", "values", "problem"),
    [
        ("karpenter", {"settings": {"vmMemoryOverheadPercent": -0.1}}, "Percent is -0.1"),
        ("karpenter", {"settings": {"amiRefreshInterval": "30s"}}, 'Interval is "30s"'),
        ("gpu-operator", {"cdi": {"enabled": False, "nriPluginEnabled": True}}, "cdi.enabled"),
        (
            "nvidia-dra-driver-gpu",
            {"webhook": {"enabled": True, "tls": {"mode": "secret"}}},
            "webhook.tls.secret.name isn't set",
        ),
    ],
)
def test_values_that_a_chart_or_its_controller_rejects_are_reported(
    chart: str, values: Spec, problem: str
) -> None:
    found = [each.problem for each in broken_constraints(f"chart:{chart}", Properties(values))]
    assert any(problem in each for each in found), found


@pytest.mark.parametrize(
    ("size", "found"), [(5, ["set nodeConfig.diskSizeGb to a value of at least 10"]), (10, [])]
)
def test_a_number_below_the_minimum_is_reported(size: int, found: list[str]) -> None:
    pool = {"nodeConfig": {"diskSizeGb": size}}
    declared = DeclaredResource(
        urn="pool", type="gcp:container/nodePool:NodePool", name="pool", props=Properties(pool)
    )
    fixes = [each.fix for each in rejected_values(StackView(declared=(declared,)))]
    assert fixes == found


def test_providers_ignore_empty_values() -> None:
    config = {"updateConfig": {"maxUnavailable": 1, "maxUnavailablePercentage": 0}}
    assert list(broken_constraints(GROUP, Properties(config))) == []


def test_conditions_of_rows_are_readable() -> None:
    """A condition with a misspelled operator would never be true."""
    rows = [row for rows in api_constraints().values() for row in rows if row.kind == "never"]
    assert rows
    for row in rows:
        whole = Part(value={}, shown="", around=({},) * 4)
        assert whole.holds(row.value) in (True, False)
        for each in row.value.split(" and "):
            assert re.match(r"!?(\^+\.)?\w", each), row


def test_every_kind_of_row_has_an_evaluation() -> None:
    kinds = {row.kind for rows in api_constraints().values() for row in rows}
    assert kinds <= {"types", *_FAULTS}


def test_lists_instead_of_numbers_cause_findings_not_exceptions() -> None:
    """Given a list where the API expects a number, expect findings instead of an exception."""
    entry = {"networkCardIndex": [0], "deviceIndex": 0}
    spec = {"networkInterfaces": [entry, entry]}
    found = broken_constraints(
        "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", Properties({"spec": spec})
    )
    assert any("two entries of spec.networkInterfaces" in each.problem for each in found)


def _installed(version: str) -> StackView:
    """Return a node class with a member that no known version has, and Karpenter's chart."""
    spec = {**GOOD[CLASS], "ipMode": "ipv6", "httpEndpoint": "enabled"}
    node_class = DeclaredResource(
        urn="class", type=CLASS, name="class", props=Properties({"spec": spec})
    )
    chart = DeclaredResource(
        urn="chart", type="chart:karpenter", name="karpenter", props=Properties({}), version=version
    )
    return StackView(objects=(node_class,), installed_charts=(chart,))


@pytest.mark.parametrize(
    ("version", "fixes"),
    [
        ("1.14.1", ["remove spec.ipMode", "move spec.httpEndpoint to spec.metadataOptions"]),
        ("v1.6.2", ["remove spec.ipMode", "move spec.httpEndpoint to spec.metadataOptions"]),
        ("1.99.0", ["move spec.httpEndpoint to spec.metadataOptions"]),
        ("", ["move spec.httpEndpoint to spec.metadataOptions"]),
    ],
)
def test_unknown_members_are_reported_if_the_chart_is_known(version: str, fixes: list[str]) -> None:
    found = [each.fix for each in rejected_values(_installed(version))]
    assert len(found) == len(fixes)
    assert all(each.startswith(fix) for each, fix in zip(found, fixes, strict=True))


def test_values_of_a_newer_chart_can_be_valid() -> None:
    """Given an enum's value that the tables lack, expect a finding unless the chart is newer."""
    spec = {**GOOD[CLASS], "instanceStorePolicy": "Striped"}
    for version, count in (("1.14.1", 1), ("1.99.0", 0)):
        view = _installed(version)
        node_class = DeclaredResource(
            urn="class", type=CLASS, name="class", props=Properties({"spec": spec})
        )
        found = list(rejected_values(replace(view, objects=(node_class,))))
        assert len(found) == count, version


@pytest.mark.parametrize("pattern", value_forms())
def test_a_described_form_belongs_to_a_pattern_of_the_table(pattern: str) -> None:
    rows = [row for rows in api_constraints().values() for row in rows]
    assert any(row.value == pattern and row.kind in ("pattern", "other") for row in rows)
