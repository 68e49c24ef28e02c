"""Opaque configuration of the NVIDIA driver in claims and classes, which the driver can reject when
it prepares a claim.

The API server accepts any JSON object, so errors leave the pod in ContainerCreating. Source:
kubernetes-sigs/dra-driver-nvidia-gpu:api/nvidia.com/resource/v1beta1 and
cmd/gpu-kubelet-plugin/device_state.go @v25.3.0 to v0.4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from dra_planner.drivers.nvidia.releases import DriverRelease
from dra_planner.drivers.nvidia.settings import PublishingSettings
from dra_planner.drivers.protocol.driver import ConfigFault
from dra_planner.quantity import Quantity, QuantityError
from dra_planner.wording import either

API_VERSION: Final = "resource.nvidia.com/v1beta1"
DRIVERS: Final = ("gpu.nvidia.com", "compute-domain.nvidia.com")
GATES: Final = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}
_INTERVALS: Final = ("Default", "Short", "Medium", "Long")
_LEAST_LIMIT: Final = 1024 * 1024
_MPS: Final = (
    "defaultActiveThreadPercentage",
    "defaultPinnedDeviceMemoryLimit",
    "defaultPerDevicePinnedMemoryLimit",
    "multiUser",
)
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "GpuConfig": ("sharing",),
    "MigDeviceConfig": ("sharing",),
    "VfioDeviceConfig": ("iommu",),
    "ComputeDomainChannelConfig": ("domainID", "allocationMode"),
    "ComputeDomainDaemonConfig": ("domainID",),
}
_OF: Final = {"ComputeDomainChannelConfig": DRIVERS[1], "ComputeDomainDaemonConfig": DRIVERS[1]}


def config_faults(
    driver: str,
    parameters: Mapping[str, Any],
    release: DriverRelease | None,
    settings: PublishingSettings | None,
) -> Iterator[ConfigFault]:
    """Yield the errors for which the driver rejects a configuration. Without a driver version,
    settings that depend on feature gates aren't checked.

    `driver` is the name in the configuration.
    """
    kind, version = parameters.get("kind"), parameters.get("apiVersion")
    if version != API_VERSION:
        given = f'with apiVersion "{version}"' if version else "without apiVersion"
        yield ConfigFault(
            f"the driver doesn't support a configuration {given}",
            f"set apiVersion to {API_VERSION}",
        )
    if not isinstance(kind, str) or kind not in _FIELDS:
        named = f'of kind "{kind}"' if kind else "without kind"
        yield ConfigFault(
            f"the driver doesn't support a configuration {named}",
            f"use one of these kinds: {', '.join(_FIELDS)}",
        )
        return
    if _OF.get(kind, DRIVERS[0]) != driver:
        yield ConfigFault(
            f"{kind} isn't a configuration of driver {driver}",
            f"set driver to {_OF.get(kind, DRIVERS[0])}",
        )
        return
    yield from _unknown(parameters, ("apiVersion", "kind", *_FIELDS[kind]), kind)
    if kind in ("ComputeDomainChannelConfig", "ComputeDomainDaemonConfig") and not parameters.get(
        "domainID"
    ):
        fix = "use the ResourceClaimTemplate that the ComputeDomain creates, not your own claim"
        yield ConfigFault(
            "domainID is empty in your own claim, because only the driver's controller sets it", fix
        )
    sharing = parameters.get("sharing")
    if isinstance(sharing, Mapping):
        yield from _sharing_faults(kind, sharing, release, settings)


def _sharing_faults(
    kind: str,
    sharing: Mapping[str, Any],
    release: DriverRelease | None,
    settings: PublishingSettings | None,
) -> Iterator[ConfigFault]:
    strategy = sharing.get("strategy")
    blocks = {"TimeSlicing": "timeSlicingConfig", "MPS": "mpsConfig"}
    allowed = ("strategy", *(blocks.values() if kind == "GpuConfig" else ("mpsConfig",)))
    yield from _unknown(sharing, allowed, f"{kind} sharing")
    if strategy not in GATES:
        named = f'sharing.strategy "{strategy}"' if strategy else "sharing doesn't have a strategy"
        yield ConfigFault(f"the driver doesn't support {named}", f"set strategy to {either(GATES)}")
        return
    other = next(block for name, block in blocks.items() if name != strategy)
    if other in sharing and other in allowed:
        yield ConfigFault(f"{other} doesn't apply to the {strategy} strategy", f"remove {other}")
    gate = GATES[strategy]
    if (
        release is not None
        and settings is not None
        and release.has_gate(gate)
        and not settings.has(gate, release)
    ):
        yield ConfigFault(
            f"version {release.version} of the NVIDIA DRA driver rejects sharing.strategy "
            f"{strategy} while its {gate} feature gate is off",
            f"set `drivers.nvidia.featureGates.{gate}=true` in the fleet, or remove sharing from "
            "the configuration",
            gate,
        )
    slicing, mps = sharing.get("timeSlicingConfig"), sharing.get("mpsConfig")
    if isinstance(slicing, Mapping) and kind == "GpuConfig":
        yield from _slicing_faults(slicing)
    if isinstance(mps, Mapping):
        yield from _mps_faults(mps)


def _slicing_faults(slicing: Mapping[str, Any]) -> Iterator[ConfigFault]:
    if "timeSlice" in slicing:
        yield ConfigFault(
            "the timeSlice field is now called interval",
            f"set interval to {slicing['timeSlice']}",
        )
    yield from _unknown(slicing, ("interval", "timeSlice"), "timeSlicingConfig")
    interval = slicing.get("interval", "Default")
    if interval not in _INTERVALS:
        yield ConfigFault(
            f'"{interval}" isn\'t a valid time-slice interval',
            f"use the interval {either(_INTERVALS)}",
        )


def _mps_faults(mps: Mapping[str, Any]) -> Iterator[ConfigFault]:
    yield from _unknown(mps, _MPS, "mpsConfig")
    percentage = mps.get("defaultActiveThreadPercentage")
    if percentage is not None and not (isinstance(percentage, int) and 0 <= percentage <= 100):
        yield ConfigFault(
            f"defaultActiveThreadPercentage is {percentage}",
            "use a whole percentage between 0 and 100",
        )
    per_device = mps.get("defaultPerDevicePinnedMemoryLimit")
    limits = [mps.get("defaultPinnedDeviceMemoryLimit")]
    limits += per_device.values() if isinstance(per_device, Mapping) else []
    for limit in limits:
        if limit is not None and not _is_limit(limit):
            yield ConfigFault(
                f'the memory limit "{limit}" isn\'t a quantity of at least 1Mi',
                'use a quantity such as "10Gi"',
            )


def _is_limit(limit: object) -> bool:
    try:
        return Quantity.parse(str(limit)).as_float() >= _LEAST_LIMIT
    except QuantityError:
        return False


def _unknown(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> Iterator[ConfigFault]:
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, 1)
            fix = f"use {near[0]}" if near else f"remove {key}"
            yield ConfigFault(
                f'{where} doesn\'t have a field "{key}", and the driver rejects unknown fields', fix
            )
