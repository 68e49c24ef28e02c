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
from dra_policies.view.stack_view import DeclaredPool

SCALING_GROUP: Final = "Auto Scaling group"
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
    yield from (group.title for group in declared_groups(resources))


def declared_groups(resources: Sequence[Resource]) -> Iterator[DeclaredPool]:
    """Yield groups with GPUs as pools whose labels and taints aren't known."""
    for each in resources:
        template = template_of_group(each, resources)
        machine = template.props.text("instanceType") if template else None
        if template is not None and _has_gpus(each, machine):
            yield DeclaredPool(
                urn=each.urn,
                title=each.title(SCALING_GROUP),
                cloud=_cloud_of(each),
                name=None,
                machine=machine,
                count_min=each.props.count("minSize", 0),
                count_desired=each.props.count("desiredCapacity", 0),
                count_max=each.props.count("maxSize", 0),
                labels=None,
                taints=None,
                has_gpus=True,
                own=each.props,
                template=template.props,
                template_urn=template.urn,
            )


def template_of_group(group: Resource, resources: Sequence[Resource]) -> Resource | None:
    """Return the template of a group by an output, or by its ID or name. None for other
    resources.
    """
    if group.type != _GROUP:
        return None
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


def _has_gpus(resource: Resource, machine: str | None) -> bool | None:
    """Return whether a machine type of the resource's cloud has NVIDIA GPUs, or None if it isn't
    known.
    """
    return has_gpus(_cloud_of(resource), machine)


def _cloud_of(resource: Resource) -> str:
    provider = resource.type.partition(":")[0]
    return next(name for name in names() if cloud(name).pool.token.partition(":")[0] == provider)
