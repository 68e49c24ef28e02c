"""Lets Google's service agents use a key of one's own: Compute Engine's that of disks, GKE's that
of secrets.

Without that the API answers "Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on
resource …" (GKE documentation, “Use customer-managed encryption keys” and “Encrypt secrets at the
application layer”). The agents are those of the project that is deployed to; the key may lie in
another.
"""

import pulumi
import pulumi_gcp as gcp

from pulumi_dra.children import Children

ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
DISKS, SECRETS = "compute-system", "container-engine-robot"


def declare_key_grant(
    name: str, key: pulumi.Input[str], agent: str, children: Children
) -> gcp.kms.CryptoKeyIAMMember:
    """Declare the role of `agent` (DISKS or SECRETS) on the key; what is encrypted with it must
    wait for it.

    It stays when its pool or cluster goes: the cloud has one such member for all that use the key.
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
