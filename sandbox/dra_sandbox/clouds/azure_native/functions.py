"""Azure SDK functions that work without a subscription."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from dra_planner.releases import MAXIMUM_MINOR, MINIMUM_MINOR
from dra_sandbox.clouds.type_rows import words_for
from dra_sandbox.clouds.wire_values import Values

Place = Mapping[str, str]

SUBSCRIPTION = "00000000-1111-2222-3333-444444444444"
TENANT = "55555555-6666-7777-8888-999999999999"
DEPLOYER = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
_PATCH = 3


def client_config(arguments: Values, place: Place) -> Values:
    return {
        "clientId": "04b07795-8ddb-461a-bbee-02f9e1bf7b46",
        "objectId": DEPLOYER,
        "subscriptionId": place["subscription"],
        "tenantId": TENANT,
    }


def user_credentials(arguments: Values, place: Place) -> Values:
    """Return a kubeconfig without a token, as Azure does with the format exec. kubelogin requests
    the token.
    """
    if arguments.get("format") != "exec":
        raise ValueError(
            "BadRequest: Getting static credential is not allowed because this cluster is set to "
            "disable local "
            "accounts."
        )
    name = arguments["resourceName"]
    words = words_for(f"{arguments['resourceGroupName']}/{name}")
    cluster = {
        "server": f"https://{name}-{words['hex8']}.hcp.{place['location'] or 'eastus'}.azmk8s.io:443",
        "certificate-authority-data": words["certificate"],
    }
    login = [
        "get-token",
        "--environment",
        "AzurePublicCloud",
        "--tenant-id",
        TENANT,
        "--login",
        "devicecode",
    ]
    user = f"clusterUser_{arguments['resourceGroupName']}_{name}"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": user, "user": {"exec": {"command": "kubelogin", "args": login}}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
    }
    text = base64.b64encode(json.dumps(document).encode()).decode()
    return {"kubeconfigs": [{"name": "clusterUser", "value": text}]}


def offered_versions() -> tuple[str, ...]:
    """Return two versions of each supported minor version (a patch and the previous one), oldest
    first.
    """
    return tuple(f"1.{minor}.{_PATCH}" for minor in range(MINIMUM_MINOR - 1, MAXIMUM_MINOR + 1))


def is_offered(wanted: str) -> bool:
    """Return True if Azure offers a version. A minor version stands for its newest patch."""
    return wanted in offered_versions() or any(
        each.rpartition(".")[0] == wanted for each in offered_versions()
    )


def newest(wanted: str) -> str:
    """Return the newest patch for a text such as "1.35".

    A full version is returned unchanged, and an empty text gives the oldest version.
    """
    if not wanted:
        return f"1.{MINIMUM_MINOR}.{_PATCH}"
    return wanted if wanted.count(".") > 1 else f"{wanted}.{_PATCH}"


FUNCTIONS = {
    "azure-native:authorization:getClientConfig": client_config,
    "azure-native:containerservice:listManagedClusterUserCredentials": user_credentials,
}
