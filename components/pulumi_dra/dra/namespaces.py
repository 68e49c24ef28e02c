"""Namespaces that may hold privileged pods: those of drivers and plugins, and no other."""

import pulumi_kubernetes as k8s

from pulumi_dra.children import Children

PRIVILEGED_LABELS = {
    "pod-security.kubernetes.io/enforce": "privileged",
    "pod-security.kubernetes.io/audit": "privileged",
    "pod-security.kubernetes.io/warn": "privileged",
}


def declare_privileged_namespace(component: str, namespace: str, children: Children) -> k8s.core.v1.Namespace:
    """Declare a namespace whose pods may be privileged."""
    return k8s.core.v1.Namespace(
        f"{component}-namespace",
        metadata={"name": namespace, "labels": PRIVILEGED_LABELS},
        opts=children.options(),
    )
