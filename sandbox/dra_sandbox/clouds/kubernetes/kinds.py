"""Facts about Kubernetes kinds that aren't in their schema: scope, and fields that can't change in
place.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_sandbox.clouds.differences import ReplaceRule

# Cluster-scoped kinds of the built-in groups (`kubectl api-resources --namespaced=false`, 1.36),
# without the kinds that only query the API server.
CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterTrustBundle",
        "CustomResourceDefinition",
        "DeviceClass",
        "DeviceTaintRule",
        "FlowSchema",
        "IPAddress",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "ServiceCIDR",
        "StorageClass",
        "StorageVersionMigration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    }
)

_IDENTITY = frozenset({"metadata.name", "metadata.namespace", "apiVersion", "kind"})

# pulumi/pulumi-kubernetes:provider/pkg/provider/diff.go@00302beb58ae, by kind. The DRA kinds follow
# the API server's own validation (pkg/apis/resource/validation: the spec of claims and templates is
# immutable).
_IMMUTABLE: Mapping[str, frozenset[str]] = {
    "ConfigMap": frozenset({"binaryData", "data"}),
    "CSIDriver": frozenset({"spec"}),
    "ClusterRoleBinding": frozenset({"roleRef"}),
    "DaemonSet": frozenset({"spec.selector"}),
    "Deployment": frozenset({"spec.selector"}),
    "Job": frozenset({"spec.completions", "spec.parallelism", "spec.selector", "spec.template"}),
    "PersistentVolumeClaim": frozenset({"spec"}),
    "Pod": frozenset({"spec"}),
    "PriorityClass": frozenset({"value", "preemptionPolicy"}),
    "ResourceClaim": frozenset({"spec"}),
    "ResourceClaimTemplate": frozenset({"spec"}),
    "ResourceQuota": frozenset({"spec.scopes", "spec.scopeSelector"}),
    "RoleBinding": frozenset({"roleRef"}),
    "Secret": frozenset({"data", "stringData", "type"}),
    "Service": frozenset({"spec.clusterIP"}),
    "StatefulSet": frozenset(
        {
            "spec.podManagementPolicy",
            "spec.revisionHistoryLimit",
            "spec.selector",
            "spec.serviceName",
            "spec.volumeClaimTemplates",
        }
    ),
    "StorageClass": frozenset({"parameters", "provisioner"}),
}
# Exceptions: fields below an immutable field that can change.
_MUTABLE_BELOW: Mapping[str, frozenset[str]] = {
    "PersistentVolumeClaim": frozenset({"spec.resources.requests.storage"}),
    "Pod": frozenset(
        {
            "spec.activeDeadlineSeconds",
            "spec.containers[*].image",
            "spec.initContainers[*].image",
            "spec.tolerations",
        }
    ),
}


def replace_rule(kind: str) -> ReplaceRule:
    """Return the rule for changes that replace an object of the kind."""
    return ReplaceRule(
        _IDENTITY | _IMMUTABLE.get(kind, frozenset()), _MUTABLE_BELOW.get(kind, frozenset())
    )


def group_of(api_version: str) -> str:
    """Return the API group, "core" for the group without a name."""
    return api_version.rpartition("/")[0] or "core"


def token_of(api_version: str, kind: str) -> str:
    """Return the resource type token of an object."""
    return f"kubernetes:{api_version if '/' in api_version else f'core/{api_version}'}:{kind}"
