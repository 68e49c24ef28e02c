"""Namespaces of what is installed: those of drivers and plugins may hold privileged pods, and no
other.
"""

import pulumi_kubernetes as k8s

from pulumi_dra.children import Children

_MODES = ("enforce", "audit", "warn")


def declare_privileged_namespace(
    component: str, namespace: str, children: Children
) -> k8s.core.v1.Namespace:
    """Declare a namespace whose pods may be privileged."""
    return declare_namespace(component, namespace, "privileged", children)


def declare_namespace(
    component: str, namespace: str, pod_security: str, children: Children
) -> k8s.core.v1.Namespace:
    """Declare a namespace with this pod security level: privileged, baseline or restricted."""
    return k8s.core.v1.Namespace(
        f"{component}-namespace",
        metadata={
            "name": namespace,
            "labels": {f"pod-security.kubernetes.io/{mode}": pod_security for mode in _MODES},
        },
        opts=children.options(),
    )
