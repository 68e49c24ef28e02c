"""The kubeconfig of an EKS cluster. The kubeconfig doesn't contain a token, because the AWS CLI
gets a short-lived token for each user.
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
    """Return a kubeconfig as JSON. The region is taken from the ARN
    (arn:aws:eks:REGION:ACCOUNT:cluster/NAME).

    Tokens use `role_arn` and `profile` if they are given. The profile is an argument, because
    credentials in the environment take precedence over AWS_PROFILE
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
