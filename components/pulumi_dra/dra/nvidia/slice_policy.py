"""An admission policy that lets each driver pod write only its own node's ResourceSlices.

The charts include such a policy, but since 25.8 it names a service account that the plugin no
longer uses
(kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/templates/{validatingadmissionpolicy,kubeletplugin}.yaml,
v25.8.0 to main), so that a plugin on one node could remove or invent devices of any other node.
This policy covers every service account in the driver's namespace.
"""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from pulumi_dra.child_options import Children

NODE_OF_TOKEN = "authentication.kubernetes.io/node-name"
"""Kubernetes adds it to every pod token (GA since 1.33)."""


def declare_slice_policy(
    component: str, namespace: str, children: Children
) -> list[pulumi.Resource]:
    """Declare the policy and its binding, and return them, because the driver must come
    after them.
    """
    name = f"{namespace}-own-slices"
    spec: Any = slice_policy(namespace)
    policy = k8s.admissionregistration.v1.ValidatingAdmissionPolicy(
        f"{component}-own-slices", metadata={"name": name}, spec=spec, opts=children.options()
    )
    binding = k8s.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
        f"{component}-own-slices-binding",
        metadata={"name": name},
        spec={"policy_name": policy.metadata.name, "validation_actions": ["Deny"]},
        opts=children.options(),
    )
    return [policy, binding]


def slice_policy(namespace: str) -> dict[str, Any]:
    """Return the policy's spec in API form."""
    written = 'request.operation == "DELETE" ? oldObject : object'
    account = f"system:serviceaccount:{namespace}:"
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["resource.k8s.io"],
                    "apiVersions": ["*"],
                    "operations": ["CREATE", "UPDATE", "DELETE"],
                    "resources": ["resourceslices"],
                }
            ]
        },
        "matchConditions": [
            {
                "name": "is-the-driver",
                "expression": f'request.userInfo.username.startsWith("{account}")',
            }
        ],
        "variables": [
            {
                "name": "nodeOfPod",
                "expression": f'request.userInfo.?extra[?"{NODE_OF_TOKEN}"][0].orValue("")',
            },
            {"name": "nodeOfSlice", "expression": f'({written}).spec.?nodeName.orValue("")'},
        ],
        "validations": [
            {
                "expression": 'variables.nodeOfPod != "" && variables.nodeOfPod == '
                "variables.nodeOfSlice",
                "messageExpression": (
                    "\"a pod of the DRA driver on node '\" + variables.nodeOfPod + \"' can't write "
                    'a ResourceSlice of node \'" + variables.nodeOfSlice + "\'"'
                ),
                "reason": "Forbidden",
            }
        ],
    }
