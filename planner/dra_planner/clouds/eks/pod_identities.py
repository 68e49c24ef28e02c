"""Identities of pods on EKS: pod identities, roles for service accounts, and add-ons that need
them.
"""

from __future__ import annotations

from dra_planner.clouds.protocol.identities import AddonAccount, FederatedAccounts, PodIdentity

POD_IDENTITY = PodIdentity(
    token="aws:eks/podIdentityAssociation:PodIdentityAssociation",
    namespace="namespace",
    account="serviceAccount",
    identity="roleArn",
    # hashicorp/terraform-provider-aws issue 41483
    trusted="pods.eks.amazonaws.com",
    # awsdocs/amazon-eks-user-guide:latest/ug/manage-access/aws-access/pod-id-role.adoc, pull
    # request 1047 of 2025-06-21
    session="sts:TagSession",
    # eksctl-io/eksctl:pkg/apis/eksctl.io/v1alpha5/validation.go@99984adb
    agent="eks-pod-identity-agent",
    built_in=("computeConfig.enabled", True),
    addon="podIdentityAssociations",
)
FEDERATED_ACCOUNTS = FederatedAccounts(
    token="aws:iam/role:Role",
    kind="role",
    subject="assumeRolePolicy",
    pattern=r'"system:serviceaccount:(?P<namespace>[^:"]+):(?P<name>[^:"]+)"',
    identity="name",
    annotation="eks.amazonaws.com/role-arn",
    role="serviceAccountRoleArn",
    provider="oidc.eks.",
    # aws/amazon-eks-pod-identity-webhook issues 30 and 58
    audience="sts.amazonaws.com",
)
# eksctl-io/eksctl:pkg/actions/addon/create.go@99984adb (aws-node),
# awslabs/ai-on-eks:infra/base/terraform/addons.tf (EBS) and
# infra/nvidia-triton-server/addons.tf (CloudWatch), read 2026-11-28;
# terraform-aws-modules/terraform-aws-eks issue 3520 (CloudWatch)
ADDON_ACCOUNTS = (
    AddonAccount(addon="vpc-cni", namespace="kube-system", name="aws-node"),
    AddonAccount(addon="aws-ebs-csi-driver", namespace="kube-system", name="ebs-csi-controller-sa"),
    AddonAccount(
        addon="amazon-cloudwatch-observability",
        namespace="amazon-cloudwatch",
        name="cloudwatch-agent",
    ),
)
