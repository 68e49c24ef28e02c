"""An extended resource that a DeviceClass and a device plugin both serve."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

SERVED = "nvidia.com/gpu"


def check(view: StackView) -> Iterator[Finding]:
    if not view.device_plugins or view.manifests is None:
        return
    plugin = view.device_plugins[0].title
    for name, device_class in sorted(view.manifests.classes.items()):
        if device_class.extended_resource_name == SERVED:
            yield Finding(
                message=f"DeviceClass {name} serves the extended resource {SERVED}, but {plugin} "
                "serves it, too, so the node decides which of them a pod gets",
                fix=f"remove extendedResourceName from the class, or {plugin}",
                place=device_class.meta.place,
            )


RULE = Rule(
    id="extended-resource-served-twice",
    says="Both a DeviceClass and a device plugin serve an extended resource.",
    why="Quotas, taints, and sharing differ between them, and pods can get either.",
    fix="Set another extended resource in the class, or remove it while the device plugin is "
    "installed.",
    level="advisory",
    check=check,
)
