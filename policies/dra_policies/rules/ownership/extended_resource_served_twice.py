"""An extended resource that a DeviceClass and a device plugin both serve."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.extended_resources import index_classes
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

SERVED = "nvidia.com/gpu"


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    if view.device_plugins:
        plugin = view.device_plugins[0].title
        for name, device_class in sorted(view.manifests.classes.items()):
            if device_class.extended_resource_name == SERVED:
                yield Finding(
                    message=f"DeviceClass {name} and {plugin} both serve the extended "
                    f"resource {SERVED}, so the node determines which of the two a "
                    "pod uses",
                    fix=f"remove extendedResourceName from the DeviceClass, or remove {plugin}",
                    place=device_class.meta.place,
                )
    yield from _in_a_fleet(view)


def _in_a_fleet(view: StackView) -> Iterator[Finding]:
    """Yield workloads that can run on both kinds of pools, because a class of the driver serves the
    same resource name that the device plugin serves on other pools.
    """
    assert view.manifests is not None
    offers = view.judgement.offers if view.judgement is not None else ()
    plugin_pools = {
        name: offer.name
        for offer in offers
        if offer.origin == "predicted"
        for name, units in offer.plugin_units.items()
        if units
    }
    has_dra_pool = any(offer.slices for offer in offers if offer.origin == "predicted")
    if view.features is None or not view.features.extended_resource or not has_dra_pool:
        return
    served = index_classes({**view.classes, **view.manifests.classes})
    for workload in view.manifests.workloads:
        names = {
            name
            for pod_set in workload.pod_sets
            for each in (*pod_set.template.spec.containers, *pod_set.template.spec.init_containers)
            for name, amount in each.requests.items()
            if amount and name in plugin_pools and name in served
        }
        for name in sorted(names):
            yield Finding(
                message=f"{workload.ref} requests {name}. Both the device plugin (on pool "
                f"{plugin_pools[name]}) and DeviceClass {served[name]} (on DRA pools) serve it, "
                "so pods can run on DRA pools even before you migrate the workload",
                fix=f"remove extendedResourceName from DeviceClass {served[name]}, or use a "
                f"claim instead of {name}",
                place=workload.place,
                remark=True,
            )


RULE = Rule(
    id="extended-resource-served-twice",
    description="Both a DeviceClass and a device plugin serve an extended resource.",
    why=(
        "Quotas, taints, and sharing work differently for claims and for the device plugin, and a "
        "pod can get its device from either."
    ),
    fix="Change the extended resource name in the DeviceClass. If you need to keep the device "
    "plugin, you can also remove the name.",
    level="advisory",
    check=check,
)
