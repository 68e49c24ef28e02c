"""EKS: clusters, node groups, add-ons, and access."""

from __future__ import annotations

from collections.abc import Mapping

from dra_sandbox.clouds.aws import (
    addons,
    beside_clusters,
    clusters,
    group_in_cluster,
    keys,
    node_groups,
    own_images,
    principals,
    quotas,
    rolling,
    scaling_groups,
    schedules,
    values,
    zones_lost,
)
from dra_sandbox.clouds.rows import TypeRow, same_as

ROWS: Mapping[str, TypeRow] = {
    "aws:eks/cluster:Cluster": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:eks:{region}:{account}:cluster/{name}",
            "endpoint": "https://{HEX32}.gr7.{region}.eks.amazonaws.com",
            "certificateAuthority": {"data": "{certificate}"},
            "identities": [
                {"oidcs": [{"issuer": "https://oidc.eks.{region}.amazonaws.com/id/{HEX32}"}]}
            ],
            "vpcConfig": {
                "clusterSecurityGroupId": "sg-{hex17}",
                "vpcId": "vpc-{hex17}",
                "endpointPrivateAccess": False,
                "endpointPublicAccess": True,
            },
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16", "ipFamily": "ipv4"},
            "accessConfig": {"authenticationMode": "CONFIG_MAP"},
            "upgradePolicy": {"supportType": "EXTENDED"},
            "status": "ACTIVE",
            "platformVersion": "eks.1",
            "clusterId": "",
            "createdAt": "2026-01-01T00:00:00Z",
            "version": "1.34",
            "deletionProtection": False,
        },
        defaults={"bootstrapSelfManagedAddons": True},
        name_limit=100,
        protected_by="deletionProtection",
        allowed={
            "accessConfig.authenticationMode": values.AUTHENTICATION_MODES,
            "enabledClusterLogTypes[*]": values.LOG_TYPES,
            "upgradePolicy.supportType": values.SUPPORT_TYPES,
            "controlPlaneScalingConfig.tier": values.CONTROL_PLANE_TIERS,
            "kubernetesNetworkConfig.ipFamily": values.IP_FAMILIES,
        },
        checks=(clusters.is_accepted,),
        returned=clusters.with_the_key_of_its_alias,
        refusals=(
            clusters.moves_by_one_minor,
            clusters.stays_in_its_zones,
            clusters.has_a_key_of_its_region,
            clusters.authenticates_as_before_or_by_more,
            clusters.has_no_groups_left,
        ),
        effects=(beside_clusters.come_and_go,),
        remembered=True,
    ),
    "aws:eks/nodeGroup:NodeGroup": TypeRow(
        id="{clusterName}:{nodeGroupName}",
        outputs={
            "arn": "arn:{partition}:eks:{region}:{account}:nodegroup/{clusterName}/{nodeGroupName}/{uuid}",
            "amiType": own_images.ami_type,
            "capacityType": "ON_DEMAND",
            "diskSize": lambda facts: 0 if facts.inputs.get("launchTemplate") else 20,
            "instanceTypes": lambda facts: (
                [] if facts.inputs.get("launchTemplate") else ["t3.medium"]
            ),
            "nodeGroupNamePrefix": "",
            "launchTemplate": lambda facts: None,
            "releaseVersion": group_in_cluster.release,
            "version": group_in_cluster.version,
            "status": "ACTIVE",
            "updateConfig": {"maxUnavailable": 1},
            "nodeRepairConfig": {"enabled": False},
            "resources": [
                {
                    "autoscalingGroups": [{"name": "eks-{nodeGroupName}-{uuid}"}],
                    "remoteAccessSecurityGroupId": "",
                }
            ],
        },
        name="nodeGroupName",
        name_limit=63,
        allowed={
            "amiType": values.AMI_TYPES,
            "capacityType": values.CAPACITY_TYPES,
            "taints[*].effect": values.TAINT_EFFECTS,
            "updateConfig.updateStrategy": values.UPDATE_STRATEGIES,
            "nodeRepairConfig.nodeRepairConfigOverrides[*].repairAction": values.REPAIR_ACTIONS,
        },
        checks=node_groups.CHECKS,
        returned=node_groups.with_a_number_for_its_template,
        refusals=(
            *node_groups.REFUSALS,
            *group_in_cluster.REFUSALS,
            *own_images.REFUSALS,
            keys.nodes_can_use_their_key,
            schedules.block_has_begun,
            zones_lost.has_machines,
            quotas.has_vcpus,
            *rolling.REFUSALS,
        ),
        effects=(own_images.registers, scaling_groups.has_tags_of_its_own),
        remembered=True,
    ),
    "aws:eks/addon:Addon": TypeRow(
        id="{clusterName}:{addonName}",
        outputs={
            "arn": "arn:{partition}:eks:{region}:{account}:addon/{clusterName}/{addonName}/{uuid}",
            "addonVersion": addons.default_version,
            "configurationValues": "",
            "createdAt": "2026-01-01T00:00:00Z",
            "modifiedAt": "2026-01-01T00:00:00Z",
        },
        replace=("addonName", "clusterName", "namespaceConfig"),
        allowed={
            "resolveConflictsOnCreate": values.RESOLVE_CONFLICTS - {"PRESERVE"},
            "resolveConflictsOnUpdate": values.RESOLVE_CONFLICTS,
        },
        checks=(addons.has_a_name_and_a_version, addons.has_values_in_an_object),
        refusals=(addons.version_is_for_the_minor,),
        remembered=True,
    ),
    "aws:eks/accessEntry:AccessEntry": TypeRow(
        id="{clusterName}:{principalArn}",
        outputs={
            "accessEntryArn": "arn:{partition}:eks:{region}:{account}:access-entry/{clusterName}/{uuid}",
            "createdAt": "2026-01-01T00:00:00Z",
            "modifiedAt": "2026-01-01T00:00:00Z",
            "kubernetesGroups": [],
            "userName": same_as("principalArn", ""),
        },
        defaults={"type": "STANDARD"},
        replace=("clusterName", "principalArn", "type"),
        sets=("kubernetesGroups",),
        allowed={"type": values.ACCESS_ENTRY_TYPES},
        checks=(principals.is_a_role_or_user, principals.groups_are_not_of_kubernetes),
        refusals=(clusters.has_entries, clusters.is_the_only_entry),
        remembered=True,
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": TypeRow(
        id="{clusterName}#{principalArn}#{policyArn}",
        outputs={"associatedAt": "2026-01-01T00:00:00Z", "modifiedAt": "2026-01-01T00:00:00Z"},
        replace=("accessScope", "clusterName", "policyArn", "principalArn"),
        sets=("accessScope.namespaces",),
        allowed={"accessScope.type": frozenset({"cluster", "namespace"})},
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": TypeRow(
        id="a-{hex17}",
        outputs={
            "associationId": "a-{hex17}",
            "associationArn": "arn:{partition}:eks:{region}:{account}:podidentityassociation/{clusterName}/a-{hex17}",
            "externalId": "{uuid}",
        },
        replace=("clusterName", "namespace", "serviceAccount"),
        refusals=(clusters.is_the_only_association, clusters.has_room_for_an_association),
        remembered=True,
    ),
}
