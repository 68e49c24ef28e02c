"""Auto Scaling groups that create nodes without a managed node group. Their labels and taints come
from the boot script in their launch template.

pulumi-eks' NodeGroupV2 is such a group, and its NodeGroup is one that CloudFormation creates from a
launch configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_planner.clouds import MachineTemplate, cloud, names
from dra_policies.stack.boot_scripts import labels_of_script, taints_of_script
from dra_policies.stack.pools import boot_script_of, has_gpus
from dra_policies.stack.resource import Resource, source_of
from dra_policies.view.stack_view import DeclaredPool

SCALING_GROUP: Final = "Auto Scaling group"
_GROUP: Final = "aws:autoscaling/group:Group"
_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
_CONFIGURATION: Final = "aws:ec2/launchConfiguration:LaunchConfiguration"
_MIXED: Final = "mixedInstancesPolicy"
_PLACES: Final = ("launchTemplate", _MIXED)


def states_labels(group: DeclaredPool) -> bool:
    """Return whether the boot script of a group shows the labels and taints of its nodes."""
    return group.labels is not None and group.taints is not None


def gpu_scaling_groups(
    resources: Sequence[Resource], groups: Sequence[DeclaredPool]
) -> Iterator[str]:
    """Yield the titles of launch configurations with a GPU machine type, and the titles of groups
    whose boot script doesn't show labels and taints.
    """
    for each in resources:
        if each.type == _CONFIGURATION and _has_gpus(each, each.props.text("instanceType")):
            yield each.title("launch configuration")
    yield from (group.title for group in groups if not states_labels(group))


def declared_groups(resources: Sequence[Resource]) -> Iterator[DeclaredPool]:
    """Yield groups with GPUs as pools, with labels and taints if the boot script shows them."""
    for each in resources:
        template = template_of_group(each, resources)
        machine = _machine(each, template) if template else None
        if template is not None and _has_gpus(each, machine):
            of_cloud = _cloud_of(each)
            script = boot_script_of(template, _paths(of_cloud).boot_script)
            image = template.props.text(_paths(of_cloud).image)
            clusters = [other for other in resources if other.type == cloud(of_cloud).cluster.token]
            yield DeclaredPool(
                urn=each.urn,
                title=each.title(SCALING_GROUP),
                cloud=of_cloud,
                name=None,
                machine=machine,
                count_min=each.props.count("minSize", 0),
                count_desired=each.props.count("desiredCapacity", 0),
                count_max=each.props.count("maxSize", 0),
                labels=labels_of_script(script, _paths(of_cloud).joins),
                taints=taints_of_script(script, _paths(of_cloud).joins),
                has_gpus=True,
                image=cloud(of_cloud).image_of_parameter(image) if image else image,
                boot_script=script,
                cluster_urn=clusters[0].urn if len(clusters) == 1 else "",
                own=each.props,
                template=template.props,
                template_urn=template.urn,
            )


def _paths(name: str) -> MachineTemplate:
    template = cloud(name).pool.template
    assert template is not None  # only clouds with launch templates have such groups
    return template


def _machine(group: Resource, template: Resource) -> str | None:
    """Return the machine type of a group: its only override, or its template's."""
    overrides = group.props.items(f"{_MIXED}.launchTemplate.overrides")
    if overrides is None or len(overrides) > 1:
        return None
    return (overrides[0].text("instanceType") if overrides else "") or template.props.text(
        "instanceType"
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
