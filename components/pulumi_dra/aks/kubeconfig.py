"""The kubeconfig of an AKS cluster. The kubeconfig doesn't contain a token, because kubelogin gets
a short-lived token for each user.
"""

import base64
import json
from typing import Any

import yaml

LOGINS = ("azurecli", "devicecode", "interactive", "msi", "spn", "workloadidentity")
"""Login methods of kubelogin (learn.microsoft.com/azure/aks/kubelogin-authentication)."""
AKS_SERVER = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The Entra ID application that represents the API servers of all clusters."""


def aks_kubeconfig(encoded: str, login: str) -> str:
    """Return a kubeconfig as JSON from Azure's answer (base64 of YAML): its cluster, with a
    kubelogin login.
    """
    given: dict[str, Any] = yaml.safe_load(base64.b64decode(encoded))
    named = given["clusters"][0]
    name, cluster = named["name"], named["cluster"]
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "kubelogin",
            "args": ["get-token", "--login", login, "--server-id", AKS_SERVER],
            "installHint": "az aks install-cli, or github.com/Azure/kubelogin",
            "interactiveMode": "IfAvailable",
            "provideClusterInfo": False,
        }
    }
    kept = {key: cluster[key] for key in ("server", "certificate-authority-data") if key in cluster}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": kept}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        sort_keys=True,
    )
