"""Features of the NVIDIA driver that clouds don't support, declared in their modules."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import WHOLE, Cloud
from dra_planner.drivers.nvidia.releases import DriverRelease
from dra_planner.drivers.nvidia.settings import PublishingSettings
from dra_planner.errors import UnsupportedFeature


def gate_faults_on(
    cloud: Cloud, driver: DriverRelease, settings: PublishingSettings
) -> Iterator[UnsupportedFeature]:
    """Yield feature gates of the driver that are on and that the cloud doesn't support."""
    yield from (
        cloud.unsupported(gate) for gate in cloud.unsupported_gates if settings.has(gate, driver)
    )


def mig_faults_on(
    cloud: Cloud, driver: DriverRelease, settings: PublishingSettings, mig: str
) -> Iterator[UnsupportedFeature]:
    """Yield the reasons why a cloud doesn't support a MIG configuration.

    Dynamic MIG is a feature gate.
    """
    if mig not in WHOLE and not cloud.supports_mig and not settings.has("DynamicMIG", driver):
        yield cloud.unsupported("MIG")


def no_partitions_on(
    cloud: Cloud, driver: DriverRelease | None, settings: PublishingSettings
) -> str:
    """Return why claims can't get MIG devices on a cloud, or "" if they can."""
    if cloud.supports_mig or (driver is not None and settings.has("DynamicMIG", driver)):
        return ""
    return cloud.unsupported("MIG").message
