"""The kubeconfig of an EKS cluster: no token in it, the AWS CLI makes a short-lived one for whoever
uses it.
"""

import json


def eks_kubeconfig(
    name: str,
    arn: str,
    endpoint: str,
    certificate_authority: str,
    role_arn: str = "",
    profile: str = "",
) -> str:
    """Return a kubeconfig as JSON; the region is the one in the ARN
    (arn:aws:eks:REGION:ACCOUNT:cluster/NAME).

    Tokens are those of `role_arn` and `profile` where they are given. The profile is an argument,
    because credentials in the environment would win over AWS_PROFILE
    (pulumi/pulumi-eks:nodejs/eks/cluster/cluster.ts@7bf0c1b1).
    """
    region = arn.split(":")[3] if arn.count(":") >= 5 else ""
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "aws",
            "args": [
                *(["--region", region] if region else []),
                *(["--profile", profile] if profile else []),
                "eks",
                "get-token",
                "--cluster-name",
                name,
                "--output",
                "json",
                *(["--role-arn", role_arn] if role_arn else []),
            ],
            "interactiveMode": "Never",
        }
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": name,
                    "cluster": {
                        "server": endpoint,
                        "certificate-authority-data": certificate_authority,
                    },
                }
            ],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        sort_keys=True,
    )
