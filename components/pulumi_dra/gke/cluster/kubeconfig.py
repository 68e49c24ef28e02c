"""The kubeconfig of a GKE cluster. It contains no token, because Google's plugin gets a short-lived
one for each user.
"""

import json


def gke_kubeconfig(name: str, endpoint: str, certificate_authority: str) -> str:
    """Return a kubeconfig as JSON. `endpoint` is the control plane's address or DNS name without a
    scheme.

    Without `certificate_authority`, clients use the public CAs, as the DNS name requires.
    """
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "gke-gcloud-auth-plugin",
            "installHint": "gcloud components install gke-gcloud-auth-plugin",
            "interactiveMode": "Never",
            "provideClusterInfo": True,
        }
    }
    cluster = {"server": f"https://{endpoint}"}
    if certificate_authority:
        cluster["certificate-authority-data"] = certificate_authority
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        sort_keys=True,
    )
