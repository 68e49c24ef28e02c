"""Resources for starting machines: launch templates, placement groups, and schedules."""

from __future__ import annotations

from collections.abc import Mapping

from dra_sandbox.clouds.aws import api_values, launch_templates, schedules
from dra_sandbox.clouds.type_rows import TypeRow

ROWS: Mapping[str, TypeRow] = {
    "aws:ec2/placementGroup:PlacementGroup": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:ec2:{region}:{account}:placement-group/{name}",
            "placementGroupId": "pg-{hex17}",
        },
        replace=("strategy", "partitionCount", "spreadLevel"),
        allowed={"strategy": api_values.PLACEMENT_STRATEGIES},
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": TypeRow(
        id="lt-{hex17}",
        outputs={
            "arn": "arn:{partition}:ec2:{region}:{account}:launch-template/lt-{hex17}",
            "defaultVersion": 1,
        },
        every_time={"latestVersion": launch_templates.latest_version},
        name_limit=128,
        allowed={
            "metadataOptions.httpTokens": api_values.HTTP_TOKENS,
            "metadataOptions.httpEndpoint": api_values.ENABLED_DISABLED,
            "metadataOptions.instanceMetadataTags": api_values.ENABLED_DISABLED,
            "blockDeviceMappings[*].ebs.volumeType": api_values.VOLUME_TYPES,
            "instanceMarketOptions.marketType": api_values.MARKET_TYPES,
            "capacityReservationSpecification.capacityReservationPreference": api_values.RESERVATION_PREFERENCES,
            "networkInterfaces[*].interfaceType": api_values.NETWORK_INTERFACE_TYPES,
            "tagSpecifications[*].resourceType": api_values.RESOURCE_TYPES_TAGGED,
            "placement.tenancy": api_values.TENANCIES,
        },
        checks=(
            launch_templates.interfaces_are_in_order,
            launch_templates.volumes_are_sold,
            launch_templates.reservation_preference_allows_target,
            launch_templates.user_data_is_multipart,
        ),
        remembered=True,
    ),
    "aws:autoscaling/schedule:Schedule": TypeRow(
        # The real ID consists only of the action's name, which multiple groups can use, so the
        # simulation adds the group's name.
        id="{autoscalingGroupName}/{scheduledActionName}",
        outputs={
            "arn": "arn:{partition}:autoscaling:{region}:{account}:scheduledUpdateGroupAction:{uuid}",
            "startTime": schedules.first_start,
        },
        replace=("autoscalingGroupName", "scheduledActionName"),
        checks=(schedules.has_time, schedules.has_sizes_in_order),
        refusals=(schedules.begins_in_future, schedules.is_of_a_group),
        remembered=True,
    ),
}
