"""A cluster's worth of AWS resources; `step` in the configuration changes one thing at a time."""

import json

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
step = config.get("step") or "first"

zones = aws.get_availability_zones(state="available")
trust = aws.iam.get_policy_document(
    statements=[
        {
            "actions": ["sts:AssumeRole"],
            "principals": [{"type": "Service", "identifiers": ["eks.amazonaws.com"]}],
        }
    ]
)
role = aws.iam.Role("cluster", assume_role_policy=trust.json)
vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16", enable_dns_hostnames=True)
subnets = [
    aws.ec2.Subnet(
        f"net-{index}", vpc_id=vpc.id, cidr_block=f"10.0.{index}.0/24", availability_zone=zone
    )
    for index, zone in enumerate(zones.names[:2])
]
cluster = aws.eks.Cluster(
    "main",
    role_arn=role.arn,
    version="1.34",
    vpc_config={"subnet_ids": [subnet.id for subnet in subnets], "endpoint_private_access": True},
)
template = aws.ec2.LaunchTemplate(
    "gpu",
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
    tags={"step": step},
)
nodes = aws.eks.NodeGroup(
    "gpu",
    cluster_name=cluster.name,
    node_role_arn=role.arn,
    subnet_ids=[subnet.id for subnet in subnets],
    ami_type="AL2023_x86_64_NVIDIA",
    instance_types=["g6.4xlarge" if step == "machine" else "g6.2xlarge"],
    labels={"nvidia.com/gpu.dra": "true", "step": "more" if step == "machine" else "none"},
    scaling_config={"min_size": 0, "desired_size": 2, "max_size": 3 if step == "grow" else 2},
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
)
pulumi.export(
    "kubeconfig", pulumi.Output.secret(pulumi.Output.json_dumps({"server": cluster.endpoint}))
)
pulumi.export("issuer", cluster.identities[0].oidcs[0].issuer)
pulumi.export("trust", json.loads(trust.json))
pulumi.export("templateVersion", template.latest_version)
pulumi.export("nodes", nodes.node_group_name)
