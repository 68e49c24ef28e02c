"""Functions of the AWS SDK that look up resources in the memory of the simulated cloud."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dra_sandbox.clouds.aws.keys import ROLE, SPOT_ROLE, role_exists, spot_role_exists
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.wire_values import Values

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


def lookups(memory: Memory) -> Mapping[str, Callable[[Values, Mapping[str, str]], Values]]:
    """Return the functions that look up resources in `memory`."""

    def node_groups(arguments: Values, place: Mapping[str, str]) -> Values:
        cluster = arguments["clusterName"]
        groups = memory.all(NODE_GROUP).values()
        names = sorted(
            group["nodeGroupName"] for group in groups if group["clusterName"] == cluster
        )
        return {"id": cluster, "names": names}

    def node_group(arguments: Values, place: Mapping[str, str]) -> Values:
        identifier = f"{arguments['clusterName']}:{arguments['nodeGroupName']}"
        group = memory.get(NODE_GROUP, identifier)
        if group is None:
            raise ValueError(
                "ResourceNotFoundException: No node group found for name: "
                f"{arguments['nodeGroupName']}."
            )
        listed = {"scalingConfigs": "scalingConfig", "resources": "resources"}
        return {
            **{
                name: group.get(name)
                for name in ("arn", "amiType", "capacityType", "labels", "status", "version")
            },
            **{many: _as_list(group.get(one)) for many, one in listed.items()},
            "id": identifier,
        }

    def roles(arguments: Values, place: Mapping[str, str]) -> Values:
        """Return the service-linked roles: the role of Auto Scaling, which is the only one that
        exists by default, and the role of Spot.
        """
        there = [
            role
            for role, exists in ((ROLE, role_exists), (SPOT_ROLE, spot_role_exists))
            if exists(memory)
        ]
        found = [
            role
            for role in there
            if role.removeprefix("role").startswith(arguments.get("pathPrefix") or "/")
            and re.search(arguments.get("nameRegex") or "", role.rpartition("/")[2])
        ]
        account = f"arn:{place['partition']}:iam::{place['account']}"
        return {
            "id": place["region"],
            "names": [role.rpartition("/")[2] for role in found],
            "arns": [f"{account}:{role}" for role in found],
        }

    return {
        "aws:eks/getNodeGroups:getNodeGroups": node_groups,
        "aws:eks/getNodeGroup:getNodeGroup": node_group,
        "aws:iam/getRoles:getRoles": roles,
    }


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]
