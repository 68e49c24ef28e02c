"""IAM grants that let Google's service agents use customer-managed keys: Compute Engine for disks,
and GKE for Secrets.

Without them, the API returns "Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on
resource …" (GKE documentation, “Use customer-managed encryption keys” and “Encrypt secrets at the
application layer”). The agents belong to the deployment's project. The key can be in another
project.
"""

import pulumi
import pulumi_gcp as gcp

from pulumi_dra.child_options import Children

ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
DISKS, SECRETS = "compute-system", "container-engine-robot"


def declare_key_grant(
    name: str, key: pulumi.Input[str], agent: str, children: Children
) -> gcp.kms.CryptoKeyIAMMember:
    """Declare the role of `agent` (DISKS or SECRETS) on the key. Encrypted resources must wait for
    it.

    The grant remains when its pool or cluster is deleted, because all users of the key share it.
    """
    number = gcp.organizations.get_project_output(opts=children.invoke_options()).number
    return gcp.kms.CryptoKeyIAMMember(
        name,
        crypto_key_id=key,
        role=ROLE,
        member=number.apply(
            lambda known: f"serviceAccount:service-{known}@{agent}.iam.gserviceaccount.com"
        ),
        opts=children.options(retain_on_delete=True),
    )
