"""The cluster autoscaler on EKS: its role through Pod Identity, and its Helm release."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from pulumi_dra.child_options import Children
from pulumi_dra.dra.releases.release_status import require_deployed
from pulumi_dra.eks.autoscaler.autoscaler_inputs import (
    CHART_VERSION,
    EksClusterAutoscalerArgs,
    EksClusterAutoscalerInputs,
    read_autoscaler_inputs,
)
from pulumi_dra.eks.rights.pod_identity import declare_pod_role
from pulumi_dra.inputs.reader import InputReader

NAMESPACE, RELEASE, SERVICE_ACCOUNT = "kube-system", "cluster-autoscaler", "cluster-autoscaler"
REPOSITORY = "https://kubernetes.github.io/autoscaler"

# kubernetes/autoscaler:cluster-autoscaler/cloudprovider/aws/README.md@55c37cd5, “Full Cluster
# Autoscaler Features Policy”. Permissions that change resources apply only to the groups of one
# cluster, which EKS tags (EKS user guide, “Simplify node lifecycle with managed node groups”).
_LOOKS = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeLaunchConfigurations",
    "autoscaling:DescribeScalingActivities",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:GetInstanceTypesFromInstanceRequirements",
    "eks:DescribeNodegroup",
)
_CHANGES = ("autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup")


def scaling_policy(cluster_name: str) -> str:
    """Return a policy as JSON: read all groups, and change the groups of one cluster.

    EKS sets this tag with this value on the Auto Scaling group of a managed node group
    (kubernetes/autoscaler:cluster-autoscaler/cloudprovider/aws/README.md asks for it in the same
    words).
    """
    owned = {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"}}
    statements = [
        {"Effect": "Allow", "Action": list(_LOOKS), "Resource": ["*"]},
        {"Effect": "Allow", "Action": list(_CHANGES), "Resource": ["*"], "Condition": owned},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)


def autoscaler_values(
    inputs: EksClusterAutoscalerInputs, region: pulumi.Input[str]
) -> dict[str, Any]:
    """Return the chart's values, including the region, because pods can't reach the metadata
    service on these nodes.
    """
    image: dict[str, Any] = {"tag": f"v{inputs.version}"}
    if inputs.image_repository:
        image["repository"] = inputs.image_repository
    if inputs.image_pull_secrets:
        image["pullSecrets"] = list(inputs.image_pull_secrets)
    return {
        "fullnameOverride": RELEASE,
        "cloudProvider": "aws",
        "awsRegion": region,
        "autoDiscovery": {"clusterName": inputs.cluster_name},
        "rbac": {"serviceAccount": {"name": SERVICE_ACCOUNT}},
        "image": image,
        "extraArgs": inputs.flags,
        # Requests and permissions from
        # kubernetes/autoscaler:cluster-autoscaler/cloudprovider/aws/examples@55c37cd5.
        "resources": {
            "requests": {"cpu": "100m", "memory": "600Mi"},
            "limits": {"memory": "600Mi"},
        },
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "fsGroup": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containerSecurityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }


class EksClusterAutoscaler(pulumi.ComponentResource):
    """The Kubernetes cluster autoscaler for the managed node groups of an EKS cluster."""

    role_arn: pulumi.Output[str]
    """Role of the pods."""
    version: pulumi.Output[str]
    """Version of the autoscaler."""
    status: pulumi.Output[str]
    """Status of the Helm release."""

    def __init__(
        self, name: str, args: EksClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("EksClusterAutoscaler", name, args, EksClusterAutoscalerArgs)
        inputs = read_autoscaler_inputs(read)
        read.finish()
        super().__init__("pulumi-dra:index:EksClusterAutoscaler", name, {}, opts)
        self._children = Children(self, opts)
        rights = pulumi.Output.from_input(inputs.cluster_name).apply(scaling_policy)
        account = (NAMESPACE, SERVICE_ACCOUNT)
        role, identity = declare_pod_role(
            name, self._children, inputs, account, ("scaling", rights)
        )
        release = self._declare_release(inputs, identity)
        self.role_arn = role.arn
        self.version = pulumi.Output.from_input(inputs.version)
        self.status = release.status.apply(lambda status: require_deployed(RELEASE, status))
        self.register_outputs(
            {"role_arn": self.role_arn, "version": self.version, "status": self.status}
        )

    def _declare_release(
        self, inputs: EksClusterAutoscalerInputs, identity: list[pulumi.Resource]
    ) -> k8s.helm.v3.Release:
        region = aws.get_region_output(opts=self._children.invoke_options()).region
        own_chart = bool(inputs.chart)
        return k8s.helm.v3.Release(
            f"{self._name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            chart=inputs.chart or "cluster-autoscaler",
            version=None if own_chart else CHART_VERSION,
            repository_opts=None if own_chart else {"repo": REPOSITORY},
            values=autoscaler_values(inputs, region),
            create_namespace=False,
            timeout=600,
            opts=self._children.options(depends_on=identity),
        )
