"""Auto Scaling groups that create nodes without a managed node group. Their labels and taints are
in user data, so they aren't evaluated.

pulumi-eks' NodeGroupV2 is such a group, and its NodeGroup is one that CloudFormation creates from a
launch configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_planner.clouds import cloud, names
from dra_policies.stack.pools import has_gpus
from dra_policies.stack.resource import Resource, source_of

_GROUP: Final = "aws:autoscaling/group:Group"
_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
_CONFIGURATION: Final = "aws:ec2/launchConfiguration:LaunchConfiguration"
_PLACES: Final = ("launchTemplate", "mixedInstancesPolicy")


def gpu_scaling_groups(resources: Sequence[Resource]) -> Iterator[str]:
    """Yield the titles of groups whose launch template has a GPU machine type, and of launch
    configurations.
    """
    for each in resources:
        if each.type == _CONFIGURATION and _has_gpus(each, each.props.text("instanceType")):
            yield each.title("launch configuration")
        if each.type == _GROUP:
            template = _template(each, resources)
            if template is not None and _has_gpus(each, template.props.text("instanceType")):
                yield each.title("Auto Scaling group")


def _has_gpus(resource: Resource, machine: str | None) -> bool | None:
    """Return whether a machine type of the resource's cloud has NVIDIA GPUs, or None if it isn't
    known.
    """
    provider = resource.type.partition(":")[0]
    of_cloud = next(
        name for name in names() if cloud(name).pool.token.partition(":")[0] == provider
    )
    return has_gpus(of_cloud, machine)


def _template(group: Resource, resources: Sequence[Resource]) -> Resource | None:
    """Return the template of a group by an output, or by its ID or name."""
    for place in _PLACES:
        if found := source_of(group, place, _TEMPLATE, resources):
            return found
    for key in ("id", "name"):
        wanted = group.props.text(f"launchTemplate.{key}")
        named = [
            each
            for each in resources
            if each.type == _TEMPLATE and wanted and each.props.text(key) == wanted
        ]
        if len(named) == 1:
            return named[0]
    return None
