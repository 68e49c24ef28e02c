"""An admission policy that limits admin access to devices, which bypasses every allocation."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import json
from typing import TypedDict

import pulumi
import pulumi_kubernetes as k8s

from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader

ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"
POLICY = "pulumi-dra-admin-access"
NAME = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


class AdminAccessPolicyArgs(TypedDict):
    """Inputs of AdminAccessPolicy."""

    namespaces: list[str]
    """Namespaces that can have the `resource.kubernetes.io/admin-access=true` label, for example
    monitoring. If the list is empty, no namespace can have the label.
    """


class AdminAccessPolicy(pulumi.ComponentResource):
    """Admission policy that allows the admin access label only on the listed namespaces.

    Kubernetes admits claims with adminAccess only in namespaces with this label. Without the
    policy, everyone who can label namespaces can access all devices.
    """

    policy_name: pulumi.Output[str]
    """Name of the ValidatingAdmissionPolicy."""

    def __init__(
        self, name: str, args: AdminAccessPolicyArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("AdminAccessPolicy", name, args, AdminAccessPolicyArgs)
        namespaces = read.texts("namespaces", pattern=NAME, meaning="a namespace")
        if not read.has("namespaces"):
            read.refuse("namespaces", "is missing; use an empty list to allow no namespaces")
        read.finish()
        super().__init__("pulumi-dra:index:AdminAccessPolicy", name, {}, opts)
        children = Children(self, opts)
        policy = k8s.admissionregistration.v1.ValidatingAdmissionPolicy(
            f"{name}-policy",
            metadata={"name": POLICY},
            spec={
                "failure_policy": "Fail",
                "match_constraints": {
                    "resource_rules": [
                        {
                            "api_groups": [""],
                            "api_versions": ["v1"],
                            "operations": ["CREATE", "UPDATE"],
                            "resources": ["namespaces"],
                        }
                    ]
                },
                "validations": [
                    {
                        "expression": admin_access_rule(namespaces),
                        "message": f"the {ADMIN_ACCESS_LABEL} label is allowed only on "
                        f"{_listed(namespaces)}",
                        "reason": "Forbidden",
                    }
                ],
            },
            opts=children.options(),
        )
        k8s.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
            f"{name}-binding",
            metadata={"name": POLICY},
            spec={"policy_name": policy.metadata.name, "validation_actions": ["Deny"]},
            opts=children.options(),
        )
        self.policy_name = policy.metadata.name
        self.register_outputs({"policy_name": self.policy_name})


def admin_access_rule(namespaces: list[str]) -> str:
    """Return the CEL expression that is true if the labels of a namespace are allowed."""
    labelled = f"has(object.metadata.labels) && '{ADMIN_ACCESS_LABEL}' in object.metadata.labels"
    return f"!({labelled}) || object.metadata.name in {json.dumps(sorted(namespaces))}"


def _listed(namespaces: list[str]) -> str:
    return ", ".join(sorted(namespaces)) or "no namespace"
