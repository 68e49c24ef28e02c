"""Permissions of a tenant: it can claim devices in its namespace, but can't change classes or
devices.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
from msgspec import Struct

from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader

CLUSTER_ROLE = "pulumi-dra-tenant"
PROFILES = ("baseline", "restricted")
NAME = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_READ, _WRITE = ["get", "list", "watch"], ["create", "update", "patch", "delete"]


class TenantSettings(TypedDict):
    """One tenant: a namespace and the groups that use it."""

    namespace: str
    """Namespace of the tenant."""
    groups: list[str]
    """Groups whose members can create claims in the namespace, with the names that the cluster's
    authenticator uses.
    """
    create_namespace: NotRequired[bool]
    """Create the namespace. Default: true."""
    pod_security: NotRequired[str]
    """Pod Security level of a created namespace: restricted (default) or baseline."""
    device_quota: NotRequired[dict[str, int]]
    """Maximum number of devices of each DeviceClass that all claims in the namespace together can
    request. A request for all devices on a node counts as 32 devices.
    """


class TenantAccessArgs(TypedDict):
    """Inputs of TenantAccess."""

    tenants: list[TenantSettings]
    """The tenants."""


class TenantAccess(pulumi.ComponentResource):
    """Namespaces, roles, and device quotas of tenants."""

    namespaces: pulumi.Output[list[str]]
    """Namespaces of the tenants."""

    def __init__(
        self, name: str, args: TenantAccessArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("TenantAccess", name, args, TenantAccessArgs)
        tenants = read_tenants(read)
        read.finish()
        super().__init__("pulumi-dra:index:TenantAccess", name, {}, opts)
        children = Children(self, opts)
        role = k8s.rbac.v1.ClusterRole(
            f"{name}-role",
            metadata={"name": CLUSTER_ROLE},
            rules=tenant_rules(),
            opts=children.options(),
        )
        for tenant in tenants:
            _declare_tenant(name, tenant, role, children)
        self.namespaces = pulumi.Output.from_input([tenant.namespace for tenant in tenants])
        self.register_outputs({"namespaces": self.namespaces})


def tenant_rules() -> Any:
    """Return the rules of the cluster role: write claims and templates, read classes and slices."""
    group = ["resource.k8s.io"]
    return [
        {
            "api_groups": group,
            "resources": ["resourceclaims", "resourceclaimtemplates"],
            "verbs": [*_READ, *_WRITE],
        },
        {"api_groups": group, "resources": ["deviceclasses", "resourceslices"], "verbs": _READ},
    ]


class Tenant(Struct, frozen=True, kw_only=True):
    """A tenant's checked settings with defaults filled in."""

    namespace: str
    groups: list[str]
    create_namespace: bool
    pod_security: str
    device_quota: dict[str, int]


def read_tenants(read: InputReader) -> list[Tenant]:
    """Return the tenants, and record errors in `read`."""
    tenants = [_read_tenant(read, index, item) for index, item in enumerate(read.blocks("tenants"))]
    if not tenants:
        read.refuse("tenants", "must not be empty")
    seen: set[str] = set()
    for index, tenant in enumerate(tenants):
        if tenant.namespace in seen:
            read.refuse(f"tenants[{index}].namespace", f'"{tenant.namespace}" appears twice')
        seen.add(tenant.namespace)
    return tenants


def _read_tenant(outer: InputReader, index: int, item: Any) -> Tenant:
    read = outer.inside(f"tenants[{index}]", item, TenantSettings)
    create = read.flag("create_namespace", True)
    if read.has("pod_security") and not create:
        read.refuse(
            "pod_security", "applies only to a new namespace; label the existing namespace yourself"
        )
    groups = read.texts("groups")
    if not groups:
        read.refuse("groups", "must not be empty")
    return Tenant(
        namespace=read.text("namespace", pattern=NAME, meaning="a namespace"),
        groups=groups,
        create_namespace=create,
        pod_security=read.choice("pod_security", PROFILES, "restricted"),
        device_quota=read.wholes("device_quota"),
    )


def _declare_tenant(
    name: str, tenant: Tenant, role: k8s.rbac.v1.ClusterRole, children: Children
) -> None:
    prefix = f"{name}-{tenant.namespace}"
    before: list[pulumi.Resource] = []
    if tenant.create_namespace:
        labels = {
            f"pod-security.kubernetes.io/{mode}": tenant.pod_security
            for mode in ("enforce", "audit", "warn")
        }
        namespace = k8s.core.v1.Namespace(
            f"{prefix}-namespace",
            metadata={"name": tenant.namespace, "labels": labels},
            opts=children.options(),
        )
        before.append(namespace)
    k8s.rbac.v1.RoleBinding(
        f"{prefix}-claims",
        metadata={"name": CLUSTER_ROLE, "namespace": tenant.namespace},
        role_ref={
            "api_group": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role.metadata.name,
        },
        subjects=[
            {"api_group": "rbac.authorization.k8s.io", "kind": "Group", "name": group}
            for group in tenant.groups
        ],
        opts=children.options(depends_on=before),
    )
    if tenant.device_quota:
        hard = {
            f"{key}.deviceclass.resource.k8s.io/devices": str(most)
            for key, most in tenant.device_quota.items()
        }
        k8s.core.v1.ResourceQuota(
            f"{prefix}-devices",
            metadata={"name": "devices", "namespace": tenant.namespace},
            spec={"hard": hard},
            opts=children.options(depends_on=before),
        )
