"""ResourceSlices that no scheduler can use: told of snapshots, since nobody else names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_planner.allocation.node.device_pools import pool_faults
from dra_planner.errors import Diagnostic
from dra_planner.manifests.validation.fields.formats import semantic_version
from dra_planner.model import ResourceSlice, Version
from dra_planner.releases import Features

_FIX = "restart or upgrade the driver, which publishes it"


def slice_findings(slices: Iterable[ResourceSlice], features: Features) -> Iterator[Diagnostic]:
    """Yield pools whose slices contradict each other, and versions that are none."""
    slices = list(slices)
    for item, reason in pool_faults(slices, features):
        message = f"ResourceSlice {item.name}: pool {item.pool} of {item.driver} cannot be used: {reason}"
        yield Diagnostic("error", "slice-cannot-be-used", message, item.place, _FIX)
    for item in slices:
        for device in item.devices:
            for name, value in device.attributes.items():
                if isinstance(value, Version) and semantic_version(str(value)):
                    message = f'ResourceSlice {item.name}: {device.name}: {name} "{value}" is not a semantic version'
                    yield Diagnostic("error", "slice-cannot-be-used", message, item.place, _FIX)
