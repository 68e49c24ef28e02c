"""Which changes replace an Azure resource, by the provider's table and its comparison."""

from __future__ import annotations

from typing import Any

import pytest

from dra_sandbox.clouds.azure_native.replacements import AzureReplaceRule, read_replacements
from dra_sandbox.clouds.azure_native.resource_types import ROWS
from dra_sandbox.clouds.differences import PropertyDifference
from dra_sandbox.clouds.sdk import Sdk

RULES = read_replacements()
CLUSTER = "azure-native:containerservice:ManagedCluster"
ADDRESS = "azure-native:network:PublicIPAddress"
POOL = "azure-native:containerservice:AgentPool"
ROLE = "azure-native:authorization:RoleAssignment"
GATEWAY = "azure-native:network:NatGateway"


@pytest.mark.parametrize("token", ROWS)
def test_every_type_with_a_row_has_its_sdks_replacements(token: str) -> None:
    inputs = Sdk("azure-native").resource(token).inputs
    assert RULES[token].paths
    assert {path.split(".")[0] for path in RULES[token].paths} <= set(inputs)


@pytest.mark.parametrize(
    ("token", "path", "kind", "replaces"),
    [
        pytest.param(CLUSTER, "dnsPrefix", "update", True, id="listed"),
        pytest.param(CLUSTER, "networkProfile.podCidr", "add", True, id="a listed member is added"),
        pytest.param(CLUSTER, "networkProfile", "add", False, id="its object is added"),
        pytest.param(CLUSTER, "networkProfile", "delete", False, id="its object is removed"),
        pytest.param(CLUSTER, "networkProfile.natGatewayProfile", "add", False, id="not listed"),
        pytest.param(CLUSTER, "linuxProfile.adminUsername", "update", True, id="inside listed"),
        pytest.param(CLUSTER, "linuxProfile.ssh", "add", False, id="added inside a listed object"),
        pytest.param(CLUSTER, "agentPoolProfiles[0].vmSize", "update", False, id="of a profile"),
        pytest.param(POOL, "vmSize", "update", True, id="another machine"),
        pytest.param(POOL, "networkProfile.nodePublicIPTags", "add", True, id="a listed list"),
        pytest.param(
            POOL, "networkProfile.nodePublicIPTags[0].tag", "update", False, id="inside the list"
        ),
        pytest.param(POOL, "nodePublicIPPrefixID", "update", False, id="refused by the API"),
        pytest.param(ADDRESS, "sku.name", "update", True, id="another kind of address"),
        pytest.param(ADDRESS, "zones[0]", "update", False, id="zones of an address"),
        pytest.param(GATEWAY, "location", "update", False, id="a gateway's region"),
        pytest.param(ROLE, "principalId", "update", True, id="another principal"),
        pytest.param(ROLE, "condition", "update", False, id="another condition"),
    ],
)
def test_changes_that_replace(token: str, path: str, kind: str, replaces: bool) -> None:
    change: Any = PropertyDifference(path, kind)
    assert RULES[token].replaces(change) is replaces


def test_only_objects_pass_replacement_to_their_members() -> None:
    rule = AzureReplaceRule(frozenset({"a", "b[*]"}))
    assert rule.replaces(PropertyDifference("b[0].c", "update"))
    assert not rule.replaces(PropertyDifference("ab.c", "update"))
