"""A selector that reads an attribute or capacity that no NVIDIA device publishes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from dra_planner import catalog
from dra_planner.errors import PlannerError
from dra_planner.manifests import selectors_of
from dra_planner.releases import Features
from dra_policies.rules.known_devices import GPU_DRIVER
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView

# Capacities of GPUs, MIG devices and shared GPUs, all releases; memorySlice<i> are those of MIG devices.
# Source: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/deviceinfo.go, partitions.go @v25.3.2 to v0.4.1
CAPACITIES: Final = frozenset(
    {
        "memory", "multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines",
        "addressableMemory", "shares",
    }
) | {f"memorySlice{number}" for number in range(12)}  # fmt: skip


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or view.features is None or view.is_early:
        return
    version = _driver_version(view)
    for selector in selectors_of(view.manifests):
        for kind, name in _read(selector.expression, view.features):
            names = attribute_names(version) if kind == "attributes" else CAPACITIES
            if name not in names:
                by = f"version {version} of the driver publishes" if version else "no version of the driver publishes"
                no = "no such thing" if version else "any such thing"
                yield Finding(
                    message=f'selector reads device.{kind}["{GPU_DRIVER}"].{name}, and {by} {no}',
                    fix=_fix(kind, name, version),
                    place=selector.place,
                )


def _driver_version(view: StackView) -> str:
    versions = {driver.version or "" for driver in view.drivers}
    fleet = view.judgement.fleet if view.judgement is not None else None
    if not versions and fleet is not None:
        return fleet.drivers.nvidia.version
    return versions.pop() if len(versions) == 1 else ""


def _read(expression: str, features: Features) -> list[tuple[str, str]]:
    """Return what a selector reads of NVIDIA's own names, as (attributes or capacity, name)."""
    from dra_planner.cel import Dialect, Selector, compile  # heavy, and most views hold no selector

    selector = compile(expression, Dialect.of(features, "stored"))
    if not isinstance(selector, Selector):
        return []
    return sorted((path[0], path[2]) for path in selector.reads if len(path) == 3 and path[1] == GPU_DRIVER)


@cache
def attribute_names(version: str) -> frozenset[str]:
    """Return the names of all devices of a release, without the driver's domain; of every release for ""."""
    try:
        releases = (catalog.driver_release(version),) if version else catalog.driver_releases()
    except PlannerError:
        releases = catalog.driver_releases()
    return frozenset(name for release in releases for name in release.own_names)


def _fix(kind: str, name: str, version: str) -> str:
    if kind == "attributes" and name in CAPACITIES:
        return f'it is a capacity: write device.capacity["{GPU_DRIVER}"].{name}'
    if kind == "capacity" and name in attribute_names(version):
        return f'it is an attribute: write device.attributes["{GPU_DRIVER}"].{name}'
    known = attribute_names(version) if kind == "attributes" else CAPACITIES
    own = sorted(each for each in known if "/" not in each)
    from difflib import get_close_matches  # only on the way to a finding

    near = get_close_matches(name, own, 1)
    return f'did you mean "{near[0]}"?' if near else f"known: {', '.join(own)}"


RULE = Rule(
    id="selector-reads-what-no-device-has",
    says="Selectors read only attributes and capacities that the driver's devices have.",
    why="Reading a name that a device lacks is an error at run time, which stops the pod on every node.",
    fix="Use a name that the driver publishes; the resource slices of a node list them.",
    level="advisory",
    check=check,
)
