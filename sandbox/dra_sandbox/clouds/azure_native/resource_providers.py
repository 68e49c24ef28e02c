"""Kinds of Azure's resources that a subscription is registered for: a new one is for few."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest

NAMESPACE = "dra-sandbox:azure:Namespace"
"""Namespaces of a subscription by name ("Microsoft.ContainerService"): {"registrationState":
"NotRegistered"}; of what a cloud is not told, all are.
"""


def is_registered(request: CloudRequest) -> str | None:
    """dotnet/core issue 3276, nforgeio/neonKUBE issue 1670; the CLI registers what it needs
    (Azure/azure-cli pull request 6327), a program does not.
    """
    namespace = request.identifier.rpartition("/providers/")[2].partition("/")[0]
    state = (request.cloud.get(NAMESPACE, namespace) or {}).get("registrationState", "Registered")
    if state == "Registered" or request.inputs is None:
        return None
    return (
        "MissingSubscriptionRegistration: The subscription is not registered to use namespace "
        f"'{namespace}'. See "
        "https://aka.ms/rps-not-found for how to register subscriptions."
    )
