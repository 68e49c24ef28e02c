"""Nodes on which a device plugin and a DRA driver allocate the same devices.

kube-scheduler counts allocatable resources and allocated claims separately, so neither count limits
the other. Source: kubernetes/kubernetes:pkg/scheduler/framework/plugins/noderesources/fit.go and
dynamicresources/extendeddynamicresources.go@v1.37.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.drivers import publishers_of
from dra_planner.offers.offer import Offer
from dra_planner.offers.requests import pod_requests


class ContestedDevices(Struct, frozen=True, kw_only=True):
    """Devices of a node that two allocators can allocate.

    `units` are the device plugin's allocatable units, and `held` are the units of running pods. A
    pod keeps its units when the plugin is removed. `drivers` publish `devices` devices.
    """

    node: str
    resource: str
    units: int
    held: int
    drivers: frozenset[str]
    devices: int


def contested_devices(offer: Offer) -> Iterator[ContestedDevices]:
    """Yield the extended resources of a node whose devices a DRA driver also publishes there."""
    held: dict[str, int] = {}
    for pod in offer.pods:
        if not pod.is_served_by_claim:
            for name, amount in pod_requests(pod.spec).items():
                held[name] = held.get(name, 0) + amount
    for name in sorted({*offer.plugin_units, *held}):
        units = offer.node.allocatable.get(name, 0)
        drivers = publishers_of(name) if "/" in name else frozenset[str]()
        devices = sum(
            len(each.devices)
            for each in offer.slices
            if each.driver in drivers and each.node_name == offer.node.name
        )
        if devices and (units or held.get(name)):
            yield ContestedDevices(
                node=offer.node.name,
                resource=name,
                units=units,
                held=held.get(name, 0),
                drivers=drivers,
                devices=devices,
            )
