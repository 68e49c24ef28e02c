"""The device plugins of all vendors together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from dra_planner.drivers import every_driver
from dra_planner.drivers.protocol.device_plugin import (
    Counterpart,
    LabelTerm,
    NoCounterpart,
    NoDirectCounterpart,
    NotTranslatable,
    PluginFacts,
    SelectionNeeds,
    VendorDevicePlugin,
    WholeDevices,
)
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.target_cluster import Target

_OTHERS = (
    WholeDevices(("rebellions.ai/npu",), "npu.rebellions.ai"),
    NoDirectCounterpart(
        (
            "volcano.sh/vgpu-number",
            "volcano.sh/vgpu-memory",
            "volcano.sh/vgpu-cores",
            "volcano.sh/gpu-number",
            "volcano.sh/gpu-memory",
        ),
        "Volcano's scheduler counts this resource as a GPU share",
    ),
    NoDirectCounterpart(
        ("aliyun.com/gpu-mem", "aliyun.com/gpu-count", "aliyun.com/gpu-core.percentage"),
        "a GPU-sharing scheduler extender counts this resource as a GPU share",
    ),
    NoDirectCounterpart(
        ("tencent.com/vcuda-core", "tencent.com/vcuda-memory"),
        "GPU manager's scheduler extender counts this resource as a GPU share",
    ),
)
"""Device plugins of vendors whose drivers have no module here, and units of other schedulers.

Sources: rebellions-sw/rbln-k8s-dra-driver@dd9af1b, volcano-sh/volcano:pkg/scheduler/api/devices,
AliyunContainerService/gpushare-device-plugin, tkestack/gpu-manager (README).
"""


def is_device(resource: str) -> bool:
    """Return whether an extended resource belongs to a vendor with a known driver."""
    return _plugin(resource) is not None


def is_about_devices(key: str) -> bool:
    """Return whether a node label concerns devices of any vendor."""
    return any(each.knows_label(key) for each in _plugins())


def needs_of(terms: Sequence[LabelTerm]) -> SelectionNeeds:
    """Return the requirements for devices in label conditions, all of which must be true.

    Raises NotTranslatable.
    """
    needs = SelectionNeeds()
    for term in terms:
        plugin = next((each for each in _plugins() if each.knows_label(term.key)), None)
        if plugin is None:
            raise NotTranslatable(f"the node label {term.key} doesn't describe devices")
        needs = needs.joined(plugin.needs_of(term))
    return needs


def counterpart(
    resource: str,
    count: int,
    needs: SelectionNeeds,
    labels: Mapping[str, str],
    facts: PluginFacts,
    target: Target,
) -> Counterpart | NoCounterpart:
    """Return the claim's request that replaces `count` units of a resource on nodes with these
    labels and needs.
    """
    plugin = _plugin(resource)
    if plugin is None:
        return NoCounterpart(f"no known driver publishes devices for {resource}")
    return plugin.counterpart(resource, count, needs, labels, facts, target.support)


def class_of(resource: str, facts: PluginFacts) -> str:
    """Return the DeviceClass that replaces a resource in quotas, or "" if there is none."""
    plugin = _plugin(resource)
    return plugin.class_of(resource, facts) if plugin is not None else ""


def read_plugin_facts(
    objects: Iterable[KubernetesObject], answers: PluginFacts | None = None
) -> PluginFacts:
    """Return the facts in objects and in `answers`, which take precedence."""
    facts = PluginFacts()
    for item in objects:
        for plugin in _plugins():
            found = plugin.facts_of(item.kind, f"{item.namespace}/{item.name}", item.data)
            facts = facts.joined(found) if found is not None else facts
    return facts.joined(answers) if answers is not None else facts


def operator_notes(objects: Iterable[KubernetesObject]) -> Iterator[str]:
    """Yield the effects of vendors' operator objects on a migration."""
    known = [(item.api_version, item.kind, item.name, item.data) for item in objects]
    for plugin in _plugins():
        yield from plugin.operator_notes(known)


def _plugin(resource: str) -> VendorDevicePlugin | None:
    return next((each for each in _plugins() if each.serves(resource)), None)


@cache
def _plugins() -> tuple[VendorDevicePlugin, ...]:
    return (
        *(each.device_plugin for each in every_driver() if each.device_plugin is not None),
        *_OTHERS,
    )
