"""The kubeconfig of a GKE cluster: no token in it, Google's plugin makes a short-lived one for
whoever uses it.
"""

import json


def gke_kubeconfig(name: str, endpoint: str, certificate_authority: str) -> str:
    """Return a kubeconfig as JSON; `endpoint` is the control plane's address or DNS name without a
    scheme.

    Without a `certificate_authority` the public ones decide, as for the DNS name.
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
