"""Customer-managed keys: the identities to which the components grant access, and the resources
that wait for the grants.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from pulumi_dra.aks import AksCluster
from pulumi_dra.eks import EksCluster, EksGpuPool
from pulumi_dra.eks.rights.key_grants import (
    NoServiceRole,
    require_service_role,
    service_role_beside,
)
from pulumi_dra.gke import GkeCluster, GkeGpuPool
from pulumi_dra.inputs.reader import WrongInputs
from pulumi_dra.platform.platform import DraPlatform

KEY = "arn:aws:kms:us-east-1:111122223333:key/1"
CRYPTO_KEY = "projects/keys/locations/us-central1/keyRings/gpus/cryptoKeys/disks"
AUTO_SCALING = "role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
    "subnet_ids": ["subnet-a"],
    "machine": "g6.2xlarge",
    "max_nodes": 4,
}
GKE_POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "location": "us-central1",
    "machine": "g2-standard-8",
    "zones": ["us-central1-a"],
    "service_account": "nodes@p.example",
    "max_nodes": 4,
}
AKS: dict[str, Any] = {"kubernetes_version": "1.35", "location": "eastus"}
OF_GROUP = "/subscriptions/s/resourceGroups/r/providers"
DISK_SET = f"{OF_GROUP}/Microsoft.Compute/diskEncryptionSets/disks"
VAULT = f"{OF_GROUP}/Microsoft.KeyVault/vaults/secrets"
AKS_KEYS = {
    "disk_encryption_set_id": DISK_SET,
    "secrets_kms_key": "https://secrets.vault.azure.net/keys/etcd/0a1b2c",
    "secrets_key_vault_id": VAULT,
}
GKE: dict[str, Any] = {
    "kubernetes_version": "1.34",
    "region": "us-central1",
    "security_group": "none",
}
Declare = Callable[..., Any]


def test_auto_scaling_is_granted_a_pools_key_before_its_nodes_start(declare: Declare) -> None:
    declared = declare(lambda: EksGpuPool("l4", {**POOL, "disk_kms_key": KEY}))
    grant = declared.one("Grant")
    assert grant.inputs["keyId"] == KEY
    assert grant.inputs["granteePrincipal"] == f"arn:aws:iam::111122223333:{AUTO_SCALING}"
    assert {"CreateGrant", "GenerateDataKeyWithoutPlaintext", "ReEncryptTo"} <= set(
        grant.inputs["operations"]
    )
    assert grant.name in declared.one("NodeGroup").depends_on


def test_system_nodes_use_a_custom_key(declare: Declare) -> None:
    declared = declare(
        lambda: EksCluster("dev", {"kubernetes_version": "1.34", "disk_kms_key": KEY})
    )
    assert declared.one("LaunchTemplate").inputs["blockDeviceMappings"][0]["ebs"]["kmsKeyId"] == KEY
    assert declared.one("Grant").inputs["granteePrincipal"].endswith(AUTO_SCALING)
    assert "dev-system-volumes" in declared.one("NodeGroup").depends_on


def test_account_without_an_auto_scaling_role_fails_first() -> None:
    with pytest.raises(NoServiceRole, match="aws iam create-service-linked-role"):
        require_service_role([])
    assert require_service_role([f"arn:aws:iam::111122223333:{AUTO_SCALING}"]).endswith(
        AUTO_SCALING
    )


@pytest.mark.parametrize("partition", ["aws", "aws-cn", "aws-us-gov"])
def test_service_role_is_in_the_account_and_partition_of_the_nodes(partition: str) -> None:
    beside = service_role_beside(f"arn:{partition}:iam::123456789012:role/path/nodes")
    assert beside == f"arn:{partition}:iam::123456789012:{AUTO_SCALING}"


@pytest.mark.parametrize(
    ("make", "waits", "agent"),
    [
        (
            lambda: GkeGpuPool("l4", {**GKE_POOL, "disk_kms_key": CRYPTO_KEY}),
            "l4-nodes",
            "compute-system",
        ),
        (
            lambda: GkeCluster("dev", {**GKE, "disk_kms_key": CRYPTO_KEY}),
            "dev-system",
            "compute-system",
        ),
        (
            lambda: GkeCluster("dev", {**GKE, "secrets_kms_key": CRYPTO_KEY}),
            "dev-cluster",
            "container-engine-robot",
        ),
    ],
)
def test_googles_agents_get_a_role_on_the_key_first(
    declare: Declare, make: Callable[[], pulumi.Resource], waits: str, agent: str
) -> None:
    declared = declare(make)
    member = declared.one("CryptoKeyIAMMember")
    assert member.inputs == {
        "cryptoKeyId": CRYPTO_KEY,
        "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter",
        "member": f"serviceAccount:service-123456789012@{agent}.iam.gserviceaccount.com",
    }
    (waiting,) = [each for each in declared.resources if each.name == waits]
    assert member.name in waiting.depends_on


def test_removed_default_pool_uses_the_custom_disk_key(
    declare: Declare,
) -> None:
    declared = declare(lambda: GkeCluster("dev", {**GKE, "disk_kms_key": CRYPTO_KEY}))
    cluster = declared.one("Cluster")
    assert cluster.inputs["nodeConfig"]["bootDiskKmsKey"] == CRYPTO_KEY
    assert declared.one("CryptoKeyIAMMember").name in cluster.depends_on
    assert (
        "bootDiskKmsKey"
        not in declare(lambda: GkeCluster("dev", GKE)).one("Cluster").inputs["nodeConfig"]
    )


# learn.microsoft.com/azure/role-based-access-control/built-in-roles: Reader, Key Vault Crypto User
@pytest.mark.parametrize(
    ("role", "scope", "definition"),
    [
        ("dev-disks", DISK_SET, "acdd72a7-3385-48ef-bd42-f606fba81ae7"),
        ("dev-key", VAULT, "12338af0-0e69-4776-bea7-57ae8d297424"),
    ],
)
def test_aks_identity_gets_its_roles_first(
    declare: Declare, role: str, scope: str, definition: str
) -> None:
    declared = declare(lambda: AksCluster("dev", {**AKS, **AKS_KEYS}))
    given = declared.one("RoleAssignment", role)
    assert (given.inputs["scope"], given.inputs["principalId"]) == (scope, "dev-identity-principal")
    assert given.inputs["roleDefinitionId"].endswith(definition)
    assert role in declared.one("ManagedCluster").depends_on


@pytest.mark.parametrize(
    "args",
    [{"disk_encryption_set_id": DISK_SET, "grant_key_use": False}, {}],
    ids=["others do", "Azure's own key"],
)
def test_aks_grants_nothing_for_external_or_cloud_managed_keys(declare: Declare, args: Any) -> None:
    roles = declare(lambda: AksCluster("dev", {**AKS, **args})).all("RoleAssignment")
    assert {each.name for each in roles} == {"dev-subnet", "dev-admin"}


def test_shared_agent_role_is_retained_after_pool_deletion(
    declare: Declare,
) -> None:
    declared = declare(lambda: GkeGpuPool("l4", {**GKE_POOL, "disk_kms_key": CRYPTO_KEY}))
    assert declared.one("CryptoKeyIAMMember").retain_on_delete


@pytest.mark.parametrize(
    "make",
    [
        lambda: EksGpuPool("l4", {**POOL, "disk_kms_key": KEY, "grant_key_use": False}),
        lambda: EksCluster(
            "dev", {"kubernetes_version": "1.34", "disk_kms_key": KEY, "grant_key_use": False}
        ),
        lambda: GkeGpuPool("l4", {**GKE_POOL, "disk_kms_key": CRYPTO_KEY, "grant_key_use": False}),
        lambda: GkeCluster(
            "dev",
            {
                **GKE,
                "disk_kms_key": CRYPTO_KEY,
                "secrets_kms_key": CRYPTO_KEY,
                "grant_key_use": False,
            },
        ),
        lambda: EksGpuPool("l4", POOL),
        lambda: GkeGpuPool("l4", GKE_POOL),
        lambda: GkeCluster("dev", GKE),
    ],
)
def test_external_or_cloud_managed_keys_need_no_grant(declare: Declare, make: Any) -> None:
    declared = declare(make)
    assert declared.all("Grant") == declared.all("CryptoKeyIAMMember") == []


ABROAD = KEY.replace("us-east-1", "eu-west-1")


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"secrets_kms_key": ABROAD}, "secrets_kms_key"),
        ({"cluster": {"disk_kms_key": ABROAD}}, "cluster.disk_kms_key"),
        ({"pools": [{"name": "l4", "disk_kms_key": ABROAD}]}, "pools.l4.disk_kms_key"),
    ],
)
def test_keys_of_another_region_are_rejected_first(
    declare: Declare, options: dict[str, Any], path: str
) -> None:
    plan = (Path(__file__).parents[2] / "stacks/eks-dev.plan.json").read_text()
    message = f'{path}: "{ABROAD}" is a key in eu-west-1, but services can use only keys in their own region'
    with pytest.raises(WrongInputs, match=re.escape(message)):
        declare(lambda: DraPlatform("dra", {"plan": plan, **options}))
