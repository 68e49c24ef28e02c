"""Azure resource providers that a subscription is registered for. A new subscription has only a
few.
"""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest

NAMESPACE = "dra-sandbox:azure:Namespace"
"""Resource providers of a subscription by name ("Microsoft.ContainerService"):
{"registrationState": "NotRegistered"}. Providers that aren't configured are registered.
"""


def is_registered(request: CloudRequest) -> str | None:
    """Reject resources of providers that aren't registered. The CLI registers providers
    automatically (Azure/azure-cli pull request 6327), but programs don't. Sources: dotnet/core
    issue 3276, nforgeio/neonKUBE issue 1670.
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
