"""Check customer-managed keys that encrypt the disks of nodes or the secrets of a cluster.

Compute Engine uses the keys of disks, and GKE uses the keys of secrets. Each does so with its
service agent, which needs a role on the key.

Sources: terraform-provider-google issue 5103 and PR 590 of gcp-compute-persistent-disk-csi-driver
(messages); GKE documentation, “Use customer-managed encryption keys” and “Encrypt secrets at the
application layer” (agents, role).
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.gcp.functions import PROJECT_NUMBER
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

MEMBER, BINDING = (
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
    "gcp:kms/cryptoKeyIAMBinding:CryptoKeyIAMBinding",
)
PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
CONSTRAINT, WANTS_KEYS = "dra-sandbox:gcp:Constraint", "gcp.restrictNonCmekServices"
"""Kind and name of the stored organization policy that requires customer-managed keys."""
ROLES = frozenset({"roles/cloudkms.cryptoKeyEncrypterDecrypter", "roles/owner"})
COMPUTE = f"serviceAccount:service-{PROJECT_NUMBER}@compute-system.iam.gserviceaccount.com"
CONTAINER = (
    f"serviceAccount:service-{PROJECT_NUMBER}@container-engine-robot.iam.gserviceaccount.com"
)


def agents_may_use_keys(request: CloudRequest) -> str | None:
    """Reject a cluster or pool whose keys the service agents aren't allowed to use."""
    if request.before is not None:
        return None
    for key, agent in _used(request.inputs or {}):
        if agent not in _may_use(request.cloud, key):
            return (
                f"Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource '{key}' "
                "(or it may not "
                f"exist): {agent.removeprefix('serviceAccount:')} needs "
                "roles/cloudkms.cryptoKeyEncrypterDecrypter"
            )
    return None


def has_keys_where_it_must(request: CloudRequest) -> str | None:
    """Apply the organization policy, if a test or rehearsal has stored one. It also applies to the
    first pool of a cluster, although that pool is removed at once. Sources:
    terraform-google-kubernetes-engine issues 2008 and 2344.
    """
    inputs = request.inputs or {}
    if (
        request.before is not None
        or not inputs
        or request.cloud.get(CONSTRAINT, WANTS_KEYS) is None
    ):
        return None
    is_cluster = "/nodePools/" not in request.identifier
    has_disks = (inputs.get("nodeConfig") or {}).get("bootDiskKmsKey")
    if has_disks and (not is_cluster or (inputs.get("databaseEncryption") or {}).get("keyName")):
        return None
    return (
        f"Failed precondition: Constraint `constraints/{WANTS_KEYS}` violated for "
        f"`projects/{PROJECT_NUMBER}` "
        "attempting to create a resource without specifying a KMS CryptoKey."
    )


def _used(inputs: Values) -> Iterator[tuple[str, str]]:
    """Yield each key that a cluster or pool names, with the service agent that uses it."""
    if disks := (inputs.get("nodeConfig") or {}).get("bootDiskKmsKey"):
        yield disks, COMPUTE
    if secrets := (inputs.get("databaseEncryption") or {}).get("keyName"):
        yield secrets, CONTAINER


def _may_use(cloud: Memory, key: str) -> Iterator[str]:
    for member in cloud.all(MEMBER).values():
        if member["cryptoKeyId"] == key and member["role"] in ROLES:
            yield member["member"]
    for binding in cloud.all(BINDING).values():
        if binding["cryptoKeyId"] == key and binding["role"] in ROLES:
            yield from binding["members"]
    yield from (
        each["member"] for each in cloud.all(PROJECT_MEMBER).values() if each["role"] in ROLES
    )
