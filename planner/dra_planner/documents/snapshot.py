"""The required contents of a cluster snapshot, and the command that creates a snapshot."""

from __future__ import annotations

from typing import Final

SNAPSHOT_KINDS: Final = (
    "nodes",
    "resourceslices",
    "deviceclasses",
    "resourceclaims",
    "resourceclaimtemplates",
    "pods",
    "namespaces",
    "resourcequotas",
    "limitranges",
    "priorityclasses",
    "runtimeclasses",
    "poddisruptionbudgets",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "jobs",
)
"""The kinds in a cluster snapshot: all kinds that affect applied pods."""
VERIFIED_KINDS: Final = ("nodes", "resourceslices", "deviceclasses", "daemonsets", "pods")
"""The kinds that `verify` compares with a plan."""
GUARD_OWNERS: Final = ("replicasets", "jobs")
"""Additional kinds that `verify` reads for a plan with guards: the controllers of the plan's
pods.
"""
GUARD_POLICIES: Final = ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
"""Further kinds that `verify` reads for a plan with guards, from Kubernetes 1.36."""
_GROUPS: Final = {
    "": ("nodes", "pods", "namespaces", "resourcequotas", "limitranges", "configmaps"),
    "apps": ("deployments", "replicasets", "statefulsets", "daemonsets"),
    "batch": ("jobs",),
    "node.k8s.io": ("runtimeclasses",),
    "policy": ("poddisruptionbudgets",),
    "resource.k8s.io": (
        "deviceclasses",
        "resourceclaims",
        "resourceclaimtemplates",
        "resourceslices",
    ),
    "scheduling.k8s.io": ("priorityclasses",),
}
SNAPSHOT_COMMAND: Final = f"kubectl get {','.join(SNAPSHOT_KINDS)} -A -o json"


def _rule(group: str, resources: tuple[str, ...], verbs: str = "get, list") -> str:
    listed = ", ".join(resources)
    return f'  - {{apiGroups: ["{group}"], resources: [{listed}], verbs: [{verbs}]}}\n'


READER_ROLE: Final = (
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRole\n"
    "metadata: {name: pulumi-dra-reader}\n"
    "rules:\n" + "".join(_rule(group, resources) for group, resources in _GROUPS.items())
)
"""The ClusterRole that reading a snapshot needs, as YAML. It lists objects, but doesn't read
Secrets.
"""
VERIFIER_ROLE: Final = (
    "apiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: ClusterRole\n"
    "metadata: {name: pulumi-dra-verify}\n"
    "rules:\n"
    + _rule("", ("nodes", "pods"), "list")
    + _rule("resource.k8s.io", ("resourceslices", "deviceclasses"), "list")
    + _rule("apps", ("daemonsets",), "list")
    + "  # only for plans with guards\n"
    + _rule("apps", ("replicasets",), "list")
    + _rule("batch", ("jobs",), "list")
    + _rule(
        "admissionregistration.k8s.io",
        GUARD_POLICIES,
        "list",
    )
)
"""The ClusterRole that `verify` needs, as YAML."""
