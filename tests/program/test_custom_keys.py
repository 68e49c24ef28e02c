"""Customer-managed keys in the settings of a stack, on the engine: the first `up` succeeds, and
without grants the cloud refuses to start nodes.
"""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.engine

KEY = "arn:aws:kms:us-east-1:123456789012:key/0000bbbb"
CRYPTO_KEY = "projects/keys/locations/us-central1/keyRings/gpus/cryptoKeys/disks"
ON_EKS = {"pools": [{"name": "l4", "diskKmsKey": KEY}]}
ON_GKE = {
    "secretsKmsKey": CRYPTO_KEY,
    "cluster": {"diskKmsKey": CRYPTO_KEY},
    "pools": [{"name": "l4", "diskKmsKey": CRYPTO_KEY}],
}


def first_up(journey: Callable[[str], Any], name: str, platform: dict[str, Any]) -> Any:
    stack = journey(name)
    stack.config["pulumi-dra:platform"] = platform
    stack.write(nodes=1, change=lambda fleet: fleet.update(pools=fleet["pools"][:1]))
    done = stack.engine.up(name, skip_preview=True)
    assert done.ok, done.output
    return stack


@pytest.mark.xdist_group("eks")
def test_pools_with_a_custom_key_start_in_a_new_account(journey: Callable[[str], Any]) -> None:
    stack = first_up(journey, "eks-dev", ON_EKS)
    (grant,) = stack.engine.cloud.all("aws:kms/grant:Grant").values()
    assert grant["keyId"] == KEY
    stack.config["pulumi-dra:platform"] = {"pools": [{**ON_EKS["pools"][0], "grantKeyUse": False}]}
    stack.write(nodes=2)
    done = stack.engine.up("eks-dev", skip_preview=True)
    assert done.ok, done.output  # the grant is deleted last, when no more nodes are requested
    stack.write(nodes=3)
    refused = stack.engine.up("eks-dev", skip_preview=True)
    assert (
        "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"
        in refused.output
    )


@pytest.mark.xdist_group("gke")
def test_gke_keeps_its_permission_to_use_a_custom_key(journey: Callable[[str], Any]) -> None:
    stack = first_up(journey, "gke-dev", ON_GKE)
    members = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
    agents = {each["member"].partition("@")[2] for each in stack.engine.cloud.all(members).values()}
    assert agents == {
        "compute-system.iam.gserviceaccount.com",
        "container-engine-robot.iam.gserviceaccount.com",
    }
    destroyed = stack.engine.destroy("gke-dev")
    assert destroyed.ok, destroyed.output
    assert len(stack.engine.cloud.all(members)) == 2
