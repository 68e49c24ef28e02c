"""Karpenter on EKS: its role through Pod Identity, its interruption queue, its definitions, and its
Helm release.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from pulumi_dra.child_options import Children
from pulumi_dra.dra.releases.release_status import require_deployed
from pulumi_dra.eks.karpenter.controller_inputs import (
    EksKarpenterArgs,
    EksKarpenterInputs,
    read_karpenter_inputs,
)
from pulumi_dra.eks.karpenter.interruptions import declare_interruptions
from pulumi_dra.eks.karpenter.rights import KarpenterScope, karpenter_policy
from pulumi_dra.eks.rights.pod_identity import declare_pod_role
from pulumi_dra.eks.rights.roles import declare_partition
from pulumi_dra.inputs.reader import InputReader

NAMESPACE, RELEASE, CRD_RELEASE, SERVICE_ACCOUNT = (
    "kube-system",
    "karpenter",
    "karpenter-crd",
    "karpenter",
)
CHART = "oci://public.ecr.aws/karpenter/karpenter"
CRD_CHART = "oci://public.ecr.aws/karpenter/karpenter-crd"


def karpenter_values(
    inputs: EksKarpenterInputs, queue: pulumi.Input[str], region: pulumi.Input[str]
) -> dict[str, Any]:
    """Return the chart's values, including the region, because pods can't reach the metadata
    service on these nodes.

    Every key exists in aws/karpenter-provider-aws:charts/karpenter/values.yaml at 1.14.1.
    """
    controller: dict[str, Any] = {
        "env": [{"name": "AWS_REGION", "value": region}],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
    }
    if inputs.image_repository:
        controller["image"] = {"repository": inputs.image_repository}
    values: dict[str, Any] = {
        "fullnameOverride": RELEASE,
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        "replicas": inputs.replicas,
        "controller": controller,
        "settings": {
            "clusterName": inputs.cluster_name,
            "clusterEndpoint": inputs.cluster_endpoint,
            "interruptionQueue": queue,
            # This feature gate is alpha and off by default. Without it, Karpenter ignores a pool's
            # `replicas`.
            "featureGates": {"staticCapacity": True},
        },
    }
    if inputs.image_pull_secrets:
        values["imagePullSecrets"] = [{"name": name} for name in inputs.image_pull_secrets]
    return values


class EksKarpenter(pulumi.ComponentResource):
    """Karpenter for EKS pools with fixed node counts."""

    role_arn: pulumi.Output[str]
    """Role of the pods."""
    instance_profile_name: pulumi.Output[str]
    """Instance profile of the nodes that Karpenter launches."""
    queue_name: pulumi.Output[str]
    """Queue with interruption events."""
    version: pulumi.Output[str]
    """Version of Karpenter."""
    status: pulumi.Output[str]
    """Status of the Helm release."""

    def __init__(
        self, name: str, args: EksKarpenterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("EksKarpenter", name, args, EksKarpenterArgs)
        inputs = read_karpenter_inputs(read)
        read.finish()
        super().__init__("pulumi-dra:index:EksKarpenter", name, {}, opts)
        self._children = Children(self, opts)
        self._own = self._children.outliving()
        queue, senders = declare_interruptions(name, self._own, inputs.tags)
        profile = self._declare_profile(inputs)
        role, identity = self._declare_identity(inputs, queue)
        self.release = self._declare_releases(inputs, queue, [*identity, *senders])
        self.role_arn, self.queue_name, self.instance_profile_name = (
            role.arn,
            queue.name,
            profile.name,
        )
        self.version = pulumi.Output.from_input(inputs.version)
        self.status = self.release.status.apply(lambda status: require_deployed(RELEASE, status))
        self.register_outputs(
            {
                "role_arn": self.role_arn,
                "instance_profile_name": self.instance_profile_name,
                "queue_name": self.queue_name,
                "version": self.version,
                "status": self.status,
            }
        )

    def _declare_profile(self, inputs: EksKarpenterInputs) -> aws.iam.InstanceProfile:
        """Declare the nodes' instance profile here, so that Karpenter doesn't need permission to
        create profiles.
        """
        role_name = pulumi.Output.from_input(inputs.node_role_arn).apply(
            lambda arn: arn.rpartition("/")[2]
        )
        return aws.iam.InstanceProfile(
            f"{self._name}-nodes", role=role_name, tags=inputs.tags, opts=self._own.options()
        )

    def _declare_identity(
        self, inputs: EksKarpenterInputs, queue: aws.sqs.Queue
    ) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
        known = pulumi.Output.all(
            partition=declare_partition(self._children),
            region=self._region(),
            cluster_name=inputs.cluster_name,
            node_role_arn=inputs.node_role_arn,
            queue_arn=queue.arn,
            key_arns=inputs.volume_key_arns,
        )
        rights = known.apply(lambda parts: karpenter_policy(KarpenterScope(**parts)))
        return declare_pod_role(
            self._name, self._children, inputs, (NAMESPACE, SERVICE_ACCOUNT), ("nodes", rights)
        )

    def _declare_releases(
        self, inputs: EksKarpenterInputs, queue: aws.sqs.Queue, first: list[pulumi.Resource]
    ) -> k8s.helm.v3.Release:
        """Declare the definitions as a separate release, which Helm can upgrade, followed by
        Karpenter.
        """
        definitions = k8s.helm.v3.Release(
            f"{self._name}-crd-release",
            name=CRD_RELEASE,
            namespace=NAMESPACE,
            chart=inputs.crd_chart or CRD_CHART,
            version=None if inputs.crd_chart else inputs.version,
            create_namespace=False,
            opts=self._children.options(),
        )
        return k8s.helm.v3.Release(
            f"{self._name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            chart=inputs.chart or CHART,
            version=None if inputs.chart else inputs.version,
            values=karpenter_values(inputs, queue.name, self._region()),
            create_namespace=False,
            skip_crds=True,
            timeout=600,
            opts=self._children.options(depends_on=[definitions, *first]),
        )

    def _region(self) -> pulumi.Output[str]:
        return aws.get_region_output(opts=self._children.invoke_options()).region
