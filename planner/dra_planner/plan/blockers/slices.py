"""ResourceSlices that the scheduler can't use, because they contradict each other or have invalid
values.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.allocation.node.device_pools import pool_faults
from dra_planner.errors import Place
from dra_planner.manifests.validation.fields.formats import semantic_version
from dra_planner.model import Version
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation

_FIX = "restart or upgrade the driver that publishes this slice"


def find_unusable_slices(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield pools with contradictory slices, and invalid versions. Pods may still get other
    devices.
    """
    slices = list(situation.manifests.slices)
    for item, reason in pool_faults(slices, situation.features):
        yield _fault(
            f"ResourceSlice {item.name}: pool {item.pool} of {item.driver} can't be used, because "
            f"{reason}",
            item.place,
        )
    for item in slices:
        for device in item.devices:
            for name, value in device.attributes.items():
                if isinstance(value, Version) and semantic_version(str(value)):
                    text = (
                        f'ResourceSlice {item.name}: {name} "{value}" of device "{device.name}" '
                        "isn't a semantic version"
                    )
                    yield _fault(text, item.place)


def _fault(message: str, place: Place) -> Blocker:
    return Blocker(
        code="slice-cannot-be-used", message=message, fix=_FIX, place=place, verdict="fits"
    )
