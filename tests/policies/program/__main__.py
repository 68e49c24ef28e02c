"""A cluster, one GPU pool, and the objects that the test requests. The plan is the first
resource.
"""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from dra_planner.planfile import RECORD_DOCUMENT, RECORD_TYPE

ASSUME = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": ["eks.amazonaws.com", "ec2.amazonaws.com"]},
            "Action": "sts:AssumeRole",
        }
    ],
}


RIGHTS = (
    "AmazonEKSClusterPolicy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
)


class Record(pulumi.ComponentResource):
    """Carries the plan's text, as CapacityPlan does."""

    def __init__(self, document: str) -> None:
        super().__init__(RECORD_TYPE, "plan", {RECORD_DOCUMENT: document})
        self.register_outputs({})


config = pulumi.Config()
document = config.get("plan")
after: pulumi.ResourceOptions | None = None
if document:
    recorded = Record(document).urn.apply(lambda urn: pulumi.resource.DependencyResource(urn))
    after = pulumi.ResourceOptions(depends_on=[recorded])

role = aws.iam.Role("role", assume_role_policy=json.dumps(ASSUME), opts=after)
for right in RIGHTS:
    aws.iam.RolePolicyAttachment(
        right, role=role.name, policy_arn=f"arn:aws:iam::aws:policy/{right}", opts=after
    )
subnets = ["subnet-0a", "subnet-0b"]
cluster = aws.eks.Cluster(
    "cluster",
    role_arn=role.arn,
    vpc_config={
        "subnet_ids": subnets,
        "endpoint_private_access": True,
        "endpoint_public_access": False,
    },
    enabled_cluster_log_types=["audit"],
    encryption_config={
        "provider": {"key_arn": "arn:aws:kms:us-east-1:111122223333:key/a"},
        "resources": ["secrets"],
    },
    version="1.34",
    opts=after,
)
low, desired, high = json.loads(config.get("counts") or "[2, 2, 4]")
aws.eks.NodeGroup(
    "l4",
    cluster_name=cluster.name,
    node_role_arn=role.arn,
    subnet_ids=subnets,
    instance_types=["g6.2xlarge"],
    ami_type="AL2023_x86_64_NVIDIA",
    scaling_config={"min_size": low, "desired_size": desired, "max_size": high},
    labels={
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.dra": "true",
        "pulumi-dra/pool": "l4",
    },
    taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    opts=after,
)
kubeconfig = cluster.endpoint.apply(
    lambda endpoint: json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": endpoint}}],
            "users": [{"name": "u", "user": {"token": "none"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )
)
inside = pulumi.ResourceOptions.merge(
    after,
    pulumi.ResourceOptions(
        provider=kubernetes.Provider("inside", kubeconfig=kubeconfig, opts=after)
    ),
)
if config.get_bool("device_plugin"):
    kubernetes.helm.v3.Release(
        "nvidia-device-plugin", chart="nvidia-device-plugin", namespace="nvidia", opts=inside
    )
for manifest in json.loads(config.get("manifests") or "[]"):
    name = manifest["metadata"]["name"]
    made = {
        "Job": kubernetes.batch.v1.Job,
        "ResourceClaimTemplate": kubernetes.resource.v1.ResourceClaimTemplate,
    }[manifest["kind"]]
    made(name, metadata=manifest["metadata"], spec=manifest["spec"], opts=inside)
