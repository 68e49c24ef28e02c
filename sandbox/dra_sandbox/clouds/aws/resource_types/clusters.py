"""EKS: clusters, node groups, add-ons, and access."""

from __future__ import annotations

from collections.abc import Mapping

from dra_sandbox.clouds.aws import (
    addons,
    api_values,
    cluster_side_effects,
    clusters,
    custom_images,
    keys,
    lost_zones,
    node_groups,
    node_groups_in_clusters,
    node_updates,
    principals,
    quotas,
    scaling_groups,
    schedules,
)
from dra_sandbox.clouds.type_rows import TypeRow, same_as

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
            "accessConfig.authenticationMode": api_values.AUTHENTICATION_MODES,
            "enabledClusterLogTypes[*]": api_values.LOG_TYPES,
            "upgradePolicy.supportType": api_values.SUPPORT_TYPES,
            "controlPlaneScalingConfig.tier": api_values.CONTROL_PLANE_TIERS,
            "kubernetesNetworkConfig.ipFamily": api_values.IP_FAMILIES,
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
        effects=(cluster_side_effects.come_and_go,),
        remembered=True,
    ),
    "aws:eks/nodeGroup:NodeGroup": TypeRow(
        id="{clusterName}:{nodeGroupName}",
        outputs={
            "arn": "arn:{partition}:eks:{region}:{account}:nodegroup/{clusterName}/{nodeGroupName}/{uuid}",
            "amiType": custom_images.ami_type,
            "capacityType": "ON_DEMAND",
            "diskSize": lambda facts: 0 if facts.inputs.get("launchTemplate") else 20,
            "instanceTypes": lambda facts: (
                [] if facts.inputs.get("launchTemplate") else ["t3.medium"]
            ),
            "nodeGroupNamePrefix": "",
            "launchTemplate": lambda facts: None,
            "releaseVersion": node_groups_in_clusters.release,
            "version": node_groups_in_clusters.version,
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
            "amiType": api_values.AMI_TYPES,
            "capacityType": api_values.CAPACITY_TYPES,
            "taints[*].effect": api_values.TAINT_EFFECTS,
            "updateConfig.updateStrategy": api_values.UPDATE_STRATEGIES,
            "nodeRepairConfig.nodeRepairConfigOverrides[*].repairAction": api_values.REPAIR_ACTIONS,
        },
        checks=node_groups.CHECKS,
        returned=node_groups.with_a_number_for_its_template,
        refusals=(
            *node_groups.REFUSALS,
            *node_groups_in_clusters.REFUSALS,
            *custom_images.REFUSALS,
            keys.nodes_can_use_their_key,
            schedules.block_has_begun,
            lost_zones.has_machines,
            quotas.has_vcpus,
            *node_updates.REFUSALS,
        ),
        effects=(custom_images.registers, scaling_groups.has_tags_of_its_own),
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
            "resolveConflictsOnCreate": api_values.RESOLVE_CONFLICTS - {"PRESERVE"},
            "resolveConflictsOnUpdate": api_values.RESOLVE_CONFLICTS,
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
        allowed={"type": api_values.ACCESS_ENTRY_TYPES},
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
