"""In a preview of a new stack, computed values and values from other resources aren't known yet.

Each fault is still found, and correct stacks have no findings. Without `EVERY_INPUT`, only a sample
of the faults is tested.
"""

from __future__ import annotations

import os
from typing import Final
from zlib import crc32

import pytest
from msgspec.structs import replace
from seeded_stacks import HERE, Entry, Seeded, base, edited, seeded

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN, Properties

SHARE: Final = 1 if os.environ.get("EVERY_INPUT") else 4
ROWS: Final = [row for row in seeded() if crc32(row.fault.encode()) % SHARE == 0]
BASES: Final = sorted(file.stem for file in (HERE / "bases").glob("*.yaml"))
COMPUTED: Final = {
    "aws:eks/nodeGroup:NodeGroup": (
        "amiType arn capacityType diskSize instanceTypes nodeGroupName nodeRepairConfig "
        "releaseVersion resources "
        "status tagsAll updateConfig version"
    ),
    "aws:eks/cluster:Cluster": (
        "accessConfig arn bootstrapSelfManagedAddons certificateAuthorities endpoint identities "
        "kubernetesNetworkConfig platformVersion status tagsAll upgradePolicy"
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": "arn defaultVersion instanceType latestVersion "
    "metadataOptions name",
    "gcp:container/nodePool:NodePool": (
        "initialNodeCount instanceGroupUrls location management maxPodsPerNode name networkConfig "
        "nodeCount "
        "nodeLocations project upgradeSettings version"
    ),
    "gcp:container/cluster:Cluster": (
        "clusterIpv4Cidr databaseEncryption datapathProvider endpoint location masterAuth "
        "masterVersion "
        "minMasterVersion nodeConfig nodeLocations nodePools nodeVersion project selfLink"
    ),
    "azure-native:containerservice:AgentPool": (
        "count currentOrchestratorVersion maxPods name nodeImageVersion orchestratorVersion "
        "osDiskSizeGB osDiskType "
        "osSKU powerState provisioningState upgradeSettings"
    ),
    "azure-native:containerservice:ManagedCluster": (
        "currentKubernetesVersion fqdn identityProfile kubernetesVersion networkProfile "
        "nodeResourceGroup powerState"
    ),
    "kubernetes:helm.sh/v3:Release": "manifest name namespace resourceNames status version",
}
"""Optional and computed properties of resources: outputs, unless the program sets them."""


def preview(stack: dict[str, Resource]) -> list[Entry]:
    """Return the pack's findings in a preview: for each resource's inputs, then for all outputs."""
    inputs = {name: _linked(each) for name, each in stack.items()}
    names = {each.urn: name for name, each in stack.items()}
    judge = Judge(RULES)
    entries = [entry for each in inputs.values() for entry in judge.of_resource(each)]
    entries += judge.of_stack([_with_outputs(each) for each in inputs.values()])
    return [
        Entry(
            each.rule.id,
            each.rule.level,
            names.get(each.finding.urn, ""),
            str(each.finding),
            each.finding.fix,
        )
        for each in entries
    ]


def _linked(resource: Resource) -> Resource:
    """Return a resource with identifiers of other resources not known yet."""
    linked = {
        path: UNKNOWN
        for path, urns in resource.sources.items()
        if urns and isinstance(resource.props.values.get(path), str)
    }
    return replace(resource, props=Properties({**resource.props.values, **linked}))


def _with_outputs(resource: Resource) -> Resource:
    outputs = dict.fromkeys((*COMPUTED.get(resource.type, "").split(), "id"), UNKNOWN)
    return replace(resource, props=Properties({**outputs, **resource.props.values}))


@pytest.mark.parametrize("name", BASES)
def test_a_valid_stack_has_no_findings_in_a_preview(name: str) -> None:
    assert [entry for entry in preview(base(name)) if entry.rule != "stack-cannot-be-judged"] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.fault)
def test_a_fault_is_found_in_a_preview(row: Seeded) -> None:
    entries = preview(edited(base(row.base), row.edit))
    found = [
        each
        for each in entries
        if (each.rule, each.level, each.object) == (row.rule, row.level, row.object)
    ]
    assert [each for each in found if row.words in each.sentence], entries
