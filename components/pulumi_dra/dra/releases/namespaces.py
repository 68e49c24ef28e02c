"""Namespaces of installed releases. Only namespaces of drivers and plugins allow privileged
pods.
"""

import pulumi_kubernetes as k8s

from pulumi_dra.child_options import Children

_MODES = ("enforce", "audit", "warn")


def declare_privileged_namespace(
    component: str, namespace: str, children: Children
) -> k8s.core.v1.Namespace:
    """Declare a namespace that allows privileged pods."""
    return declare_namespace(component, namespace, "privileged", children)


def declare_namespace(
    component: str, namespace: str, pod_security: str, children: Children
) -> k8s.core.v1.Namespace:
    """Declare a namespace with this pod security level: privileged, baseline, or restricted."""
    return k8s.core.v1.Namespace(
        f"{component}-namespace",
        metadata={
            "name": namespace,
            "labels": {f"pod-security.kubernetes.io/{mode}": pod_security for mode in _MODES},
        },
        opts=children.options(),
    )
